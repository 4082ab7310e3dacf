"""Deletion vectors: where one is stored, and which rows of its data file it deletes.

    descriptor   storageType u | p | i, pathOrInlineDv, offset?, sizeInBytes, cardinality
    u            a prefix folder, and 20 characters of Z85: the UUID of deletion_vector_UUID.bin below the table
    p            an absolute path
    i            the vector itself in Z85
    .bin         version (1), then vectors: size (i32 BE), magic and 64-bit Roaring bitmap, CRC-32 (i32 BE)

See "Deletion Vector Format" of the Delta protocol. In a file a vector is framed as the blob of Iceberg's Puffin files is.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lakelens.codecs.bitmaps.deletion_vector import decode_iceberg_dv, decode_native_dv
from lakelens.codecs.z85 import decode_z85
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.formats.delta.actions import Action, name_vector
from lakelens.formats.delta.context import LogContext
from lakelens.lazy import dataclass
from lakelens.model.datafile import IndexFile
from lakelens.model.deletes import DeleteMatch

if TYPE_CHECKING:
    from lakelens.bitmaps import BitMap64

_NAME = 20  # characters of a UUID


@dataclass(frozen=True, slots=True)
class VectorPlace:
    """Where a deletion vector is: the file and the offset, or, of an inline one, the action that holds it.

    `size` is of magic and bitmap; a file has 4 bytes before and 4 after them.
    """

    path: str
    offset: int | None
    size: int
    cardinality: int | None
    inline: str | None = None


def place_vector(action: Action, context: LogContext) -> VectorPlace:
    """Find where the vector of a file is. Raises `LakeError` for a descriptor that says nothing that can be read."""
    vector = action.vector or {}
    kind, text = vector.get("storageType"), vector.get("pathOrInlineDv")
    size, offset, cardinality = (vector.get(name) for name in ("sizeInBytes", "offset", "cardinality"))
    if not isinstance(text, str) or type(size) is not int or not 0 <= size < 2**31:
        message = f"the deletion vector of {action.fields['path']} has no place"
        raise Corrupt(message, path=action.path, expected="pathOrInlineDv, sizeInBytes", seen=dict(vector))
    known = cardinality if type(cardinality) is int and cardinality >= 0 else None
    if kind == "i":
        return VectorPlace(action.path, None, size, known, text)
    start = offset if type(offset) is int and offset >= 0 else 0
    if kind == "u":
        if len(text) < _NAME:
            message = "a relative deletion vector has 20 characters of its file's UUID at least"
            raise Corrupt(message, path=action.path, seen=text)
        prefix, name = text[:-_NAME], uuid.UUID(bytes=decode_z85(text[-_NAME:], action.path))
        folder = f"{context.root}/{prefix}" if prefix else context.root
        return VectorPlace(f"{folder}/deletion_vector_{name}.bin", start, size, known)
    if kind == "p":
        return VectorPlace(context.locate(unquote(text)), start, size, known)
    message = f"a deletion vector of storage type {kind!r}"
    raise Unsupported(message, path=action.path, hint="u, p and i are known")


def find_vector(action: Action, context: LogContext) -> str | None:
    """Find the file of a deletion vector; None without one, where it is inline, or where nothing can be read of it."""
    try:
        place = None if action.vector is None else place_vector(action, context)
    except LakeError:  # a finding of its file
        return None
    return None if place is None or place.inline is not None else place.path


def read_framed(place: VectorPlace, context: LogContext) -> bytes:
    """Read a vector with its length and its checksum; of an inline one they are made. Raises `LakeError`."""
    if place.inline is not None:
        data = decode_z85(place.inline, place.path)[: place.size]
        if len(data) < place.size:
            message = "an inline deletion vector is cut off"
            raise Corrupt(message, path=place.path, expected=f"{place.size} bytes", seen=len(data))
        return struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    return context.store.read_range(place.path, place.offset or 0, place.size + 8)


def read_positions(action: Action, context: LogContext) -> BitMap64:
    """Read the rows that the vector of a file deletes, counted from 0. Raises `LakeError`."""
    place = place_vector(action, context)
    data = read_framed(place, context)
    positions = decode_native_dv(data, path=place.path)
    if positions is None:
        positions = decode_iceberg_dv(data, base=place.offset or 0, path=place.path)
    if place.cardinality is not None and len(positions) != place.cardinality:
        message = (
            f"the vector of {action.fields['path']} deletes {len(positions)} rows, its descriptor says "
            f"{place.cardinality}"
        )
        context.findings.add("warning", "vector-cardinality", place.path, message)
    return positions


def match_vector(action: Action, context: LogContext) -> tuple[DeleteMatch, ...]:
    """The deletion vector of a file as what deletes its rows; none where it has none. Raises `LakeError`."""
    if action.vector is None:
        return ()
    from lakelens.bitmaps import FrozenBitMap64

    place = place_vector(action, context)
    return (
        DeleteMatch(
            describe_vectors(context, place.path, [(action, place)]),
            "the add action names its deletion vector",
            "deletion_vector",
            action.fields["path"],
            lambda: FrozenBitMap64(read_positions(action, context)),
            cardinality=place.cardinality,
            offset=place.offset,
            length=place.size + 8 if place.inline is None else place.size,
        ),
    )


def describe_vectors(
    context: LogContext, path: str, vectors: Iterable[tuple[Action, VectorPlace]]
) -> IndexFile:
    """Describe a file of deletion vectors, or, of inline ones, the file of the log that holds them."""
    ranges: list[Mapping[str, Any]] = []
    rows = 0
    recorded = path
    for action, place in vectors:
        rows += place.cardinality or 0
        recorded = name_vector(action.vector or {})
        ranges.append(
            {
                "data_file": action.fields["path"],
                "data_path": context.locate(action.key[0]),
                "offset": place.offset,
                "length": place.size + 8 if place.inline is None else place.size,
                "cardinality": place.cardinality,
            }
        )
    size = sum(one["length"] for one in ranges)
    return IndexFile(
        "DELETION_VECTORS",
        path,
        recorded,
        size,
        rows,
        ranges=tuple(ranges),
        _source=context.source(),
        _vectors=context.source("vector"),
    )
