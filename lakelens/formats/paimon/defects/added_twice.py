"""A job that went back to an old checkpoint committed the same files again: engines refuse the manifests, or count
rows twice.

Shows in a snapshot: an entry adds a file that is there already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import shorten
from lakelens.formats.paimon.manifests.manifest import merge_entries
from lakelens.model.check.defect import Product, Rule

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.finding import Finding
    from lakelens.model.manifest import Entry, Manifest


def find(table: PaimonTable) -> Iterator[Finding]:
    """Files of the current snapshot that are added while they are there."""
    snapshot = table.current
    if snapshot is None or not _may_repeat(table):
        return
    for entry in merge_entries(_list_entries(table)).repeated:
        message = f"{entry.file.path.rpartition('/')[2]} is added although it is there already"
        path = shorten(table, entry.file.manifest or "")
        yield RULE.report(path, message, [snapshot.id])


def _may_repeat(table: PaimonTable) -> bool:
    """Whether some path is added more often than it is removed, by column: else no entry needs to be decoded alone."""
    import numpy as np
    import pyarrow.compute as pc

    from lakelens.model.scan.plan import ScanRequest
    from lakelens.model.scan.scan_to_arrow import iterate_batches

    scan = table.scan_manifests(_list_manifests(table))
    counts: dict[str, int] = {}
    for batch in iterate_batches(scan, ScanRequest(stats=False, columns=("path", "status"), entries=True)):
        encoded = pc.dictionary_encode(batch.plain["path"])
        signs = np.where(pc.equal(batch.plain["status"], "ADD").to_numpy(zero_copy_only=False), 1, -1)
        sums = np.bincount(encoded.indices.to_numpy(), signs, len(encoded.dictionary))
        for path, number in zip(encoded.dictionary.to_pylist(), sums.tolist(), strict=True):
            counts[path] = counts.get(path, 0) + int(number)
    return any(number > 1 for number in counts.values())


def _list_manifests(table: PaimonTable) -> list[Manifest]:
    lists = table.current.manifest_lists if table.current is not None else ()
    return [one for listed in lists if listed.role != "changelog" for one in listed.walk()[0]]


def _list_entries(table: PaimonTable) -> Iterator[Entry]:
    from lakelens.errors import LakeError

    for manifest in _list_manifests(table):
        try:
            yield from manifest.entries
        except LakeError:
            continue


RULE = Rule(
    "file-added-twice",
    "a file that was committed twice",
    (Product("paimon"),),
    ("apache/paimon#301", "apache/paimon#3112"),
    "an entry adds a file that is live already",
    "error",
    find,
)
