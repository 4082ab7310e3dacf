"""An entry counts values that a column does not have."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v1-basic"
CODE, PATH, SAYS, DATA = "value-count", ".parquet", "values of", True


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            for count in entry["data_file"]["value_counts"]:
                count["value"] += 1

    lake.edit_manifest(lake.manifest_path(), edit)
