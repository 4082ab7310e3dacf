"""What index files hold, decoded when it is asked for: key hashes, and the deleted rows of each data file.

Follows "Dynamic Bucket Index" and "Deletion Vectors" of Paimon's "Table Index" specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lakelens.codecs.deletion_vector import decode_hash_index
from lakelens.errors import Missing
from lakelens.formats.paimon.positions import VectorReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyroaring import FrozenBitMap64

    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.index import PaimonIndexFile


class Vectors(Mapping[str, "FrozenBitMap64"]):
    """The deleted rows of each data file that an index file speaks of; a vector is read when it is asked for.

    Asking raises `LakeError` for a vector that is damaged or gone, `KeyError` for a data file that has none here.
    """

    def __init__(self, file: PaimonIndexFile, reader: VectorReader) -> None:
        self._file = file
        self._reader = reader
        self._ranges = {str(found["data_file"]): found for found in file.ranges}

    def __getitem__(self, data_file: str) -> FrozenBitMap64:
        found = self._ranges[data_file]
        return self._reader.read_vector(
            self._file, data_file, found["offset"], found["length"], found["cardinality"]
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def __repr__(self) -> str:
        return f"<Vectors of {len(self)} data files in {self._file.path.rsplit('/', 1)[-1]}>"


def read_vectors(file: PaimonIndexFile, context: TableContext) -> Vectors:
    """The vectors of a `DELETION_VECTORS` file; nothing is read yet."""
    return Vectors(file, VectorReader(context))


def read_hashes(file: PaimonIndexFile, context: TableContext) -> NDArray[np.int32]:
    """The hashes of a `HASH` file, in file order. Raises `Missing`, `Corrupt`."""
    try:
        data = context.store.read(file.path)
    except Missing as error:
        hint = "it has expired, or was not copied"
        raise Missing("the index file is not there", path=file.path, hint=hint) from error
    return decode_hash_index(data, path=file.path)
