"""Old Parquet writers of Iceberg took a file's length with rows that were still buffered: more bytes are recorded
than written.

Shows in entries and the listing: the recorded length is larger than the file, which is complete all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import list_sizes, read_entries, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_MOST = 200


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files of the current snapshot that are complete and shorter than recorded."""
    entries, sizes = read_entries(table), list_sizes(table)
    pairs = zip(entries["path"].to_pylist(), entries["size_bytes"].to_pylist(), strict=True)
    shorter = {path for path, size in pairs if path in sizes and size is not None and sizes[path] < size}
    if not shorter or table.current is None:
        return
    for number, file in enumerate(table.files.choose(lambda path: path in shorter, "path")):
        if number == _MOST:
            return
        try:
            rows = file.footer.facts.num_rows
        except (LakeError, AttributeError):
            continue  # it is cut off: that is damage, not this defect
        if rows == file.record_count:
            message = (
                f"recorded with {file.size_bytes:,} bytes, the file is complete with {sizes[file.path]:,}"
            )
            snapshots = [table.current.id]
            yield RULE.report(shorten(table, file.path), message, snapshots)


RULE = Rule(
    "file-size-too-large",
    "the recorded length counts rows that were still buffered",
    (Product("iceberg"),),
    ("apache/iceberg#1980", "trinodb/trino#6369"),
    "a complete file is shorter than recorded",
    "error",
    find,
)
