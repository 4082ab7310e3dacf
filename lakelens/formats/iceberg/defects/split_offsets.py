"""Iceberg 1.4.0 read the split offsets of a manifest's first entry for all of them, and rewrote manifests with those.

Shows in entries: the last split offset is at or past the end of the file. Readers since 1.4.1 ignore such offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import find_snapshots, read_entries, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Entries whose last split offset is not inside of their file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = read_entries(table)
    if not entries.num_rows or pa.types.is_string(entries["split_offsets"].type):
        return
    known = entries.filter(pc.greater(pc.list_value_length(entries["split_offsets"]), 0))
    if not known.num_rows:
        return
    offsets = known["split_offsets"].combine_chunks()
    ends = pc.subtract(pc.cumulative_sum(pc.cast(pc.list_value_length(offsets), pa.int64())), 1)
    last = pc.list_flatten(offsets).take(ends)
    wrong = pc.fill_null(pc.greater_equal(last, known["size_bytes"].combine_chunks()), False)
    rows = known.filter(wrong)
    for path, size, offset, manifest in zip(
        *(rows[name].to_pylist() for name in ("path", "size_bytes")),
        last.filter(wrong).to_pylist(),
        rows["manifest"].to_pylist(),
        strict=True,
    ):
        message = f"the last split offset is {offset:,}, the file has {size:,} bytes"
        yield RULE.report(shorten(table, path), message, find_snapshots(table, [manifest]))


RULE = Rule(
    "split-offsets-past-end",
    "split offsets of another file, past the end of this one",
    (Product("iceberg", "1.4.0", "1.4.1"),),
    ("apache/iceberg#8860", "apache/iceberg#8834", "apache/iceberg#8925"),
    "the last split offset is not less than the length of the file",
    "warning",
    find,
)
