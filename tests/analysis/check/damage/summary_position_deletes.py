"""The summary counts deleted positions wrongly."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v3-deletion-vectors"
CODE, PATH, SAYS, SEVERITY = "total-position-deletes", ".metadata.json", "total-position-deletes", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(total_position_deletes="1000")
