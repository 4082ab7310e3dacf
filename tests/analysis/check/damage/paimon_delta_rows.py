"""deltaRecordCount of an older snapshot is wrong."""

from typing import Any

from tests.support.damage import Paimon

LAKE = "spark/paimon/append"
CODE, PATH, SAYS, SEVERITY = "record-count", "snapshot-1", "deltaRecordCount", "warning"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["deltaRecordCount"] = 77

    lake.edit_snapshot(1, edit)
