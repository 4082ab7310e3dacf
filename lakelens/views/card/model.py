"""The view-model: what a view says, as plain data without markup.

Every view is one frame: a bold noun, a sentence, a row of facts, then folds whose label already gives an answer.
Text and HTML are made from the same model, so they show the same facts.

Detail says how far a view is opened:

    0  one line: the object's repr
    1  the card: facts, folds with their answers, and the one fold that is asked for most is open
    2  every fold is open but the longest (documents as stored, meanings); the footers of data files are read
    3  everything, longer lists too, within the size that a view may have
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias

from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.views.card.wording import clean

# what a cell is; colour only repeats what its text already says. Long ids are clipped in a "code", nothing in an "exact" one
Role = Literal["", "code", "exact", "tree", "mute", "add", "del", "warn", "small", "strong", "changed"]
#: How a column is sorted.
Order = Literal["", "ascending", "descending"]
# sections of the glossary in which the meaning of a label is looked up, the nearest first
About: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """Two lengths from one zero line, in pixels of at most 40: what went to the left, what came to the right.

    A `share` has no left side: it is the part of a whole. What was `kept` neither came nor went. A bar only repeats the
    numbers beside it: text leaves it out.
    """

    gone: int
    came: int
    is_share: bool = False
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Gauge:
    """A length beside its limit, which stands at 48 pixels in every row; of more than 96 pixels it is cut, and shows it."""

    length: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """Strokes on an axis, in pixels, from left to right: places that many values have; the last one is the worst."""

    places: tuple[int, ...]

    @property
    def gaps(self) -> tuple[int, ...]:
        """Pixels between the end of each stroke, one pixel wide, and the next.

        >>> Strip((3, 4, 9)).gaps
        (3, 0, 4)
        """
        return tuple(
            place - before - 1 for before, place in zip((-1, *self.places), self.places, strict=False)
        )


#: What a target is: `key` of it is a path, an id, a name, or a number as text.
TargetKind = Literal[
    "table", "snapshot", "ref", "schema", "manifest_list", "manifest", "entry", "file", "index", "statistics",
    "metadata", "bytes", "page",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """What a text names, for a view that can lead there: an object of the table, or a page about it with what is asked.

    `key` of a table, a file, a manifest, a list or a document is its path as the metadata says it, of a snapshot its id, of
    an entry its number in the manifest of `asked`. The bytes are a part of the file `key`.
    """

    kind: TargetKind
    key: str
    asked: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One value: its text, what it is, and an exact form for those who hover over it.

    `meaning` explains a text that is itself a specified name: a key in a list of keys. Where a cell has `parts` these are
    shown, each by its own role, and its text is what they say together (`cells.join`); a part that is a line break begins a
    new line. `key` is what a reader sorts by where that is not the text: an amount, a time. `target` is what the text names:
    a link where a view has links. There a text that names several things is shown as `linked`, its parts.
    """

    text: str
    role: Role = ""
    title: str = ""
    bar: Bar | Gauge | Strip | None = None
    meaning: str = ""
    parts: tuple[Cell, ...] = ()
    key: Any = field(default=None, compare=False, repr=False)
    target: Target | None = field(default=None, compare=False)
    linked: tuple[Cell, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a grid; numbers stand to the right, short words are never broken.

    `title` is what the column's name means, in one sentence. `axis` are the figures above strips, each with the pixels until
    the next. The marks of a line of life are joined by a stroke, from row to row. `kind` is the type of what is below, said
    under the name. Where a view has links, `target` leads to the list sorted by it; `order` is how it is sorted by it now.
    """

    name: str
    is_number: bool = False
    is_short: bool = False
    title: str = ""
    axis: tuple[tuple[str, int], ...] = ()
    is_life: bool = False
    kind: str = ""
    target: Target | None = None
    order: Order = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells; `more` says what was left out, `how` is what to type for it, `target` where a link leads instead.

    The names of the columns of an `open` grid are a lake's own, and are not looked up. `totals` stand under a rule. `groups`
    are headings of groups of rows, each with the place of the first row below it; `chosen` is the place of the row that is
    shown beside the table.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: str = ""
    how: str = ""
    about: About = ()
    is_open: bool = False
    totals: tuple[tuple[Cell, ...], ...] = ()
    groups: tuple[tuple[int, str], ...] = ()
    chosen: int | None = None
    target: Target | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names with their values, one a line; `meanings` explains names. Those of `open` pairs are a lake's own."""

    items: tuple[tuple[str, Cell], ...]
    about: About = ()
    is_open: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Block:
    """Preformatted lines: a document, a tree, bytes."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence; `code` is what to type for more, `target` where a view with links leads instead.

    Where there is nothing to type, `words` stand for a sentence that has a code: nothing, where there are none. `linked` is
    the sentence of a view with links, in parts.
    """

    text: str
    role: Role = ""
    code: str = ""
    target: Target | None = field(default=None, compare=False)
    words: str = field(default="", compare=False)
    linked: tuple[Cell, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as a document of its own (SVG), and what it shows in words. Text leaves it out: the words are beside it.

    It is never narrower than `least` pixels: where there is less room, what holds it scrolls.
    """

    svg: str
    words: str
    least: int = 0


Body: TypeAlias = "Grid | Pairs | Block | Note | Picture | Card"
# the proof of a fold, made when it is opened
Make: TypeAlias = "Callable[[], Sequence[Body]]"


@dataclass(frozen=True, slots=True)
class Fold:
    """A part that is folded at first: its label, the answer in one line, and the proof, made when it is opened.

    `opened` says that it is open on every card; else it opens at detail `level`. Without a proof it is a line, whose
    answer is shown in a view with links as `linked`, in parts.
    """

    label: str
    answer: str
    make: Make = tuple
    opened: bool = False
    level: int = 2
    alert: str = ""
    linked: tuple[Cell, ...] = field(default=(), compare=False, repr=False)

    def body(self) -> Sequence[Body]:
        """The proof; what cannot be read is said in its place."""
        try:
            return [part for part in self.make() if not _is_empty(part)]
        except LakeError as error:
            return (Note(f"ERROR, cannot be read: {clean(error)}", "warn"),)

    def is_open(self, detail: int) -> bool:
        """Check whether it is open at this detail."""
        return self.opened or detail >= self.level


def _is_empty(body: Body) -> bool:
    """A list of nothing: the answer of its fold has said so."""
    if isinstance(body, Grid):
        return not body.rows and not body.more
    return isinstance(body, Pairs) and not body.items


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of the row of facts: label, value, small print, and what the label means.

    `linked` is the small print of a view with links, in parts.
    """

    label: str
    value: Cell
    small: str = ""
    meaning: str = ""
    linked: tuple[Cell, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Card:
    """What a view says of one object; `role` is that of its noun: an error stands out.

    `linked` is the sentence of a view with links, in parts, and `target` what its place leads to there.
    """

    noun: str
    sentence: str
    place: str = ""
    alert: str = ""
    facts: tuple[Fact, ...] = ()
    body: tuple[Body, ...] = ()
    folds: tuple[Fold, ...] = field(default=())
    about: About = ()
    role: Role = ""
    linked: tuple[Cell, ...] = field(default=(), compare=False, repr=False)
    target: Target | None = field(default=None, compare=False)
