"""Files of metadata that are rows: lines of JSON, or a Parquet file; read, and written again as a walk leaves them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.model.skeleton.walk import fill_location

if TYPE_CHECKING:
    import pyarrow as pa

#: stands for a line that is no JSON, which stays damaged
DAMAGE: dict[str, Any] = {"": ""}
_encode = msgspec.json.Encoder(decimal_format="number").encode


def encode_value(value: Any) -> str:
    """Encode a value as JSON; decimals are numbers.

    >>> from decimal import Decimal
    >>> encode_value({"a": Decimal("1.50")})
    '{"a":1.50}'
    """
    try:
        return str(_encode(value), "utf-8")
    except UnicodeEncodeError:  # half of a pair of surrogates, which JSON can have as an escape
        return json.dumps(value, default=float)


def parse_lines(data: bytes) -> list[dict[str, Any]]:
    """Parse lines of JSON, each an object.

    >>> parse_lines(b'{"a":1}\\n\\n{"b"')
    [{'a': 1}, {'': ''}]
    """
    rows = []
    for line in data.split(b"\n"):
        if line.strip():
            try:
                held = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, ValueError, RecursionError):
                held = None
            rows.append(held if isinstance(held, dict) else DAMAGE)
    return rows


@dataclass(frozen=True)
class RowDocument:
    """One file: its rows, and the schema of one in Parquet; `role` says what it is, `size` how large it was."""

    role: str
    rows: list[dict[str, Any]]
    size: int = 0
    schema: pa.Schema | None = None

    def encode(self, location: str) -> bytes:
        """Encode it, with the location in place of its mark."""
        rows = fill_location(self.rows, location)
        if self.schema is None:
            return b"\n".join(b"{" if row == DAMAGE else _encode(row) for row in rows) + b"\n"
        import pyarrow as pa
        import pyarrow.parquet as pq

        made = pa.BufferOutputStream()
        listed = [
            {field.name: list_pairs(row.get(field.name), field.type) for field in self.schema} for row in rows
        ]
        try:
            table = pa.Table.from_pylist(listed, self.schema)
        except (
            pa.ArrowException,
            TypeError,
            ValueError,
            OverflowError,
        ):  # columns of types that nobody expects
            for row in listed:
                row.update({field.name: fit_value(row[field.name], field.type) for field in self.schema})
            table = pa.Table.from_pylist(listed, self.schema)
        pq.write_table(table, made)
        return bytes(made.getvalue())


def make_maps(value: Any, kind: pa.DataType) -> Any:
    """Make dicts of the maps in a value of Arrow, which are pairs there."""
    import pyarrow as pa

    if pa.types.is_map(kind) and isinstance(value, list):
        return dict(value)
    if isinstance(value, dict) and pa.types.is_struct(kind):
        return {field.name: make_maps(value.get(field.name), field.type) for field in kind}
    return value


def list_pairs(value: Any, kind: pa.DataType) -> Any:
    """Make pairs again of the dicts in a value that Arrow has as maps."""
    import pyarrow as pa

    if not isinstance(value, dict):
        return value
    if pa.types.is_map(kind):
        return list(value.items())
    if not pa.types.is_struct(kind):
        return None
    return {field.name: list_pairs(value.get(field.name), field.type) for field in kind}


def fit_value(value: Any, kind: pa.DataType) -> Any:
    """Leave out what of a value is none of a type.

    >>> import pyarrow as pa
    >>> fit_value({"a": "x", "b": 1}, pa.struct([("a", pa.int64()), ("b", pa.int64())]))
    {'a': None, 'b': 1}
    """
    import pyarrow as pa

    if isinstance(value, dict) and pa.types.is_struct(kind):
        return {field.name: fit_value(value.get(field.name), field.type) for field in kind}
    try:
        pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return value


def rename_fields(
    schema: pa.Schema, specified: Collection[str], own: Collection[str], rename: Callable[[str], str]
) -> pa.Schema:
    """Rename the fields in structs: `specified` ones stay, others are left out; below `own` ones all are renamed.

    >>> import pyarrow as pa
    >>> kind = pa.struct([("n", pa.int64()), ("bounds", pa.struct([("secret", pa.int64())])), ("x", pa.int64())])
    >>> print(rename_fields(pa.schema([("n", kind)]), ("n", "bounds"), ("bounds",), str.upper))
    n: struct<n: int64, bounds: struct<SECRET: int64>>
      child 0, n: int64
      child 1, bounds: struct<SECRET: int64>
          child 0, SECRET: int64
    """
    import pyarrow as pa

    def write(fields: Iterable[pa.Field], is_own: bool) -> Iterable[pa.Field]:
        for field in fields:
            kind = field.type
            if pa.types.is_struct(kind):
                kind = pa.struct(list(write(kind, is_own or field.name in own)))
                if not kind.num_fields:
                    continue
            if is_own or field.name in specified:
                yield pa.field(rename(field.name) if is_own else field.name, kind)

    return pa.schema(list(write(schema, False)))


def keep_ranges(data: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """Keep the first byte of a file and some ranges of it, each by offset and length; all else is zeros.

    >>> keep_ranges(b"abcdef", [(2, 2), (5, 9)]), keep_ranges(b"", [])
    (b'a\\x00cd\\x00f', b'')
    """
    kept = bytearray(data[:1].ljust(len(data), b"\0"))
    for start, length in ranges:
        if 0 <= start <= len(data) and length >= 0:
            kept[start : min(start + length, len(data))] = data[start : start + length]
    return bytes(kept)
