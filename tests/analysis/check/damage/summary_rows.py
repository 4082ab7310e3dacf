"""A snapshot's summary counts a row too many."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v3-merge-on-read"
CODE, PATH, SAYS, SEVERITY = "total-records", ".metadata.json", "total-records", "warning"


def damage(lake: Iceberg) -> None:
    rows = int(lake.document["snapshots"][-1]["summary"]["total-records"])
    lake.edit_summary(total_records=str(rows + 1))
