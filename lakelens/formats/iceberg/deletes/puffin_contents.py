"""What Puffin files hold, decoded when it is asked for: the deleted rows of each data file, sketches of distinct values.

Follows "Blob types" of the Puffin specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakelens.codecs.iceberg.puffin import Blob, ThetaSketch, decode_theta, decompress_blob
from lakelens.formats.iceberg.discovery.locations import find_present
from lakelens.model.vectors import Vectors

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.datafile import IndexFile

THETA = "apache-datasketches-theta-v1"
_MAX_SKETCH = 64 * 2**20


def read_vectors(file: IndexFile, context: TableContext, deletes: Sequence[IcebergDataFile]) -> Vectors:
    """The vectors of a Puffin file, by the data file as the metadata names it; nothing is read yet."""
    known = {str(delete.referenced_data_file): delete for delete in deletes}
    return Vectors(known, lambda data_file: context.delete_reader.read_vector(known[data_file]))


def read_sketches(file: IndexFile, context: TableContext) -> dict[tuple[int, ...], ThetaSketch]:
    """The theta sketches of a Puffin file by the ids of their fields. Raises `Missing`, `Corrupt`, `Unsupported`."""
    path, _ = find_present(context, file.recorded_path)
    blobs = [blob for blob in file.blobs if isinstance(blob, Blob) and blob.type == THETA]
    sketches = {}
    for blob in blobs:
        stored = context.access.store.read_range(path, blob.offset, blob.length)
        content = decompress_blob(stored, blob.compression_codec, limit=_MAX_SKETCH, path=path)
        sketches[blob.fields] = decode_theta(content, path=path)
    return sketches
