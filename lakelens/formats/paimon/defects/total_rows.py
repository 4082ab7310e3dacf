"""Paimon, while 0.6 was made, added the rows of a compaction's output to the total and did not take those of its input away.

Shows in snapshots: totalRecordCount is larger than the rows of the live files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.finding import Finding

_MOST = 200


def find(table: PaimonTable) -> Iterator[Finding]:
    """Snapshots, of the newest 200, that count more rows than their files have."""
    compacted = False
    for snapshot in table.snapshots[-_MOST:]:
        compacted = compacted or snapshot.operation == "COMPACT"
        recorded = snapshot.record_count
        if recorded is None or not compacted:
            continue
        try:
            rows = snapshot.files.record_count
        except LakeError:
            continue
        if recorded > rows and not getattr(snapshot, "is_incomplete", False):
            message = f"totalRecordCount is {recorded:,}, the live files have {rows:,} rows"
            number = [snapshot.id] if snapshot.id is not None else []
            yield RULE.report(shorten(table, snapshot.path or ""), message, number)


RULE = Rule(
    "total-rows-of-compaction",
    "the total counts the rows of compacted files again",
    (Product("paimon"),),
    ("apache/paimon#1998", "apache/paimon#2009"),
    "after a COMPACT totalRecordCount is more than the rows of the live files",
    "warning",
    find,
)
