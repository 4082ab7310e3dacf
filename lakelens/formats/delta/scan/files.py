"""The columns of files other than their statistics: the same values as `DeltaFile` has them file by file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.delta.action_file import make_partition, name_format
from lakelens.formats.delta.context import LogContext
from lakelens.formats.delta.scan.rows import NUMBERS, ActionRows, clean_paths
from lakelens.model.arrow import make_struct, to_array
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import STATS, type_column

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.stats import Partition

# datetime's first and last moment, in milliseconds
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999


def build_plain(
    context: LogContext,
    columns: FileColumns,
    rows: ActionRows,
    names: Sequence[str],
    counts: pa.Array | None,
) -> dict[str, pa.Array]:
    """Build the wanted columns, `counts` being those of rows. Raises `NotColumnar`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[str, pa.Array] = {}
    paths = (
        _locate(context, clean_paths(rows.columns["path"])) if {"path", "file_format"} & {*names} else None
    )
    partitions = list_partitions(context, rows) if {"partition", "partition_values"} & {*names} else None
    for name in names:
        if name in STATS:
            continue
        kind = type_column(name, columns)
        made: Any = None
        if name == "content":
            made = pa.repeat(pa.scalar("data"), len(rows))
        elif name == "path":
            made = paths
        elif name == "recorded_path":
            made = rows.columns["path"]
        elif name == "file_format":
            made = _name_formats(paths)
        elif name == "record_count":
            made = counts
        elif name == "manifest":
            made = rows.manifest
        elif name in ("version", "snapshot_id"):
            later = rows.get("default_row_commit_version")
            made = rows.version if later is None else pc.coalesce(rows.version, later)
        elif name == "modified":
            made = _read_moments(rows.get("modified"))
        elif name in ("partition", "partition_values") and partitions is not None:
            different, codes = partitions
            if name == "partition":
                made = to_array(list(map(str, different)), kind).take(codes)
            else:
                children = [
                    to_array([one.get(field) for one in different], child.type).take(codes)
                    for child, (field, _) in zip(kind, columns.partition, strict=True)
                ]
                made = make_struct(children, kind, len(rows))
        elif name in NUMBERS or name in ("data_change", "vector_id", "deleted_rows", "clustering_provider"):
            made = rows.get(name)
        found[name] = pa.nulls(len(rows), kind) if made is None else made
    return found


def _locate(context: LogContext, cleaned: pa.Array) -> pa.Array:
    """`LogContext.locate` of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    placed = pc.binary_join_element_wise(f"{context.root}/", cleaned, "")
    odd = pc.match_substring_regex(cleaned, r":|^/|^\./")
    if not pc.any(odd).as_py():
        return placed
    elsewhere = pa.array(list(map(context.locate, cleaned.filter(odd).to_pylist())), pa.string())
    return pc.replace_with_mask(placed, odd, elsewhere)


def _name_formats(paths: Any) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.ends_with(paths, ".parquet")).as_py():
        return pa.repeat(pa.scalar("parquet"), len(paths))
    return pa.array(list(map(name_format, paths.to_pylist())), pa.string())


def _read_moments(millis: pa.Array | None) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if millis is None:
        return None
    is_moment = pc.and_(pc.greater_equal(millis, _FIRST), pc.less_equal(millis, _LAST))
    known = pc.if_else(is_moment, millis, pa.scalar(None, pa.int64()))
    return pc.multiply(known, 1000).view(pa.timestamp("us", tz="UTC"))


def list_partitions(context: LogContext, rows: ActionRows) -> tuple[list[Partition], pa.Array]:
    """List the different partitions, and which of them each file has. Raises `NotColumnar` where one is odd."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if context.metadata is None:
        raise NotColumnar("it is not known what is a partition")
    held, fields = rows.get("partition"), context.partitioning.fields
    if held is None or not fields:
        return [make_partition(context, {}, _refuse)], pa.array(np.zeros(len(rows), np.int64))
    names = [context.columns.physical.get(field.source_name, field.source_name) for field in fields]
    texts = [pc.map_lookup(held, name, "last") for name in names]
    for field, name in zip(fields, names, strict=True):
        if field.source_name != name and pc.map_lookup(held, field.source_name, "last").null_count < len(
            rows
        ):
            raise NotColumnar("partition values by another name")
    codes = np.zeros(len(rows), np.int64)
    firsts = codes[:1]
    for column in texts:
        coded = column.dictionary_encode(null_encoding="encode")
        joined = codes * max(1, len(coded.dictionary)) + coded.indices.to_numpy()
        _, firsts, codes = np.unique(joined, return_index=True, return_inverse=True)
    chosen = [column.take(pa.array(firsts)).to_pylist() for column in texts]
    different = [
        make_partition(context, dict(zip(names, values, strict=True)), _refuse)
        for values in zip(*chosen, strict=True)
    ]
    return different, pa.array(codes, pa.int64())


def _refuse(message: str) -> None:
    raise NotColumnar(message)
