"""The structures of a Parquet footer by Thrift field id: schema leaves, key-values, row groups, column chunks.

    FileMetaData   1 version, 2 schema, 3 num_rows, 4 row_groups, 5 key_value_metadata, 6 created_by
    SchemaElement  1 type, 3 repetition, 4 name, 5 num_children, 6 converted_type, 7 scale, 8 precision, 9 field_id,
                   10 logicalType
    RowGroup       1 columns, 2 total_byte_size, 3 num_rows, 4 sorting_columns (1 column, 2 descending, 3 nulls first)
    ColumnChunk    3 meta_data, 4 offset_index_offset, 6 column_index_offset, 8 crypto_metadata, 9 encrypted metadata
    ColumnMetaData 1 type, 2 encodings, 3 path, 4 codec, 5 num_values, 6 uncompressed, 7 compressed, 9 data page,
                   11 dictionary page, 12 statistics, 14 bloom filter offset
    Statistics     1 max, 2 min (old, signed order), 3 null_count, 4 distinct_count, 5 max_value, 6 min_value

Follows `parquet.thrift` of the Apache Parquet format. Refused with `Corrupt`: members that are missing or of another type, a
schema whose tree does not add up, row groups that do not have every leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from lakelens.codecs.parquet.enums import CODECS, ENCODINGS, PHYSICAL, decode_statistic, logical_type, name_of
from lakelens.errors import Corrupt, Unsupported

MAX_DEPTH = 100
OPTIONAL, REPEATED = 1, 2


@dataclass(frozen=True, slots=True)
class SchemaLeaf:
    """One leaf of the schema tree: a column that has pages."""

    path: str
    physical_type: str
    logical_type: str | None
    field_id: int | None
    max_definition_level: int
    max_repetition_level: int


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """One column in one row group. Sizes in bytes; `min` and `max` are Python values or None when not stored or not telling,
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
    """Takes members of one decoded Thrift struct and says what is wrong with those that are not as they must be."""

    def __init__(self, structure: Mapping[int, Any], path: str | None, offset: int) -> None:
        self.structure, self.path, self.offset = structure, path, offset

    def fail(self, message: str, *, expected: object = None, seen: object = None) -> NoReturn:
        raise Corrupt(message, path=self.path, offset=self.offset, expected=expected, seen=seen)

    def integer(self, number: int, what: str) -> int:
        """A required number that is not negative."""
        value = self.structure.get(number)
        if type(value) is not int or value < 0:
            self.fail(f"no proper {what} in the footer", expected="a number", seen=value)
        return value

    def optional(self, number: int) -> int | None:
        """An optional number; None when it is absent, of another type or negative."""
        value = self.structure.get(number)
        return value if type(value) is int and value >= 0 else None

    def sequence(self, number: int, what: str) -> list[Any]:
        value = self.structure.get(number)
        if not isinstance(value, list):
            self.fail(f"no list of {what} in the footer", seen=value)
        return value

    def structs(self, number: int, what: str) -> list[StructReader]:
        return [self.of(value, what) for value in self.sequence(number, what)]

    def of(self, value: object, what: str) -> StructReader:
        if not isinstance(value, dict):
            self.fail(f"a member of the {what} is no structure", seen=value)
        return StructReader(value, self.path, self.offset)


def decode_key_values(footer: StructReader) -> dict[str, str | bytes]:
    """The file's own key-value metadata: values as text where they are UTF-8."""
    found: dict[str, str | bytes] = {}
    for pair in footer.structs(5, "key-values") if 5 in footer.structure else []:
        key, value = pair.structure.get(1), pair.structure.get(2, b"")
        if not isinstance(key, bytes) or not isinstance(value, bytes):
            footer.fail("a key-value pair that is no text", seen=key)
        try:
            found[key.decode(errors="replace")] = value.decode()
        except UnicodeDecodeError:
            found[key.decode(errors="replace")] = value
    return found


def decode_leaves(footer: StructReader) -> tuple[SchemaLeaf, ...]:
    """The leaves of the schema, which the footer stores as a tree in depth-first order."""
    elements = footer.structs(2, "schema")
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
    """Takes the element `at` with all below it; gives the place after them."""
    if at >= len(elements) or len(names) > MAX_DEPTH:
        elements[0].fail("a schema whose tree does not add up", expected=f"{len(elements)} elements")
    element = elements[at]
    stored = element.structure.get(4)
    name = stored.decode(errors="replace") if isinstance(stored, bytes) else ""
    repetition = element.structure.get(3)
    definition, repeated = levels
    if at:  # the root has no levels and no part in the names
        names = (*names, name)
        definition += repetition in (OPTIONAL, REPEATED)
        repeated += repetition == REPEATED
    children = element.optional(5) or 0
    if not children and (at or 1 in element.structure):
        leaves.append(
            SchemaLeaf(
                path=".".join(names),
                physical_type=name_of(PHYSICAL, element.structure.get(1)),
                logical_type=logical_type(element.structure),
                field_id=element.optional(9),
                max_definition_level=definition,
                max_repetition_level=repeated,
            )
        )
    at += 1
    for _ in range(children):
        at = _walk(elements, at, names, (definition, repeated), leaves)
    return at


