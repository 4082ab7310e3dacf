"""The snapshots of a history put together by statement: what one wrote and what it compacted after that is one change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lakelens.analysis.diff.level_promotion import Raised, find_raised_by
from lakelens.analysis.figures import read_changes
from lakelens.analysis.timeline.row_counts import Commit, RowCount, count_rows
from lakelens.caching import cached_property
from lakelens.model.facts.amounts import NO_ROWS
from lakelens.model.facts.traits import Figures
from lakelens.model.snapshot import Snapshot

_SUMMED = (
    "added_files", "removed_files", "added_bytes", "removed_bytes", "added_equality_deletes",
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
        return all(count.is_rewrite for count in self.counts)

    @cached_property
    def counts(self) -> tuple[RowCount, ...]:
        """The rows that came and went by each of its commits, as the timeline says them."""
        parts = zip(self.snapshots, self._parts, strict=True)
        return tuple(
            count_rows([Commit(s.operation or "", s.statement, s.job, figures) for s, figures in parts])
        )

    @cached_property
    def changes(self) -> Figures:
        """What it changed, all its commits together: the sum of what each of them brought and took."""
        came, went = (sum(amounts) for amounts in zip(*((c.came, c.went) for c in self.counts), strict=True))
        return replace(_sum(self._parts), added_rows=came, removed_rows=went, net_rows=None)

    @cached_property
    def _parts(self) -> tuple[Figures, ...]:
        return tuple(_read(snapshot) for snapshot in self.snapshots)

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
