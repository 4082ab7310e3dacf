"""A snapshot's chain of parents leads back to itself."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v1-copy-on-write"
CODE, PATH, SAYS = "snapshot-cycle", ".metadata.json", "lead back"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        snapshots = document["snapshots"]
        snapshots[0]["parent-snapshot-id"] = snapshots[-1]["snapshot-id"]

    lake.edit_document(edit)
