"""Who committed a snapshot, how a file was written, which deletes reach it in each snapshot, and its rows by field id.

Follows "Scan Planning" of the Iceberg table specification for deletes, "Column Projection" and "Row Lineage" for rows, and
`SnapshotSummary` and `EnvironmentContext` of its sources for what summaries say.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.deletes.equality import find_identity
from lakelens.formats.iceberg.deletes.matching import DeleteIndex, partition_key, reaches_everywhere
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumns
from lakelens.formats.iceberg.manifests.contents import find_content
from lakelens.model.life.living import FileDeletes, Living, StoredRows

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.deletes.positions import DeleteReader
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.schema import Field
    from lakelens.model.snapshot import Snapshot

_SYSTEM = {"_row_id": 2147483540, "_last_updated_sequence_number": 2147483539}


class IcebergDeletes(FileDeletes):
    """Delete manifests are read once, however many snapshots name them; only deletes that may reach the files are kept."""

    def __init__(self, files: Sequence[DataFile], reader: DeleteReader) -> None:
        super().__init__(files)
        self._reader = reader
        found: Any = self._files
        self._partitions = {partition_key(file) for file in found}
        self._paths = {file.path for file in found}
        self._manifests: dict[str, list[IcebergDataFile]] = {}
        self._indexes: dict[Hashable, DeleteIndex] = {}
        self._marks: dict[int | None, Hashable] = {}
        self._matches: dict[tuple[Hashable, Hashable], Sequence[DeleteMatch]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """See `FileDeletes.mark`: the delete files that may reach the files."""
        if snapshot.id not in self._marks:
            manifests: Any = [one for one in snapshot.manifests if one.content == "deletes"]
            kept = [file for manifest in manifests for file in self._read(manifest)]
            mark = frozenset(file.identity for file in kept) if kept else None
            if mark is not None and mark not in self._indexes:
                self._indexes[mark] = DeleteIndex(kept, self._reader)
            self._marks[snapshot.id] = mark
        return self._marks[snapshot.id]

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """See `FileDeletes.match`."""
        mark = self.mark(snapshot)
        if mark is None:
            return ()
        key = (mark, file.identity)
        if key not in self._matches:
            found: Any = file
            self._matches[key] = self._indexes[mark].match(found)
        return self._matches[key]

    def _read(self, manifest: IcebergManifest) -> list[IcebergDataFile]:
        if manifest.path not in self._manifests:
            entries, error = manifest.walk()
            if error is not None:
                self._reader.context.findings.add_error(error, manifest.path)
            live: Any = [entry.file for entry in entries if entry.is_live]
            self._manifests[manifest.path] = [file for file in live if self._may_reach(file)]
        return self._manifests[manifest.path]

    def _may_reach(self, delete: IcebergDataFile) -> bool:
        if delete.content == "equality_deletes" and reaches_everywhere(delete):
            return True
        if delete.referenced_data_path is not None and delete.content != "equality_deletes":
            return delete.referenced_data_path in self._paths
        return partition_key(delete) in self._partitions


class IcebergRows(StoredRows):
    """A data file, its columns found by field id."""

    def __init__(self, context: TableContext, file: IcebergDataFile) -> None:
        path, kind = find_content(context, file)
        self._context = context
        self._file = file
        self._stored = StoredColumns(context, path, kind)

    def find(self, way: Sequence[Field]) -> Any:
        """See `StoredRows.find`."""
        return self._stored.find(way[-1].id)

    def find_system(self, name: str) -> Any:
        """See `StoredRows.find_system`."""
        return self._stored.find(_SYSTEM[name]) if name in _SYSTEM else None

    def get_constant(self, field: Field) -> Any:
        """See `StoredRows.get_constant`."""
        name = find_identity(self._context, self._file, field.id)
        return field.initial_default if name is None else self._file.partition[name]

    def read(self, places: Sequence[Any]) -> Iterator[list[pa.Array]]:
        """See `StoredRows.read`."""
        return self._stored.batches(places)


class IcebergLiving(Living):
    """What only an Iceberg table knows of lives."""

    table: IcebergTable

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """See `Living.open_deletes`."""
        return IcebergDeletes([file for file in files if file.content == "data"], self.table._readers.deletes)

    def open_rows(self, file: DataFile) -> StoredRows:
        """See `Living.open_rows`."""
        found: Any = file
        return IcebergRows(self.table._context, found)

    def describe_writer(self, snapshot: Snapshot) -> str:
        """See `Living.describe_writer`: by the keys that Iceberg's engines leave in summaries."""
        summary = snapshot.summary
        engine = f"{summary.get('engine-name', '')} {summary.get('engine-version', '')}".strip()
        version = summary.get("iceberg-version", "").partition(" (")[0].removeprefix("Apache ")
        return " in ".join(part for part in (version, engine) if part)

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """See `Living.describe_origin`: the schema of its manifest, and the sort order of its rows."""
        words = list(super().describe_origin(file))
        number = getattr(file, "sort_order_id", None)
        if number:
            order = next((one for one in self.table.sort_orders if one.id == number), None)
            columns = [field.source_name for field in order.fields] if order else []
            words.append(f"sorted by {', '.join(columns)}" if columns else f"sort order {number}")
        target = getattr(file, "target", None)
        if target:
            words.append(f"for {target.rpartition('/')[2]}")
        return tuple(words)
