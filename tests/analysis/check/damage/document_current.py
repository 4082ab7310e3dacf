"""current-snapshot-id is not among the snapshots."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "missing-snapshot", ".metadata.json", "current snapshot"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["current-snapshot-id"] = 42
        document["refs"]["main"]["snapshot-id"] = 42

    lake.edit_document(edit)
