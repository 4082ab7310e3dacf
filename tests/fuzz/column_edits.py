"""Changes inside a Parquet or ORC file by structure: one value, type, column, field id, row or key-value entry.

The file is read and written again by pyarrow without compression, so that all but the change is as a writer leaves it: its
own statistics, sizes and offsets are right.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from tests.fuzz.hostile import AVRO, CONTENTS, TEXTS

_MOST_ROWS = 3
_OTHERS = ("null", "bool", "int8", "int32", "int64", "float", "double", "string", "binary", "date32")
TYPES: dict[str, Any] = {
    **{
        name: getattr(pa, {"bool": "bool_", "float": "float32", "double": "float64"}.get(name, name))()
        for name in _OTHERS
    },
    "timestamp": pa.timestamp("ns"),
    "decimal": pa.decimal128(38, 10),
    "list": pa.list_(pa.int32()),
    "struct": pa.struct([("x", pa.int32())]),
    "map": pa.map_(pa.string(), pa.int32()),
}
_IDS = ("0", "-1", "1", "2", "2147483647", "99999999999999999999", "", "one")
_ROWS = ("none", "last", "twice", "backwards")


class Columns:
    """A file as a table of pyarrow, and how it was stored."""

    def __init__(self, data: bytes) -> None:
        self.is_orc = data[:3] == b"ORC"
        source = io.BytesIO(data)
        self.table = orc.read_table(source) if self.is_orc else pq.read_table(source)

    def build(self) -> bytes:
        """The file again."""
        target = io.BytesIO()
        if self.is_orc:
            orc.write_table(self.table, target, compression="uncompressed")
        else:
            table = self.table.replace_schema_metadata(None)
            # a schema of Arrow is what engines do not keep beside their own
            with pq.ParquetWriter(target, table.schema, compression="none", store_schema=False) as writer:
                writer.write_table(table)
                writer.add_key_value_metadata(self.read_keys())
        return target.getvalue()

    def read_keys(self) -> dict[str, str]:
        """The key-values of the file; pyarrow writes none into ORC."""
        if self.is_orc:
            return {}
        return {
            key.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
            for key, value in (self.table.schema.metadata or {}).items()
        }

    def put_keys(self, keys: dict[str, str]) -> None:
        """Other key-values."""
        packed = {
            key.encode("utf-8", "surrogateescape"): str(value).encode("utf-8", "surrogateescape")
            for key, value in keys.items()
        }
        self.table = self.table.replace_schema_metadata(packed)

    def read_rows(self) -> list[dict[str, Any]]:
        """The rows, as Python has them."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def put_rows(self, rows: list[dict[str, Any]]) -> None:
        """Other rows of the same columns: columns that did not change stay as they are."""
        before = self.read_rows()
        if len(rows) != len(before):
            self.table = pa.Table.from_pylist(rows, self.table.schema)
            return
        for number, field in enumerate(self.table.schema):
            values = [row[field.name] for row in rows]
            if repr(values) != repr([row[field.name] for row in before]):
                self.table = self.table.set_column(number, field, pa.array(values, field.type))


def change_columns(data: bytes, edit: dict[str, Any]) -> bytes:
    """A file with one thing changed: `do` is value, type, drop, rename, twice, id, optional, rows or key."""
    columns = Columns(data)
    table, what = columns.table, edit["do"]
    if what == "key":
        keys = columns.read_keys()
        if edit["value"] == "drop":
            del keys[edit["key"]]
        else:
            keys[edit["key"]] = CONTENTS[edit["value"]].decode("utf-8", "surrogateescape")
        columns.put_keys(keys)
    elif what == "rows":
        columns.table = _change_rows(table, edit["value"])
    elif what == "value":
        rows = columns.read_rows()
        *steps, last = edit["at"]
        holder: Any = rows
        for step in steps:
            holder = holder[step]
        holder[last] = None if edit["type"] == "null" else AVRO[edit["type"]][edit["value"]]
        columns.put_rows(rows)
    else:
        columns.table = _change_column(table, what, edit)
    return columns.build()


def _change_rows(table: Any, how: str) -> Any:
    if how == "twice":
        return pa.concat_tables([table, table])
    if how == "backwards":
        return table.take(list(range(len(table)))[::-1])
    return table.slice(0, 0 if how == "none" else max(0, len(table) - 1))


def _change_column(table: Any, what: str, edit: dict[str, Any]) -> Any:
    number = edit["column"]
    field, column = table.schema.field(number), table.column(number)
    if what == "drop":
        return table.remove_column(number)
    if what == "twice":
        return table.append_column(field, column)
    if what == "rename":
        return table.set_column(number, field.with_name(TEXTS[edit["value"]]), column)
    if what == "optional":
        return table.set_column(number, field.with_nullable(not field.nullable), column)
    if what == "id":
        key = b"iceberg.id" if b"iceberg.id" in (field.metadata or {}) else b"PARQUET:field_id"
        return table.set_column(
            number, field.with_metadata({**(field.metadata or {}), key: edit["value"].encode()}), column
        )
    kind = TYPES[edit["value"]]
    try:
        changed = column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        changed = pa.nulls(len(table), kind)
    return table.set_column(number, field.with_type(kind).with_nullable(True), changed)


def _list_values(kind: Any, value: Any, at: list[Any]) -> Iterator[tuple[list[Any], str]]:
    """Where in a value a primitive one is, and which of the hostile ones fit."""
    if value is None or pa.types.is_map(kind):
        yield at, "null"
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _list_values(field.type, value[field.name], [*at, field.name])
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield at, "null"
        for number, item in enumerate(value[:2]):
            yield from _list_values(kind.value_type, item, [*at, number])
    else:
        words = {
            "string": "string",
            "large_string": "string",
            "binary": "bytes",
            "int32": "int",
            "int64": "long",
        }
        words |= {"float": "float", "double": "double", "bool": "boolean"}
        yield at, words.get(str(kind), "null")


def list_column_edits(data: bytes) -> Iterator[dict[str, Any]]:
    """Every change of a file by structure, without those of values of the same column twice."""
    try:
        columns = Columns(data)
    except pa.ArrowInvalid:
        return  # a time that pyarrow cannot hold: it cannot write the file again either
    table, seen = columns.table, set()
    for key in columns.read_keys():
        for value in ("drop", *CONTENTS):
            yield {"how": "column", "do": "key", "key": key, "value": value}
    for value in _ROWS:
        yield {"how": "column", "do": "rows", "value": value}
    for number, field in enumerate(table.schema):
        base = {"how": "column", "column": number}
        yield from ({**base, "do": what} for what in ("drop", "twice", "optional"))
        yield from ({**base, "do": "id", "value": value} for value in _IDS)
        yield from ({**base, "do": "type", "value": value} for value in TYPES)
        yield from (
            {**base, "do": "rename", "value": value} for value in ("markup", "lines", "empty", "percent")
        )
        for row, value in enumerate(table.slice(0, _MOST_ROWS).column(number).to_pylist()):
            for at, kind in _list_values(field.type, value, [row, field.name]):
                same = (*("*" if isinstance(step, int) else step for step in at), kind)
                if same not in seen:
                    seen.add(same)
                    yield {"how": "column", "do": "value", "at": at, "type": "null", "value": "null"}
                    for name in AVRO.get(kind, ()):
                        yield {"how": "column", "do": "value", "at": at, "type": kind, "value": name}


def choose_columns(data: bytes, rng: random.Random) -> dict[str, Any]:
    """One change of chance."""
    return rng.choice(list(list_column_edits(data)))
