"""What writers of Iceberg get wrong in delete files and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.defects.evidence import read_entries, shorten
from lakelens.model.check.defect import Product, rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


@rule(
    "dangling-deletes",
    "delete files that reach no data file",
    writers=(Product("iceberg"), Product("flink"), Product("spark")),
    threads=("apache/iceberg#6126", "apache/iceberg#5058", "apache/iceberg#4127", "apache/iceberg#12838"),
    shows="a delete file has no live data file that it applies to",
    severity="note",
)
def dangling_deletes(table: IcebergTable) -> Iterator[Finding]:
    """Delete files that reach no data file any more stay in the table after their data files were rewritten.

    Shows in the current snapshot: a delete file or deletion vector without a live data file that it applies to. Rows are
    right, reading is slower. `rewrite_position_delete_files` removes them, and `rewrite_data_files` with
    `remove-dangling-deletes`.
    """
    if table.current is None or all(manifest.content == "data" for manifest in table.current.manifests):
        return
    try:
        dangling = table.current.dangling_deletes
    except LakeError:
        return
    for one in dangling:
        yield dangling_deletes.report(shorten(table, one.file.path), one.reason, [table.current.id])


@rule(
    "two-deletion-vectors",
    "two deletion vectors of one data file",
    writers=(Product("iceberg-go"),),
    threads=("apache/iceberg-go#1372", "apache/iceberg-go#1868"),
    shows="a snapshot has two live deletion vectors for the same data file",
    severity="error",
)
def two_vectors(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-go wrote a second deletion vector for a data file and kept the first: engines refuse to read the table.

    Shows in a snapshot: two live deletion vectors that reach the same data file.
    """
    import pyarrow.compute as pc

    entries = read_entries(table)
    vectors = entries.filter(pc.equal(entries["content"], "deletion_vector"))
    if vectors.num_rows < 2:
        return
    reached: dict[str, list[str]] = {}
    for manifest, path in zip(
        vectors["manifest"].to_pylist(), vectors["referenced_data_path"].to_pylist(), strict=True
    ):
        reached.setdefault(manifest, []).append(path)
    found: dict[str, tuple[int, list[int]]] = {}
    for snapshot in table.walk_snapshots():
        counts: dict[str, int] = {}
        for manifest in dict.fromkeys(one.path for one in snapshot.manifests):
            for path in reached.get(manifest, ()):
                counts[path] = counts.get(path, 0) + 1
        for path, number in counts.items():
            if number > 1:
                found.setdefault(path, (number, []))[1].append(snapshot.id)
    for path, (number, snapshots) in found.items():
        message = f"{number} live deletion vectors reach it: one is allowed"
        yield two_vectors.report(shorten(table, path), message, snapshots)
