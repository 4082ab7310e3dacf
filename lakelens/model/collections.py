"""What every list and every document of a table is: a sequence, a mapping or rows that show themselves.

`Items` compares like a tuple and `Document` is a dict, so that code which takes those takes these. Each has one line,
text, a card, and is a table for every library that takes Arrow. Making one reads and decodes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

from lakelens.caching import cached_property
from lakelens.display import Displayable, Interactive
from lakelens.errors import UnknownName, list_nearest
from lakelens.model.arrow import read_cell, read_rows, to_pandas, to_polars
from lakelens.model.facts.facts import Fact, Facts, build_rows
from lakelens.model.facts.traits import Vocabulary

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Kind = TypeVar("Kind", bound=type)


def to_json(table: pa.Table) -> str:
    """Write the rows of an Arrow table as a JSON array with an object a line, every value exact.

    >>> import pyarrow as pa
    >>> to_json(pa.table({"id": [2**63 - 1], "key": [b"\\x00"]}))
    '[\\n{"id": 9223372036854775807, "key": "00"}\\n]'
    """
    from lakelens.model.facts.json_values import write_array

    names = table.column_names
    rows = (dict(zip(names, row, strict=True)) for rows in read_rows(table) for row in rows)
    return "".join(write_array(rows))


class Tabular:
    """Gives an object that has `to_arrow` the other ways out: pandas, polars, JSON, and Arrow's C stream by name."""

    __slots__ = ()

    def to_arrow(self) -> pa.Table:
        """This object as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """`to_arrow` as a pandas DataFrame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> Any:
        """`to_arrow` as a polars DataFrame; needs polars."""
        return to_polars(self.to_arrow())

    def to_json(self) -> str:
        """`to_arrow` as a JSON array with an object a row, every value exact, as `lakelens --json` writes it."""
        return to_json(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Items(Sequence[T_co], Tabular, Interactive):
    """Things in order. A slice is of the same class; equal to a tuple or a list of the same things.

    With `make`, things are made from their positions when they are asked for, and not kept.

    >>> squares = Items(range(1_000_000), lambda position: position**2)
    >>> len(squares), squares[-1], squares[2:4] == (4, 9), Items("ab")
    (1000000, 999998000001, True, <Items 2>)
    """

    __slots__ = ("__weakref__", "_held", "_make")

    #: the columns of `to_arrow`; a class of things without facts of their own has one line for each
    facts: ClassVar[Facts] = (Fact("value", "string", repr),)

    def __init__(self, items: Iterable[Any] = (), make: Callable[[Any], T_co] | None = None) -> None:
        self._held: Sequence[Any]
        self._make: Callable[[Any], T_co] | None
        if isinstance(items, Items) and make is None:
            self._held, self._make = items._held, items._make
        else:
            self._held, self._make = items if isinstance(items, tuple | range) else tuple(items), make

    def _like(self, held: Sequence[Any]) -> Self:
        """Some of these, as a sequence of the same class."""
        return type(self)(held, self._make)

    @overload
    def __getitem__(self, key: int) -> T_co: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> T_co | Self:
        if isinstance(key, slice):
            return self._like(self._held[key])
        held: T_co = self._held[key] if self._make is None else self._make(self._held[key])
        return held

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self._held) if self._make is None else map(self._make, self._held)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Items | tuple | list):
            return NotImplemented
        return self is other or (len(self) == len(other) and tuple(self) == tuple(other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: Iterable[Any]) -> tuple[Any, ...]:
        return (*self, *other)

    def __radd__(self, other: Iterable[Any]) -> tuple[Any, ...]:
        return (*other, *self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self)}>"

    def to_arrow(self) -> pa.Table:
        """One row for each, in order. What does not fit the type of its column is null."""
        return build_rows(self, self.facts)


