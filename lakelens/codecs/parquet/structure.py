"""What a Parquet footer says, taken from its structure: schema leaves, key-values, row groups, column chunks.

    FileMetaData ─ schema: SchemaElement …, a tree in depth-first order
                 └ row_groups: RowGroup … ─ columns: ColumnChunk … ─ meta_data: ColumnMetaData ─ statistics: Statistics

Follows `parquet.thrift` of the Apache Parquet format, whose field ids are in `thrift_schema`. Refused with `Corrupt`:
members that are missing or of another type, a schema whose tree does not add up, row groups without every leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from lakelens.codecs.parquet.thrift_schema import (
    CODECS,
    CONVERTED,
    ENCODINGS,
    FILE,
    PHYSICAL,
    UNITS,
    Struct,
    decode_statistic,
    element_shape,
)
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

MAX_DEPTH = 100
OPTIONAL, REPEATED = 1, 2
_WORDS = {"UNKNOWN": "Null", "JSON": "JSON", "BSON": "BSON", "UUID": "UUID"}
_OLD_WORDS = {"UTF8": "String", "MAP_KEY_VALUE": "Map", "JSON": "JSON", "BSON": "BSON"}


@dataclass(frozen=True, slots=True)
class SchemaLeaf:
    """One leaf of the schema tree: a column that has pages. `width` is the length of FIXED_LEN_BYTE_ARRAY values."""

    path: str
    physical_type: str
    logical_type: str | None
    field_id: int | None
    max_definition_level: int
    max_repetition_level: int
    width: int = 0


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column in one row group. Sizes in bytes; `min` and `max` are Python values or None when they are not known,
    `min_raw` and `max_raw` the bytes they were made from.

    `start` is where its pages begin: the dictionary page, if there is one, else the first data page.
    """

    path: str
    physical_type: str
    compression: str
    encodings: tuple[str, ...]
    num_values: int
    compressed_size: int
    uncompressed_size: int
    start: int
    min: Any = None
    max: Any = None
    null_count: int | None = None
    distinct_count: int | None = None
    dictionary_page_offset: int | None = None
    data_page_offset: int | None = None
    bloom_filter_offset: int | None = None
    has_column_index: bool = False
    has_offset_index: bool = False
    min_raw: bytes | None = None
    max_raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group. `start` is its first byte, `compressed_size` the bytes on disk, `uncompressed_size` without codec."""

    index: int
    num_rows: int
    start: int
    compressed_size: int
    uncompressed_size: int
    sorting_columns: tuple[str, ...]
    columns: tuple[ColumnChunk, ...]


class StructReader:
    """The members of one decoded Thrift struct by name, checked; `offset` is where the footer begins, for errors."""

    __slots__ = ("offset", "shape", "structure")

    def __init__(self, structure: Mapping[int, Any], shape: Struct, offset: int | None) -> None:
        self.structure, self.shape, self.offset = structure, shape, offset

    def __contains__(self, name: str) -> bool:
        return self.shape.ids[name] in self.structure

    def fail(self, message: str, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, offset=self.offset, expected=expected, seen=seen)

    def get(self, name: str, default: Any = None) -> Any:
        """Give a member as stored."""
        return self.structure.get(self.shape.ids[name], default)

    def integer(self, name: str) -> int:
        """A required number that is not negative."""
        value = self.structure.get(self.shape.ids[name])
        if type(value) is not int or value < 0:
            self.fail(f"no proper {self.shape.name}.{name}", expected="a number", seen=value)
        return value

    def optional(self, name: str) -> int | None:
        """An optional number; None when it is absent, of another type or negative."""
        value = self.structure.get(self.shape.ids[name])
        return value if type(value) is int and value >= 0 else None

    def sequence(self, name: str) -> list[Any]:
        """A required list."""
        value = self.get(name)
        if not isinstance(value, list):
            self.fail(f"no list of {self.shape.name}.{name}", seen=value)
        return value

    def structs(self, name: str, *, is_optional: bool = False) -> list[StructReader]:
        """A list of structures."""
        values = self.sequence(name) if name in self or not is_optional else []
        return [self.struct(name, value, i) for i, value in enumerate(values)]

    def struct(self, name: str, value: object, place: int = 0) -> StructReader:
        """A structure that is a member, or an element of one."""
        shape = self.shape.fields[self.shape.ids[name]][1]
        if not isinstance(shape, Struct):
            shape = element_shape(shape, place)
        if not isinstance(value, dict) or not isinstance(shape, Struct):
            self.fail(f"{self.shape.name}.{name} is no structure", seen=value)
        return StructReader(value, shape, self.offset)


def decode_key_values(footer: StructReader) -> dict[str, str | bytes]:
    """Decode the file's own key-value metadata: values as text where they are UTF-8."""
    found: dict[str, str | bytes] = {}
    for pair in footer.structs("key_value_metadata", is_optional=True):
        key, value = pair.get("key"), pair.get("value", b"")
        if not isinstance(key, bytes) or not isinstance(value, bytes):
            footer.fail("a key-value pair that is no text", seen=key)
        try:
            found[key.decode(errors="replace")] = value.decode()
        except UnicodeDecodeError:
            found[key.decode(errors="replace")] = value
    return found


