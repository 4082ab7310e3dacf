"""What index files hold, decoded when it is asked for: key hashes, and the deleted rows of each data file.

Follows "Dynamic Bucket Index" and "Deletion Vectors" of Paimon's "Table Index" specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.codecs.bitmaps.deletion_vector import decode_hash_index
from lakelens.errors import Missing
from lakelens.formats.paimon.deletes.positions import VectorReader
from lakelens.model.vectors import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import FrozenBitMap64

    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.manifests.index import PaimonIndexFile


def read_vectors(file: PaimonIndexFile, context: TableContext) -> Vectors:
    """The vectors of a `DELETION_VECTORS` file, by the data file's name; nothing is read yet."""
    ranges = {str(found["data_file"]): found for found in file.ranges}
    reader = VectorReader(context)

    def read(data_file: str) -> FrozenBitMap64:
        found = ranges[data_file]
        return reader.read_vector(file, data_file, found["offset"], found["length"], found["cardinality"])

    return Vectors(ranges, read)


def read_hashes(file: PaimonIndexFile, context: TableContext) -> NDArray[np.int32]:
    """The hashes of a `HASH` file, in file order. Raises `Missing`, `Corrupt`."""
    try:
        data = context.store.read(file.path)
    except Missing as error:
        hint = "it has expired, or was not copied"
        raise Missing("the index file is not there", path=file.path, hint=hint) from error
    return decode_hash_index(data, path=file.path)
