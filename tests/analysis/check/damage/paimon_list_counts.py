"""A manifest list counts an added file too few."""

from tests.support.damage import Paimon, Records

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS = "manifest-counts", "manifest-", "_NUM_ADDED_FILES"


def damage(lake: Paimon) -> None:
    def edit(lines: Records) -> None:
        lines[0]["_NUM_ADDED_FILES"] -= 1

    lake.edit_list(lake.last, edit)
