"""What rules of known defects look at, read once a table: entries by column, files, footers, and the objects that are there.

Of files at most 2,000 are looked at one by one, and 200 footers, evenly spread over the current snapshot; entries are
all read, by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.check.defect import read_once
from lakelens.model.check.references import Referring
from lakelens.model.scan.plan import ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.parquet.footer import ParquetFooter
    from lakelens.codecs.parquet.structure import SchemaLeaf, StructReader
    from lakelens.model.datafile import DataFile
    from lakelens.model.table import Table

MOST_FILES = 2_000
#: Entries of a manifest that are decoded alone; of a small one all are.
MOST_EACH, MOST_WHOLE = 20, 200
MOST_FOOTERS = 200
MOST_FOOTER_BYTES = 64 * 2**20
_COLUMNS = (
    *("status", "content", "path", "manifest", "record_count", "size_bytes", "split_offsets", "snapshot_id"),
    *("referenced_data_path", "content_offset"),
)
_LIVE = ("ADDED", "EXISTING", "ADD")


def read_entries(table: Table) -> pa.Table:
    """The live entries of every manifest that a snapshot names, each manifest once; columns that a format lacks are null."""
    entries: pa.Table = read_once(table, "entries", lambda: _read_entries(table))
    return entries


def _read_entries(table: Table) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    from lakelens.model.scan.files_to_arrow import type_column
    from lakelens.model.scan.scan_to_arrow import iterate_batches

    scan = table.scan_entries(all_snapshots=True)
    if scan is None:
        return pa.table({name: pa.array([], pa.string()) for name in _COLUMNS})
    known = {"status", *dict(scan.columns.further)}
    names = [name for name in _COLUMNS if name in known or name in _COMMON]
    request = ScanRequest(stats=False, columns=tuple(names), entries=True)
    schema = pa.schema([(name, type_column(name, scan.columns)) for name in names])
    batches = []
    for batch in iterate_batches(scan, request):
        arrays = [batch.plain.get(name) for name in names]
        columns = [
            pa.nulls(batch.rows, field.type) if array is None else array.cast(field.type)
            for array, field in zip(arrays, schema, strict=True)
        ]
        made = pa.RecordBatch.from_arrays(columns, schema=schema)
        batches.append(made.filter(pc.is_in(made["status"], value_set=pa.array(_LIVE))))
    return pa.Table.from_batches(batches, schema).combine_chunks()


_COMMON = ("content", "path", "manifest", "record_count", "size_bytes", "snapshot_id")


def find_snapshots(table: Table, manifests: Sequence[str]) -> tuple[int, ...]:
    """The ids of the snapshots that name any of some manifests."""
    naming: dict[str, list[int]] = read_once(table, "naming", lambda: _list_naming(table))
    return tuple(dict.fromkeys(number for path in manifests for number in naming.get(path, ())))


def _list_naming(table: Table) -> dict[str, list[int]]:
    naming: dict[str, list[int]] = {}
    for snapshot in table.snapshots:
        for listed in snapshot.manifest_lists:
            for manifest in listed.walk()[0]:
                if snapshot.id is not None:
                    naming.setdefault(manifest.path, []).append(snapshot.id)
    return naming


def sample_files(table: Table, content: str = "data") -> list[DataFile]:
    """Files of one content of the current snapshot, evenly spread; all of them up to 2,000."""
    files: list[DataFile] = read_once(table, f"files {content}", lambda: _sample(table, content, MOST_FILES))
    return files


def sample_recorded(table: Table) -> list[DataFile]:
    """Data files with all that their entries record: the first of each manifest of the current snapshot, or all of a few."""
    files: list[DataFile] = read_once(table, "recorded", lambda: list(_read_first(table)))
    return files


def _read_first(table: Table) -> Iterator[DataFile]:
    manifests = [one for one in table.current.manifests if one.content == "data"] if table.current else []
    read = 0
    for manifest in manifests[:: max(1, len(manifests) * MOST_EACH // MOST_FILES)]:
        counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
        is_small = None not in counts and sum(count or 0 for count in counts) <= MOST_WHOLE
        iterate: Any = getattr(manifest, "iterate_entries", lambda: iter(()))
        try:
            for entry in islice(iterate(), MOST_WHOLE if is_small else MOST_EACH):
                if entry.is_live:
                    read += 1
                    yield entry.file
        except LakeError:
            continue
        if read >= MOST_FILES:
            return


def _sample(table: Table, content: str, most: int) -> list[DataFile]:
    try:
        files = table.files.choose(lambda found: found == content, "content")
        number = len(files)
        step = max(1, -(-number // most))
        return [files[place] for place in range(0, number, step)]
    except LakeError:
        return []


def sample_footers(table: Table) -> list[tuple[DataFile, ParquetFooter]]:
    """The footers of Parquet data files of the current snapshot, at most 200; those that cannot be read are left out."""
    footers: list[tuple[DataFile, ParquetFooter]]
    footers = read_once(table, "footers", lambda: list(_read_footers(table)))
    return footers


def _read_footers(table: Table) -> Iterator[tuple[DataFile, ParquetFooter]]:
    files = [
        file for file in sample_files(table) if str(file.file_format).lower() == "parquet" and file.size_bytes
    ]
    read = 0
    chosen: Iterable[DataFile] = files[:: max(1, -(-len(files) // MOST_FOOTERS))]
    if table.storage is not None:
        chosen = table.storage.follow(chosen, lambda file: (file.path, file.size_bytes))
    for file in chosen:
        if read > MOST_FOOTER_BYTES:
            return
        try:
            facts = file.footer.facts
        except LakeError:
            continue
        if getattr(facts, "format", None) == "parquet":
            read += facts.serialized_size
            yield file, facts


def list_chunks(
    table: Table,
) -> Iterator[tuple[DataFile, ParquetFooter, SchemaLeaf, list[StructReader]]]:
    """For each leaf of each footer the statistics of its chunks as they are stored, row group by row group."""
    from lakelens.codecs.parquet.statistics import iter_chunks

    for file, footer in sample_footers(table):
        for index, leaf in enumerate(footer.leaves):
            try:
                chunks = [chunk for chunk, _ in iter_chunks(footer, index)]
                statistics = [chunk.struct("statistics", chunk.get("statistics", {})) for chunk in chunks]
            except LakeError:
                continue
            yield file, footer, leaf, statistics


def list_sizes(table: Table) -> dict[str, int]:
    """The bytes of every object below the table, by path; what cannot be listed is left out."""

    def read() -> dict[str, int]:
        refused: list[LakeError] = []
        return {one.path: one.size for one in Referring.of(table).list_objects(refused.append)}

    sizes: dict[str, int] = read_once(table, "sizes", read)
    return sizes


def shorten(table: Table, path: str) -> str:
    """A path below the table without the table's own."""
    return path.removeprefix(table.location.rstrip("/") + "/")
