"""A snapshot was written with a schema that is not kept."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-schema-evolution"
CODE, PATH, SAYS = "unknown-id", ".metadata.json", "schema 77"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["snapshots"][-1]["schema-id"] = 77

    lake.edit_document(edit)
