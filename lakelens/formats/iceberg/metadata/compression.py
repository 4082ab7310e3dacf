"""Compressed metadata documents: gzip and Zstandard, recognised by their first bytes and not by their names."""

from __future__ import annotations

from lakelens.codecs.compression import decompress
from lakelens.codecs.magic import sniff

#: Bytes that a document may have; a few compressed kilobytes can claim to be terabytes.
LIMIT = 2 * 1024**3


def decompress_document(data: bytes, path: str | None = None) -> bytes:
    """The bytes of a document, decompressed if need be. Raises `Corrupt` when it does not decompress.

    >>> import gzip
    >>> decompress_document(gzip.compress(b"{}")), decompress_document(b"{}")
    (b'{}', b'{}')
    """
    kind = sniff(data[:16])
    return decompress(kind, data, LIMIT, path=path) if kind in ("gzip", "zstd") else data
