"""Delete files that reach no data file any more stay in the table after their data files were rewritten.

Shows in the current snapshot: a delete file or deletion vector without a live data file that it applies to. Rows are
right, reading is slower. `rewrite_position_delete_files` removes them, and `rewrite_data_files` with
`remove-dangling-deletes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Delete files of the current snapshot that reach nothing."""
    if table.current is None or all(manifest.content == "data" for manifest in table.current.manifests):
        return
    try:
        dangling = table.current.dangling_deletes
    except LakeError:
        return
    for one in dangling:
        yield RULE.report(shorten(table, one.file.path), one.reason, [table.current.id])


RULE = Rule(
    "dangling-deletes",
    "delete files that reach no data file",
    (Product("iceberg"), Product("flink"), Product("spark")),
    ("apache/iceberg#6126", "apache/iceberg#5058", "apache/iceberg#4127", "apache/iceberg#12838"),
    "a delete file has no live data file that it applies to",
    "note",
    find,
)
