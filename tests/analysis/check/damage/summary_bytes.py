"""The summary adds up other bytes than the entries record."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS, SEVERITY = "total-files-size", ".metadata.json", "total-files-size", "warning"


def damage(lake: Iceberg) -> None:
    lake.edit_summary(total_files_size="12345678")
