"""last-sequence-number is behind: the next commit takes a number that is taken."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-merge-on-read"
CODE, PATH, SAYS = "sequence-number", ".metadata.json", "last-sequence-number"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["last-sequence-number"] = 1

    lake.edit_document(edit)
