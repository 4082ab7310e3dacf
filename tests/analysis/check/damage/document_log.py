"""The snapshot log does not end with the current snapshot."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-copy-on-write"
CODE, PATH, SAYS, SEVERITY = "snapshot-log", ".metadata.json", "ends with", "warning"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["snapshot-log"].pop()

    lake.edit_document(edit)
