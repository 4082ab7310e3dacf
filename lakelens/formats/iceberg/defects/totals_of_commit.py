"""iceberg-rust looked for the summary of the snapshot that it was about to make, found none, and began its totals at 0.

Shows in summaries: an append whose totals are what it added, though its parent has rows or files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.model.check.defect import Product, Rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_PAIRS = (
    ("total-records", "added-records"),
    ("total-data-files", "added-data-files"),
    ("total-files-size", "added-files-size"),
)


def find(table: IcebergTable) -> Iterator[Finding]:
    """Appends whose totals count nothing of their parent's."""
    for snapshot in table.walk_snapshots():
        parent = snapshot.parent
        if parent is None or snapshot.operation != "append":
            continue
        wrong = [
            total
            for total, added in _PAIRS
            if (figure := parse_figure(snapshot.summary, total)) is not None
            and figure == (parse_figure(snapshot.summary, added) or 0) > 0
            and (parse_figure(parent.summary, total) or 0) > 0
        ]
        if wrong:
            said = ", ".join(f"{key} {snapshot.summary[key]}" for key in wrong)
            message = f"{said}: as many as this commit added; those of snapshot {parent.id} are not counted"
            yield RULE.report(table.metadata_path, message, [snapshot.id])


RULE = Rule(
    "totals-of-commit",
    "totals of a summary count this commit alone",
    (Product("iceberg-rust"),),
    ("apache/iceberg-rust#2391", "apache/iceberg-rust#2390"),
    "an append's total-* equal its added-* though its parent has some",
    "warning",
    find,
)
