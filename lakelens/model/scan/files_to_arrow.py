"""A set of files as an Arrow table: the columns of the contract, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import Columns, FileColumns

_COMMON = (
    ("content", "string"),
    ("path", "string"),
    ("recorded_path", "string"),
    ("file_format", "string"),
    ("partition", "string"),
    ("partition_values", "struct"),
    ("bucket", "int32"),
    ("level", "int32"),
    ("record_count", "int64"),
    ("size_bytes", "int64"),
    ("spec_id", "int32"),
    ("schema_id", "int64"),
    ("sequence_number", "int64"),
    ("snapshot_id", "int64"),
    ("manifest", "string"),
)
BOUNDS = (("lower_bounds", "lower"), ("upper_bounds", "upper"))
COUNTS = (
    ("null_counts", "nulls"),
    ("value_counts", "values"),
    ("nan_counts", "nans"),
    ("column_sizes", "size"),
)


def build_table(
    files: Sequence[DataFile],
    columns: FileColumns,
    *,
    stats: bool = True,
    wanted: Iterable[str] | None = None,
    keep_dropped: bool = False,
) -> pa.Table:
    """One row per file, in the order given; see `FileSet.to_arrow`. Raises KeyError for an unknown column."""
    import pyarrow as pa

    chosen = choose_columns(columns, stats=stats, wanted=wanted)
    arrays = _build_common(files, columns, chosen)
    if any(name in chosen for name, _ in (*BOUNDS, *COUNTS)):
        arrays |= _build_stats(files, columns, keep_dropped)
    for name, kind in columns.further:
        if name in chosen:
            arrays[name] = to_array([found.further(name) for found in files], arrow_type(kind))
    return pa.table({name: arrays[name] for name in chosen})


def list_columns(columns: FileColumns, *, stats: bool) -> list[str]:
    """The column names of the table, in order."""
    names = [name for name, _ in _COMMON if name != "partition_values" or columns.partition]
    if stats:
        names += [name for name, _ in (*BOUNDS, *COUNTS)]
    return names + [name for name, _ in columns.further if name not in names]


def choose_columns(
    columns: FileColumns, *, stats: bool, wanted: Iterable[str] | None, entries: bool = False
) -> list[str]:
    """The wanted columns in the wanted order; all of them in their own where None is. Raises KeyError for an unknown one.

    Those of `entries` have their `status` first.
    """
    names = [*(["status"] if entries else []), *list_columns(columns, stats=stats)]
    chosen = names if wanted is None else list(wanted)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(names)}")
    return chosen


def type_column(name: str, columns: FileColumns) -> pa.DataType:
    """The Arrow type of a column that is no statistic."""
    import pyarrow as pa

    if name == "partition_values":
        return pa.struct([pa.field(field, arrow_type(kind)) for field, kind in columns.partition])
    common = dict(_COMMON)
    if name in common:
        return {"string": pa.string(), "int32": pa.int32(), "int64": pa.int64()}[common[name]]
    return arrow_type(dict(columns.further)[name])


def iterate_batches(
    files: Iterable[DataFile],
    columns: FileColumns,
    *,
    size: int,
    stats: bool,
    wanted: Iterable[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """`build_table` over `size` files at a time, all batches of one schema."""
    chosen = choose_columns(columns, stats=stats, wanted=wanted)
    remaining = iter(files)
    while chunk := list(islice(remaining, size)):
        table = build_table(chunk, columns, stats=stats, wanted=chosen, keep_dropped=True)
        yield from table.combine_chunks().to_batches()


def _build_common(files: Sequence[DataFile], columns: FileColumns, chosen: list[str]) -> dict[str, pa.Array]:
    import pyarrow as pa

    kinds = {"string": pa.string(), "int32": pa.int32(), "int64": pa.int64()}
    arrays = {}
    for name, kind in _COMMON:
        if name not in chosen:
            continue
        if name == "partition":
            arrays[name] = pa.array([str(found.partition) for found in files], pa.string())
        elif name == "partition_values":
            arrays[name] = _build_struct(
                columns.partition, lambda field: [found.partition.get(field) for found in files], len(files)
            )
        else:
            arrays[name] = to_array([getattr(found, name) for found in files], kinds[kind])
    return arrays


def _build_stats(files: Sequence[DataFile], columns: FileColumns, keep_dropped: bool) -> dict[str, pa.Array]:
    bounds = [found.bounds for found in files]
    seen = {name for of_file in bounds for name in of_file}
    dropped = tuple(column for column in columns.dropped if keep_dropped or column[0] in seen)
    leaves = (*columns.stats, *dropped)

    def gather(attribute: str) -> Any:
        return lambda name: [getattr(b[name], attribute) if name in b else None for b in bounds]

    counted = tuple((name, DataType("long", "int64")) for name, _ in leaves)
    arrays = {name: _build_struct(leaves, gather(attribute), len(files)) for name, attribute in BOUNDS}
    return arrays | {
        name: _build_struct(counted, gather(attribute), len(files)) for name, attribute in COUNTS
    }


def _build_struct(fields: Columns, values: Any, length: int) -> pa.Array:
    import pyarrow as pa

    kinds = [arrow_type(kind) for _, kind in fields]
    children = [to_array(values(name), kind) for (name, _), kind in zip(fields, kinds, strict=True)]
    described = [pa.field(name, kind) for (name, _), kind in zip(fields, kinds, strict=True)]
    if not described:
        return pa.array([{}] * length, pa.struct([]))
    return pa.StructArray.from_arrays(children, fields=described)
