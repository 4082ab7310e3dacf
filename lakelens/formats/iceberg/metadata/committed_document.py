"""The metadata document that a snapshot was committed with, as far as earlier documents are still there.

A commit writes a new document whose `last-updated-ms` is the time of the snapshot it adds, and the documents before it are
named in `metadata-log` with theirs. See "Table Metadata Fields" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.metadata.document import decode_json

# documents that are kept after they were read: those of the two sides of a diff
_MOST_KEPT = 2
# how many documents are tried for a snapshot whose time no document has
_MOST_TRIED = 3


def find_committed(
    context: TableContext, snapshot_id: int, moment: int | None
) -> tuple[str, dict[str, Any]] | None:
    """The first document that has a snapshot, with its path; None where it is gone or cannot be told."""
    if moment is None:
        return None
    for path in _list_candidates(context, moment):
        if path == context.document.path:
            if snapshot_id in context.document.book:
                return path, context.document.raw
            continue
        document = _read(context, path)
        if document is not None and _holds(document, snapshot_id):
            return path, document
    return None


def _list_candidates(context: TableContext, moment: int) -> Iterator[str]:
    """Documents of that very time; else the next later ones, where the log still has what was before that time.

    The opened document is the last of the log.
    """
    log = [
        (line.timestamp_ms, context.access.locator.locate(line.metadata_file))
        for line in context.typed.metadata_log
    ]
    log.append((context.typed.last_updated_ms or moment, context.document.path))
    yield from (path for at, path in log if at == moment)
    if any(at < moment for at, _ in log):
        later = [path for at, path in sorted(log, key=lambda line: line[0]) if at > moment]
        yield from later[:_MOST_TRIED]


def _read(context: TableContext, path: str) -> dict[str, Any] | None:
    known = context.recent_documents
    if path not in known:
        try:
            read = decode_json(context.access.store.read(path), path)
        except LakeError:
            return None  # it was cleaned up, or is damaged: the snapshots' own objects are left
        while len(known) >= _MOST_KEPT:
            del known[next(iter(known))]
        known[path] = read if isinstance(read, dict) else {}
    return known[path]


def _holds(document: dict[str, Any], snapshot_id: int) -> bool:
    snapshots = document.get("snapshots")
    found = snapshots if isinstance(snapshots, list) else []
    return any(isinstance(one, dict) and one.get("snapshot-id") == snapshot_id for one in found)
