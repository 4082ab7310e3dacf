"""Index files of a snapshot: its one index manifest, complete, in Avro, ORC or Parquet.

    _KIND  _PARTITION  _BUCKET  _INDEX_TYPE  _FILE_NAME  _FILE_SIZE  _ROW_COUNT  _DELETIONS_VECTORS_RANGES?
    _EXTERNAL_PATH?  _GLOBAL_INDEX?

See "Index manifest" and "Table index" of the Paimon documentation. Unknown types are kept under their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from lakelens.errors import Corrupt, Missing
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.containers import decode_container
from lakelens.formats.paimon.manifests.manifest import read_metadata
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Source
from lakelens.model.datafile import IndexFile
from lakelens.model.deletes import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.bitmaps import FrozenBitMap64

HASH = "HASH"
DELETION_VECTORS = "DELETION_VECTORS"
EXPIRED = "it has expired, or was not copied"


# reads the vector that one of the `ranges` of an index file describes
ReadVector = Callable[["PaimonIndexFile", Mapping[str, Any]], "FrozenBitMap64"]


@dataclass(frozen=True, slots=True, repr=False)
class PaimonIndexFile(IndexFile):
    """An index file: `HASH` (one 4-byte hash for each key), `DELETION_VECTORS`, or a global index over row ids.

    `global_index` holds `row_range_start`, `row_range_end` (inclusive), `index_field_id`, `extra_field_ids`, `index_meta`
    and `source_meta` of a global index.
    """

    manifest: str | None = None
    global_index: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class HashIndexFile(PaimonIndexFile):
    """A `HASH` index file of a bucket: which keys it holds, by their hashes."""

    @property
    def hashes(self) -> NDArray[np.int32]:
        """The hash of each key, in file order: an array of int32, read when it is asked for. Raises `LakeError`."""
        return cast("NDArray[np.int32]", self.read_contents())


@dataclass(frozen=True, slots=True, repr=False)
class VectorIndexFile(PaimonIndexFile):
    """A `DELETION_VECTORS` index file: which rows of which data files are deleted."""

    @property
    def vectors(self) -> Mapping[str, FrozenBitMap64]:
        """The deleted rows of each data file by its name, counted from 0; a vector is read when it is asked for."""
        return cast("Mapping[str, FrozenBitMap64]", self.read_contents())


def read_index_files(
    context: TableContext, name: str, read_vector: ReadVector
) -> tuple[PaimonIndexFile, ...]:
    """Read the entries of an index manifest. Raises `LakeError` when it is missing or damaged."""
    path = context.layout.shared("manifest", name)
    records = decode_container(read_metadata(context, path, None, "snapshot"), path)
    # what is made of a record by its type, and how the contents of its file are read
    kinds: dict[str, tuple[type[PaimonIndexFile], Source]] = {
        HASH: (HashIndexFile, Source(_read_hashes, context)),
        DELETION_VECTORS: (VectorIndexFile, Source(_list_vectors, read_vector)),
    }
    return tuple(
        _make_file(context, record, position, path, kinds) for position, record in enumerate(records)
    )


def _read_hashes(file: PaimonIndexFile, context: TableContext) -> NDArray[np.int32]:
    from lakelens.codecs.bitmaps.deletion_vector import decode_hash_index

    try:
        data = context.store.read(file.path)
    except Missing as error:
        raise Missing("the index file is not there", path=file.path, hint=EXPIRED) from error
    return decode_hash_index(data, path=file.path)


def _list_vectors(file: PaimonIndexFile, read_vector: ReadVector) -> Vectors:
    """List the vectors of a file, by the data file's name; nothing is read yet."""
    ranges = {str(found["data_file"]): found for found in file.ranges}
    return Vectors(ranges, lambda data_file: read_vector(file, ranges[data_file]))


def _make_file(
    context: TableContext,
    raw: Mapping[str, Any],
    position: int,
    manifest: str,
    kinds: Mapping[str, tuple[type[PaimonIndexFile], Source]],
) -> PaimonIndexFile:
    name, kind = raw.get("_FILE_NAME"), raw.get("_INDEX_TYPE")
    if not isinstance(name, str) or not isinstance(kind, str):
        message, expected = f"record {position} is no index manifest entry", "_FILE_NAME and _INDEX_TYPE"
        raise Corrupt(message, path=manifest, expected=expected, seen=list(raw))
    partition, bucket = raw.get("_PARTITION") or b"", raw.get("_BUCKET")
    external = raw.get("_EXTERNAL_PATH")
    if external is not None:
        path = context.locate_external(external, name)
    elif context.is_on("index-file-in-data-file-dir"):
        path = context.locate_data(partition, bucket or 0, name, None, manifest)
    else:
        path = context.layout.shared("index", name)
    # where the vectors of data files are: offset of the length word, length as recorded, deleted rows
    ranges = (
        {
            "data_file": item.get("f0"),
            "offset": item.get("f1"),
            "length": item.get("f2"),
            "cardinality": item.get("_CARDINALITY"),
        }
        for item in raw.get("_DELETIONS_VECTORS_RANGES") or ()
        if item
    )
    found = raw.get("_GLOBAL_INDEX")
    made, contents = kinds.get(kind, (PaimonIndexFile, None))
    return made(
        kind,
        path,
        external or name,
        raw.get("_FILE_SIZE"),
        raw.get("_ROW_COUNT"),
        context.partitions.decode(partition, manifest),
        bucket,
        ranges=tuple(ranges),
        raw=raw,
        manifest=manifest,
        global_index=None
        if found is None
        else {key.lstrip("_").lower(): value for key, value in found.items()},
        _source=context.source(),
        _vectors=context.source(),
        _contents=contents,
    )
