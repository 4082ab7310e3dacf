"""highestFieldId is below the id of a column: the next column would get an id that is taken."""

from typing import Any

from tests.support.damage import Paimon, edit_json

LAKE = "paimon-java/2.0.0-append-types"
CODE, PATH, SAYS = "highest-field-id", "schema-0", "highestFieldId"


def damage(lake: Paimon) -> None:
    def edit(document: Any) -> None:
        document["highestFieldId"] = 0

    edit_json(lake.root / "schema" / "schema-0", edit)
