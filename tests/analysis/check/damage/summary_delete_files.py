"""The summary counts a delete file that is not there."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS, SEVERITY = "total-delete-files", ".metadata.json", "total-delete-files", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(total_delete_files="99")
