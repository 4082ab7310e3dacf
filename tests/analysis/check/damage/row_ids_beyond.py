"""next-row-id is behind the row ids that were given: the next commit gives them again."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v3-basic"
CODE, PATH, SAYS = "row-ids", ".metadata.json", "next-row-id"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["next-row-id"] = 1

    lake.edit_document(edit)
