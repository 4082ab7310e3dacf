"""Schemas: fields with their ids and types, spelled as the format's specification spells them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable, Named
from lakelens.errors import UnknownName, Unsupported, list_nearest
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.collections import Items, NamedItems, show_stored
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    import pyarrow as pa

# what a type *is*, whatever the format calls it
_SCALARS = "boolean int8 int16 int32 int64 float32 float64 decimal date time timestamp timestamptz string binary fixed uuid"
_OTHERS = "list map multiset struct vector variant blob geometry geography unknown"
LOGICAL_TYPES = frozenset(f"{_SCALARS} {_OTHERS}".split())


class DataType(str):
    """A type: the text of the specification (`"decimal(10, 2)"`, `"ARRAY<INT>"`), and what it is made of.

    `logical` is the format-free name (one of `LOGICAL_TYPES`), `children` the fields of a struct, the `element` of a list,
    the `key` and `value` of a map. `precision` is a decimal's digits, or a time's or timestamp's digits after the second.

    >>> DataType("decimal(10, 2)", "decimal", precision=10, scale=2) == "decimal(10, 2)"
    True
    """

    logical: str
    children: tuple[Field, ...]
    precision: int
    scale: int
    length: int

    def __new__(
        cls,
        text: str,
        logical: str,
        *,
        children: tuple[Field, ...] = (),
        precision: int = 0,
        scale: int = 0,
        length: int = 0,
    ) -> DataType:
        made = super().__new__(cls, text)
        made.logical = logical if logical in LOGICAL_TYPES else "unknown"
        made.children, made.precision, made.scale, made.length = children, precision, scale, length
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Any]]:
        options = {"children": self.children, "precision": self.precision, "scale": self.scale}
        return (str(self), self.logical), {**options, "length": self.length}

    @property
    def is_nested(self) -> bool:
        """Whether the type has fields of its own."""
        return bool(self.children)

    def to_arrow(self) -> pa.DataType:
        """The Arrow type that holds this type's values exactly."""
        from lakelens.model.arrow import arrow_type

        return arrow_type(self)


@dataclass(frozen=True, slots=True, repr=False)
class Field(Displayable):
    """One column or nested field: `id`, `name`, `type`, `nullable`, `doc`, defaults (None when the format has none)."""

    id: int
    name: str
    type: DataType
    nullable: bool = True
    doc: str | None = None
    initial_default: Any = None
    write_default: Any = None

    def __repr__(self) -> str:
        return f"<Field {self.id} {self.name}: {self.type}{'' if self.nullable else ' not null'}>"

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, Field]]:
        """The primitive fields below this one with their full dotted names, itself if it is primitive."""
        name = f"{prefix}.{self.name}" if prefix else self.name
        if not self.type.is_nested:
            yield name, self
        for child in self.type.children:
            yield from child.leaves(name)


class Fields(NamedItems[Field]):
    """The columns of a schema in order; each is found by its name too."""

    __slots__ = ()
    _noun = "column"
    facts = (
        Fact("id", "int64"),
        Fact("name"),
        Fact("type"),
        Fact("nullable", "bool"),
        Fact("doc"),
        Fact("initial_default", "text"),
        Fact("write_default", "text"),
    )

    def _list_names(self, item: Field) -> tuple[str, ...]:
        return (item.name,)


