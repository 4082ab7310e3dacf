"""An entry's value statistics leave a row out."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/append"
CODE, PATH, SAYS, DATA = "upper-bound", "data-", "upper bound", True


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            stats = entry["_FILE"]["_VALUE_STATS"]
            row = bytearray(stats["_MAX_VALUES"])
            row[12:16] = (-5).to_bytes(4, "little", signed=True)  # the first slot: the column id
            stats["_MAX_VALUES"] = bytes(row)

    lake.edit_manifest(lake.manifest_path(1), edit)
