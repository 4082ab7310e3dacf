"""An entry records another length than the data file has."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "file-length", ".parquet", "recorded with"


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        entries[0]["data_file"]["file_size_in_bytes"] += 100

    lake.edit_manifest(lake.manifest_path(), edit)
