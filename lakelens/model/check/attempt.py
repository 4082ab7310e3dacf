"""A commit that was tried: what its writer knew, what came meanwhile, and which checks of its format it meets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lakelens.display import Named
from lakelens.errors import LakeError, list_nearest
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Collision(Named):
    """What a check of the commit stops at: the snapshot that added or removed it, and why it is in the way.

    It is a file, or, of no size, an action of a log that is about the whole table: then `content` says of which kind.
    """

    snapshot_id: int | None
    content: str
    path: str
    partition: str
    record_count: int | None
    size_bytes: int | None
    why: str


def describe_file(snapshot: Any, file: Any, verb: str, check: str) -> Collision:
    """Describe a file that is in the way of a check."""
    return Collision(
        snapshot.id,
        file.content,
        file.path,
        ", ".join(f"{name}={value}" for name, value in file.partition.items()),
        file.record_count,
        file.size_bytes,
        f"{verb}, against: {check}",
    )


class Collisions(Items[Collision]):
    """The files that collide, the oldest commit first."""

    __slots__ = ()
    facts = (
        Fact("snapshot_id", "int64"),
        Fact("content"),
        Fact("path"),
        Fact("partition"),
        Fact("record_count", "int64"),
        Fact("size_bytes", "int64"),
        Fact("why"),
    )

    @property
    def noun(self) -> str:
        """What they are: files, or actions of a log where one is about the whole table."""
        return "file" if all(collision.size_bytes is not None for collision in self) else "action"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self)} {self.noun}s>"


@dataclass(frozen=True, slots=True)
class Ruling(Named):
    """One check of a commit: what it demands, because of what it is asked, what was seen, and whether that passes."""

    check: str
    because: str
    seen: str
    passes: bool
    #: where the library has the rule
    source: str


def count_hits(hits: int, files: int, verb: str) -> str:
    """Say how many of the files that came between are in the way.

    >>> count_hits(1, 3, "added"), count_hits(0, 0, "removed")
    ('1 of 3 files added', 'no such file was removed')
    """
    return (
        f"{hits} of {files} file{'' if files == 1 else 's'} {verb}" if files else f"no such file was {verb}"
    )


class Rulings(Items[Ruling]):
    """The checks of one operation, in the order in which the library asks them."""

    __slots__ = ()
    facts = (Fact("check"), Fact("because"), Fact("seen"), Fact("passes", "bool"), Fact("source"))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A commit: its operation, what the writer started from, and the commits that came between, the oldest first.

    `fit` says of each data file of a set whether a row of the operation's filter may be in it; by its partition alone
    where `bounds` is False. `notes` take what its writer should know though no check says it.
    """

    operation: str
    isolation: str | None
    mode: str | None
    base: Any
    between: Sequence[Any]
    fit: Callable[[Sequence[Any], bool], list[bool]]
    replaced: Callable[[], Sequence[Any]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Failure(Named):
    """What an exception's text says: the check that failed, the filter, the files that it names.

    `can_retry` is whether the same commit may pass when it is tried again; None where the text does not say. `writer` is
    who it says failed, as snapshots name their writers, and `written` are the names of files that this writer wrote. `verb`
    is what another commit did with the files that it names. `commit` is what it says of that commit itself, as the format's
    commits do.
    """

    check: str
    filter: str
    files: tuple[str, ...]
    can_retry: bool | None
    source: str
    writer: str | None = None
    written: tuple[str, ...] = ()
    verb: Literal["added", "removed"] = "added"
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Way(Named):
    """Something to do about it: whether the commit would have passed, "yes", "no" or "unknown", and at what price."""

    change: str
    passes: Literal["yes", "no", "unknown"]
    price: str


class Ways(Items[Way]):
    """What would have passed, and what would not."""

    __slots__ = ()
    facts = (Fact("change"), Fact("passes"), Fact("price"))


#: Whether the commit would have passed under an isolation and a mode, "yes" or "no".
Try = Callable[[str | None, str | None], Literal["yes", "no"]]


def require_words(**asked: tuple[str | None, Sequence[str]]) -> None:
    """Raises `LakeError` for a word that is given and not known, with those that are near."""
    for name, (given, known) in asked.items():
        if given is not None and given not in known:
            raise LakeError(f"no {name} {given!r}", hint=list_nearest(given, known))


def find_uuid(name: str) -> str:
    """Find the UUID in the name of a file; "" where it has none.

    >>> find_uuid("snap-7-1-27fd66c8-5027-4e2e-b5e7-5611887b2f73.avro"), find_uuid("part-0.parquet")
    ('27fd66c8-5027-4e2e-b5e7-5611887b2f73', '')
    """
    found = _UUID.search(name)
    return found.group() if found else ""


@dataclass(frozen=True, slots=True)
class ConflictRules:
    """What a format says of conflicts: the part `conflict` of its driver.

    `read_failure` reads the text of an exception, `complete` gives the isolation and mode of an operation and why it has
    them, `judge` gives each check of an attempt with the files that fail it, `changes` the files that a snapshot added and
    removed, `describe` one of them as a collision, `ways` what would have passed. `retry` says why another try does not.
    `trace` gives what a commit has against the check of a failure that names it, None where it names another one. A format
    with `by_conjuncts` goes by those parts of a filter, joined by AND, that name partition columns alone. `name_writer`
    finds in the name of a file the id that all files of one writer have.
    """

    operations: tuple[str, ...]
    read_failure: Callable[[str], Failure | None]
    complete: Callable[[Any, str, str | None, str | None], tuple[str | None, str | None, str]]
    judge: Callable[[Any, Attempt, str], list[tuple[Ruling, list[Collision]]]]
    changes: Callable[[Any], tuple[list[Any], list[Any]]]
    describe: Callable[[Any, Any, str, str], Collision]
    ways: Callable[[Any, str, str | None, str | None, Try], list[Way]]
    retry: str
    trace: Callable[[Any, Failure], list[Collision] | None] | None = None
    by_conjuncts: bool = False
    name_writer: Callable[[str], str] = lambda name: ""
