"""Compressed metadata documents: gzip and Zstandard, told by their first bytes and not by their names."""

from __future__ import annotations

import gzip
import sys
import zlib

from lakelens.errors import Corrupt

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def decompress_document(data: bytes, path: str | None = None) -> bytes:
    """The bytes of a document, whichever way it was compressed. Raises `Corrupt` when it does not decompress.

    >>> decompress_document(gzip.compress(b"{}")), decompress_document(b"{}")
    (b'{}', b'{}')
    """
    try:
        if data[:2] == _GZIP:
            return gzip.decompress(data)
        if data[:4] == _ZSTD:
            return _decompress_zstd(data)
    except (OSError, EOFError, zlib.error, ValueError, RuntimeError) as error:
        kind = "gzip" if data[:2] == _GZIP else "Zstandard"
        raise Corrupt(f"does not decompress as {kind}", path=path, offset=0, seen=error) from error
    except Exception as error:  # the Zstandard library's own error class has no base that is known here
        raise Corrupt("does not decompress as Zstandard", path=path, offset=0, seen=error) from error
    return data


def _decompress_zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    content: bytes = zstd.decompress(data)
    return content
