"""A total that is no number."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS, SEVERITY = "total-records", ".metadata.json", "not a number", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(total_records="many")
