"""Column statistics of one data file: bounds and counts, decoded, beside the bytes they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from lakelens.display import Displayable, Named
from lakelens.errors import Corrupt, UnknownName, list_nearest
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.collections import Tabular
from lakelens.model.facts.facts import Fact, Facts, build_rows
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value that the record of a file keeps as bytes: its `field`, what decodes it, and what explains its bytes.

    `partner` is the field of the largest value beside the smallest, and of the smallest beside the largest.

    >>> Encoded("lower_bounds.1", lambda: 7, lambda: None, "upper_bounds.1").read()
    7
    """

    field: str
    read: Callable[[], Any]
    explain: Callable[[], BytesView]
    partner: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ColumnBounds(Explainable, Displayable):
    """What a manifest says of one leaf column of one file.

    `name` and `type` are today's (`name#id` for a column dropped since). `lower` and `upper` are values, None when the
    manifest has none; `nulls`, `values`, `nans` are counts of rows, `size` is bytes on disk, each None when unknown.
    `truncated` says whether the bounds may be shortened prefixes (None: not known). `lower_raw` and `upper_raw` are
    the stored bytes; for Paimon, whose bounds are fields of one BinaryRow, they are None.
    """

    name: str
    type: DataType
    field_id: int | None = None
    lower: Any = None
    upper: Any = None
    nulls: int | None = None
    values: int | None = None
    nans: int | None = None
    size: int | None = None
    truncated: bool | None = None
    lower_raw: bytes | None = None
    upper_raw: bytes | None = None
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<ColumnBounds {self.name}: {self.lower!r} to {self.upper!r}, {self.nulls} nulls>"


class Bounds(Mapping[str, ColumnBounds], Tabular, Displayable):
    """The `ColumnBounds` of one file by full column name, in schema order; columns without any statistics are left out."""

    __slots__ = ("_columns",)
    facts: ClassVar[Facts] = (
        Fact("field_id", "int64"),
        Fact("name"),
        Fact("type"),
        Fact("lower", "text"),
        Fact("upper", "text"),
        Fact("values", "int64"),
        Fact("nulls", "int64"),
        Fact("nans", "int64"),
        Fact("size", "int64"),
        Fact("truncated", "bool"),
    )

    def __init__(self, columns: Mapping[str, ColumnBounds]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> ColumnBounds:
        found = self._columns.get(name)
        if found is None:
            raise UnknownName(f"no bounds of a column {name!r}", hint=list_nearest(str(name), self._columns))
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def get(self, name: str, default: Any = None) -> Any:
        """Give the bounds of a column, or a default."""
        return self._columns.get(name, default)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_arrow(self) -> pa.Table:
        """One row for each column; `lower` and `upper` as text, since each column has a type of its own."""
        return build_rows(self.values(), self.facts)

    def __repr__(self) -> str:
        return f"<Bounds of {len(self)} columns>"


class ColumnCounts(dict[int, int], Tabular, Displayable):
    """One count of each column of a file: a dict by field id, as its manifest stores it, that knows the columns' names.

    `noun` is what the specification calls it (`column_sizes`), `columns` the name and the type of a column by its id.

    >>> sizes = ColumnCounts({1: 55, 9: 4}, "column_sizes", {1: ("id", "long")})
    >>> sizes, sizes[1], sizes == {1: 55, 9: 4}
    (<ColumnCounts column_sizes: id 55, #9 4>, 55, True)
    """

    __slots__ = ("columns", "noun")

    facts: ClassVar[Facts] = (
        Fact("field_id", "int64", lambda row: row[0]),
        Fact("name", "string", lambda row: row[1]),
        Fact("type", "string", lambda row: row[2]),
        Fact("value", "int64", lambda row: row[3]),
    )

    def __init__(
        self,
        held: Mapping[int, int],
        noun: str = "counts",
        columns: Mapping[int, tuple[str, str]] | None = None,
    ) -> None:
        super().__init__(held)
        self.noun = noun
        self.columns = dict(columns or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), self.noun, self.columns)

    def list_rows(self) -> Iterator[tuple[int, str, str | None, int]]:
        """Field id, name, type and count of each column; one without a name is `#id`, and has no type."""
        return ((key, *self.columns.get(key, (f"#{key}", None)), held) for key, held in self.items())

    def to_arrow(self) -> pa.Table:
        """One row for each column: `field_id`, `name`, `type`, `value`."""
        return build_rows(self.list_rows(), self.facts)

    def __repr__(self) -> str:
        shown = [f"{name} {held}" for _, name, _, held in islice(self.list_rows(), 8)]
        more = [f"… {len(self) - 8} more"] if len(self) > 8 else []
        return f"<ColumnCounts {self.noun}: {', '.join([*shown, *more]) or 'none'}>"


