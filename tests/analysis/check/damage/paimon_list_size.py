"""A snapshot records another length of its manifest list than the file has."""

from typing import Any

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-append-types"
CODE, PATH, SAYS, SEVERITY = "manifest-length", "manifest-list-", "bytes", "warning"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["deltaManifestListSize"] += 1

    lake.edit_snapshot(lake.last, edit)
