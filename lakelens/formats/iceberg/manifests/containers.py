"""What manifests and manifest lists are stored in: Avro files or, as format version 4 has manifests, Parquet files.

The container is known by its magic (`Obj\\x01`, `PAR1`), never by the format version or by a name. Both give the same: a
header with the schema of the records (every field with its id) and the key/values, and records of the same shape. A Parquet
file has its key/values in its footer (`schema`, `partition-spec`, `partition-spec-id`, `format-version`, `content`).

Fields of a Parquet manifest whose type is not the specified one are left out and named in `problems`; without one of those
that every entry needs the manifest is refused. Version 4 is a draft: of fields that it may add later only the names are
known.

Follows "Manifests" and "Manifest Lists" of the Iceberg table specification.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, overload

from lakelens.codecs.avro.records import AvroHeader, AvroRecords, decode_header, iter_records
from lakelens.codecs.avro.schema import find_record
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.formats.contents import read_facts
from lakelens.formats.iceberg.encryption import refuse_encrypted
from lakelens.formats.iceberg.manifests.records import ENTRY_FIELDS, FILE_FIELDS, find_field, unwrap
from lakelens.installed import has_arrays
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.parquet.footer import ParquetFooter
    from lakelens.io.store import Store

#: Headers are rarely longer: they hold a table schema and the schema of an entry.
HEADER_BYTES = 64 * 1024
#: Fields of the draft of version 4 that no release of Iceberg writes yet.
DRAFT_FIELDS = {
    146: "content_stats",
    147: "tracking",
    148: "deletion_vector",
    150: "manifest_info",
    157: "format_version",
}
_PARQUET = b"PAR1"
_PIECE = 1024
_NEEDED = (2, 0, 100)
_LONGS = ("int", "long")
_COUNTS, _BOUNDS = ("map", _LONGS), ("map", ("bytes",))
# of each specified field the types that are read; a map or an array has those of its values beside
_TYPES: Mapping[int, Any] = {
    **dict.fromkeys((0, 134, 106, 140), ("int",)),
    **dict.fromkeys((1, 3, 4, 103, 104, 105, 142, 144, 145), _LONGS),
    **dict.fromkeys((100, 101, 143), ("string",)),
    **dict.fromkeys((2, 102), ("record",)),
    **dict.fromkeys((108, 109, 110, 137, 111), _COUNTS),
    **dict.fromkeys((125, 128), _BOUNDS),
    **dict.fromkeys((107, 132, 135), ("array", _LONGS)),
    131: ("bytes",),
}


@dataclass(frozen=True, slots=True)
class ParquetHeader:
    """What a Parquet manifest says of itself; `schema` is the Avro schema that the same records have elsewhere.

    `problems` are fields that cannot be read, in words, `unknown` the names of those that are not specified.
    """

    footer: ParquetFooter = field(repr=False)
    schema: Mapping[str, Any] = field(repr=False)
    metadata: dict[str, bytes] = field(repr=False)
    problems: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def record(self) -> Mapping[str, Any]:
        """The schema of the records."""
        return self.schema

    @property
    def codec(self) -> str:
        """How the columns are compressed; of several ways the first."""
        return next((name for column in self.footer.columns for name in column.compression), "none").lower()

    @property
    def header_size(self) -> int:
        """Bytes of the footer, with its length and the magic at both ends."""
        return self.footer.serialized_size + 12


Header = AvroHeader | ParquetHeader


@dataclass(slots=True)
class StoredRecords:
    """A manifest or manifest list that was read: where it is, its header, and its bytes until they are taken."""

    path: str
    header: Header
    data: bytes

    def take(self) -> bytes:
        """Take the bytes, which are not kept."""
        data, self.data = self.data, b""
        return data


def is_parquet(data: bytes) -> bool:
    """Check whether bytes begin as a Parquet file does.

    >>> is_parquet(b"PAR1...."), is_parquet(b"Obj\\x01")
    (True, False)
    """
    return data[:4] == _PARQUET


def decode_head(data: bytes, path: str) -> Header:
    """Decode the header of a manifest or manifest list. Raises `LakeError` for anything else."""
    refuse_encrypted(data, path)
    if is_parquet(data):
        from lakelens.codecs.parquet.footer import decode_footer

        return make_header(decode_footer(io.BytesIO(data), path), path)
    header = decode_header(data, path)
    if find_record(header.schema) is None:
        raise Unsupported("the Avro file does not hold records", path=path)
    return header


def read_head(store: Store, path: str) -> Header:
    """Read the same of a stored file, of which little more is read than its header or footer. Raises `LakeError`."""
    data = store.read_range(path, 0, HEADER_BYTES)
    if is_parquet(data):
        return make_header(read_facts(store, path, "parquet"), path)
    try:
        return decode_head(data, path)
    except LakeError:
        if len(data) < HEADER_BYTES:
            raise
    return decode_head(store.read(path), path)  # longer than what was read of it


def make_header(footer: ParquetFooter, path: str) -> ParquetHeader:
    """The header of a Parquet file, its schema reduced to what can be read. Raises `Corrupt` without a needed field."""
    metadata = {
        key: value.encode() if isinstance(value, str) else value for key, value in footer.key_values.items()
    }
    schema = _describe(footer, path)
    _check_names(schema, path)
    if find_field(schema, 2, "data_file") is None:
        return ParquetHeader(footer, schema, metadata)  # no manifest: a list, or what its reader refuses
    problems: list[str] = []
    unknown: list[str] = []
    kept = _keep_readable(schema, ENTRY_FIELDS, path, problems, unknown)
    fields = []
    for one in kept["fields"]:
        inner = (
            unwrap(one["type"], "record") if one.get("field-id") == 2 or one["name"] == "data_file" else {}
        )
        changed = (
            {**one, "type": _keep_readable(inner, FILE_FIELDS, path, problems, unknown)} if inner else one
        )
        fields.append(changed)
    return ParquetHeader(footer, {**kept, "fields": fields}, metadata, tuple(problems), tuple(unknown))


def _describe(footer: ParquetFooter, path: str) -> dict[str, Any]:
    """Describe the schema of a Parquet file in the words of Avro. Raises `LakeError`."""
    from lakelens.codecs.parquet.footer import pyarrow_errors
    from lakelens.codecs.parquet.records import describe_schema
    from lakelens.codecs.parquet.schema_tree import decode_tree, describe_tree

    if not has_arrays():
        return describe_tree(decode_tree(footer))
    with pyarrow_errors(path):
        return describe_schema(footer.schema_arrow)


def _check_names(kind: Any, path: str) -> None:
    """Raises `Corrupt` where a record has two fields of one name: which one is meant nobody knows."""
    if isinstance(kind, list):
        for branch in kind:
            _check_names(branch, path)
    elif isinstance(kind, Mapping):
        names = [one["name"] for one in kind.get("fields", ())]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = "a record with two fields of one name"
            raise Corrupt(message, path=path, json_path="schema", seen=twice)
        for one in (
            *(field["type"] for field in kind.get("fields", ())),
            kind.get("items"),
            kind.get("type"),
        ):
            _check_names(one, path)


def _keep_readable(
    record: Mapping[str, Any], known: Mapping[int, str], path: str, problems: list[str], unknown: list[str]
) -> dict[str, Any]:
    """Leave out of a record the fields that have another type than the specified one."""
    numbers = {name: number for number, name in known.items()}
    kept, present = [], set()
    for column in record["fields"]:
        number = column.get("field-id", numbers.get(column["name"], -1))
        if number in DRAFT_FIELDS or number not in known:
            unknown.append(f"{column['name']} ({number})" if number >= 0 else column["name"])
        wanted = _TYPES.get(number) if number in known else None
        present.add(number)
        if wanted is None or _matches(column["type"], wanted):
            kept.append(column)
        elif number in _NEEDED:
            seen = _name_type(column["type"])
            message = f"a manifest whose field {known[number]} ({number}) has another type"
            raise Corrupt(message, path=path, json_path="schema", expected=wanted[0], seen=seen)
        else:
            expected = f"{wanted[0]} of {wanted[1][-1]}" if wanted[0] in ("map", "array") else wanted[-1]
            words = f"{known[number]} ({number}) is {_name_type(column['type'])}, not {expected}"
            problems.append(f"{words}: it is not read")
    for number in _NEEDED:
        if number in known and number not in present:
            names = ", ".join(column["name"] for column in record["fields"]) or "no fields"
            message = f"a manifest without the field {known[number]} ({number})"
            raise Corrupt(message, path=path, json_path="schema", expected=known[number], seen=names)
    required = (101, 103, 104) if known is FILE_FIELDS else ()
    problems += [f"{known[number]} ({number}) is missing" for number in required if number not in present]
    return {**record, "fields": kept}


def _matches(kind: Any, wanted: tuple[Any, ...]) -> bool:
    if isinstance(kind, list):
        return any(_matches(branch, wanted) for branch in kind if branch != "null")
    name = kind.get("type") if isinstance(kind, Mapping) else kind
    if wanted[0] in ("map", "array"):
        if not isinstance(kind, Mapping) or name != "array":
            return False
        if wanted[0] == "array":
            return _matches(kind["items"], wanted[1])
        pair = unwrap(kind["items"], "record").get("fields", ())
        is_map = kind.get("logicalType") == "map" or [one["name"] for one in pair] == ["key", "value"]
        return is_map and _matches(pair[0]["type"], _LONGS) and _matches(pair[1]["type"], wanted[1])
    return name in wanted and (name == "record" or not isinstance(kind, Mapping))


def _name_type(kind: Any) -> str:
    if isinstance(kind, list):
        return " or ".join(_name_type(branch) for branch in kind if branch != "null")
    if not isinstance(kind, Mapping):
        return str(kind)
    return str(kind.get("logicalType") or kind.get("type"))


def iterate_records(data: bytes, path: str, header: Header) -> Iterator[dict[str, Any]]:
    """Iterate the records of a file whose header was decoded. Raises `LakeError` where one cannot be decoded."""
    if isinstance(header, AvroHeader):
        yield from iter_records(data, path, header)
        return
    if not has_arrays():
        for rows in iterate_rows(data, header):
            yield from rows
        return
    for table in iterate_tables(data, path, header):
        for start in range(0, table.num_rows, _PIECE):
            yield from table.slice(start, _PIECE).to_pylist()


def iterate_rows(data: bytes, header: ParquetHeader) -> Iterator[list[dict[str, Any]]]:
    """Iterate the records of a Parquet file some thousand at a time, without any package."""
    from lakelens.codecs.parquet import rows as parquet

    chosen = {
        field["name"]: [child["name"] for child in unwrap(field["type"], "record").get("fields", ())]
        for field in header.schema["fields"]
    }
    for rows in parquet.iterate_rows(data, header.footer, chosen.keys(), "stored"):
        for row in rows if header.problems else ():
            for name, inner in chosen.items():
                if inner and isinstance(row[name], dict):
                    row[name] = {child: row[name][child] for child in inner}
        yield rows


def iterate_tables(data: bytes, path: str, header: ParquetHeader) -> Iterator[pa.Table]:
    """Iterate the records of a Parquet file by column, some thousand at a time, as Avro's bulk reader gives them."""
    from lakelens.codecs.parquet.records import iter_plain_tables

    for table in iter_plain_tables(data, header.footer, path):
        yield _select(table, header.schema) if header.problems else table


