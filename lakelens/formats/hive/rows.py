"""The first rows of a data file, as stored: partition columns are not in it, hidden columns are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.codecs.compression import decompress_start
from lakelens.errors import Unsupported
from lakelens.formats import contents
from lakelens.io.store import Store

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT = ("text", "csv", "json", "gzip", "bzip2")
_LINE_LIMIT = 1 << 20  # bytes of a text file that are looked at for its first lines


def read_rows(store: Store, path: str, file_format: str, n: int) -> pa.Table:
    """The first `n` rows as an Arrow table; the lines of a text file as one column `line`.

    Raises `Corrupt` for damage, `Unsupported` for formats whose rows lakelens does not read.
    """
    kind = contents.choose_kind(contents.read_kind(store, path), file_format)
    return _read_lines(store, path, n) if kind in _TEXT else contents.read_rows_as(store, path, kind, n)


def _read_lines(store: Store, path: str, n: int) -> pa.Table:
    import pyarrow as pa

    data = _decompress(store.read_range(path, 0, _LINE_LIMIT), path)
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    texts = [line.decode("utf-8", "replace") for line in lines[:n]]
    return pa.table({"line": pa.array(texts, pa.string())})


def _decompress(data: bytes, path: str) -> bytes:
    """The text behind gzip or bzip2; the compressed bytes may be cut, the lines before the cut are wanted."""
    for magic, codec in ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2")):
        if data.startswith(magic):
            return decompress_start(codec, data, path)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        raise Unsupported("text compressed with zstd is not read", path=path)
    return data
