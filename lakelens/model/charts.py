"""What a map is made of: tiers of boxes from the pointer down to the files, one bucket's levels, or a tree of directories.

Plain data that a format makes and a view draws. Names are whole, as the lake has them: a view shortens what it draws.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lakelens.display import Displayable, Named, call
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.whole import write_whole

if TYPE_CHECKING:
    from lakelens.codecs.span.span import Role, Span
    from lakelens.model.comparison import FileComparison
    from lakelens.model.deletes import LiveRows
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.stats import KeyRow
    from lakelens.model.table import Table


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
        """Walk every box."""
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
    """Count a number with its noun.

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
    """Choose which things of some groups have a box of their own: (group, first, end), in order, at most `most` boxes.

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


# How a format draws its tables: what it is asked for, and what it answers for all formats.

# files whose deletes are looked into where the metadata alone does not give the live rows
MANY_FILES = 2_000
# files whose footers are read, where nothing else has their rows
_FEW_FOOTERS = 100
_TOUCHED: dict[str, State] = {"created": "new", "rewritten": "changed", "removed": "gone"}


@dataclass(frozen=True)
class Since(Named):
    """The change that a map marks: what was added from the snapshot `before` (None: from nothing) to `after`.

    With `is_known` False there is no snapshot to compare with: what the commit of `after` says of itself is new. `touched`
    are the objects that a trace has seen, by path: "created", "rewritten" or "removed".
    """

    before: Snapshot | None
    after: Snapshot | None
    is_known: bool = True
    touched: Mapping[str, str] | None = None

    def state_of(self, path: str | None, state: State) -> State:
        """The state of a file: as a trace saw it, else as the format found it."""
        if self.touched is None or path is None:
            return state
        return _TOUCHED.get(self.touched.get(path, ""), "kept")

    def compare(self) -> FileComparison | None:
        """Give the files compared with those before; None where there is nothing to compare, or damage forbids it."""
        if self.before is None or self.after is None:
            return None
        try:
            compared = self.after.compare_files(self.before)
            len(compared.added)
        except LakeError:
            return None
        return compared


def draw_plain_chart(table: Table, since: Since) -> Chart:
    """Draw a snapshot's chain as any format has it: its manifests and its files."""
    snapshot = since.after
    if snapshot is None:
        return Chart((Tier("table", (Box(table.name, "absent", ("nothing was committed yet",)),)),))
    known = {manifest.path for manifest in since.before.manifests} if since.before is not None else set()
    compared = since.compare()
    added = set() if compared is None else {path for (path,) in compared.added.pick("path")}
    before = set() if compared is None else {path for (path,) in compared.removed.pick("path")}
    is_first = since.before is None and since.is_known
    groups: dict[tuple[str, State], list[int | None]] = {}
    for manifest in snapshot.manifests:
        state = since.state_of(manifest.path, "kept" if manifest.path in known else "new")
        groups.setdefault(("manifest", state), []).append(None)
    added, before = (
        added - before,
        before - added,
    )  # one that was both has other deleted rows, and is where it was
    for path, rows in snapshot.files.pick("path", "record_count"):
        state = since.state_of(path, "new" if is_first or path in added else "kept")
        groups.setdefault(("file", state), []).append(rows)
    boxes: dict[str, list[Box]] = {"manifest": [], "file": []}
    for (noun, state), counts in groups.items():
        total = sum(count or 0 for count in counts)
        lines = (count_noun(total, "row"),) if noun == "file" and None not in counts else ()
        above = [
            place for place, box in enumerate(boxes["manifest"]) if noun == "file" and box.state == state
        ]
        held = Box(count_noun(len(counts), noun), state, lines, len(counts), names_files=False)
        boxes[noun].append(replace(held, parents=tuple(above) or (0,)))
    top = Box(last_name(snapshot.path or table.location), "new", (f"snapshot {snapshot.id}",))
    tiers = [Tier("snapshot", (top,))]
    tiers += [Tier(f"{noun}s", tuple(drawn)) for noun, drawn in boxes.items() if drawn]
    nouns: tuple[tuple[str, str], ...] = (("data file", "file"), ("manifest", "manifest"))
    counted = tuple((said, len(groups.get((noun, "new"), ()))) for said, noun in nouns)
    return Chart(tuple(tiers), counted_new=counted, gone=len(before))


