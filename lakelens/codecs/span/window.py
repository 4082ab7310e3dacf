"""The bytes of one structure, read at their absolute positions while it is explained."""

from __future__ import annotations

import struct

from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt

_PAIR = struct.Struct("<ii")


class Window:
    """`data[start:end]`, copied once; every position, in and out and in errors, counts in `data`.

    >>> window = Window(b"....\\x02\\0\\0\\0\\x07\\0\\0\\0", 4, 12)
    >>> window.read_pair(4), window[8]
    ((2, 7), 7)
    """

    __slots__ = ("content", "data", "end", "start")

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data = data
        self.content = bytes(data[start:end])
        self.start = start
        self.end = end

    def __getitem__(self, position: int) -> int:
        return self.content[position - self.start]

    def take(self, start: int, end: int) -> bytes:
        """The bytes from one position to another."""
        return self.content[start - self.start : end - self.start]

    def read_pair(self, position: int) -> tuple[int, int]:
        """Two little-endian int32 side by side: mostly a length and an offset."""
        first, second = _PAIR.unpack_from(self.content, position - self.start)
        return first, second

    def read_count(self, base: int, end: int, meaning: str) -> int:
        """A little-endian int32 that counts something. Raises `Corrupt` where there is none, or a negative one."""
        if end - base < 4:
            raise Corrupt(f"no {meaning}", offset=base, expected="4 bytes", seen=f"{end - base} bytes")
        count = int.from_bytes(self.take(base, base + 4), "little", signed=True)
        if count < 0:
            raise Corrupt(f"negative {meaning}", offset=base, expected="0 or more", seen=count)
        return count