class NamedItems(Items[T_co]):
    """Items that are found by name too.

    >>> class Words(NamedItems):
    ...     def _list_names(self, item):
    ...         return (item.upper(),)
    >>> words = Words(["a", "b"])
    >>> words["B"], "A" in words, words.get("C"), words.keys()
    ('b', True, None, ['A', 'B'])
    """

    __slots__ = ()

    #: what one is called where a name is missing
    _noun: ClassVar[str] = "item"

    def _list_names(self, item: Any) -> tuple[str, ...]:
        """List what an item is called; the first is its name."""
        raise NotImplementedError

    @overload
    def __getitem__(self, key: int | str) -> T_co: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | str | slice) -> T_co | Self:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = self.get(key)
        if found is None:
            raise UnknownName(f"no {self._noun} {key!r}", hint=list_nearest(key, self._list_known()))
        return found

    def _list_known(self) -> list[str]:
        """List the names of which the nearest ones are said where one is missing."""
        return self.keys()

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None if isinstance(key, str) else super().__contains__(key)

    def get(self, name: str) -> T_co | None:
        """Give the item of a name, or None."""
        return next((item for item in self if name in self._list_names(item)), None)

    def keys(self) -> list[str]:
        """The names."""
        return [self._list_names(item)[0] for item in self]

    def items(self) -> list[tuple[str, T_co]]:
        """Names with their items."""
        return [(self._list_names(item)[0], item) for item in self]


