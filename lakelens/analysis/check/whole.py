"""The newest states of a table that are whole: nothing that they need is gone, of another length, or unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from lakelens.analysis.check.losses import BrokenState
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.check.references import Keeper
from lakelens.model.snapshot import Ref, Snapshot
from lakelens.model.table import Table

_Key = tuple[int | None, str | None] | None


@dataclass(frozen=True, slots=True)
class Whole(Named):
    """Which states are whole: `count` of `total`, and the newest on the branch that was opened, on every branch, of tags.

    `snapshot` is None where none of the branch is whole. `after` are the states of the branch that are newer and broken, the
    newest first.
    """

    snapshot: Snapshot | None
    branches: Mapping[str, Snapshot | None]
    tags: tuple[str, ...]
    after: tuple[BrokenState, ...]
    count: int
    total: int

    @property
    def is_current(self) -> bool:
        """Whether the branch's newest state is whole."""
        return self.snapshot is not None and not self.after


def find_whole(table: Table, keepers: Sequence[Keeper], broken: Mapping[int, BrokenState]) -> Whole:
    """The newest whole states, by those that are `broken`."""
    lost: dict[_Key, BrokenState] = {
        _identify(keepers[number].snapshot): state for number, state in broken.items()
    }
    branches: dict[str, Snapshot | None] = {}
    after: tuple[BrokenState, ...] = ()
    opened = getattr(table, "branch", None)
    main = getattr(table, "branch_name", None) or (opened if isinstance(opened, str) else None) or "main"
    for ref in table.refs.branches:
        steps = list(_walk_back(table, ref, lost))
        branches[ref.name] = next((one for one in steps if _identify(one) not in lost), None)
        if ref.name == main:
            newer = [lost[_identify(one)] for one in _take_broken(steps, lost)]
            after = (*_find_unread(table, keepers, broken, steps), *newer)
    names = [ref.name for ref in table.refs.tags if _is_whole(table, ref, lost)]
    unreadable = sum(keeper.snapshot is None for keeper in keepers)
    total = (
        len({_identify(keeper.snapshot) for keeper in keepers if keeper.snapshot is not None}) + unreadable
    )
    count = total - unreadable - len({key for key in lost if key is not None})
    return Whole(branches.get(main), branches, tuple(names), after, count, total)


def _find_unread(
    table: Table, keepers: Sequence[Keeper], broken: Mapping[int, BrokenState], steps: Sequence[Snapshot]
) -> Iterator[BrokenState]:
    """States of the opened branch that are newer than its newest readable one: their documents cannot be read."""
    if not table.traits.numbers_branches or not steps:
        return
    known = [number for number, keeper in enumerate(keepers) if keeper.snapshot is steps[0]]
    for number in range(len(keepers) - 1, known[-1] if known else len(keepers), -1):
        keeper = keepers[number]
        if number in broken and keeper.snapshot is None and keeper.name.startswith("snapshot "):
            yield broken[number]


def _identify(snapshot: Snapshot | None) -> _Key:
    """What distinguishes states: branches of Paimon number their own, and a tag's document is a file of its own."""
    return None if snapshot is None else (snapshot.id, snapshot.path)


def _walk_back(table: Table, ref: Ref, lost: Mapping[_Key, BrokenState]) -> Iterator[Snapshot]:
    """A branch's newest readable state and those before it, up to the first that is whole."""
    try:
        newest = table.snapshot(ref.name)
    except LakeError:
        return
    for one in chain((newest,), newest.walk_ancestors()):
        yield one
        if _identify(one) not in lost:
            return


def _take_broken(steps: Sequence[Snapshot], lost: Mapping[_Key, BrokenState]) -> Iterator[Snapshot]:
    return (one for one in steps if _identify(one) in lost)


def _is_whole(table: Table, ref: Ref, lost: Mapping[_Key, BrokenState]) -> bool:
    try:
        return _identify(table.snapshot(ref.name)) not in lost
    except LakeError:
        return False