def decode_leaves(footer: StructReader) -> tuple[SchemaLeaf, ...]:
    """Decode the leaves of the schema, which the footer stores as a tree in depth-first order."""
    elements = footer.structs("schema")
    if not elements:
        footer.fail("a footer without schema")
    leaves: list[SchemaLeaf] = []
    end = _walk(elements, 0, (), (0, 0), leaves)
    if end != len(elements):
        footer.fail("a schema whose tree does not add up", expected=f"{len(elements)} elements", seen=end)
    return tuple(leaves)


def _walk(
    elements: Sequence[StructReader],
    at: int,
    names: tuple[str, ...],
    levels: tuple[int, int],
    leaves: list[SchemaLeaf],
) -> int:
    """Takes the element `at` with all below it; returns the place after them."""
    if at >= len(elements) or len(names) > MAX_DEPTH:
        elements[0].fail("a schema whose tree does not add up", expected=f"{len(elements)} elements")
    element = elements[at]
    stored, repetition = element.get("name"), element.get("repetition_type")
    definition, repeated = levels
    if at:  # the root has no levels and no part in the names
        names = (*names, stored.decode(errors="replace") if isinstance(stored, bytes) else "")
        definition += repetition in (OPTIONAL, REPEATED)
        repeated += repetition == REPEATED
    children = element.optional("num_children") or 0
    if not children and (at or "type" in element):  # the root of an empty schema is no column
        leaves.append(
            SchemaLeaf(
                path=".".join(names),
                physical_type=PHYSICAL.find(element.get("type")),
                logical_type=logical_type(element),
                field_id=element.optional("field_id"),
                max_definition_level=definition,
                max_repetition_level=repeated,
                width=element.optional("type_length") or 0,
            )
        )
    at += 1
    for _ in range(children):
        at = _walk(elements, at, names, (definition, repeated), leaves)
    return at


def logical_type(element: StructReader) -> str | None:
    """A schema element's logical type (or the converted type of old files) in words, None when it has neither.

    >>> from lakelens.codecs.parquet.thrift_schema import SCHEMA_ELEMENT
    >>> logical_type(StructReader({6: 5, 7: 2, 8: 9}, SCHEMA_ELEMENT, None))
    'Decimal(precision=9, scale=2)'
    """
    union = element.get("logicalType")
    if isinstance(union, dict) and union:
        return _logical_union(element.struct("logicalType", union))
    if "converted_type" not in element:
        return None
    name = CONVERTED.find(element.get("converted_type"))
    kind, _, rest = name.partition("_")
    if name == "DECIMAL":
        return _decimal(element)
    if kind in ("TIME", "TIMESTAMP"):
        return f"{kind.title()}(isAdjustedToUTC=true, timeUnit={UNITS[rest]})"
    if kind in ("INT", "UINT"):
        return f"Int(bitWidth={rest}, isSigned={'true' if kind == 'INT' else 'false'})"
    return None if name.startswith("unknown") else _OLD_WORDS.get(name, name.title())


def _decimal(element: StructReader) -> str:
    return f"Decimal(precision={element.get('precision', 0)}, scale={element.get('scale', 0)})"


def _logical_union(union: StructReader) -> str:
    number, stored = next(iter(union.structure.items()))
    name = union.shape.fields.get(number, (f"unknown {number}", None))[0]
    if name.startswith("unknown"):
        return name
    inner = union.struct(name, stored if isinstance(stored, dict) else {})
    if name == "DECIMAL":
        return _decimal(inner)
    if name in ("TIME", "TIMESTAMP"):
        unit = inner.get("unit")
        units = inner.struct("unit", unit).shape.fields if isinstance(unit, dict) else {}
        unit_name = units.get(next(iter(unit), 0), ("", None))[0] if units else ""
        utc = "true" if inner.get("isAdjustedToUTC") else "false"
        return f"{name.title()}(isAdjustedToUTC={utc}, timeUnit={UNITS.get(unit_name, 'unknown')})"
    if name == "INTEGER":
        sign = "true" if inner.get("isSigned") else "false"
        return f"Int(bitWidth={inner.get('bitWidth', 0)}, isSigned={sign})"
    return _WORDS.get(name, name.title())


