"""An entry records other rows than the data file has; list and summary agree with the entry."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v1-basic"
CODE, PATH, SAYS = "record-count", ".parquet", "rows of the file"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["data_file"]["record_count"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)
