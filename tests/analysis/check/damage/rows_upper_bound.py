"""An entry's upper bound of a text is below a value."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-types"
CODE, PATH, SAYS, DATA = "upper-bound", ".parquet", "upper bound", True


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            for bound in entry["data_file"]["upper_bounds"]:
                bound["value"] = bytes(len(bound["value"]))

    for number in range(len(lake.lines())):
        lake.edit_manifest(lake.manifest_path(number), edit)
