"""Statistics are of a snapshot that is not there."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-statistics"
CODE, PATH, SAYS, SEVERITY = "statistics-snapshot", ".metadata.json", "not there", "warning"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["statistics"][0]["snapshot-id"] = 5

    lake.edit_document(edit)
