"""The default partition spec is not among the specs."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-partition-evolution"
CODE, PATH, SAYS = "unknown-id", ".metadata.json", "default-spec-id"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["default-spec-id"] = 9

    lake.edit_document(edit)
