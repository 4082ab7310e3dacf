"""The figures a snapshot gives of itself, whatever the format words them. Nothing is read for them but its own document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakelens.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Figures:
    """What one snapshot records: changes and totals, None where it records nothing."""

    added_files: int | None = None
    removed_files: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    net_rows: int | None = None
    added_bytes: int | None = None
    removed_bytes: int | None = None
    rows: int | None = None
    files: int | None = None
    delete_files: int | None = None
    size: int | None = None
    position_deletes: int | None = None
    equality_deletes: int | None = None

    @property
    def net_bytes(self) -> int | None:
        """Bytes that came less bytes that went."""
        if self.added_bytes is None and self.removed_bytes is None:
            return None
        return (self.added_bytes or 0) - (self.removed_bytes or 0)


def read_figures(snapshot: Snapshot) -> Figures:
    """The figures of a snapshot's own document: the summary keys of Iceberg, the counters of Paimon."""
    summary = snapshot.summary
    return Figures(
        added_files=_parse(summary, "added-data-files"),
        removed_files=_parse(summary, "deleted-data-files"),
        added_rows=_parse(summary, "added-records"),
        removed_rows=_parse(summary, "deleted-records"),
        net_rows=_parse(summary, "deltaRecordCount"),
        added_bytes=_parse(summary, "added-files-size"),
        removed_bytes=_parse(summary, "removed-files-size"),
        rows=snapshot.record_count,
        files=_parse(summary, "total-data-files"),
        delete_files=_parse(summary, "total-delete-files"),
        size=_parse(summary, "total-files-size"),
        position_deletes=_parse(summary, "total-position-deletes"),
        equality_deletes=_parse(summary, "total-equality-deletes"),
    )


def _parse(summary: Mapping[str, str], key: str) -> int | None:
    try:
        return int(summary[key])
    except (KeyError, ValueError, TypeError):
        return None
