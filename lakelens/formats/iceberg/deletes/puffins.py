"""Puffin files and statistics: what the metadata document and deletion vectors refer to, decoded when it is asked for.

Follows the Puffin specification, "Blob types" among it, and "Table Statistics", "Partition Statistics" of the Iceberg table
specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lakelens.caching import cached_property
from lakelens.codecs.iceberg.puffin import Blob, ThetaSketch, decode_theta, decompress_blob
from lakelens.errors import LakeError, Missing
from lakelens.formats.iceberg.manifests.contents import read_puffin_footer
from lakelens.formats.iceberg.metadata.wire import WireStatistics
from lakelens.model.bytes_view import Source
from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.deletes import Vectors
from lakelens.model.fileset import FileSet

if TYPE_CHECKING:
    from lakelens.bitmaps import FrozenBitMap64
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.deletes.positions import DeleteReader
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot

THETA = "apache-datasketches-theta-v1"
_MAX_SKETCH = 64 * 2**20


@dataclass(frozen=True, slots=True, repr=False)
class SketchFile(IndexFile):
    """A Puffin file of table statistics."""

    @property
    def sketches(self) -> Mapping[tuple[int, ...], ThetaSketch]:
        """The sketches of distinct values by the ids of their fields, read when they are asked for. Raises `LakeError`."""
        return cast("Mapping[tuple[int, ...], ThetaSketch]", self.read_contents())


@dataclass(frozen=True, slots=True, repr=False)
class VectorFile(IndexFile):
    """A Puffin file that holds deletion vectors of a snapshot."""

    @property
    def vectors(self) -> Mapping[str, FrozenBitMap64]:
        """The deleted rows of each data file, counted from 0, by its name in `ranges`; read when they are asked for."""
        return cast("Mapping[str, FrozenBitMap64]", self.read_contents())


class LazyBlobs(tuple[Blob, ...]):
    """The blobs of one Puffin file, read from its footer when they are first looked at; damage becomes a finding."""

    _context: TableContext
    _recorded: str

    def __new__(cls, context: TableContext, recorded: str) -> LazyBlobs:
        made = super().__new__(cls)
        made._context, made._recorded = context, recorded
        return made

    @cached_property
    def _blobs(self) -> tuple[Blob, ...]:
        try:
            return read_puffin_footer(self._context, self._recorded).blobs
        except LakeError as error:
            self._context.findings.add_error(error, self._recorded)
            return ()

    def __len__(self) -> int:
        return len(self._blobs)

    def __iter__(self) -> Any:
        return iter(self._blobs)

    def __getitem__(self, key: Any) -> Any:
        return self._blobs[key]

    def __eq__(self, other: object) -> bool:
        return self is other or self._blobs == (tuple(other) if isinstance(other, tuple) else other)

    def __hash__(self) -> int:
        return hash(self._recorded)

    def __repr__(self) -> str:
        return repr(self._blobs)

    def __deepcopy__(self, memo: object) -> LazyBlobs:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return tuple, (self._blobs,)  # elsewhere they cannot be read: they are read now


def list_index_files(snapshot: IcebergSnapshot) -> tuple[IndexFile, ...]:
    """List the Puffin files of a snapshot: table statistics, then the files of its deletion vectors."""
    # vectors are entries of delete manifests: without one no manifest is read
    reader = snapshot.delete_reader
    files = snapshot.files if any(manifest.content == "deletes" for manifest in snapshot.manifests) else ()
    return (*list_sketch_files(reader.context, snapshot.id), *list_vector_files(reader, files))


def list_sketch_files(context: TableContext, snapshot_id: int) -> tuple[IndexFile, ...]:
    """List the Puffin files of table statistics that the document records for a snapshot."""
    found = context.document.list_statistics("statistics", snapshot_id)
    return tuple(
        SketchFile(
            "STATISTICS",
            context.access.locator.locate(wire.statistics_path),
            wire.statistics_path,
            wire.file_size_in_bytes,
            len(wire.blob_metadata),
            blobs=LazyBlobs(context, wire.statistics_path),
            raw=raw,
            _source=context.source(),
            _contents=Source(_read_sketches, context),
        )
        for wire, raw in found
    )


def list_vector_files(reader: DeleteReader, files: Iterable[DataFile]) -> tuple[IndexFile, ...]:
    """List the Puffin files of the deletion vectors among some files, each with those vectors of it."""
    vectors: dict[str, list[IcebergDataFile]] = {}
    if isinstance(files, FileSet):
        files = files.choose(lambda content: content == "deletion_vector", "content")
    for file in files:
        if file.content == "deletion_vector":
            vectors.setdefault(file.recorded_path, []).append(file)  # type: ignore[arg-type]
    context = reader.context
    return tuple(
        VectorFile(
            "DELETION_VECTORS",
            own[0].path,
            recorded,
            own[0].file_size_in_bytes,
            len(own),
            ranges=tuple(
                {
                    "data_file": file.referenced_data_file,
                    "data_path": file.referenced_data_path,
                    "offset": file.content_offset,
                    "length": file.content_size_in_bytes,
                    "cardinality": file.record_count,
                }
                for file in own
            ),
            blobs=LazyBlobs(context, recorded),
            raw={"files": tuple(file.raw for file in own)},
            _source=context.source(),
            _vectors=context.source(),
            _contents=Source(_read_vectors, reader, tuple(own)),
        )
        for recorded, own in vectors.items()
    )


def list_statistics(snapshot: IcebergSnapshot) -> tuple[StatisticsFile, ...]:
    """List the statistics files that the document records for a snapshot. Gone ones become findings."""
    context, found = snapshot.context, []
    for kind, key in (("table", "statistics"), ("partition", "partition-statistics")):
        for wire, raw in context.document.list_statistics(key, snapshot.id):
            _note_gone(context, kind, wire)
            found.append(_describe_statistics(context, kind, wire, raw))
    return tuple(found)


def _describe_statistics(
    context: TableContext, kind: str, wire: WireStatistics, raw: Mapping[str, Any]
) -> StatisticsFile:
    columns: dict[str, dict[str, Any]] = {}
    for blob in wire.blob_metadata:
        fields = blob.get("fields")
        properties = blob.get("properties")
        for column_id in fields if isinstance(fields, list) else []:
            if isinstance(column_id, int):
                name = context.columns.find(column_id).name
                columns.setdefault(name, {}).update(properties if isinstance(properties, dict) else {})
    path = context.access.locator.locate(wire.statistics_path)
    return StatisticsFile(
        kind,
        path,
        wire.statistics_path,
        wire.snapshot_id,
        wire.file_size_in_bytes,
        columns,
        raw,
        _source=context.source(),
    )


def _note_gone(context: TableContext, kind: str, wire: WireStatistics) -> None:
    try:
        path, size = context.access.find_recorded(wire.statistics_path)
    except Missing as error:
        message = f"the {kind} statistics of snapshot {wire.snapshot_id} are gone"
        context.findings.add("warning", "missing-statistics", error.path or "", message, (wire.snapshot_id,))
        return
    except LakeError as error:
        context.findings.add_error(error, wire.statistics_path, (wire.snapshot_id,))
        return
    if wire.file_size_in_bytes is not None and size != wire.file_size_in_bytes:
        message = f"recorded with {wire.file_size_in_bytes} bytes, the file has {size}"
        context.findings.add("warning", "file-size", path, message, (wire.snapshot_id,))


def _read_vectors(file: IndexFile, reader: DeleteReader, deletes: Sequence[IcebergDataFile]) -> Vectors:
    """Read the vectors of a Puffin file, by the data file as the metadata names it; nothing is read yet."""
    known = {str(delete.referenced_data_file): delete for delete in deletes}
    return Vectors(known, lambda data_file: reader.read_vector(known[data_file]))


def _read_sketches(file: IndexFile, context: TableContext) -> dict[tuple[int, ...], ThetaSketch]:
    """Read the theta sketches of a Puffin file by the ids of their fields. Raises `Missing`, `Corrupt`, `Unsupported`."""
    path, _ = context.access.find_recorded(file.recorded_path)
    blobs = [blob for blob in file.blobs if isinstance(blob, Blob) and blob.type == THETA]
    sketches = {}
    for blob in blobs:
        stored = context.access.store.read_range(path, blob.offset, blob.length)
        content = decompress_blob(stored, blob.compression_codec, limit=_MAX_SKETCH, path=path)
        sketches[blob.fields] = decode_theta(content, path=path)
    return sketches
