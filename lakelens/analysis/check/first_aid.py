"""First aid for a broken table: which states each lost file affects, what is still whole, and the calls that read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lakelens.analysis.check.strays import Stray, Strays, find_strays
from lakelens.display import Displayable
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table

_MOST_FILES = 20


@dataclass(frozen=True, slots=True)
class Affected:
    """A file that is missing or of another length, and the states that cannot be read in full without it."""

    file: Stray
    snapshots: tuple[int, ...]
    states: tuple[str, ...]

    def __str__(self) -> str:
        if not self.states:
            return f"{self.file.relative_path}: {self.file.reason}; no state needs it to be read"
        first, number = self.states[0], len(self.states)
        states = first if number == 1 else f"{number:,} states, {first} to {self.states[-1]}"
        return f"{self.file.relative_path}: {self.file.reason}; {states} cannot be read in full"


@dataclass(frozen=True, slots=True, repr=False)
class FirstAid(Displayable):
    """What can still be done: `affected` files, the newest `whole` snapshot of the branch, and `calls` that read it.

    `lost` counts, by snapshot, the files that it lacks. Nothing is repaired: the calls read.
    """

    affected: tuple[Affected, ...]
    lost: dict[int, int]
    whole: Snapshot | None
    sentences: tuple[str, ...]
    calls: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<FirstAid: {self.sentences[0].rstrip('.')}>"


def give_first_aid(table: Table, strays: Strays | None = None) -> FirstAid:
    """What is lost, what is whole, and how to read that.

    Parameters
    ----------
    table
        A table of any format.
    strays
        What `find_strays` found, when that is known already.

    Examples
    --------
    >>> import lakelens as ll
    >>> give_first_aid(ll.sample("paimon"))
    <FirstAid: All 5 states are whole>
    """
    found = find_strays(table) if strays is None else strays
    affected = tuple(Affected(file, file.snapshots, tuple(file.referenced_by)) for file in _list_lost(found))
    lost = Counter(number for one in affected for number in one.snapshots)
    sentences = tuple(_describe(found, affected))
    return FirstAid(affected, dict(sorted(lost.items())), found.whole.snapshot, sentences, _list_calls(found))


def _list_lost(strays: Strays) -> Iterator[Stray]:
    yield from strays.missing
    yield from strays.resized


def _describe(strays: Strays, affected: tuple[Affected, ...]) -> Iterator[str]:
    whole = strays.whole
    if strays.is_listed:
        yield "Nothing refers to files here: what the directory lists is the table, and a lost file leaves no trace."
        return
    if not strays.broken:
        yield f"All {whole.total:,} states are whole."
    else:
        yield f"{whole.count:,} of {whole.total:,} states are whole."
    for one in affected[:_MOST_FILES]:
        yield f"{one}."
    if len(affected) > _MOST_FILES:
        yield f"… {len(affected) - _MOST_FILES:,} more files."
    for unread in strays.unread:
        yield f"{unread.path}: {unread.reason}."
    if strays.broken:
        yield from _describe_newest(strays)


def _describe_newest(strays: Strays) -> Iterator[str]:
    whole = strays.whole
    if whole.snapshot is not None:
        moment = f", {whole.snapshot.committed_at:%Y-%m-%d %H:%M:%S}" if whole.snapshot.committed_at else ""
        after = f"; {len(whole.after):,} newer cannot be read in full" if whole.after else ""
        yield f"The newest whole snapshot is {whole.snapshot.id}{moment}{after}."
    else:
        yield "No snapshot of the branch is whole."
    others = [
        name for name, found in whole.branches.items() if found is not None and found is not whole.snapshot
    ]
    if others:
        yield f"Whole states of other branches: {', '.join(others)}."
    if whole.tags:
        yield f"Whole tags: {', '.join(whole.tags)}."


def _list_calls(strays: Strays) -> tuple[str, ...]:
    """How the newest whole state is read here and in Spark."""
    whole = strays.whole
    if not strays.broken or whole.snapshot is None:
        return ()
    number = whole.snapshot.id
    return (f"table.snapshot({number})", f"SELECT * FROM … VERSION AS OF {number}")
