"""From the model's types and values to Arrow: exact for every value, also those that Python's datetime cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from lakelens.codecs.moments import FarTime, NanoTimestamp, Unit
from lakelens.errors import LakeError
from lakelens.installed import has_arrays

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from lakelens.model.schema import DataType, Field

_EPOCH = date(1970, 1, 1)
_EPOCH_TIME = datetime(1970, 1, 1)


def arrow_type(kind: DataType) -> pa.DataType:
    """The Arrow type that holds every value of a type exactly."""
    from lakelens.arrays import pa

    plain = {
        "boolean": pa.bool_(),
        "int8": pa.int8(),
        "int16": pa.int16(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "float32": pa.float32(),
        "float64": pa.float64(),
        "date": pa.date32(),
        "string": pa.string(),
        "unknown": pa.null(),
        "uuid": pa.uuid(),
    }
    if kind.logical in plain:
        return plain[kind.logical]
    if kind.logical == "decimal":
        wide = kind.precision > 38
        return (pa.decimal256 if wide else pa.decimal128)(kind.precision or 38, kind.scale)
    if kind.logical == "time":
        return pa.time32("ms") if kind.precision <= 3 else pa.time64("us" if kind.precision <= 6 else "ns")
    if kind.logical in ("timestamp", "timestamptz"):
        unit = "ms" if kind.precision <= 3 else "us" if kind.precision <= 6 else "ns"
        return pa.timestamp(unit, tz="UTC" if kind.logical == "timestamptz" else None)
    if kind.logical == "fixed" and kind.length > 0:
        return pa.binary(kind.length)
    return _nested_type(kind)


def _nested_type(kind: DataType) -> pa.DataType:
    from lakelens.arrays import pa

    if kind.logical == "struct":
        return pa.struct([arrow_field(child) for child in kind.children])
    if kind.logical == "list":
        return pa.list_(arrow_field(kind.children[0]))
    if kind.logical == "vector":
        return pa.list_(arrow_field(kind.children[0]), kind.length or -1)
    if kind.logical in ("map", "multiset"):
        key, value = kind.children
        return pa.map_(arrow_field(key).with_nullable(False), arrow_field(value))
    return pa.binary()


def arrow_field(column: Field) -> pa.Field:
    """One Arrow field with its id in the metadata, as Parquet writers keep it."""
    from lakelens.arrays import pa

    metadata = {b"PARQUET:field_id": str(column.id).encode()}
    if column.doc:
        metadata[b"doc"] = column.doc.encode()
    return pa.field(escape_text(column.name), arrow_type(column.type), column.nullable, metadata)


def arrow_schema(fields: Iterable[Field]) -> pa.Schema:
    """The Arrow schema of a row of fields."""
    import pyarrow as pa

    return pa.schema([arrow_field(column) for column in fields])


def read_cell(cell: Any) -> Any:
    """Read a value as Python has it: a map as a dictionary, a time after the year 9999 as text.

    A struct that Python cannot have as a dictionary, two of its fields having one name, is a list of names and values; in a
    text that is not UTF-8 the bytes that say nothing are replaced.
    """
    from lakelens.arrays import pa

    try:
        value = cell.as_py()
    except (ValueError, OverflowError):
        if pa.types.is_struct(cell.type):
            return [(field.name, read_cell(cell[place])) for place, field in enumerate(cell.type)]
        if isinstance(cell, pa.StringScalar | pa.LargeStringScalar | pa.StringViewScalar):
            return cell.as_buffer().to_pybytes().decode(errors="replace")
        try:
            return str(cell.cast(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return f"a value of type {cell.type}"
    return dict(value) if value is not None and pa.types.is_map(cell.type) else value


def drop_empty_structs(table: pa.Table) -> pa.Table:
    """Drop structs without fields (the bounds of a table without columns): engines and Parquet know no such type."""
    import pyarrow as pa

    kept = [
        field.name
        for field in table.schema
        if not (pa.types.is_struct(field.type) and not field.type.num_fields)
    ]
    return table if len(kept) == table.num_columns else table.select(kept)


def read_rows(table: pa.Table, size: int = 5_000) -> Iterator[list[list[Any]]]:
    """Read rows as Python has their values, some at a time; one that Python does not have is as `read_cell` has it.

    >>> import pyarrow as pa
    >>> list(read_rows(pa.table({"id": [1, 2]})))
    [[[1], [2]]]
    """
    for start in range(0, len(table), size):
        columns = []
        for column in table.slice(start, size).columns:
            try:
                columns.append(column.to_pylist())
            except (ValueError, OverflowError):
                columns.append([read_cell(cell) for cell in column])
        yield [list(row) for row in zip(*columns, strict=True)]


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Make a pandas DataFrame of an Arrow table; a value that Python does not have is text in it, as `read_cell` has it.

    >>> import pyarrow as pa
    >>> to_pandas(pa.table({"day": pa.array([0, -11_644_473], pa.date32())}))["day"].tolist()
    [datetime.date(1970, 1, 1), '-29912-07-07']
    """
    import pandas as pd

    try:
        frame: pd.DataFrame = table.to_pandas()
    except (ValueError, OverflowError):
        columns = []
        for column in table.columns:
            try:
                columns.append(column.to_pandas())
            except (ValueError, OverflowError):
                columns.append(pd.Series([read_cell(cell) for cell in column], dtype=object))
        frame = pd.concat(columns, axis=1)
        frame.columns = pd.Index(table.column_names)
    return frame


