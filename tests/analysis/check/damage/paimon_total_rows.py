"""totalRecordCount is a row too many."""

from typing import Any

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-pk-fixed-bucket"
CODE, PATH, SAYS, SEVERITY = "record-count", "snapshot-", "totalRecordCount", "warning"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["totalRecordCount"] += 1

    lake.edit_snapshot(lake.last, edit)
