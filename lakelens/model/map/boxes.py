"""What a map is made of: tiers of boxes from the pointer down to the files, one bucket's levels, or a tree of directories.

Plain data that a format makes and a view draws. Names are whole, as the lake has them: a view shortens what it draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lakelens.display import Named

#: What the change did to a file; "unread" is one that cannot be read, "absent" one that is not given or not looked at.
State = Literal["new", "changed", "kept", "gone", "unread", "absent"]
#: How a state is said.
WORDS: dict[State, str] = {
    "new": "new",
    "changed": "changed",
    "kept": "kept",
    "gone": "gone",
    "unread": "unreadable",
    "absent": "not given",
}


@dataclass(frozen=True, slots=True, repr=False)
class Box(Named):
    """One file, or several of a kind: `name`, `state`, what it holds (`lines`), and `count` of the files that it stands for.

    `names_files` says that `name` is a file's; `path` is where it is. `parents` are the places of the boxes above that name
    it, `field` the field that does; `refers_to` is the place of the box beside it that it refers to, by `reference`.
    Others of the kind are behind a box that `has_more`; one that `is_joined` is named by the one before it in its tier.
    """

    name: str
    state: State
    lines: tuple[str, ...] = ()
    count: int = 1
    names_files: bool = True
    path: str | None = None
    parents: tuple[int, ...] = (0,)
    field: str = ""
    refers_to: int | None = None
    reference: str = ""
    has_more: bool = False
    is_joined: bool = False

    @property
    def is_stack(self) -> bool:
        """Whether several files are drawn as a stack."""
        return self.count > 1 or self.has_more

    @property
    def word(self) -> str:
        """The state as a word."""
        return WORDS[self.state]

    def __repr__(self) -> str:
        return f"<Box {self.name}: {self.word}>"


@dataclass(frozen=True, slots=True, repr=False)
class Tier(Named):
    """The boxes of one step of the chain: `noun`, what such files are (`notes`), and a `remark` beside the boxes.

    `has_lead` says that the first box is the one of this state, and the others are beside it.
    """

    noun: str
    boxes: tuple[Box, ...]
    notes: tuple[str, ...] = ()
    remark: tuple[str, ...] = ()
    has_lead: bool = False

    def __repr__(self) -> str:
        return f"<Tier {self.noun}: {', '.join(f'{box.name} {box.word}' for box in self.boxes)}>"


@dataclass(frozen=True, slots=True)
class Run(Named):
    """Files of one level that are sorted together: from where to where of the bucket's keys, as parts of 1."""

    name: str
    state: State
    words: str = ""
    start: float = 0.0
    end: float = 1.0
    rows: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Level(Named):
    """One level of a bucket with its sorted runs; a `name` such as "1 to 3" stands for several empty ones."""

    name: str
    runs: tuple[Run, ...] = ()
    rows: int | None = 0


@dataclass(frozen=True, slots=True, repr=False)
class Bucket(Named):
    """One bucket with its levels, the files beside them, and how many others there are (`rest`, in words).

    `boxes` are its changelog and index files; `first` and `last` are its smallest and its greatest key.
    """

    name: str
    notes: tuple[str, ...]
    rest: str
    levels: tuple[Level, ...]
    first: str = ""
    last: str = ""
    boxes: tuple[Box, ...] = ()

    def __repr__(self) -> str:
        return f"<Bucket {self.name}: {len(self.levels)} levels>"


@dataclass(frozen=True, slots=True, repr=False)
class Branch(Named):
    """A directory or a file of a directory tree, `depth` steps below the table's own."""

    name: str
    state: State
    depth: int
    words: str = ""
    is_file: bool = False
    count: int = 1

    @property
    def word(self) -> str:
        """The state as a word."""
        return WORDS[self.state]

    def __repr__(self) -> str:
        return f"<Branch {self.name}: {self.word}>"


@dataclass(frozen=True, slots=True, repr=False)
class Beside(Named):
    """What stands beside a directory tree and is stored elsewhere: paragraphs of a heading and its lines."""

    noun: str
    note: str
    state: State
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __repr__(self) -> str:
        return f"<Beside {self.noun}: {self.note}>"


@dataclass(frozen=True, slots=True)
class Chart(Named):
    """All that a format draws of a table: the chain, or a tree; and the files that are new, by what they are.

    `stored` are the rows of the data files as the boxes have them; `counted_new` has pairs of a noun and a number.
    `subject` is what the change was, where no snapshot says it.
    """

    tiers: tuple[Tier, ...] = ()
    bucket: Bucket | None = None
    tree: tuple[Branch, ...] = ()
    beside: Beside | None = None
    stored: tuple[int, ...] = ()
    counted_new: tuple[tuple[str, int], ...] = ()
    changed: int = 0
    gone: int = 0
    advice: tuple[str, ...] = ()
    subject: str = ""

    def walk(self) -> Iterator[Box]:
        """Every box."""
        for tier in self.tiers:
            yield from tier.boxes
        if self.bucket is not None:
            yield from self.bucket.boxes


def count_words(pairs: Iterable[tuple[str, int]]) -> str:
    """Numbers with their nouns, those of nothing left out.

    >>> count_words([("snapshot", 30), ("schema", 1), ("spec", 0)])
    '30 snapshots, 1 schema'
    """
    return ", ".join(f"{number:,} {pluralise(noun, number)}" for noun, number in pairs if number)


def pluralise(noun: str, number: int) -> str:
    """A noun for a number of things.

    >>> pluralise("entry", 2), pluralise("row", 1), pluralise("index", 2)
    ('entries', 'row', 'indexes')
    """
    if number == 1:
        return noun
    return noun[:-1] + "ies" if noun.endswith("ry") else f"{noun}{'es' if noun.endswith('x') else 's'}"


def count_noun(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count_noun(1, "row"), count_noun(12000, "row")
    ('1 row', '12,000 rows')
    """
    return f"{number:,} {pluralise(noun, number)}"


def last_name(path: str) -> str:
    """The last part of a path.

    >>> last_name("/wh/t/metadata/v1.json")
    'v1.json'
    """
    return path.rstrip("/").rpartition("/")[2] or path


def choose_boxes(groups: Sequence[Sequence[object]], most: int = 4) -> list[tuple[int, int, int]]:
    """Which things of some groups have a box of their own: (group, first, end), in order, at most `most` boxes.

    Each group has a box; what is left of `most` shows the first ones of a group alone, the others as one stack.

    >>> choose_boxes([[1, 2], [], [3, 4, 5, 6, 7]])
    [(0, 0, 1), (0, 1, 2), (2, 0, 1), (2, 1, 5)]
    """
    filled = [number for number, group in enumerate(groups) if group]
    shares = dict.fromkeys(filled, 1)
    left = most - len(filled)
    while left > 0 and (open_ := [n for n in filled if shares[n] < len(groups[n])]):
        chosen = min(open_, key=lambda n: shares[n])
        shares[chosen] += 1
        left -= 1
    found = []
    for number in filled:
        share, size = shares[number], len(groups[number])
        found += [(number, place, place + 1) for place in range(share - 1)]
        found.append((number, share - 1, size))
    return found