def to_polars(table: pa.Table) -> Any:
    """Make a polars DataFrame of an Arrow table; needs polars.

    What a file says of itself beside its columns stays behind: polars ends the process's thread over metadata
    that is no text.
    Raises `LakeError` for a table that polars cannot take.

    >>> import pyarrow as pa
    >>> to_polars(pa.table({"id": [1, 2]}).replace_schema_metadata({"writer": b"\\xff"})).shape
    (2, 1)
    """
    import polars

    try:
        return polars.from_arrow(table.replace_schema_metadata(None))
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise LakeError(f"polars cannot take this table: {error}") from error


def to_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An Arrow array of decoded values; a value that the type cannot hold becomes null.

    >>> import pyarrow as pa
    >>> to_array([date(1970, 1, 2), None], pa.date32())[0].as_py()
    datetime.date(1970, 1, 2)
    """
    from lakelens.arrays import pa

    if pa.types.is_date32(kind):
        return pa.array([_days(v) for v in values], pa.int32()).view(kind)
    if pa.types.is_timestamp(kind):
        ticks = [_ticks(v, kind.unit) for v in values]
        return pa.array(ticks, pa.int64()).view(kind)
    if isinstance(kind, pa.UuidType):
        stored = [getattr(v, "bytes", v) for v in values]
        return pa.ExtensionArray.from_storage(kind, pa.array(stored, pa.binary(16)))
    if pa.types.is_nested(kind):
        values = [_to_engine_value(value) for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
        return _convert_singly(values, kind)


def _to_engine_value(value: Any) -> Any:
    """Make times within nested values those of pandas and numpy, of which Arrow takes every digit; ours takes them all."""
    if not has_arrays():
        return value
    if isinstance(value, NanoTimestamp):
        return value.to_pandas()
    if isinstance(value, FarTime):
        return value.to_numpy()
    if isinstance(value, dict):
        return {key: _to_engine_value(inner) for key, inner in value.items()}
    return [_to_engine_value(inner) for inner in value] if isinstance(value, list) else value


def _convert_singly(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Convert one value at a time, so that a single odd value costs only itself."""
    from lakelens.arrays import pa

    converted = []
    for value in values:
        try:
            converted.append(pa.scalar(escape_text(value) if isinstance(value, str) else value, kind))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
            converted.append(pa.scalar(None, kind))
    return pa.array([scalar.as_py() for scalar in converted], kind)


def text_array(texts: Sequence[str | None]) -> pa.Array:
    r"""An Arrow array of names: bytes of a file's name that are not UTF-8 are in it as backslash escapes.

    >>> text_array(["k=1/a", "k=\udcff/b"]).to_pylist()
    ['k=1/a', 'k=\\xff/b']
    """
    from lakelens.arrays import pa

    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return pa.array([None if text is None else escape_text(text) for text in texts], pa.string())


def escape_text(text: str) -> str:
    r"""Escape a text that Arrow takes: bytes of a name that are not UTF-8, and halves of characters, as backslash escapes.

    >>> escape_text("k\udcff"), escape_text("\ud800"), escape_text("é")
    ('k\\xff', '\\ud800', 'é')
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a character, from a document
        return text.encode("utf-8", "backslashreplace").decode()


def make_struct(children: Sequence[pa.Array], fields: Iterable[pa.Field], rows: int) -> pa.Array:
    """Make a struct array of `rows` rows, which may have no fields at all."""
    from lakelens.arrays import pa

    if not children:
        return pa.array([{}] * rows, pa.struct([]))
    return pa.StructArray.from_arrays(children, fields=list(fields))


def map_distinct(array: pa.Array, change: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """A function of each value, called once for each different one; null stays null.

    >>> import pyarrow as pa
    >>> map_distinct(pa.array(["b", None, "a", "b"]), str.upper, pa.string()).to_pylist()
    ['B', None, 'A', 'B']
    """
    coded = array.dictionary_encode()
    return to_array([change(value) for value in coded.dictionary.to_pylist()], kind).take(coded.indices)


def _days(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return (value - _EPOCH).days
    return value.count_in("D") if isinstance(value, FarTime) else _count_numpy(value, "D")


def _count_numpy(value: Any, unit: str) -> int | None:
    """Count a `numpy.datetime64`; None for a value of another type than its column."""
    return int(value.astype(f"datetime64[{unit}]").astype("int64")) if hasattr(value, "astype") else None


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _ticks(value: Any, unit: Unit) -> int | None:
    if value is None:
        return None
    if isinstance(value, FarTime):
        ticks = value.count_in(unit)
        return ticks if -(1 << 63) < ticks < 1 << 63 else None
    if not isinstance(value, datetime):
        return _count_numpy(value, unit)
    nanoseconds = int(getattr(value, "nanosecond", 0))  # NanoTimestamp, pandas.Timestamp
    plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    delta = plain.replace(microsecond=0) - _EPOCH_TIME
    seconds = delta.days * 86_400 + delta.seconds
    fraction = plain.microsecond * 1_000 + nanoseconds
    return seconds * _PER_SECOND[unit] + fraction * _PER_SECOND[unit] // 1_000_000_000


__all__ = [
    "arrow_field",
    "arrow_schema",
    "arrow_type",
    "make_struct",
    "map_distinct",
    "text_array",
    "to_array",
]
