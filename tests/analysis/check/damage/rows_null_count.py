"""An entry counts nulls in a column that has none: readers that look for nulls find other rows."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS, DATA = "null-count", ".parquet", "nulls of", True


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            for count in entry["data_file"]["null_value_counts"]:
                count["value"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)
