"""With `manifest.delete-file-drop-stats`, a compaction that only raises a file's level writes its new entry without
statistics.

Shows in manifests: the option is on, and live files above level 0 have no value statistics while others have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import sample_files, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.finding import Finding

_OPTION = "manifest.delete-file-drop-stats"


def find(table: PaimonTable) -> Iterator[Finding]:
    """Live files above level 0 that have lost their statistics."""
    if not table.context.is_on(_OPTION) or table.options.get("metadata.stats-mode", "") == "none":
        return
    for file in sample_files(table):
        if (file.level or 0) > 0 and not file.bounds:
            message = f"level {file.level}, without statistics: {_OPTION} is on"
            snapshots = [table.current.id] if table.current is not None else []
            yield RULE.report(shorten(table, file.path), message, snapshots)


RULE = Rule(
    "stats-dropped-by-compaction",
    "entries without statistics after a file's level was raised",
    (Product("paimon"),),
    ("apache/paimon#7026",),
    "live files above level 0 have no statistics, and manifest.delete-file-drop-stats is on",
    "note",
    find,
)
