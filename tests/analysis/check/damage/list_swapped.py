"""Two snapshots have changed their manifest lists: each is a whole list, of another snapshot."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS, SEVERITY = "list-of-snapshot", "snap-", "of the head", "warning"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        one, other = document["snapshots"][-2:]
        one["manifest-list"], other["manifest-list"] = other["manifest-list"], one["manifest-list"]

    lake.edit_document(edit)
