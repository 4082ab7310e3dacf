"""The metadata document that a snapshot was committed with, as far as earlier documents are still there.

A commit writes a new document whose `last-updated-ms` is the time of the snapshot it adds, and the documents before it are
named in `metadata-log` with theirs. See "Table Metadata Fields" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.caches import LruCache
from lakelens.formats.iceberg.metadata.document import Document, decode_json

# documents that are kept after they were read: those of the two sides of a diff
_MOST_KEPT = 2
# how many documents are tried for a snapshot whose time no document has
_MOST_TRIED = 3


class CommittedDocuments:
    """The documents that the snapshots of one table were committed with; the last ones that were read are kept."""

    def __init__(self, access: TableAccess, opened: Document) -> None:
        self._access, self._opened = access, opened
        self._kept = LruCache[str, dict[str, Any]](_MOST_KEPT)

    def find(self, snapshot_id: int, moment: int | None) -> tuple[str, dict[str, Any]] | None:
        """The first document that has a snapshot, with its path; None where it is gone or cannot be identified."""
        if moment is None:
            return None
        for path in self._list_candidates(moment):
            if path == self._opened.path:
                if snapshot_id in self._opened.snapshots:
                    return path, self._opened.raw
                continue
            try:
                document = self._kept.get(path, lambda path=path: self._read(path))  # type: ignore[misc]
            except LakeError:
                continue  # it was cleaned up, or is damaged: the snapshots' own objects are left
            if _holds(document, snapshot_id):
                return path, document
        return None

    def _list_candidates(self, moment: int) -> Iterator[str]:
        """Documents of that very time; else the next later ones, where the log still has what was before that time.

        The opened document is the last of the log.
        """
        locate, typed = self._access.locator.locate, self._opened.typed
        log = [(line.timestamp_ms, locate(line.metadata_file)) for line in typed.metadata_log]
        log.append((typed.last_updated_ms or moment, self._opened.path))
        yield from (path for at, path in log if at == moment)
        if any(at < moment for at, _ in log):
            later = [path for at, path in sorted(log, key=lambda line: line[0]) if at > moment]
            yield from later[:_MOST_TRIED]

    def _read(self, path: str) -> dict[str, Any]:
        read = decode_json(self._access.store.read(path), path)
        return read if isinstance(read, dict) else {}


def _holds(document: dict[str, Any], snapshot_id: int) -> bool:
    snapshots = document.get("snapshots")
    found = snapshots if isinstance(snapshots, list) else []
    return any(isinstance(one, dict) and one.get("snapshot-id") == snapshot_id for one in found)