def _select(table: pa.Table, schema: Mapping[str, Any]) -> pa.Table:
    """Select the columns, and the fields of the data file, that a schema has."""
    import pyarrow as pa

    columns = {}
    for one in schema["fields"]:
        array = table[one["name"]].combine_chunks()
        inner = unwrap(one["type"], "record")
        if inner and pa.types.is_struct(array.type):
            names = [child["name"] for child in inner["fields"]]
            mask = array.is_null() if array.null_count else None
            array = pa.StructArray.from_arrays([array.field(name) for name in names], names, mask=mask)
        columns[one["name"]] = array
    return pa.table(columns)


def open_records(data: bytes, path: str, header: Header) -> AvroRecords | ParquetRecords:
    """Open the records by their numbers."""
    if isinstance(header, AvroHeader):
        return AvroRecords(data, path, header)
    return ParquetRecords(data, path, header)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some records that follow each other: how many, their bytes, and one by its number."""

    rows: int
    size_bytes: int
    find: Callable[[int], dict[str, Any]]


def _iterate_pieces(data: bytes, path: str, header: ParquetHeader) -> Iterator[_Piece]:
    """Iterate the records in pieces: of columns, or where these take a package that is not there, of themselves."""
    if has_arrays():
        for table in iterate_tables(data, path, header):
            find: Any = lambda number, table=table: table.slice(number, 1).to_pylist()[0]  # noqa: E731
            yield _Piece(table.num_rows, table.nbytes, find)
        return
    for rows in iterate_rows(data, header):
        share = (
            8 * len(data) * len(rows) // max(1, header.footer.num_rows)
        )  # a record takes more than what is stored
        yield _Piece(len(rows), share, rows.__getitem__)


class ParquetRecords(Sequence[dict[str, Any]]):
    """The records of a Parquet manifest by their numbers, each made when it is asked for from columns that are kept.

    Asking for one behind damage raises what `iterate_records` raises; `len` is what the footer counts.
    """

    def __init__(self, data: bytes, path: str, header: ParquetHeader) -> None:
        self._rows = header.footer.num_rows
        self._pieces: list[_Piece] = []
        self._error: LakeError | None = None
        try:
            self._pieces.extend(_iterate_pieces(data, path, header))
        except LakeError as error:
            self._error = error.without_frames()

    @property
    def size_bytes(self) -> int:
        """The bytes of what is kept."""
        return sum(piece.size_bytes for piece in self._pieces)

    def __len__(self) -> int:
        return self._rows

    @overload
    def __getitem__(self, number: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, number: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        left = number
        for piece in self._pieces if number >= 0 else ():
            if left < piece.rows:
                return piece.find(left)
            left -= piece.rows
        if self._error is not None:
            raise self._error
        raise IndexError(number)
