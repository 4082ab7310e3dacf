"""A commit says that it added more data files than it did."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS, SEVERITY = "added-data-files", ".metadata.json", "added-data-files", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(added_data_files="17")
