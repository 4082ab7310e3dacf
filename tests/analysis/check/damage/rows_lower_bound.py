"""An entry's lower bound of a column is above a value: readers skip the file although it has rows for them."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS, DATA = "lower-bound", ".parquet", "lower bound of id", True


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            for bound in entry["data_file"]["lower_bounds"]:
                if bound["key"] == 1:
                    bound["value"] = (1_000_000).to_bytes(len(bound["value"]), "little")

    lake.edit_manifest(lake.manifest_path(), edit)