def decode_row_groups(
    structure: Mapping[int, Any], leaves: tuple[SchemaLeaf, ...], path: str | None
) -> tuple[RowGroup, ...]:
    """Decode every row group with its column chunks, in file order. Raises `Corrupt`, `Unsupported`."""
    with in_file(path):
        groups = StructReader(structure, FILE, None).structs("row_groups")
        return tuple(_row_group(i, group, leaves) for i, group in enumerate(groups))


def _row_group(index: int, group: StructReader, leaves: tuple[SchemaLeaf, ...]) -> RowGroup:
    columns = group.structs("columns")
    if len(columns) != len(leaves):
        group.fail("a row group without every column", expected=len(leaves), seen=len(columns))
    chunks = tuple(_chunk(column, leaf) for column, leaf in zip(columns, leaves, strict=True))
    sorting = group.structs("sorting_columns", is_optional=True)
    return RowGroup(
        index=index,
        num_rows=group.integer("num_rows"),
        start=min((chunk.start for chunk in chunks), default=0),
        compressed_size=sum(chunk.compressed_size for chunk in chunks),
        uncompressed_size=group.integer("total_byte_size"),
        sorting_columns=tuple(_format_sorting(leaves, part) for part in sorting),
        columns=chunks,
    )


def _format_sorting(leaves: tuple[SchemaLeaf, ...], column: StructReader) -> str:
    index = column.optional("column_idx")
    name = leaves[index].path if index is not None and index < len(leaves) else f"column {index}"
    direction = "desc" if column.get("descending") else "asc"
    return f"{name} {direction} nulls {'first' if column.get('nulls_first') else 'last'}"


def _chunk(column: StructReader, leaf: SchemaLeaf) -> ColumnChunk:
    if "meta_data" not in column and ("crypto_metadata" in column or "encrypted_column_metadata" in column):
        raise Unsupported(f"the column {leaf.path} is encrypted")
    metadata = column.struct("meta_data", column.get("meta_data"))
    physical = PHYSICAL.find(metadata.get("type"))
    if physical != leaf.physical_type:
        message = f"the type of a chunk of {leaf.path} is not its column's"
        column.fail(message, expected=leaf.physical_type, seen=physical)
    statistics = metadata.struct("statistics", metadata.get("statistics", {}))
    low_raw, high_raw = statistics.get("min_value"), statistics.get("max_value")
    is_signed = leaf.physical_type in ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")
    # the old members are right only where the order is the signed one
    if low_raw is None and high_raw is None and is_signed:
        low_raw, high_raw = statistics.get("min"), statistics.get("max")
    low, high = _bound(low_raw, leaf), _bound(high_raw, leaf)
    # a bound that says nothing has no bytes either
    low_raw, high_raw = None if low is None else low_raw, None if high is None else high_raw
    data_page = metadata.integer("data_page_offset")
    # some writers store 0 for "no dictionary page"
    dictionary = metadata.optional("dictionary_page_offset") or None
    return ColumnChunk(
        path=leaf.path,
        physical_type=leaf.physical_type,
        compression=CODECS.find(metadata.get("codec")),
        encodings=tuple(dict.fromkeys(map(ENCODINGS.find, metadata.sequence("encodings")))),
        num_values=metadata.integer("num_values"),
        compressed_size=metadata.integer("total_compressed_size"),
        uncompressed_size=metadata.integer("total_uncompressed_size"),
        start=data_page if dictionary is None else min(dictionary, data_page),
        min=low,
        max=high,
        null_count=statistics.optional("null_count"),
        distinct_count=statistics.optional("distinct_count"),
        dictionary_page_offset=dictionary,
        data_page_offset=data_page,
        bloom_filter_offset=metadata.optional("bloom_filter_offset"),
        has_column_index="column_index_offset" in column,
        has_offset_index="offset_index_offset" in column,
        min_raw=low_raw,
        max_raw=high_raw,
    )


def _bound(data: object, leaf: SchemaLeaf) -> Any:
    value = decode_statistic(data, leaf.physical_type, leaf.logical_type) if isinstance(data, bytes) else None
    return None if value is None or value != value else value  # a NaN says nothing
