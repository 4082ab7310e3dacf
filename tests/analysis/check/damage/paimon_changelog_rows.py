"""changelogRecordCount is wrong."""

from typing import Any

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-changelog-input"
CODE, PATH, SAYS, SEVERITY = "record-count", "snapshot-", "changelogRecordCount", "warning"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["changelogRecordCount"] += 5

    lake.edit_snapshot(1, edit)