class Document(dict[str, Any], Tabular, Displayable):
    """A stored document or record, or named settings: a dict of its keys and values. `noun` says of what.

    `vocabulary` is what its format says of the keys.

    >>> Document({"a": 1, "b": [2]}, "snapshot"), Document({"a": 1}) == {"a": 1}
    (<Document snapshot: 2 keys>, True)
    """

    __slots__ = ("noun", "vocabulary")

    def __init__(
        self,
        held: Mapping[str, Any] | None = None,
        noun: str = "document",
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__(held or {})
        self.noun = noun
        self.vocabulary = vocabulary

    def to_arrow(self) -> pa.Table:
        """One row for each key: `key` and `value`, both text. A value that is no text is JSON."""
        return build_rows(self.items(), PAIR)

    def to_json(self) -> str:
        """The document as one JSON object, every value exact, as `lakelens --json` writes it.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").properties.to_json()[:18]
        '{"owner": "lakes",'
        """
        from lakelens.model.facts.json_values import make_plain

        plain = make_plain(dict(self))
        return json.dumps(plain)

    def __repr__(self) -> str:
        return f"<Document {self.noun}: {len(self)} {'key' if len(self) == 1 else 'keys'}>"


def _format_json(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=str, ensure_ascii=False)


#: a name and what it has, as two columns of text
PAIR: Facts = (
    Fact("key", "string", lambda item: str(item[0])),
    Fact("value", "string", lambda item: _format_json(item[1])),
)


class Stored:
    """An attribute for a stored record: kept as it was read, a `Document` from when it is first looked at.

    So a manifest of 100,000 entries does not copy 100,000 records that nobody looks at. `slot` is where a class with
    slots keeps it. A value that is no dict stays what it is. A thing that has none yet may have a `read_record`, which
    reads it and says whether it could.
    """

    def __init__(self, noun: str, slot: Any = None) -> None:
        self._noun = noun
        self._slot = slot

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return self
        try:
            held = thing.__dict__[self._name] if self._slot is None else self._slot.__get__(thing)
        except KeyError:
            late = getattr(thing, "late", {}).get(self._name)
            if late is not None:
                self.__set__(thing, late(thing))
                return self.__get__(thing, owner)
            read = getattr(thing, "read_record", None)
            if read is None or not read():
                return None
            held = thing.__dict__.get(self._name)
        if type(held) is dict:
            held = Document(held, self._noun, getattr(thing, "vocabulary", None))
            self.__set__(thing, held)
        return held

    def __set__(self, thing: Any, held: Any) -> None:
        if self._slot is None:
            thing.__dict__[self._name] = held
        else:
            self._slot.__set__(thing, held)


class Late:
    """An attribute that is worked out when it is first asked for, by the function that its class has in `late`, and kept.

    Without such a function it has its default. An object may simply set it.

    >>> class Word:
    ...     late = {"letters": lambda word: list("word")}
    ...     letters = Late()
    ...     accents = Late(0)
    >>> word = Word()
    >>> word.letters, word.accents, word.letters is word.letters
    (['w', 'o', 'r', 'd'], 0, True)
    """

    def __init__(self, default: Any = None) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return self
        work_out = thing.late.get(self._name)
        return self._default if work_out is None else thing.__dict__.setdefault(self._name, work_out(thing))


def worked_out(default: Any = None) -> Any:
    """A `Late` attribute, typed as what it holds."""
    return Late(default)


def stored(noun: str) -> Any:
    """A `Stored` attribute, typed as what it holds."""
    return Stored(noun)


def show_stored(noun: str) -> Callable[[Kind], Kind]:
    """Make the field `raw` of a dataclass with slots `Stored`."""

    def decorate(kind: Kind) -> Kind:
        kind.raw = Stored(noun, kind.__dict__["raw"])  # type: ignore[attr-defined]
        return kind

    return decorate


class Rows(Tabular, Interactive):
    """Rows of values under named columns, held as an Arrow table."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._table

    def rows(self, most: int | None = None) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples of Python values; the first `most` of them.

        A value that Python's types cannot hold (a time beyond the year 9999) is its text.
        """
        part = self._table if most is None else self._table.slice(0, most)
        return zip(*([read_cell(cell) for cell in column] for column in part.columns), strict=True)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {len(self)} rows: {', '.join(self._table.column_names)}>"


class Preview(Rows):
    """The first rows of a file: the `pyarrow.Table` that `to_arrow` gives, with a view. It has all of that table's methods.

    >>> import pyarrow as pa
    >>> preview = Preview(pa.table({"id": [1, 2]}), lambda: {1, 40})
    >>> preview, preview.num_rows, preview["id"].to_pylist(), preview == pa.table({"id": [1, 2]})
    (<Preview 2 rows: id>, 2, [1, 2], True)
    >>> preview.deleted_positions
    (1,)
    """

    def __init__(self, table: pa.Table, find_deleted: Callable[[], Any] | None = None) -> None:
        super().__init__(table)
        self._find_deleted = find_deleted

    @cached_property
    def deleted_positions(self) -> tuple[int, ...] | None:
        """The rows among these that are deleted, counted from 0; None where the whole file would have to be read.

        Reads delete files and vectors. Raises `LakeError` when one cannot be read.
        """
        deleted = () if self._find_deleted is None else self._find_deleted()
        return None if deleted is None else tuple(row for row in range(len(self)) if row in deleted)

    def __getstate__(self) -> dict[str, Any]:
        return {"_table": self._table, "_find_deleted": know_none}  # the file and its table are left behind

    def __getattr__(self, name: str) -> Any:
        if name in ("_table", "_find_deleted"):  # a copy in the making has none yet
            raise AttributeError(name)
        return getattr(self._table, name)

    def __getitem__(self, key: Any) -> Any:
        return self._table[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table.columns)

    def __eq__(self, other: object) -> bool:
        return bool(self._table == (other._table if isinstance(other, Preview) else other))

    __hash__ = None  # type: ignore[assignment]  # as a pyarrow.Table


def know_none(*_: object) -> None:
    """Know nothing: what a function that was not given says of anything."""


class QueryResult(Rows):
    """The rows of a query, in its order.

    `columns` are the names, `engine` is "duckdb", "datafusion" or "spark", `views` the views that the query named. Of a
    `statement` that Spark ran there are the first rows alone where it `is_cut`.
    """

    def __init__(
        self,
        table: pa.Table,
        engine: str,
        views: tuple[str, ...] = (),
        *,
        statement: str = "",
        is_cut: bool = False,
    ) -> None:
        super().__init__(table)
        self.engine = engine
        self.views = views
        self.statement, self.is_cut = statement, is_cut

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order; several may have the same name."""
        return list(self._table.column_names)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.rows()

    def __getitem__(self, key: int | str) -> list[Any] | tuple[Any, ...]:
        """A column by name as a list of values, or a row by position as a tuple. Raises KeyError or IndexError."""
        if isinstance(key, str):
            return [read_cell(cell) for cell in self._table.column(key)]
        if not -len(self) <= key < len(self):
            raise IndexError(key)
        return tuple(read_cell(column[key % len(self)]) for column in self._table.columns)
