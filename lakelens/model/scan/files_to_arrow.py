"""A set of files in Arrow: the columns of the contract in their order, and how batches of files become Arrow's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.errors import list_nearest
from lakelens.lazy import dataclass
from lakelens.model.arrow import arrow_type, escape_text, make_struct, to_array
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import Columns, FileColumns
    from lakelens.model.manifest import Entry

#: The columns that the files of every format have, and their types.
COMMON = {
    "content": "string",
    "path": "string",
    "recorded_path": "string",
    "file_format": "string",
    "partition": "string",
    "partition_values": "struct",
    "bucket": "int32",
    "level": "int32",
    "record_count": "int64",
    "size_bytes": "int64",
    "spec_id": "int32",
    "schema_id": "int64",
    "sequence_number": "int64",
    "snapshot_id": "int64",
    "manifest": "string",
}
BOUNDS = ("lower_bounds", "upper_bounds")
#: The columns of bounds and counts, and the attributes of `ColumnStats` that they show.
STATS = {
    "lower_bounds": "lower",
    "upper_bounds": "upper",
    "null_counts": "nulls",
    "value_counts": "values",
    "nan_counts": "nans",
    "column_sizes": "size",
}


def list_columns(columns: FileColumns, *, stats: bool) -> list[str]:
    """List the column names of the table, in order."""
    names = [name for name in COMMON if name != "partition_values" or columns.partition]
    names += STATS if stats else ()
    return names + [name for name, _ in columns.further if name not in names]


def choose_columns(
    columns: FileColumns, *, stats: bool, wanted: Iterable[str] | None, entries: bool = False
) -> tuple[str, ...]:
    """Choose the wanted columns in the wanted order, all of them for None. Raises KeyError for an unknown one.

    Those of `entries` start with `status`.
    """
    names = [*(["status"] if entries else []), *list_columns(columns, stats=stats)]
    chosen = tuple(names if wanted is None else wanted)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}; {list_nearest(unknown[0], names)}")
    return chosen


def make_request(
    columns: FileColumns,
    *,
    stats: bool = True,
    wanted: Iterable[str] | None = None,
    entries: bool = False,
    identity: bool = False,
) -> ScanRequest:
    """Make a request for these columns, in this order. Raises KeyError for an unknown one."""
    chosen = choose_columns(columns, stats=stats, wanted=wanted, entries=entries)
    return ScanRequest(stats, chosen, entries, identity)


def type_column(name: str, columns: FileColumns) -> pa.DataType:
    """The Arrow type of a column other than bounds and counts."""
    from lakelens.arrays import pa

    if name == "partition_values":
        return pa.struct(
            [pa.field(escape_text(field), arrow_type(kind)) for field, kind in columns.partition]
        )
    common = "string" if name == "status" else COMMON.get(name)
    if common is not None:
        return {"string": pa.string(), "int32": pa.int32(), "int64": pa.int64()}[common]
    return arrow_type(dict(columns.further)[name])


@dataclass(frozen=True, slots=True)
class Layout:
    """The Arrow schema of a request; `leaves` are the leaf columns of bounds and counts. Can be pickled.

    `structs` has the fields of bounds and counts by column, because taking a struct type apart costs more than its arrays.
    """

    schema: pa.Schema
    leaves: Columns
    structs: dict[str, tuple[pa.Field, ...]] = field(default_factory=dict)


def lay_out(columns: FileColumns, request: ScanRequest, seen: Collection[str] | None = None) -> Layout:
    """Give the layout of a request; of the dropped columns those that were `seen` (None: all that are known)."""
    import pyarrow as pa

    leaves = (*columns.stats, *(one for one in columns.dropped if seen is None or one[0] in seen))
    bounds = tuple(pa.field(leaf, arrow_type(of_leaf)) for leaf, of_leaf in leaves)
    counts = tuple(pa.field(leaf, pa.int64()) for leaf, _ in leaves)
    names = request.columns if request.columns is not None else list_columns(columns, stats=request.stats)
    structs = {name: bounds if name in BOUNDS else counts for name in names if name in STATS}
    kinds = {id(fields): pa.struct(fields) for fields in structs.values()}
    types = (kinds[id(structs[name])] if name in structs else type_column(name, columns) for name in names)
    return Layout(pa.schema(list(zip(names, types, strict=True))), leaves, structs)


def assemble_batch(batch: FileBatch, layout: Layout) -> pa.RecordBatch:
    """Assemble the record batch of a `FileBatch`: what it does not have is null."""
    import pyarrow as pa

    arrays = []
    leaves = [leaf for leaf, _ in layout.leaves]
    for column in layout.schema:
        fields = layout.structs.get(column.name)
        if fields is not None:
            arrays.append(_assemble_struct(batch.stats.get(column.name, {}), leaves, fields, batch.rows))
        else:
            found = batch.plain.get(column.name)
            arrays.append(pa.nulls(batch.rows, column.type) if found is None else found)
    return pa.RecordBatch.from_arrays(arrays, schema=layout.schema)


def assemble_table(batches: Iterable[FileBatch], columns: FileColumns, request: ScanRequest) -> pa.Table:
    """The files of all batches as one table; of the dropped columns it has those that some file has anything for."""
    import pyarrow as pa

    batches = list(batches)
    seen = {leaf for batch in batches for leaves in batch.stats.values() for leaf in leaves}
    layout = lay_out(columns, request, seen)
    return pa.Table.from_batches([assemble_batch(batch, layout) for batch in batches], layout.schema)


def _assemble_struct(
    found: dict[str, Any], leaves: Sequence[str], fields: Sequence[pa.Field], rows: int
) -> pa.Array:
    import pyarrow as pa

    children = list(map(found.get, leaves))
    # one array of nulls for all leaves of a type: a struct shares its children's buffers
    nulls: dict[pa.DataType, pa.Array] = {}
    for place in [place for place, child in enumerate(children) if child is None]:
        kind = fields[place].type
        if kind not in nulls:
            nulls[kind] = pa.nulls(rows, kind)
        children[place] = nulls[kind]
    return make_struct(children, fields, rows)


# --- the record path ---------------------------------------------------------------------------------------------------


def batch_files(files: Sequence[DataFile], columns: FileColumns, request: ScanRequest) -> FileBatch:
    """Files that were decoded one by one, by column."""
    from lakelens.arrays import pa

    names = list_columns(columns, stats=request.stats) if request.columns is None else request.columns
    plain = {name: _gather(files, name, columns) for name in names if name not in STATS and name != "status"}
    stats: dict[str, dict[str, pa.Array]] = {name: {} for name in names if name in STATS}
    if stats:
        bounds = [file.bounds for file in files]
        seen = {leaf for of_file in bounds for leaf in of_file}
        seen = seen if request.leaves is None else seen & request.leaves
        for leaf, kind in (*columns.stats, *columns.dropped) if seen else ():
            for name in stats if leaf in seen else ():
                values = [getattr(of[leaf], STATS[name]) if leaf in of else None for of in bounds]
                stats[name][leaf] = to_array(values, arrow_type(kind) if name in BOUNDS else pa.int64())
    partitions = None
    if request.partitions:
        partitions = [file.partition for file in files], pa.array(range(len(files)), pa.int64())
    return FileBatch(len(files), plain, stats, partitions=partitions)


def _gather(files: Sequence[DataFile], name: str, columns: FileColumns) -> pa.Array:
    kind = type_column(name, columns)
    if name == "partition":
        return to_array([str(file.partition) for file in files], kind)
    if name == "partition_values":
        children = [
            to_array([file.partition.get(field) for file in files], one.type)
            for one, (field, _) in zip(kind, columns.partition, strict=True)
        ]
        return make_struct(children, kind, len(files))
    if name in COMMON:
        return to_array([getattr(file, name) for file in files], kind)
    return to_array([file.further(name) for file in files], kind)


def batch_entries(
    numbered: Sequence[tuple[int, Entry]],
    columns: FileColumns,
    request: ScanRequest,
    position: int = 0,
    encode: Callable[[Sequence[Any]], pa.Array] | None = None,
) -> FileBatch:
    """Entries of one manifest that were decoded one by one, each with its number; `position` is that of the task.

    `encode` gives the identities of their files, where those and their order are wanted.
    """
    from lakelens.arrays import pa

    files = [entry.file for _, entry in numbered]
    batch = batch_files(files, columns, request)
    if request.entries and request.wants("status"):
        batch.plain["status"] = pa.array([entry.status for _, entry in numbered], pa.string())
    if request.entries and request.wants("snapshot_id"):
        batch.plain["snapshot_id"] = to_array([entry.snapshot_id for _, entry in numbered], pa.int64())
    if encode is None:
        return batch
    order = pa.array([position << ORDER_BITS | number for number, _ in numbered], pa.int64())
    return replace(batch, identity=encode(files), order=order, files=() if request.entries else files)


def build_table(
    files: Sequence[DataFile],
    columns: FileColumns,
    *,
    stats: bool = True,
    wanted: Iterable[str] | None = None,
    keep_dropped: bool = False,
) -> pa.Table:
    """Build one row per file, in the order given; see `FileSet.to_arrow`. Raises KeyError for an unknown column."""
    import pyarrow as pa

    request = make_request(columns, stats=stats, wanted=wanted)
    batch = batch_files(files, columns, request)
    if not keep_dropped:
        return assemble_table([batch], columns, request)
    return pa.Table.from_batches([assemble_batch(batch, lay_out(columns, request))])


def iterate_tables(
    files: Iterable[DataFile],
    columns: FileColumns,
    *,
    size: int,
    stats: bool,
    wanted: Iterable[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Iterate one record batch for each `size` files, all of one schema."""
    request = make_request(columns, stats=stats, wanted=wanted)
    layout = lay_out(columns, request)
    remaining = iter(files)
    while chunk := list(islice(remaining, size)):
        yield assemble_batch(batch_files(chunk, columns, request), layout)
