"""Long lists for a reader who pages: what each is made of, sorted and filtered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.caching import cached_property
from lakelens.model.arrow import read_cell
from lakelens.model.collections import PAIR, Items, Preview, QueryResult, Rows
from lakelens.model.facts.facts import build_rows
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Entries, Entry
from lakelens.model.scan.choosing import choose_numbers, sort_numbers
from lakelens.model.snapshot import Snapshots
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import add_meanings, list_sections
from lakelens.views.card.model import About, Card, Cell, Column, Grid
from lakelens.views.cards.fileset import FILE_COLUMNS, grid_files
from lakelens.views.cards.items import about_items, grid_rows, grid_some, name_items
from lakelens.views.cards.manifest import grid_entries
from lakelens.views.render.html import draw, render_card

if TYPE_CHECKING:
    import pyarrow as pa


# What a list is made of, for a reader who pages: which columns it has, by what each is sorted, what a filter leaves.
#
# A source draws no more than a page: files are sorted and filtered by their columns, other things by their cells.

_CHUNK = 1_000  # items whose cells are made at once; of fewer the columns are known from all of them
_MOST_PAIRS = 400  # values of a row that are shown below it
_SILENT = frozenset(("", "absent", "unknown", "not recorded", "NULL"))


class Drawn(NamedTuple):
    """A page: a name of its own for each column, the columns, and the rows."""

    names: list[str]
    columns: list[Column]
    rows: list[list[Cell]]


class Source(ABC):
    """Things in order, each known by its position; by default the items of `subject`, filtered by their `_words`."""

    #: what the list is called, what one of it is called, and several
    nouns: tuple[str, str, str]
    #: what a filter is, and an example
    filters: tuple[str, str] = ("filter by words", "filter: words that a row has")
    #: columns, beside those of numbers, that are looked at from their largest value
    largest_first: frozenset[str] = frozenset()

    #: the list that it was made from
    subject: Any

    @cached_property
    def _met(self) -> dict[str, Column]:
        """The columns of the pages so far: one that has nothing on a page is as wide there as before."""
        return {}

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def natural(self) -> Sequence[int]:
        """The positions in the order in which they are first shown."""
        return range(len(self))

    @abstractmethod
    def list_keys(self, name: str) -> Sequence[Any]:
        """What each is sorted by, None for nothing. Raises KeyError where there is no such column."""

    def filter(self, text: str) -> Sequence[int]:
        """Find the positions that a filter leaves: of those that hold every word of it, in any case.

        Raises `LakeError` for a filter that cannot be understood.
        """
        words = text.casefold().split()
        return [position for position, held in enumerate(self._words) if all(word in held for word in words)]

    @property
    def _words(self) -> Sequence[str]:
        """What a filter by words looks at of each, case-folded."""
        raise NotImplementedError

    def choose(self, positions: Sequence[int]) -> Any:
        """Some of them, as a list of the same kind."""
        return [self.subject[position] for position in positions]

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """Some of them as an Arrow table, in this order. Raises `LakeError` where they cannot be read."""
        table: pa.Table = self.choose(positions).to_arrow()
        return table

    def render(self, position: int) -> str:
        """The card of one of them, without its style; empty where each is a page of its own."""
        return ""

    def write_code(self, position: int) -> str:
        """What leads to one of them in Python; empty where nothing short does."""
        return ""

    @abstractmethod
    def _grid(self, positions: Sequence[int]) -> Grid: ...

    @property
    def _about(self) -> About:
        return ()

    @property
    def _known(self) -> Sequence[str]:
        """Columns that every page has, whatever is on it."""
        return ()

    def keep(self, text: str) -> Sequence[int]:
        """Find the positions that a filter leaves, all for none, in the order in which they are first shown.

        Raises `LakeError` for a filter that cannot be understood.
        """
        if not text.strip():
            return self.natural
        kept = set(self.filter(text.strip()))
        return [position for position in self.natural if position in kept]

    def sort(self, order: str, positions: Sequence[int]) -> Sequence[int]:
        """Sort positions by a column, least first, and greatest first with "-" before its name; by "" not at all.

        Equal ones keep their order, those without a value are last. Raises KeyError where there is no such column.
        """
        name = order.removeprefix("-")
        if not name:
            return positions
        ranks = [_rank(key) for key in self.list_keys(name)]
        return sort_numbers(positions, ranks, descending=order.startswith("-"))

    def draw(self, positions: Sequence[int]) -> Drawn:
        """Draw a page of them, with what the name of each column means."""
        with display.using(max_rows=max(len(positions), 1)):
            grid = self._grid(positions)
        (explained,) = add_meanings(Card("", "", body=(grid,), about=self._about), 1).body
        assert isinstance(explained, Grid)
        own = name_columns(explained.columns)
        known = [*self._known]
        self._met.update(zip(own, explained.columns, strict=True))
        names = known
        for place, name in enumerate(own):
            if name not in names:
                names.insert(names.index(own[place - 1]) + 1 if place else 0, name)
        places = [own.index(name) if name in own else None for name in names]
        columns = [
            self._met.get(name, Column("" if name.endswith("|") else name))
            if at is None
            else explained.columns[at]
            for name, at in zip(names, places, strict=True)
        ]
        nothing = [Cell("") if name.endswith("|") else cells.ABSENT for name in names]
        rows = [
            [nothing[index] if at is None else row[at] for index, at in enumerate(places)]
            for row in explained.rows
        ]
        return Drawn(names, columns, rows)


def name_columns(columns: Sequence[Column]) -> list[str]:
    """Give a name of its own for each column: one without a name is a picture of the column before it.

    >>> name_columns([Column("a"), Column(""), Column("a")])
    ['a', 'a|', 'a 2']
    """
    names: list[str] = []
    for column in columns:
        names.append(make_distinct(column.name or f"{names[-1] if names else ''}|", names))
    return names


def make_distinct(name: str, taken: Collection[str]) -> str:
    """Make a name distinct from those that are taken: with the next number behind it where it is one of them.

    >>> make_distinct("a", ["a", "a 2"]), make_distinct("b", ["a"])
    ('a 3', 'b')
    """
    distinct, number = name, 2
    while distinct in taken:
        distinct, number = f"{name} {number}", number + 1
    return distinct


def _rank(key: Any) -> tuple[int, Any] | None:
    """Rank what values of several types are compared by; None for nothing, and for what is no number."""
    if key is None or key != key:
        return None
    if isinstance(key, int | float | Decimal):
        return 0, key
    if isinstance(key, datetime):
        return 1, key if key.tzinfo else key.replace(tzinfo=UTC)
    if isinstance(key, date):
        return 1, datetime(key.year, key.month, key.day, tzinfo=UTC)
    if isinstance(key, bytes):
        return 2, key
    return 3, key if isinstance(key, str) else wording.value(key)


class FileSource(Source):
    """The files of a set: their columns are read, and the files of a page are made."""

    nouns = ("Files", "file", "files")
    filters = ("filter by SQL", "filter: size_bytes > 1e6 AND partition LIKE 'day=3%'")

    def __init__(self, files: FileSet) -> None:
        self.subject = self._files = files.read()

    def __len__(self) -> int:
        return len(self._files)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        if name not in self._known:
            raise KeyError(name)
        values = [value for (value,) in self._files.pick(FILE_COLUMNS[name])]
        if name == "file":
            return [wording.name(path) for path in values]
        return [None if value == "" else value for value in values]

    def filter(self, text: str) -> Sequence[int]:
        """See `Source.filter`."""
        return choose_numbers(self._files, text, {})()

    def choose(self, positions: Sequence[int]) -> FileSet:
        """See `Source.choose`."""
        return self._files.take(positions)

    def render(self, position: int) -> str:
        """See `Source.render`."""
        return render_card(self._files[position], style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"files[{position}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        return grid_files(self._files.take(positions))

    @cached_property
    def _about(self) -> About:
        return list_sections(self._files[0], "file_set") if len(self._files) else ()

    @cached_property
    def _known(self) -> Sequence[str]:
        """Every column in which some file has something; rows are not asked for, which Hive's files only know themselves."""
        left_out = {
            name
            for name in ("partition", "bucket", "level", "sequence")
            if {(None,), ("",)}.issuperset(self._files.pick(FILE_COLUMNS[name]))
        }
        known = [name for name in FILE_COLUMNS if name not in left_out]
        known.insert(known.index("bytes") + 1, "bytes|")
        return known


