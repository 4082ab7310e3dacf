"""Entries that were read one by one as a `FileBatch`: what the columnar reader falls back on, and is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.scan.stats import STATS
from lakelens.model.manifest import Entry
from lakelens.model.scan.files_to_arrow import build_table, list_columns
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa


def encode_identity(paths: pa.Array, offsets: pa.Array) -> pa.Array:
    """What `IcebergDataFile.identity` tells apart, as bytes: the path, then a vector's place, then whether it has one.

    >>> import pyarrow as pa
    >>> encode_identity(pa.array(["a"]), pa.array([None], pa.int64())).to_pylist()
    [b'a\\x00']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    stored = paths.cast(pa.binary())
    if offsets.null_count == len(offsets):
        return pc.binary_join_element_wise(stored, b"\0", b"")
    told = [
        b"\0" if one is None else one.to_bytes(8, "big", signed=True) + b"\1" for one in offsets.to_pylist()
    ]
    return pc.binary_join_element_wise(stored, pa.array(told, pa.binary()), b"")


def batch_records(
    context: TableContext, entries: Sequence[Entry], position: int, start: int, request: ScanRequest
) -> FileBatch:
    """Entries of one manifest, `start` being the number of the first; live ones only, unless entries are asked for."""
    import pyarrow as pa

    numbered = [
        (start + number, entry) for number, entry in enumerate(entries) if request.entries or entry.is_live
    ]
    files = [cast(IcebergDataFile, entry.file) for _, entry in numbered]
    columns = context.describe_columns()
    names = list_columns(columns, stats=request.stats)
    wanted = names if request.columns is None else [name for name in request.columns if name in names]
    table = build_table(files, columns, stats=request.stats, wanted=wanted) if wanted else None
    plain: dict[str, Any] = {}
    stats: dict[str, dict[str, Any]] = {}
    for name in wanted:
        assert table is not None
        array = table[name].combine_chunks()
        if name in STATS:
            stats[name] = _unpack(array, context, files)
        else:
            plain[name] = array
    if request.entries and request.wants("status"):
        plain["status"] = pa.array([entry.status for _, entry in numbered], pa.string())
    if request.entries and request.wants("snapshot_id"):
        plain["snapshot_id"] = pa.array([entry.snapshot_id for _, entry in numbered], pa.int64())
    identity = order = None
    if request.identity:
        identity = encode_identity(
            pa.array([file.file_path for file in files], pa.string()),
            pa.array([file.content_offset for file in files], pa.int64()),
        )
        order = pa.array([(position << ORDER_BITS) + number for number, _ in numbered], pa.int64())
    return FileBatch(len(files), plain, stats, identity, order)


def _unpack(array: pa.StructArray, context: TableContext, files: Sequence[IcebergDataFile]) -> dict[str, Any]:
    """The leaves that some file has anything for."""
    seen = {name for file in files for name in file.bounds}
    return {field.name: array.field(i) for i, field in enumerate(array.type) if field.name in seen}