@show_stored("schema")
@dataclass(frozen=True, slots=True, repr=False)
class Schema(Explainable, Displayable):
    """One version of a table's columns.

    `id` is the schema id, `identifier_names` the key columns (Iceberg identifier fields, Paimon primary key), `raw` the
    document as read.

    >>> schema = Schema(0, (Field(1, "id", DataType("long", "int64"), nullable=False),))
    >>> schema
    <Schema 0: id long not null>
    >>> schema.to_arrow().field("id").nullable, schema["id"].type
    (False, 'long')
    """

    id: int | None
    fields: Sequence[Field]
    identifier_names: tuple[str, ...] = ()
    raw: Any = field(default=None, compare=False)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)
    _others: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", Fields(self.fields))

    def __repr__(self) -> str:
        shown = [f"{f.name} {f.type}{'' if f.nullable else ' not null'}" for f in self.fields[:8]]
        more = [f"… {len(self.fields) - 8} more"] if len(self.fields) > 8 else []
        number = "" if self.id is None else f" {self.id}"
        return f"<Schema{number}: {', '.join([*shown, *more]) or 'no columns'}>"

    @property
    def versions(self) -> Schemas:
        """Every schema of the table that is kept, by id; this one alone where no other is known."""
        known: Any = (self,) if self._others is None else self._others(self)
        return Schemas(known)

    @property
    def names(self) -> tuple[str, ...]:
        """The top-level column names."""
        return tuple(f.name for f in self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> Field:
        """The field of a full dotted name. Raises `UnknownName`, a KeyError, with the nearest names."""
        if not isinstance(name, str):
            raise TypeError(f"a schema has fields by name, not by {name!r}; by id: schema.field({name!r})")
        return self.field(name)

    def __contains__(self, key: object) -> bool:
        return any(key in (name, found) for name, found in self.walk())

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name, _ in self.walk()]

    def field(self, key: str | int) -> Field:
        """The field of a name or an id, at any depth.

        Parameters
        ----------
        key
            The full dotted name, or the field id.

        Raises
        ------
        UnknownName
            There is no such field, a KeyError; the nearest names are in it.
        """
        for path, found in self.walk():
            if key in (path, found.id):
                return found
        raise UnknownName(f"no field {key!r}", hint=list_nearest(str(key), (name for name, _ in self.walk())))

    def walk(self) -> Iterator[tuple[str, Field]]:
        """Walk every field at every depth with its full dotted name, parents first."""

        def descend(fields: Sequence[Field], prefix: str) -> Iterator[tuple[str, Field]]:
            for found in fields:
                name = f"{prefix}{found.name}"
                yield name, found
                yield from descend(found.type.children, name + ".")

        return descend(self.fields, "")

    def leaves(self) -> Iterator[tuple[str, Field]]:
        """Every primitive field with its full dotted name, in schema order."""
        for top in self.fields:
            yield from top.leaves()

    def to_arrow(self) -> pa.Schema:
        """The Arrow schema, with the field ids under the metadata key `PARQUET:field_id`."""
        from lakelens.model.arrow import arrow_schema

        if any(f.type.logical == "unknown" and f.type.is_nested for f in self.fields):
            raise Unsupported("a nested type of an unknown kind has no Arrow type")
        return arrow_schema(self.fields)


class Schemas(Items[Schema]):
    """The schemas of a table that are known, by id."""

    __slots__ = ()
    facts = (
        Fact("id", "int64"),
        Fact("names", "strings", lambda schema: schema.names),
        Fact("types", "strings", lambda schema: [str(field.type) for field in schema.fields]),
        Fact("identifier_names", "strings", lambda schema: schema.identifier_names),
    )


@dataclass(frozen=True, slots=True, repr=False)
class PartitionField(Displayable):
    """One part of a partitioning: `name`, the source column's id and name, the `transform` as the specification words it.

    Paimon and Hive partition by columns as they are: transform `identity`, no field id.
    """

    name: str
    source_id: int | None
    source_name: str
    transform: str
    field_id: int | None = None
    result_type: DataType | None = None

    def __repr__(self) -> str:
        return f"<PartitionField {self}>"

    def __str__(self) -> str:
        return self.source_name if self.transform == "identity" else f"{self.transform}({self.source_name})"


@show_stored("partitioning")
@dataclass(frozen=True, slots=True, repr=False)
class PartitionSpec(Explainable, Displayable):
    """How rows were divided: an Iceberg partition spec, or the partition columns of Paimon and Hive (id None)."""

    id: int | None
    fields: tuple[PartitionField, ...] = ()
    raw: Any = field(default=None, compare=False)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        number = "" if self.id is None else f" {self.id}"
        return f"<PartitionSpec{number}: {', '.join(str(f) for f in self.fields) or 'unpartitioned'}>"

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[PartitionField]:
        return iter(self.fields)


class PartitionSpecs(Items[PartitionSpec]):
    """The partitionings of a table that are known, by id."""

    __slots__ = ()
    facts = (
        Fact("id", "int64"),
        Fact("fields", "strings", lambda spec: [str(field) for field in spec.fields]),
    )


@dataclass(frozen=True, slots=True)
class SortField(Named):
    """One part of a sort order: column, transform, `direction` (asc/desc), `null_order` (nulls-first/nulls-last)."""

    source_id: int | None
    source_name: str
    transform: str
    direction: str
    null_order: str

    def __str__(self) -> str:
        column = self.source_name if self.transform == "identity" else f"{self.transform}({self.source_name})"
        return f"{column} {self.direction} {self.null_order}"


@dataclass(frozen=True, slots=True, repr=False)
class SortOrder(Explainable, Displayable):
    """An Iceberg sort order; order 0 is unsorted."""

    id: int
    fields: tuple[SortField, ...] = ()
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<SortOrder {self.id}: {', '.join(map(str, self.fields)) or 'unsorted'}>"


class SortOrders(Items[SortOrder]):
    """The sort orders of a table, by id."""

    __slots__ = ()
    facts = (
        Fact("id", "int64"),
        Fact("fields", "strings", lambda order: [str(field) for field in order.fields]),
    )
