"""A commit that was tried: what its writer knew, what came meanwhile, and which checks of its format it meets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lakelens.display import Named
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact


@dataclass(frozen=True, slots=True)
class Collision(Named):
    """A file that a check of the commit stops at: the snapshot that added or removed it, and why it is in the way."""

    snapshot_id: int | None
    content: str
    path: str
    partition: str
    record_count: int | None
    size_bytes: int | None
    why: str


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

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self)} files>"


@dataclass(frozen=True, slots=True)
class Ruling(Named):
    """One check of a commit: what it demands, because of what it is asked, what was seen, and whether that passes."""

    check: str
    because: str
    seen: str
    passes: bool
    #: where the library has the rule
    source: str


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
    is what another commit did with the files that it names.
    """

    check: str
    filter: str
    files: tuple[str, ...]
    can_retry: bool | None
    source: str
    writer: str | None = None
    written: tuple[str, ...] = ()
    verb: Literal["added", "removed"] = "added"


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


@dataclass(frozen=True, slots=True)
class ConflictRules:
    """What a format says of conflicts: the part `conflict` of its driver.

    `read_failure` reads the text of an exception, `complete` gives the isolation and mode of an operation and why it has
    them, `judge` gives each check of an attempt with the files that fail it, `changes` the files that a snapshot added and
    removed, `describe` one of them as a collision, `ways` what would have passed. `retry` says why another try does not.
    """

    operations: tuple[str, ...]
    read_failure: Callable[[str], Failure | None]
    complete: Callable[[Any, str, str | None, str | None], tuple[str | None, str | None, str]]
    judge: Callable[[Any, Attempt, str], list[tuple[Ruling, list[Collision]]]]
    changes: Callable[[Any], tuple[list[Any], list[Any]]]
    describe: Callable[[Any, Any, str, str], Collision]
    ways: Callable[[Any, str, str | None, str | None, Try], list[Way]]
    retry: str
