"""The snapshots of a history put together by statement: what one wrote and what it compacted after that is one change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lakelens.analysis.diff.level_promotion import Raised, find_raised_by
from lakelens.analysis.figures import read_changes
from lakelens.caching import cached_property
from lakelens.model.facts.amounts import NO_ROWS
from lakelens.model.facts.traits import Figures
from lakelens.model.snapshot import Snapshot

_COMPACTIONS = ("compact", "replace")
_SUMMED = (
    "added_files", "removed_files", "added_rows", "removed_rows", "net_rows", "added_bytes", "removed_bytes",
    "added_equality_deletes",
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """The snapshots that one statement committed, oldest first, and what each of them records that it changed."""

    snapshots: tuple[Snapshot, ...]

    @property
    def word(self) -> str:
        """What its writer calls it; else the format's word for its first commit."""
        named = next((one.statement for one in self.snapshots if one.statement), None)
        return named or self.snapshots[0].operation or "not recorded"

    @property
    def is_rewrite(self) -> bool:
        """Whether it is nothing but a compaction: every row is as it was, in other files or at another level."""
        return all((one.operation or "").lower() in _COMPACTIONS for one in self.snapshots)

    @cached_property
    def changes(self) -> Figures:
        """What it changed, all its commits together; a compaction alone changes no row.

        Where only the net change of rows is recorded it is that of all commits: what an append of a table with keys stores
        its compaction merges away.
        """
        parts = [_read(snapshot) for snapshot in self.snapshots]
        total = _sum(parts)
        if self.is_rewrite:
            return replace(total, added_rows=0, removed_rows=0, net_rows=None, deleted=None)
        if total.net_rows is not None and total.added_rows is None and total.removed_rows is None:
            total = replace(
                total, added_rows=max(total.net_rows, 0), removed_rows=max(-total.net_rows, 0), net_rows=None
            )
        return total

    @property
    def rows_gone(self) -> tuple[int, bool]:
        """Rows that went, with their files or deleted in files that stay, and whether that is exact."""
        found = self.changes
        deleted = found.deleted
        if deleted is None:
            return found.removed_rows or 0, True
        most = deleted.least + (found.added_equality_deletes or 1) if deleted.most is None else deleted.most
        return (found.removed_rows or 0) + most, deleted.exact is not None

    @property
    def is_delete(self) -> bool:
        """Whether rows went and none came."""
        return self.rows_gone[0] > 0 and not self.changes.added_rows

    @cached_property
    def raised(self) -> tuple[Raised, ...]:
        """The files that compactions of it only raised to another level."""
        found = (find_raised_by(snapshot) for snapshot in self.snapshots)
        return tuple(one for one in found if one is not None)


def group_statements(snapshots: Iterable[Snapshot]) -> Iterator[Statement]:
    """Snapshots, newest first, as the statements that committed them, newest first."""
    group: list[Snapshot] = []
    for snapshot in snapshots:
        if group and (snapshot.job is None or snapshot.job != group[0].job):
            yield Statement(tuple(reversed(group)))
            group = []
        group.append(snapshot)
    if group:
        yield Statement(tuple(reversed(group)))


def _read(snapshot: Snapshot) -> Figures:
    """What a commit records that it changed; a file that was only raised to another level is the same file."""
    figures = read_changes(snapshot)
    is_raised = find_raised_by(snapshot) is not None
    return replace(figures, added_files=0, removed_files=0) if is_raised else figures


def _sum(parts: Sequence[Figures]) -> Figures:
    sums: dict[str, int | None] = {}
    for name in _SUMMED:
        amounts = [held for held in (getattr(part, name) for part in parts) if held is not None]
        sums[name] = sum(amounts) if amounts else None
    deleted = [part.deleted for part in parts if part.deleted is not None]
    return Figures(**sums, deleted=sum(deleted, NO_ROWS) if deleted else None)
