"""A commit says that it deleted fewer rows than it did."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-copy-on-write"
CODE, PATH, SAYS, SEVERITY = "deleted-records", ".metadata.json", "deleted-records", "warning"


def damage(lake: Iceberg) -> None:
    snapshots = lake.document["snapshots"]
    place = next(i for i, one in enumerate(snapshots) if "deleted-records" in one["summary"])
    lake.edit_summary(place, deleted_records="0")
