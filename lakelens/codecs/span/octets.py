"""Some bytes as a file object, for decoders that take files."""

from __future__ import annotations

import io
from typing import IO, cast

from lakelens.codecs.span.span import Octets


class OctetsFile(io.RawIOBase):
    """`data[start:end]` as a file to read, read no further than asked.

    >>> file = OctetsFile(b"abcdef", 2, 5)
    >>> file.seek(-2, 2), file.read()
    (1, b'de')
    """

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.octets, self.first, self.size, self.at = data, start, end - start, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, base: int = 0) -> int:
        self.at = max(0, offset + (self.size if base == 2 else self.at if base == 1 else 0))
        return self.at

    def read(self, size: int | None = -1) -> bytes:
        stop = self.size if size is None or size < 0 else min(self.at + size, self.size)
        read = bytes(self.octets[self.first + self.at : self.first + max(stop, self.at)])
        self.at += len(read)
        return read


class EmbeddedFile:
    """The bytes of a file inside of others, for decoders that take files."""

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data, self.start, self.end = data, start, end

    @property
    def view(self) -> IO[bytes]:
        """The bytes as a file."""
        return cast(IO[bytes], OctetsFile(self.data, self.start, self.end))
