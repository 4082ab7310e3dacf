"""The summary of an older snapshot counts a data file too few."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-copy-on-write"
CODE, PATH, SAYS, SEVERITY = "total-data-files", ".metadata.json", "total-data-files", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(0, total_data_files="0")