def find_live_rows(snapshot: Snapshot) -> LiveRows:
    """Find the live rows as the cards have them; of a table of few files counted where its figures do not say."""
    known = snapshot.known_live_rows
    if known.count is not None:
        return known
    figures = snapshot.known_figures
    number = figures.files
    if number is None:
        # as the lists count them; it stays unknown where nothing counts them
        counts: list[Any] = [manifest.count_entries() for manifest in snapshot.manifests]
        number = sum(counts) if counts and None not in counts else None
    most = MANY_FILES if snapshot.id is not None else _FEW_FOOTERS
    return snapshot.live_rows if number is not None and number <= most else known


@dataclass
class Tally:
    """Files, rows and bytes, added up; rows and bytes become None where one of them is not known.

    `paths` are the files that hold what is counted, where several of those may be in one.
    """

    files: int = 0
    rows: int | None = 0
    bytes: int | None = 0
    paths: set[str] = field(default_factory=set)

    def add(self, files: int, rows: int | None, size: int | None = None, paths: Iterable[str] = ()) -> None:
        """Add some files."""
        self.files += files
        self.rows = None if self.rows is None or rows is None else self.rows + rows
        self.bytes = None if self.bytes is None or size is None else self.bytes + size
        self.paths.update(paths)

    def merge(self, other: Tally) -> None:
        """Add another tally."""
        self.add(other.files, other.rows, other.bytes, other.paths)


# What is drawn as SVG: a map of a table, the strip of a row.


class Drawing(Displayable):
    """Something with a drawing, which `save` writes to a file."""

    @abstractmethod
    def to_svg(self) -> str:
        """The drawing as SVG: a document of its own, light and dark, in which nothing can run."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing as an SVG file; one that is there is overwritten.

        Parameters
        ----------
        path
            The file to write.
        """
        write_whole(path, self.to_svg().encode())


# What the map of a row shows: its parts in order, each with boxes of bytes, as plain data from the spans of the row.

#: Boxes of a part, and bytes of a box, that are shown.
MOST_BOXES, MOST_BYTES = 24, 96


class BytePiece(NamedTuple):
    """Some bytes of a box: what they are called, and their role as a span has it."""

    data: bytes
    name: str
    role: Role


@dataclass(frozen=True, slots=True, repr=False)
class RowBox(Named):
    """Some bytes that belong together: a slot, an item of the variable part, the row kind, the null bits.

    `start` counts from the header; `number` is the place of the field. `far` is where the item of a slot starts, and `left`
    how many bytes are not among the `pieces`.
    """

    name: str
    start: int
    pieces: tuple[BytePiece, ...]
    note: str
    value: Any = None
    number: int | None = None
    far: int | None = None
    is_null: bool = False
    is_field: bool = False
    left: int = 0

    @property
    def data(self) -> bytes:
        """The bytes, as far as they are shown."""
        return b"".join(piece.data for piece in self.pieces)

    def __repr__(self) -> str:
        return f"<RowBox {self.name} at {self.start:+}: {self.data.hex(' ')}>"


@dataclass(frozen=True, slots=True, repr=False)
class RowPart(Named):
    """One part of a row: the arity, the header, the slots or the variable part. `left` says what is not shown of it."""

    noun: str
    boxes: tuple[RowBox, ...]
    left: str = ""

    def __repr__(self) -> str:
        return f"<RowPart {self.noun} of {len(self.boxes)}>"


class RowMap(Drawing):
    """The bytes of a row as a strip: arity, header, a box for each slot, and the items that slots refer to.

    >>> import lakelens as ll
    >>> row = ll.decode_binary_row(bytes.fromhex("0000000100000000000000000700000000000000"), [("id", "INT")])
    >>> row.map().parts
    (<RowPart arity of 1>, <RowPart header of 2>, <RowPart slots of 1>)
    """

    def __init__(self, row: KeyRow, span: Span, data: bytes) -> None:
        self.row = row
        self.size = len(data)
        self.parts = tuple(_link(_list_parts(span, data)))

    def to_svg(self) -> str:
        """The drawing as SVG: a document of its own, light and dark, in which nothing can run.

        >>> import lakelens as ll
        >>> ll.sample("paimon").files[0].min_key.map().to_svg()[:5]
        '<svg '
        """
        return str(call("views.map.row:render_row", self))

    def __repr__(self) -> str:
        return f"<RowMap: {count_noun(len(self.row.names), 'field')}, {count_noun(self.size, 'byte')}>"


