"""Compressed metadata documents: gzip and Zstandard, told by their first bytes and not by their names."""

from __future__ import annotations

import gzip
import io
import sys
import zlib

from lakelens.errors import Corrupt

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
#: Bytes that a document may have; a few compressed kilobytes can claim to be terabytes.
LIMIT = 2 * 1024**3


def decompress_document(data: bytes, path: str | None = None) -> bytes:
    """The bytes of a document, whichever way it was compressed. Raises `Corrupt` when it does not decompress.

    >>> decompress_document(gzip.compress(b"{}")), decompress_document(b"{}")
    (b'{}', b'{}')
    """
    try:
        if data[:2] == _GZIP:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                return _check_limit(stream.read(LIMIT + 1), path)
        if data[:4] == _ZSTD:
            return _check_limit(_decompress_zstd(data), path)
    except Corrupt:
        raise
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
    with zstd.ZstdFile(io.BytesIO(data)) as stream:
        content: bytes = stream.read(LIMIT + 1)
    return content


def _check_limit(content: bytes, path: str | None) -> bytes:
    if len(content) > LIMIT:
        raise Corrupt("the document is too large", path=path, expected=f"at most {LIMIT:,} bytes")
    return content
