"""iceberg-go wrote a second deletion vector for a data file and kept the first: engines refuse to read the table.

Shows in a snapshot: two live deletion vectors that reach the same data file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import read_entries, shorten
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding


def find(table: IcebergTable) -> Iterator[Finding]:
    """Data files with more than one live deletion vector in a snapshot."""
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
        yield RULE.report(shorten(table, path), message, snapshots)


RULE = Rule(
    "two-deletion-vectors",
    "two deletion vectors of one data file",
    (Product("iceberg-go"),),
    ("apache/iceberg-go#1372", "apache/iceberg-go#1868"),
    "a snapshot has two live deletion vectors for the same data file",
    "error",
    find,
)
