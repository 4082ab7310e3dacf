"""A document of version 2 lacks a key that the version requires."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-basic"
CODE, PATH, SAYS = "required-key", ".metadata.json", "last-sequence-number"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        del document["last-sequence-number"]

    lake.edit_document(edit)
