"""From Arrow's types to Spark's: one mapping, also for values that Spark has no type for.

    Arrow                                    Spark
    bool, int8 … int64, float, double        BOOLEAN, TINYINT … BIGINT, FLOAT, DOUBLE
    date32                                   DATE
    timestamp without zone / with            TIMESTAMP_NTZ / TIMESTAMP, in microseconds; finer ones are rounded outwards:
                                             down, and up in `upper_bounds`; what 64 bits of microseconds cannot hold is null
    time32, time64                           STRING, as in 12:30:00.000001 (its order is that of the times)
    decimal of up to 38 digits               DECIMAL; others STRING
    string, binary, fixed-size binary        STRING, BINARY
    uuid                                     STRING, in lower case with hyphens, as Iceberg's Spark shows it
    null (a column of unknown type)          STRING, always null: VOID cannot be stored by most writers
    list, fixed-size list, map, struct       ARRAY, ARRAY, MAP, STRUCT of the same; names of fields stay as they are

Field names such as `a.b` or `x#3` need backticks in SQL: ``lower_bounds.`a.b` ``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

_ROUNDED_UP = "upper_bounds"
_PER_TICK = {"s": 1_000_000, "ms": 1_000}
_MOST_DIGITS = 38


def spark_schema(schema: pa.Schema) -> StructType:
    """The Spark schema of a DataFrame with the columns of an Arrow schema. Needs PySpark.

    Parameters
    ----------
    schema
        An Arrow schema.

    Examples
    --------
    >>> import pyarrow as pa
    >>> spark_schema(pa.schema([("id", pa.uuid()), ("at", pa.timestamp("ns"))])).simpleString()
    'struct<id:string,at:timestamp_ntz>'
    """
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(field.name, _spark_type(carrier_type(field.type))) for field in schema])


def carrier_schema(schema: pa.Schema) -> pa.Schema:
    """The Arrow schema in which batches of a schema travel to Spark."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, carrier_type(field.type)) for field in schema])


def carry_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Carry a record batch in types that Spark reads; `schema` is the `carrier_schema` of the batch's.

    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"at": pa.array([1], pa.time32("s"))})
    >>> carry_batch(batch, carrier_schema(batch.schema)).to_pylist()
    [{'at': '00:00:01'}]
    """
    import pyarrow as pa

    arrays = [
        _carry(array, field.type, field.name == _ROUNDED_UP)
        for array, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def carrier_type(kind: pa.DataType) -> pa.DataType:
    """Choose the Arrow type in which values of a type travel to Spark: itself, where Spark's workers and the JVM read it."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, carrier_type(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(carrier_type(kind.key_type), carrier_type(kind.item_type))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(carrier_type(kind.value_type))
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if types.is_decimal(kind):
        held = 0 < kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision
        return pa.decimal128(kind.precision, kind.scale) if held else pa.string()
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return pa.binary()
    numbers = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64())
    plain = (*numbers, pa.bool_(), pa.date32(), pa.string())
    return kind if any(kind.equals(known) for known in plain) else pa.string()


def _spark_type(kind: pa.DataType) -> DataType:
    import pyarrow.types as types
    from pyspark.sql import types as of_spark

    if types.is_struct(kind):
        return of_spark.StructType([of_spark.StructField(f.name, _spark_type(f.type)) for f in kind])
    if types.is_map(kind):
        return of_spark.MapType(_spark_type(kind.key_type), _spark_type(kind.item_type))
    if types.is_list(kind):
        return of_spark.ArrayType(_spark_type(kind.value_type))
    if types.is_decimal(kind):
        return of_spark.DecimalType(kind.precision, kind.scale)
    if types.is_timestamp(kind):
        return of_spark.TimestampNTZType() if kind.tz is None else of_spark.TimestampType()
    names = {
        "bool": "BooleanType",
        "int8": "ByteType",
        "int16": "ShortType",
        "int32": "IntegerType",
        "int64": "LongType",
        "float": "FloatType",
        "double": "DoubleType",
        "date32[day]": "DateType",
        "binary": "BinaryType",
    }
    chosen: DataType = getattr(of_spark, names.get(str(kind), "StringType"))()
    return chosen


def _carry(array: Any, kind: pa.DataType, up: bool) -> Any:
    """Carry an array as one of its carrier type."""
    import pyarrow as pa
    import pyarrow.types as types

    source = array.type
    if source.equals(kind):
        return array
    if types.is_null(source):
        return pa.nulls(len(array), kind)
    if types.is_struct(source):
        return _carry_struct(array, kind, up)
    if types.is_timestamp(source):
        return _carry_timestamps(array, kind, up)
    if isinstance(source, pa.UuidType):
        ids = array.storage.to_pylist()
        return pa.array([None if value is None else str(UUID(bytes=value)) for value in ids], pa.string())
    if isinstance(source, pa.BaseExtensionType):
        return _carry(array.storage, kind, up)
    if types.is_nested(source) and not _casts(source):
        return pa.array([_carry_value(value) for value in array.to_pylist()], kind)
    return array.cast(kind)


def _carry_struct(array: pa.StructArray, kind: pa.StructType, up: bool) -> pa.StructArray:
    import pyarrow as pa

    if not kind.num_fields:
        return array.cast(kind)
    children = [_carry(array.field(n), kind.field(n).type, up) for n in range(kind.num_fields)]
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())


def _carry_timestamps(array: Any, kind: pa.DataType, up: bool) -> Any:
    """In microseconds: finer ticks rounded down or up (Arrow rounds to zero), coarser ones that do not fit as null."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    unit = array.type.unit
    absent = array.is_null().to_numpy(zero_copy_only=False)
    ticks = pc.fill_null(array.view(pa.int64()), 0).to_numpy()
    if unit == "ns":
        ticks = ticks // 1_000 + (ticks % 1_000 != 0) if up else ticks // 1_000
    elif unit in _PER_TICK:
        factor = _PER_TICK[unit]
        most = np.iinfo(np.int64).max // factor
        absent = absent | (ticks > most) | (ticks < -most)
        ticks = np.where(absent, 0, ticks) * factor
    return pa.array(ticks, pa.int64(), mask=absent).view(kind)


def _casts(kind: pa.DataType) -> bool:
    """Check whether Arrow's own cast does what `_carry` would do for every value inside of a list or map."""
    import pyarrow as pa
    import pyarrow.types as types

    children = [kind.field(n).type for n in range(kind.num_fields)]
    odd = isinstance(kind, pa.BaseExtensionType) or types.is_timestamp(kind) or types.is_null(kind)
    return not odd and not types.is_map(kind) and all(_casts(child) for child in children)


def _carry_value(value: Any) -> Any:
    """Carry a Python value of a list or map, if Spark does not have its type."""
    from datetime import time

    if isinstance(value, dict):
        return {key: _carry_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_carry_value(inner) for inner in value)
    if isinstance(value, time):
        return value.isoformat("microseconds")
    return str(value) if isinstance(value, UUID) else value
