"""A tag points to a snapshot that is not there."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-branches-and-tags"
CODE, PATH, SAYS, SEVERITY = "dangling-ref", ".metadata.json", "points to", "warning"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["refs"]["lost"] = {"snapshot-id": 42, "type": "tag"}

    lake.edit_document(edit)
