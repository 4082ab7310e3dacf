"""Puffin files: Iceberg's container for statistics and deletion vectors.

    PFA1 | blob | blob | … | PFA1 | payload (JSON) | payload size i32 LE | flags 4 bytes | PFA1
                           '--------------------------- footer ---------------------------'

Bit 0 of the first flag byte: the payload is one LZ4 frame; the size is the stored one. Blobs may be compressed, each as one
LZ4 or zstd frame. Follows the Puffin specification (version 1) of Apache Iceberg.

Refused with `Corrupt`: a wrong magic at either end or before the payload, a payload size that does not fit the file, a
payload that is not the JSON it should be, blobs that reach into the footer. `Unsupported`: unknown flags and codecs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakelens.codecs.compression import Limit, allow_growth, decompress
from lakelens.errors import Corrupt, Unsupported

MAGIC = b"PFA1"
#: Footer bytes besides the payload: two magics, the size and the flags.
FOOTER_FRAME = 16
FOOTER_TAIL = 12
COMPRESSED_PAYLOAD = 1
#: What a decompressed blob may grow to unless the caller says otherwise.
MAX_BLOB = 2**30
_MAX_PAYLOAD = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Blob:
    """One blob as the footer describes it; `offset` and `length` are bytes in the file, the length as stored."""

    type: str
    fields: tuple[int, ...]
    snapshot_id: int | None
    sequence_number: int | None
    offset: int
    length: int
    compression_codec: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PuffinFooter:
    """The footer of a Puffin file. `footer_size` counts both magics, as `file-footer-size-in-bytes` of the metadata does."""

    blobs: tuple[Blob, ...]
    properties: Mapping[str, str]
    footer_size: int
    format: str = "puffin"


@dataclass(frozen=True, slots=True)
class ThetaSketch:
    """The head of a compact theta sketch. `estimate` is the number of distinct values that it stands for."""

    preamble_longs: int
    serial_version: int
    family: int
    flags: int
    seed_hash: str
    count: int
    theta: float
    estimate: float


def footer_size(tail: bytes, file_size: int, *, path: str | None = None) -> int:
    """Say how many bytes at the end of the file the footer takes, from the last 12 of them or more.

    Raises `Corrupt` when the file does not end as a Puffin file, or the size does not fit it.

    >>> footer_size(bytes.fromhex("1c000000 00000000 50464131"), 48)
    44
    """
    return _stored_payload_size(tail, file_size, path) + FOOTER_FRAME


def decode_footer(tail: bytes, file_size: int | None = None, *, path: str | None = None) -> PuffinFooter:
    """Decode the footer of a Puffin file, from the end of the file (`footer_size()` bytes or more) or the whole of it.

    `file_size` is the length of the file when `tail` is not all of it. Follows "Footer" of the Puffin specification.
    Raises `Corrupt`, or `Unsupported` for flags that the specification reserves.

    >>> payload = b'{"blobs": [], "properties": {}}'
    >>> frame = b"PFA1" + payload + len(payload).to_bytes(4, "little") + bytes(4) + b"PFA1"
    >>> decode_footer(b"PFA1" + frame).footer_size
    47
    """
    file_size = len(tail) if file_size is None else file_size
    size = _stored_payload_size(tail, file_size, path)
    start = len(tail) - FOOTER_FRAME - size
    if start < 0:
        raise ValueError(
            f"decode_footer needs the last {size + FOOTER_FRAME} bytes of the file, got {len(tail)}"
        )
    footer_start = file_size - FOOTER_FRAME - size
    if tail[start : start + 4] != MAGIC:
        raise Corrupt(
            "no magic before the footer's payload",
            path=path,
            offset=footer_start,
            expected=MAGIC.decode(),
            seen=tail[start : start + 4].hex(),
        )
    if len(tail) == file_size and tail[:4] != MAGIC:
        raise Corrupt("not a Puffin file", path=path, offset=0, expected=MAGIC.decode(), seen=tail[:4].hex())
    flags = int.from_bytes(tail[-8:-4], "little")
    if flags & ~COMPRESSED_PAYLOAD:
        raise Unsupported(f"Puffin footer flags {flags:#x}", path=path)
    payload = tail[start + 4 : len(tail) - FOOTER_TAIL]
    if flags & COMPRESSED_PAYLOAD:
        payload = decompress("lz4", payload, limit_payload(footer_start), offset=footer_start + 4, path=path)
    try:
        document = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Corrupt(
            "the footer's payload is not JSON", path=path, offset=footer_start + 4, seen=payload[:40]
        ) from error
    blobs = _member(document, "blobs", list, "$", path)
    parsed = [_parse_blob(blob, f"$.blobs[{i}]", footer_start, path) for i, blob in enumerate(blobs)]
    return PuffinFooter(tuple(parsed), _properties(document, "$", path), size + FOOTER_FRAME)


def limit_payload(footer_start: int) -> Limit:
    """What the JSON of a footer may take: as much as the blobs before it need, of which each takes a few hundred bytes.

    >>> limit_payload(50), limit_payload(1 << 20)
    (1048576, 16777216)
    """
    return allow_growth(footer_start, 16, "max_footer", _MAX_PAYLOAD)


def decompress_blob(
    data: bytes, codec: str | None, *, limit: int = MAX_BLOB, path: str | None = None
) -> bytes:
    """Decompress the contents of a blob. `codec` is the footer's `compression-codec`: None, `lz4` or `zstd` (one frame).

    `limit` bounds the result in bytes. Raises `Corrupt` for a damaged frame or one that grows beyond the limit,
    `Unsupported` for other codecs.

    >>> decompress_blob(b"abc", None)
    b'abc'
    """
    if codec is None:
        return data
    if codec not in ("lz4", "zstd"):
        raise Unsupported(f"Puffin blobs compressed with {codec!r}", path=path)
    return decompress(codec, data, limit, path=path)


def decode_theta(data: bytes, *, path: str | None = None) -> ThetaSketch:
    """Decode the head of an `apache-datasketches-theta-v1` blob (decompressed): entries, theta, distinct estimate.

    The hashes are left as they are. Follows the compact theta layout of Apache DataSketches, serial version 3. Raises
    `Corrupt`, or `Unsupported` for other layouts.

    >>> decode_theta(bytes.fromhex("01030300003acc93 0102030405060708")).estimate
    1.0
    """
    if len(data) < 8:
        raise Corrupt("too short for a theta sketch", path=path, offset=0, expected="8 bytes", seen=len(data))
    longs, version, family, flags = data[0] & 0x3F, data[1], data[2], data[5]
    if version != 3 or family != 3:
        raise Unsupported(f"theta sketch of serial version {version}, family {family}", path=path)
    if not 1 <= longs <= 3:
        raise Corrupt("a theta sketch's preamble", path=path, offset=0, expected="1 to 3 longs", seen=longs)
    count, theta = 0 if flags & 4 else 1, 1.0  # one long: empty (flag 4) or a single hash
    if len(data) < 8 * longs:
        raise Corrupt("a theta sketch ends in its preamble", path=path, offset=len(data), expected=8 * longs)
    if longs >= 2:
        count = struct.unpack_from("<i", data, 8)[0]
    if longs == 3:
        theta = struct.unpack_from("<q", data, 16)[0] / 2**63
    if not 0 < theta <= 1:
        raise Corrupt("a theta outside 0 to 1", path=path, offset=16, seen=theta)
    if not 0 <= count <= (len(data) - 8 * longs) // 8:
        raise Corrupt(
            "a theta sketch's entry count does not fit its bytes",
            path=path,
            offset=8,
            expected=f"0 to {(len(data) - 8 * longs) // 8}",
            seen=count,
        )
    return ThetaSketch(longs, version, family, flags, data[6:8].hex(), count, theta, count / theta)


def _stored_payload_size(tail: bytes, file_size: int, path: str | None) -> int:
    if file_size < len(MAGIC) + FOOTER_FRAME or len(tail) < FOOTER_TAIL:
        raise Corrupt(
            "too short for a Puffin file",
            path=path,
            offset=0,
            expected=f"at least {len(MAGIC) + FOOTER_FRAME} bytes",
            seen=f"{min(file_size, len(tail))} bytes",
        )
    if tail[-4:] != MAGIC:
        raise Corrupt(
            "the file does not end as a Puffin file",
            path=path,
            offset=file_size - 4,
            expected=MAGIC.decode(),
            seen=tail[-4:].hex(),
        )
    size: int = struct.unpack("<i", tail[-12:-8])[0]
    limit = file_size - len(MAGIC) - FOOTER_FRAME
    if not 0 <= size <= limit:
        raise Corrupt(
            "a footer payload size that does not fit the file",
            path=path,
            offset=file_size - 12,
            expected=f"0 to {limit}",
            seen=size,
        )
    most = limit_payload(file_size - FOOTER_FRAME - size)
    if size > most:
        raise Corrupt(
            "a footer that is too large for its blobs",
            path=path,
            offset=file_size - 12,
            expected=f"at most {most:,} bytes",
            seen=f"{size:,} bytes",
            hint=most.advice,
        )
    return size


def _parse_blob(blob: object, place: str, footer_start: int, path: str | None) -> Blob:
    fields = _member(blob, "fields", list, place, path)
    if not all(type(field_id) is int for field_id in fields):
        raise Corrupt("not a list of field ids", path=path, json_path=f"{place}.fields", seen=fields)
    parsed = Blob(
        type=_member(blob, "type", str, place, path),
        fields=tuple(fields),
        snapshot_id=_member(blob, "snapshot-id", int, place, path, optional=True),
        sequence_number=_member(blob, "sequence-number", int, place, path, optional=True),
        offset=_member(blob, "offset", int, place, path),
        length=_member(blob, "length", int, place, path),
        compression_codec=_member(blob, "compression-codec", str, place, path, optional=True),
        properties=_properties(blob, place, path),
    )
    if parsed.offset < len(MAGIC) or parsed.length < 0 or parsed.offset + parsed.length > footer_start:
        raise Corrupt(
            "a blob outside the file's body",
            path=path,
            json_path=place,
            expected=f"bytes {len(MAGIC)} to {footer_start}",
            seen=f"{parsed.offset} + {parsed.length}",
        )
    return parsed


def _properties(document: object, place: str, path: str | None) -> Mapping[str, str]:
    properties = _member(document, "properties", dict, place, path, optional=True) or {}
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in properties.items()}


def _member(
    document: object, key: str, kind: type, place: str, path: str | None, *, optional: bool = False
) -> Any:
    """A member of a JSON object, of one type."""
    value = document.get(key) if isinstance(document, dict) else None
    if optional and value is None and isinstance(document, dict):
        return None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Corrupt(
            f"the footer has no proper {key!r}",
            path=path,
            json_path=f"{place}.{key}",
            expected={list: "an array", dict: "an object", str: "a string", int: "an integer"}[kind],
            seen=repr(value),
        )
    return value
