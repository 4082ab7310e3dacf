"""Entries of manifests, decoded record by record, as the batches of a scan: the path that every manifest can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.scan.identity import encode_identities
from lakelens.model.manifest import Entry
from lakelens.model.scan.files_to_arrow import BOUNDS, COUNTS, build_table, list_columns
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns

LIVE, ADDED, REMOVED = "live", "added", "removed"
STATS = tuple(name for name, _ in (*BOUNDS, *COUNTS))

Numbered = tuple[int, Entry]


def choose_entries(numbered: Sequence[Numbered], kept: str | None) -> list[Numbered]:
    """The entries that are files of a set, each with its number in the manifest; all of them for None."""
    if kept is None:
        return list(numbered)
    return [(number, entry) for number, entry in numbered if entry.is_live != (kept == REMOVED)]


def list_wanted(columns: FileColumns, request: ScanRequest) -> list[str]:
    """The names of the wanted columns but `status`."""
    names = list_columns(columns, stats=request.stats) if request.columns is None else list(request.columns)
    return [name for name in names if name != "status"]


def batch_entries(
    chosen: Sequence[Numbered],
    columns: FileColumns,
    request: ScanRequest,
    position: int,
    ordered: bool = False,
) -> FileBatch:
    """The batch of some entries of the manifest at `position`; with identity and order where they are asked for."""
    import pyarrow as pa

    files = [entry.file for _, entry in chosen]
    wanted = list_wanted(columns, request)
    table = build_table(files, columns, wanted=wanted, keep_dropped=True)
    plain = {name: _join(table[name]) for name in wanted if name not in STATS}
    if request.entries and request.wants("status"):
        plain["status"] = pa.array([entry.status for _, entry in chosen], pa.string())
    asked = [name for name in wanted if name in STATS]
    seen = {leaf for file in files for leaf in file.bounds} if asked else set()
    stats = {name: _split(_join(table[name]), seen) for name in asked}
    if not (request.identity or ordered):
        return FileBatch(len(files), plain, stats)
    records = [_make_identity(entry.file) for _, entry in chosen]
    order = pa.array([position << ORDER_BITS | number for number, _ in chosen], pa.int64())
    return FileBatch(
        len(files), plain, stats, encode_identities(pa.Table.from_pylist(records, _schema())), order
    )


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("partition", pa.binary()),
            ("bucket", pa.int64()),
            ("level", pa.int64()),
            ("name", pa.string()),
            ("extra", pa.list_(pa.string())),
            ("index", pa.binary()),
            ("external", pa.string()),
        ]
    )


def _make_identity(file: Any) -> dict[str, Any]:
    names = ("partition", "bucket", "level", "name", "extra", "index", "external")
    return dict(zip(names, file.identity, strict=True))


def _join(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    joined = column.combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined


def _split(struct: pa.StructArray, seen: set[str]) -> dict[str, pa.Array]:
    return {field.name: struct.field(index) for index, field in enumerate(struct.type) if field.name in seen}
