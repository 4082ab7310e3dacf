"""nextRowId is behind the row ids of files: the next commit gives them again."""

from typing import Any

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-row-tracking"
CODE, PATH, SAYS = "row-ids", "snapshot-", "nextRowId"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["nextRowId"] = 1

    lake.edit_snapshot(lake.last, edit)
