"""The document records another footer of a statistics file than it has."""

from typing import Any

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-statistics"
CODE, PATH, SAYS, SEVERITY = "statistics-footer", ".stats", "file-footer-size-in-bytes", "warning"


def damage(lake: Iceberg) -> None:
    def edit(document: Any) -> None:
        document["statistics"][0]["file-footer-size-in-bytes"] += 1

    lake.edit_document(edit)
