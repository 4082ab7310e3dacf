"""An entry counts more deletes than the file has rows of kind -D."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS, DATA = "delete-rows", "data-", "rows that are deletes", True


def damage(lake: Paimon) -> None:
    def edit(entries: Records) -> None:
        entries[0]["_FILE"]["_DELETE_ROW_COUNT"] += 1

    lake.edit_manifest(lake.manifest_path(1), edit)
