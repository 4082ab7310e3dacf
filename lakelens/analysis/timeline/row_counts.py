"""The rows that commits brought and took, by one rule for every view: what each records, read beside its statement.

A rewrite (Iceberg `replace`, Paimon COMPACT) copies rows to other files and changes none, unless it is one of the commits of
a statement that wrote: then what it merges away is what was written over. The rows that a DELETE of a table with keys
appends are the keys that it deletes: none of them came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lakelens.model.facts.traits import Figures

_REWRITES = ("compact", "replace")


class Commit(NamedTuple):
    """What a commit records of itself, as far as its rows are counted by it."""

    operation: str
    statement: str | None  # what its writer calls what it did
    job: tuple[object, ...] | None  # what all commits of one statement have in common
    figures: Figures

    @property
    def is_rewrite(self) -> bool:
        """Whether the format calls it one, and it deletes no row in files that stay."""
        deleted = self.figures.deleted
        return self.operation.lower() in _REWRITES and (deleted is None or deleted.most == 0)


class RowCount(NamedTuple):
    """The rows that a commit brought and took, those aside that it deleted in files that stay.

    `moved` are the rows that a rewrite copied, as far as that is recorded; `dropped` are those that it left behind: replaced
    or deleted before, so that no reader misses them. Of what is no rewrite both are 0.
    """

    came: int = 0
    went: int = 0
    moved: int = 0
    dropped: int = 0
    is_rewrite: bool = False


NO_CHANGE = RowCount()


def group_jobs(commits: Iterable[Commit]) -> Iterator[list[Commit]]:
    """Commits of one branch in their order, put together by the statement that made them."""
    group: list[Commit] = []
    for commit in commits:
        if group and (commit.job is None or commit.job != group[0].job):
            yield group
            group = []
        group.append(commit)
    if group:
        yield group


def count_rows(commits: Sequence[Commit]) -> list[RowCount]:
    """What each commit of one statement brought and took, the oldest first.

    >>> upsert = Commit("APPEND", None, (1,), Figures(net_rows=25)), Commit("COMPACT", None, (1,), Figures(net_rows=-25))
    >>> [(count.came, count.went) for count in count_rows(upsert)]
    [(25, 0), (0, 25)]
    >>> replace = Commit("replace", None, None, Figures(added_rows=8, removed_rows=10))
    >>> count_rows([replace])
    [RowCount(came=0, went=0, moved=8, dropped=2, is_rewrite=True)]
    """
    flows = [_read_flow(commit.figures) for commit in commits]
    if all(commit.is_rewrite for commit in commits):
        # one that stores more rows than it replaced brought the others: nothing else accounts for them
        return [
            RowCount(came - went) if came > went else RowCount(0, 0, came, went - came, is_rewrite=True)
            for came, went in flows
        ]
    if not any((commit.statement or "").lower() == "delete" for commit in commits):
        return [RowCount(*flow) for flow in flows]
    # what a compaction merges away are the keys, with the rows that they delete
    is_merged = any(commit.operation.lower() in _REWRITES for commit in commits)
    keys, counts = 0, []
    for came, went in flows:
        if (came and went) or not (came or keys):
            counts.append(RowCount(came, went))
            continue
        gone = max(went - keys, 0) if is_merged else came
        keys = max(keys + came - went, 0)
        counts.append(RowCount(0, gone))
    return counts


def _read_flow(figures: Figures) -> tuple[int, int]:
    """Rows added and removed; of a net change alone one of them."""
    if figures.net_rows is not None and figures.added_rows is None and figures.removed_rows is None:
        return max(figures.net_rows, 0), max(-figures.net_rows, 0)
    return figures.added_rows or 0, figures.removed_rows or 0