def _list_parts(span: Span, data: bytes) -> Iterator[RowPart]:
    origin = span.start if span.origin is None else span.origin
    for section in span.iter_children():
        noun = section.label.lower()
        if noun == "header":
            yield RowPart(noun, tuple(_list_header(section, data, origin)))
            continue
        spans = list(islice(_flatten(section), MOST_BOXES + 1))
        shown = [_make_box(one, data, origin) for one in spans[:MOST_BOXES]]
        rest = section.end - spans[MOST_BOXES].start if len(spans) > MOST_BOXES else 0
        left = f"{rest // 8:,} more slots" if noun == "slots" else f"{rest:,} more bytes"
        yield RowPart(noun, tuple(shown), left if rest else "")


def _flatten(section: Span) -> Iterator[Span]:
    """Flatten the lines of a section: those of a field, and what belongs to none; groups of many are opened."""
    if section.is_leaf:
        yield section
    for child in section.iter_children():
        if child.number is not None or child.is_leaf or all(leaf.is_leaf for leaf in child.iter_children()):
            yield child
        else:
            yield from _flatten(child)


def _list_header(section: Span, data: bytes, origin: int) -> Iterator[RowBox]:
    """List the row kind, and all null bits as one box."""
    kind, *bits = section.iter_children()
    yield _make_box(kind, data, origin)
    if bits:
        lines = [
            child for bit in bits for child in ((bit,) if bit.label == "null bits" else bit.iter_children())
        ]
        made = _make_box(bits[0], data, origin)
        notes = [line.note for line in lines if line.role != "unused"]
        pieces, left = _cut(BytePiece(data[line.start : line.end], line.label, line.role) for line in lines)
        count = sum(data[line.start].bit_count() for line in lines if line.role != "unused")
        nulls = f"{count:,} {'is' if count == 1 else 'are'} null" if count else "none is null"
        note = notes[0] if len(notes) == 1 else f"a bit for each field, {nulls}"
        yield replace(made, pieces=pieces, left=left, note=note if notes else lines[0].note)


def _make_box(span: Span, data: bytes, origin: int) -> RowBox:
    leaves = list(islice(span.leaves(), MOST_BYTES))
    pieces, left = _cut(BytePiece(data[leaf.start : leaf.end], leaf.label, leaf.role) for leaf in leaves)
    left += span.end - leaves[-1].end
    padding = [
        leaf.note for leaf in leaves if leaf.role == "padding" and leaf is not span and leaf.end == span.end
    ]
    note = ", ".join([*([span.note] if span.note else []), *padding])
    is_null = span.role == "null" or all(leaf.role == "null" for leaf in leaves)
    return RowBox(span.label, span.start - origin, pieces, note, span.value, span.number,
                  is_null=is_null, is_field=span.number is not None, left=left)  # fmt: skip


def _cut(pieces: Iterable[BytePiece]) -> tuple[tuple[BytePiece, ...], int]:
    """Cut the first pieces, as far as a box shows bytes, and how many bytes more there are."""
    shown: list[BytePiece] = []
    room, left = MOST_BYTES, 0
    for piece in pieces:
        if room:
            shown.append(piece._replace(data=piece.data[:room]))
        left += max(len(piece.data) - room, 0)
        room = max(room - len(piece.data), 0)
    return tuple(shown), left


def _link(parts: Iterable[RowPart]) -> Iterator[RowPart]:
    """Slots with the place of their items, where those are shown."""
    made = list(parts)
    items: dict[int | None, int] = {
        box.number: box.start
        for part in made
        if part.noun == "variable part"
        for box in part.boxes
        if box.number is not None
    }
    for part in made:
        if part.noun == "slots":
            yield replace(part, boxes=tuple(replace(box, far=items.get(box.number)) for box in part.boxes))
        else:
            yield part
