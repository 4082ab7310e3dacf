"""Row positions of deletion vectors, decoded from index files.

Follows "Deletion Vectors" of Paimon's "Table Index" specification: offset, length and rows of each vector are in the
index manifest. Both versions of the bitmap are read; a small index file is read once for all its vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, Missing, Unsupported
from lakelens.formats.access import LruCache
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS, EXPIRED, PaimonIndexFile
from lakelens.io.ahead import fetch
from lakelens.model.deletes import DanglingDelete, DeleteMatch

if TYPE_CHECKING:
    from lakelens.bitmaps import FrozenBitMap64
    from lakelens.formats.access import TableAccess
    from lakelens.formats.paimon.deletes.known_rows import KnownVectors

SMALL = 4 * 1024 * 1024
_KEPT = 8
_KEPT_VECTORS = 32 * 1024 * 1024  # bytes, as they are stored
_FRAME = 8  # the length word and the CRC word


class VectorReader:
    """Decodes the deletion vectors of one table; the small index files that were read last are kept."""

    def __init__(self, access: TableAccess) -> None:
        self._access = access
        self._kept = LruCache[str, bytes](_KEPT)
        self._vectors = LruCache["tuple[str, int, int]", "tuple[int, FrozenBitMap64]"](
            _KEPT_VECTORS, weigh=itemgetter(0)
        )
        self.marks: dict[str, KnownVectors | None] = {}
        #: What was asked for ahead, by path.
        self.asked: set[str] = set()

    def read_vector(self, file: PaimonIndexFile, found: Mapping[str, Any]) -> FrozenBitMap64:
        """Read the positions that a vector deletes, by its item of the file's `ranges`. Raises `LakeError`.

        Another number of positions than recorded is a finding.
        """
        data_file, offset, length = found["data_file"], found["offset"], found["length"]
        if not isinstance(offset, int) or not isinstance(length, int):
            raise Corrupt(f"the vector of {data_file} has no place in its file", path=file.path)
        positions = self._vectors.get(
            (file.path, offset, length), lambda: self._decode(file, offset, length, data_file)
        )[1]
        rows = found["cardinality"]
        if rows is not None and rows != len(positions):
            message = f"the index manifest says {rows} rows of {data_file}, the vector has {len(positions)}"
            self._access.findings.add("warning", "deletion-vector-count", file.path, message)
        return positions

    def fetch(self, files: Iterable[PaimonIndexFile]) -> None:
        """Read small index files, all together where their store is far."""
        small = [file.path for file in files if file.size_bytes is not None and file.size_bytes <= SMALL]
        fetch(self._access.store, small=[(path, SMALL) for path in dict.fromkeys(small)])

    def _decode(
        self, file: PaimonIndexFile, offset: int, length: int, data_file: str
    ) -> tuple[int, FrozenBitMap64]:
        from lakelens.bitmaps import FrozenBitMap64
        from lakelens.codecs.bitmaps.deletion_vector import decode_paimon_dv

        data = self._read(file, offset, length, data_file)
        size = int.from_bytes(data[:4], "big", signed=True)
        if length not in (size, size + _FRAME):
            raise Corrupt(
                f"the deletion vector of {data_file} is not as long as the index manifest says",
                path=file.path,
                offset=offset,
                expected=length,
                seen=size,
            )
        positions = decode_paimon_dv(data[: size + _FRAME], base=offset, path=file.path)
        return 2048 + length, FrozenBitMap64(positions)

    def _read(self, file: PaimonIndexFile, offset: int, length: int, data_file: str) -> bytes:
        """Read the bytes from the vector's length word on, as many as it may have."""
        from lakelens.codecs.bitmaps.deletion_vector import PAIMON_VERSION

        whole: bytes | None = None
        if file.size_bytes is not None and file.size_bytes <= SMALL:
            whole = self._kept.get(file.path, lambda: self._read_range(file.path, 0, SMALL + 1))
            if len(whole) > SMALL:  # it is larger than its manifest says
                whole = None
        version = self._read_range(file.path, 0, 1) if whole is None else whole[:1]
        data, wanted = b"", length + _FRAME
        if offset > 0 and length > 0:
            stored = None if whole is None else whole[offset : offset + wanted]
            data = self._read_range(file.path, offset, wanted) if stored is None else stored
        if version != bytes([PAIMON_VERSION]):
            seen = version[0] if version else "none"
            raise Unsupported(f"version {seen} of Paimon's deletion-vector files", path=file.path)
        if len(data) < _FRAME:
            message = f"the deletion vector of {data_file} is outside of its file"
            raise Corrupt(message, path=file.path, offset=max(offset, 0), seen=f"{len(data)} bytes")
        return data

    def _read_range(self, path: str, start: int, length: int) -> bytes:
        try:
            return self._access.store.read_range(path, start, length)
        except Missing as error:
            raise Missing("the index file is not there", path=path, hint=EXPIRED) from error


Matches = Mapping[str, tuple[DeleteMatch, ...]]


def match_deletes(files: Iterable[PaimonIndexFile], reader: VectorReader) -> Matches:
    """Match the vectors of a snapshot's index files, by the name of the data file that they reach.

    The index manifest of a snapshot names, for each `DELETION_VECTORS` file, the data files whose rows it deletes and where
    their vectors are. A data file has at most one vector in a snapshot.
    """
    matches: dict[str, list[DeleteMatch]] = {}
    for file in files:
        for found in file.ranges if file.index_type == DELETION_VECTORS else ():
            name, offset = str(found["data_file"]), found["offset"]
            match = DeleteMatch(
                file,
                f"deletion vector at byte {offset}: the index manifest names this file",
                "deletion_vector",
                name,
                partial(reader.read_vector, file, found),
                cardinality=found["cardinality"],
                offset=offset,
                length=found["length"],
            )
            matches.setdefault(name, []).append(match)
    return {name: tuple(found) for name, found in matches.items()}


def find_dangling(matches: Matches, live: Collection[str]) -> tuple[DanglingDelete, ...]:
    """Find the vectors for data files that are not among the names of the live ones, an entry for each index file."""
    gone: dict[str, list[DeleteMatch]] = {}
    total: dict[str, int] = {}
    for name, found in matches.items():
        for match in found:
            total[match.file.path] = total.get(match.file.path, 0) + 1
            if name not in live:
                gone.setdefault(match.file.path, []).append(match)
    return tuple(
        DanglingDelete(
            lost[0].file,
            f"{len(lost)} of its {total[path]} vectors are for data files that are not live",
            sum(match.cardinality or 0 for match in lost),
            tuple(match.data_file for match in lost),
            is_partial=len(lost) < total[path],
        )
        for path, lost in gone.items()
    )
