"""The view-model: what a view says, as plain data without markup.

Every view is one frame: a bold noun, a sentence, a row of facts, then folds whose label already gives an answer.
Text and HTML are made from the same model, so they tell the same facts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lakelens.errors import LakeError
from lakelens.views.wording import clean

# what a cell is; colour only repeats what its text already says
Role = Literal["", "code", "tree", "mute", "add", "del", "warn"]


@dataclass(frozen=True, slots=True)
class Bar:
    """Two lengths from one zero line, in pixels of at most 40: what went to the left, what came to the right.

    It only repeats the numbers beside it: text leaves it out.
    """

    gone: int
    came: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: its text, what it is, and an exact form for those who hover over it."""

    text: str
    role: Role = ""
    title: str = ""
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a grid; numbers stand to the right, short words are never broken."""

    name: str
    is_number: bool = False
    is_short: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells; `more` says what was left out and how to get it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: str = ""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with their values, one a line."""

    items: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Preformatted lines: a document, a tree, bytes."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence."""

    text: str
    role: Role = ""


Body: TypeAlias = "Grid | Pairs | Block | Note | Card"


@dataclass(frozen=True, slots=True)
class Fold:
    """A part that is folded at first: its label, the answer in one line, and the proof, made when it is opened."""

    label: str
    answer: str
    make: Callable[[], Sequence[Body]] = tuple
    opened: bool = False

    def body(self) -> Sequence[Body]:
        """The proof; what cannot be read is said in its place."""
        try:
            return self.make()
        except LakeError as error:
            return (Note(f"ERROR, cannot be read: {clean(error)}", "warn"),)


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of the row of facts: label, value, small print."""

    label: str
    value: Cell
    small: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """What a view says of one object."""

    noun: str
    sentence: str
    place: str = ""
    alert: str = ""
    facts: tuple[Fact, ...] = ()
    body: tuple[Body, ...] = ()
    folds: tuple[Fold, ...] = field(default=())