class ItemSource(Source):
    """A list of things: the cells of all are made when they are first sorted or filtered."""

    def __init__(self, items: Items[Any]) -> None:
        self.subject, self._items = items, items[:]
        self.nouns = name_items(items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def natural(self) -> Sequence[int]:
        """Snapshots the newest first, as their card has them."""
        places = range(len(self))
        return places[::-1] if isinstance(self._items, Snapshots) else places

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        return self._read[0][name]

    @property
    def _words(self) -> Sequence[str]:
        return self._read[1]

    def choose(self, positions: Sequence[int]) -> Items[Any]:
        """See `Source.choose`."""
        found = [self._items[position] for position in positions]
        return self._items._like(found) if self._items._make is None else type(self._items)(found)

    def render(self, position: int) -> str:
        """See `Source.render`."""
        return render_card(self._items[position], style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"{self.nouns[2].replace(' ', '_')}[{position}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        return grid_some(self._items, [self._items[position] for position in positions])

    @cached_property
    def _about(self) -> About:
        return about_items(self._items)

    @property
    def _known(self) -> Sequence[str]:
        return list(self._read[0]) if len(self) <= _CHUNK else ()

    @cached_property
    def _read(self) -> tuple[dict[str, list[Any]], list[str]]:
        """By column what each item is sorted by, and the words that each has."""
        keys: dict[str, list[Any]] = {}
        words: list[str] = []
        for start in range(0, len(self), _CHUNK):
            places = range(start, min(start + _CHUNK, len(self)))
            with display.using(max_rows=_CHUNK):
                grid = self._grid(places)
            own = name_columns(grid.columns)
            self._met.update(zip(own, grid.columns, strict=True))
            for index, name in enumerate(own):
                column = keys.setdefault(name, [None] * len(self))
                for place, row in zip(places, grid.rows, strict=True):
                    cell = row[index]
                    column[place] = cell.text if cell.key is None and cell.text not in _SILENT else cell.key
            words += [" ".join(cell.text for cell in row).casefold() for row in grid.rows]
        return keys, words


class RowSource(Source):
    """Rows of values: the cells of a page are made, and the columns are the query's own."""

    def __init__(self, rows: Rows) -> None:
        self.subject = self._rows = rows
        self._table = rows.to_arrow()
        is_query = isinstance(rows, QueryResult)
        self.nouns = (
            "Query" if is_query else "Preview" if isinstance(rows, Preview) else "Rows",
            "row",
            "rows",
        )

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def _names(self) -> list[str]:
        return name_columns(self._grid(range(min(1, len(self)))).columns)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        if name not in self._names:
            raise KeyError(name)
        return [read_cell(cell) for cell in self._table.column(self._names.index(name))]

    @cached_property
    def _words(self) -> Sequence[str]:
        return [" ".join(wording.value(value) for value in row).casefold() for row in self._rows.rows()]

    def choose(self, positions: Sequence[int]) -> Rows:
        """See `Source.choose`."""
        import pyarrow as pa

        found = copy(self._rows)
        found._table = self._table.take(pa.array(positions, pa.int64()))
        return found

    def render(self, position: int) -> str:
        """Render the values of a row, one a line."""
        (row,) = self.choose([position]).rows()
        names = (wording.clean(name, 80) for name in self._table.column_names)
        shown = [(name, cells.value(value)) for name, value in zip(names, row, strict=True)]
        body = cells.pairs(shown[:_MOST_PAIRS], is_open=True)
        return draw(Card("Row", wording.count(position + 1), body=(body,)), 1, style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"result[{position}]" if isinstance(self._rows, QueryResult) else ""

    def _grid(self, positions: Sequence[int]) -> Grid:
        return grid_rows(self.choose(positions))


def make_source(thing: FileSet | Items[Any] | Rows) -> Source:
    """Say what a list is made of."""
    if isinstance(thing, FileSet):
        return FileSource(thing)
    return RowSource(thing) if isinstance(thing, Rows) else ItemSource(thing)


# The entries of a manifest for a reader who pages: of a large one those of a page are decoded, and columns of all.

#: The columns of a list of entries, each with that of `Entries.to_arrow`.
ENTRY_COLUMNS = {
    "status": "status",
    "file": "path",
    "content": "content",
    "partition": "partition",
    "bucket": "bucket",
    "level": "level",
    "rows": "record_count",
    "bytes": "size_bytes",
    "snapshot": "snapshot_id",
    "sequence": "sequence_number",
}
_KEPT = 400  # entries that were decoded last
_WORDS = ("status", "content", "partition", "path")


class EntrySource(Source):
    """The entries of one manifest: `read` decodes one of `count`, `load` some columns of all of them.

    `subject` is the manifest.
    """

    nouns = ("Entries", "entry", "entries")

    def __init__(
        self,
        manifest: Any,
        count: int,
        read: Callable[[int], Entry],
        load: Callable[[Sequence[str]], pa.Table],
    ) -> None:
        self.subject = manifest
        self._count, self._read, self._load = count, read, load
        self._kept: dict[int, Entry] = {}  # replaced as a whole: other threads may read it

    def __len__(self) -> int:
        return self._count

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        values: list[Any] = self._columns.column(ENTRY_COLUMNS[name]).to_pylist()
        if name == "file":
            return [wording.name(path) for path in values]
        return [None if value == "" else value for value in values]

    @cached_property
    def _columns(self) -> pa.Table:
        return self._load(list(ENTRY_COLUMNS.values()))

    def filter(self, text: str) -> Sequence[int]:
        """Filter the entries that have every word in their status, content, partition or file name, in any case."""
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = [pc.fill_null(self._columns.column(name).cast(pa.string()), "") for name in _WORDS]
        texts[-1] = pc.replace_substring_regex(texts[-1], "^.*/", "")
        whole = pc.binary_join_element_wise(*texts, " ")
        kept = pa.chunked_array([pa.repeat(True, len(self._columns))])
        for word in text.split():
            kept = pc.and_(kept, pc.match_substring(whole, word, ignore_case=True))
        found: list[int] = pc.indices_nonzero(kept).to_pylist()
        return found

    def choose(self, positions: Sequence[int]) -> Entries:
        """See `Source.choose`: in the order of the file, so that each of its blocks is decoded once; the last are kept."""
        made = {position: self._kept.get(position) or self._read(position) for position in sorted(positions)}
        self._kept = dict([*self._kept.items(), *made.items()][-_KEPT:])
        return Entries([made[position] for position in positions])

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """See `Source.to_arrow`: all of them are decoded once, however many are taken."""
        import pyarrow as pa

        table: pa.Table = self.subject.entries.to_arrow()
        return table.take(pa.array(positions, pa.int64()))

    def render(self, position: int) -> str:
        """See `Source.render`."""
        return render_card(self._read(position), style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"entries[{position}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        return grid_entries(self.choose(positions), how="")

    @cached_property
    def _about(self) -> About:
        return about_items(self.choose(range(min(1, self._count))))


# Names with values for a reader who pages: the keys of a document, the items of a list in it.


class PairSource(Source):
    """Pairs of a name and a value, in two columns of these names; `show` makes the cell of a pair's value.

    >>> source = PairSource("document", [("id", 7), ("name", "a b")])
    >>> source.keep("A"), source.sort("-key", [0, 1]), source.draw([0]).rows[0][1].text
    ([1], [1, 0], '7')
    """

    def __init__(
        self,
        subject: Any,
        pairs: Sequence[tuple[str, Any]],
        names: tuple[str, str] = ("key", "value"),
        nouns: tuple[str, str] = ("key", "keys"),
        show: Callable[[str, Any], Cell] | None = None,
    ) -> None:
        self.subject = subject
        self.nouns = (nouns[1].capitalize(), *nouns)
        self._pairs, self._names = pairs, names
        self._show = show or (lambda name, value: cells.json_item(value))

    def __len__(self) -> int:
        return len(self._pairs)

    def list_keys(self, name: str) -> Sequence[Any]:
        """See `Source.list_keys`."""
        at = self._names.index(name) if name in self._names else None
        if at is None:
            raise KeyError(name)
        return [pair[at] for pair in self._pairs]

    @cached_property
    def _words(self) -> Sequence[str]:
        return [f"{name} {self._show(name, value).text}".casefold() for name, value in self._pairs]

    def choose(self, positions: Sequence[int]) -> Items[tuple[str, Any]]:
        """See `Source.choose`."""
        return Items([self._pairs[position] for position in positions])

    def to_arrow(self, positions: Sequence[int]) -> pa.Table:
        """See `Source.to_arrow`: both as text; a value that is no text is JSON."""
        chosen = (self._pairs[position] for position in positions)
        return build_rows(chosen, PAIR).rename_columns(list(self._names))

    def render(self, position: int) -> str:
        """See `Source.render`."""
        name, value = self._pairs[position]
        return draw(Card(wording.clean(name, 80), "", body=(cells.document(value),)), 1, style=False)

    def write_code(self, position: int) -> str:
        """See `Source.write_code`."""
        return f"[{self._pairs[position][0]!r}]"

    def _grid(self, positions: Sequence[int]) -> Grid:
        rows = [self._pairs[position] for position in positions]
        made = tuple((cells.code(name), self._show(name, value)) for name, value in rows)
        grid = Grid(tuple(Column(name) for name in self._names), made, is_open=True)
        return replace(grid, about=())