class Partition(Explainable, Mapping[str, Any], Displayable):
    """The partition that a file belongs to: values by partition field name, in order; its text is the directory form.

    `texts` are the values as the format words them (`2024-01`, `null`), already escaped as the format escapes a path.

    >>> partition = Partition({"day": 19723, "b": None}, {"day": "2024-01-01", "b": "null"})
    >>> str(partition), partition["day"], len(Partition({}, {}))
    ('day=2024-01-01/b=null', 19723, 0)
    """

    __slots__ = ("_texts", "_values")
    _without_bytes = "the bytes_view() of the manifest entry, whose record holds the partition's values"

    def __init__(self, values: Mapping[str, Any], texts: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._texts = dict(texts)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def texts(self) -> Mapping[str, str]:
        """Each value as the format words it in a path."""
        return dict(self._texts)

    def __str__(self) -> str:
        return "/".join(f"{name}={text}" for name, text in self._texts.items())

    def __repr__(self) -> str:
        return f"<Partition {self}>" if self._texts else "<Partition: none>"

    def __hash__(self) -> int:
        return hash(tuple(self._texts.items()))


class KeyRow(Tabular, Displayable):
    """A row of values that metadata keeps, a key: names and values, the kind of change, its bytes, and its columns."""

    __slots__ = ()

    facts: ClassVar[Facts] = (
        Fact("name", "string", lambda item: item[0]),
        Fact("type", "string", lambda item: item[1]),
        Fact("value", "text", lambda item: item[2]),
        Fact("slot", "binary", lambda item: item[3]),
    )

    names: tuple[str, ...]
    values: tuple[Any, ...]
    kind: str
    data: bytes
    columns: Sequence[Any]

    def list_slots(self) -> Sequence[bytes]:
        """List the bytes that each field has in the row's fixed part; none where the row has no bytes."""
        return ()

    def list_rows(self) -> Iterator[tuple[str, str | None, Any, bytes | None]]:
        """Name, type, value and slot of each field; no type and no slot where they are not known."""
        types = {column.name: str(column.type) for column in getattr(self, "columns", ())}
        for name, value, slot in zip_longest(self.names, self.values, self.list_slots()):
            yield name, types.get(name), value, slot

    def to_arrow(self) -> pa.Table:
        """One row for each field: `name`, `type`, `value` as text, and `slot`, its bytes in the row's fixed part."""
        return build_rows(self.list_rows(), self.facts)


class RowStats(Explainable, Displayable):
    """Statistics kept as rows: smallest and largest values and null counts, in the order of `names`."""

    __slots__ = ()

    names: Sequence[str]
    min_values: Any
    max_values: Any
    null_counts: Sequence[int | None]


# A predicate over the rows of a table: comparisons of columns with literals, put together by AND and OR.
#
# There is no NOT: it is worked into the comparisons, which hold for a row only when they are true of it (SQL's NULL is
# not).

Test = Literal[
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "is null",
    "is not null",
    "starts with",
    "not starts with",
    "is nan",
    "is not nan",
]


@dataclass(frozen=True, slots=True)
class Term(Named):
    """One comparison: a column and literals.

    `text` is the part of the predicate as it was written; `column` the full name of the column as bounds have it (`st.x`),
    with its `type` and `field_id`; `values` are literals of that type, as `ColumnBounds.lower` holds them (none for tests of
    null and NaN). A test that is not exact says less than the text: rows that fail it fail the text, others may.
    """

    text: str
    column: str
    type: DataType
    test: Test
    values: tuple[Any, ...] = ()
    field_id: int | None = None
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    """A part that holds for every row, or for none."""

    text: str
    value: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Parts of which all ("and") or one ("or") must hold."""

    text: str
    kind: Literal["and", "or"]
    parts: tuple[Condition, ...]


Condition = Term | Constant | Group


def list_terms(condition: Condition) -> Iterator[Term]:
    """List the comparisons of a predicate, from left to right.

    >>> number = DataType("int", "int32")
    >>> one, two = Term("a = 1", "a", number, "=", (1,)), Term("b > 2", "b", number, ">", (2,))
    >>> [term.column for term in list_terms(Group("a = 1 OR b > 2", "or", (one, two)))]
    ['a', 'b']
    """
    if isinstance(condition, Term):
        yield condition
    elif isinstance(condition, Group):
        for part in condition.parts:
            yield from list_terms(part)


def join_parts(kind: Literal["and", "or"], parts: Sequence[Condition], text: str) -> Condition:
    """Parts put together; parts of parts of the same kind stand side by side."""
    flat: list[Condition] = []
    for part in parts:
        flat += part.parts if isinstance(part, Group) and part.kind == kind else [part]
    return flat[0] if len(flat) == 1 else Group(text, kind, tuple(flat))


# How a data file divides its bytes: columns, what finds them, what describes them.

#: What a file is made of besides its columns, as `FileDivision.parts` names it.
PARTS = ("page indexes", "bloom filters", "footers", "padding")


@dataclass(frozen=True, slots=True)
class FileDivision:
    """The bytes of a file by column and by the parts that are no column's: together they are its `size_bytes`.

    A column is named by its path in the file and by the table's field id where the file has it. `parts` are some of `PARTS`.

    >>> divide(100, {("id", 1): 60, ("b.x", 3): 20}, {"footers": 15}, "/t/a").parts
    {'footers': 15, 'padding': 5}
    """

    size_bytes: int
    columns: Mapping[tuple[str, int | None], int]
    parts: Mapping[str, int]


def divide(
    size: int,
    columns: Mapping[tuple[str, int | None], int],
    parts: Mapping[str, int],
    path: str,
    rest: str = "padding",
) -> FileDivision:
    """Divide the division of a file of a size; what neither a column nor a part takes is the `rest`.

    Raises `Corrupt` for parts that are longer than the file.
    """
    found = sum(columns.values()) + sum(parts.values())
    if found > size:
        raise Corrupt(
            "columns and footer longer than the file", path=path, expected=f"at most {size}", seen=found
        )
    filled = {name: length for name, length in parts.items() if length}
    if found < size:
        filled[rest] = filled.get(rest, 0) + size - found
    return FileDivision(size, dict(columns), filled)