def decode_row_groups(
    structure: Mapping[int, Any], leaves: tuple[SchemaLeaf, ...], path: str | None, offset: int = 0
) -> tuple[RowGroup, ...]:
    """Every row group with its column chunks, in file order."""
    footer = StructReader(structure, path, offset)
    return tuple(_row_group(i, group, leaves) for i, group in enumerate(footer.structs(4, "row groups")))


def _row_group(index: int, group: StructReader, leaves: tuple[SchemaLeaf, ...]) -> RowGroup:
    columns = group.structs(1, "column chunks")
    if len(columns) != len(leaves):
        group.fail("a row group without every column", expected=len(leaves), seen=len(columns))
    chunks = tuple(_chunk(column, leaf) for column, leaf in zip(columns, leaves, strict=True))
    return RowGroup(
        index=index,
        num_rows=group.integer(3, "row count of a row group"),
        start=min((chunk.start for chunk in chunks), default=0),
        compressed_size=sum(chunk.compressed_size for chunk in chunks),
        uncompressed_size=group.integer(2, "byte size of a row group"),
        sorting_columns=tuple(_sorting(leaves, part) for part in group.structs(4, "sort order"))
        if 4 in group.structure
        else (),
        columns=chunks,
    )


def _sorting(leaves: tuple[SchemaLeaf, ...], column: StructReader) -> str:
    index = column.optional(1)
    name = leaves[index].path if index is not None and index < len(leaves) else f"column {index}"
    direction = "desc" if column.structure.get(2) else "asc"
    return f"{name} {direction} nulls {'first' if column.structure.get(3) else 'last'}"


def _chunk(column: StructReader, leaf: SchemaLeaf) -> ColumnChunk:
    if 3 not in column.structure and (8 in column.structure or 9 in column.structure):
        raise Unsupported(f"the column {leaf.path} is encrypted", path=column.path)
    metadata = column.of(column.structure.get(3), "column chunks")
    physical = name_of(PHYSICAL, metadata.structure.get(1))
    if physical != leaf.physical_type:
        column.fail(
            f"the type of a chunk of {leaf.path} is not its column's",
            expected=leaf.physical_type,
            seen=physical,
        )
    statistics = metadata.of(metadata.structure.get(12, {}), "statistics")
    low, high, low_raw, high_raw = _stored_bounds(statistics.structure, leaf)
    data_page = metadata.integer(9, "data page offset")
    dictionary = metadata.optional(11) or None  # some writers store 0 for "no dictionary page"
    encodings = metadata.sequence(2, "encodings")
    return ColumnChunk(
        path=leaf.path,
        physical_type=leaf.physical_type,
        compression=name_of(CODECS, metadata.structure.get(4)),
        encodings=tuple(dict.fromkeys(_encoding(encoding) for encoding in encodings)),
        num_values=metadata.integer(5, "value count"),
        compressed_size=metadata.integer(7, "compressed size"),
        uncompressed_size=metadata.integer(6, "uncompressed size"),
        start=data_page if dictionary is None else min(dictionary, data_page),
        min=low,
        max=high,
        null_count=statistics.optional(3),
        distinct_count=statistics.optional(4),
        dictionary_page_offset=dictionary,
        data_page_offset=data_page,
        bloom_filter_offset=metadata.optional(14),
        has_column_index=6 in column.structure,
        has_offset_index=4 in column.structure,
        min_raw=low_raw,
        max_raw=high_raw,
    )


def _encoding(number: object) -> str:
    return name_of(ENCODINGS, number) if isinstance(number, int) else "unknown"


def _stored_bounds(
    statistics: Mapping[int, Any], leaf: SchemaLeaf
) -> tuple[Any, Any, bytes | None, bytes | None]:
    """min, max and the bytes of both; a side that tells nothing is None."""
    low, high = statistics.get(6), statistics.get(5)
    if (
        low is None
        and high is None
        and leaf.physical_type in ("BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE")
    ):
        low, high = (
            statistics.get(2),
            statistics.get(1),
        )  # old members: right only where the order is the signed one
    least, most = _bound(low, leaf), _bound(high, leaf)
    return least, most, None if least is None else low, None if most is None else high


def _bound(data: object, leaf: SchemaLeaf) -> Any:
    value = decode_statistic(data, leaf.physical_type, leaf.logical_type) if isinstance(data, bytes) else None
    return None if value is None or value != value else value  # a NaN says nothing
