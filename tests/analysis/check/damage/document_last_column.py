"""last-column-id is below the id of a column: the next column would get an id that is taken."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-schema-evolution"
CODE, PATH, SAYS = "last-column-id", ".metadata.json", "last-column-id"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["last-column-id"] = 1

    lake.edit_document(edit)
