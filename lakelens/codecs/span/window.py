"""The bytes of one BinaryRow, read at their absolute positions while the row is explained."""

from __future__ import annotations

import struct
from typing import Any

from lakelens.codecs.paimon.row_slots import SlotDecoder
from lakelens.codecs.paimon.types import PaimonType
from lakelens.codecs.span.span import Octets
from lakelens.errors import Corrupt

_PAIR = struct.Struct("<ii")


class Window:
    """`data[start:end]`, copied once; every position, in and out and in errors, counts in `data`.

    >>> window = Window(b"....\\x02\\0\\0\\0\\x07\\0\\0\\0", 4, 12)
    >>> window.read_pair(4), window[8]
    ((2, 7), 7)
    """

    __slots__ = ("_decoder", "content", "data", "end", "start")

    def __init__(self, data: Octets, start: int, end: int) -> None:
        self.data = data
        self.content = bytes(data[start:end])
        self.start = start
        self.end = end
        self._decoder = SlotDecoder(self.content)

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

    def decode_slot(self, type_: PaimonType, slot: int, base: int, end: int, depth: int) -> Any:
        """What the fast decoder makes of one slot of the row or array that lies from `base` to `end`."""
        self._decoder.left = len(self.content)
        shift = self.start
        try:
            return self._decoder.decode_slot(type_, slot - shift, base - shift, end - shift, depth)
        except Corrupt as error:
            raise rebase(error, shift) from None

    def decode_item(self, type_: PaimonType) -> Any:
        """What the fast decoder makes of all the bytes as one far item of a type: an array, a map, a variant."""
        slot = len(self.content)
        decoder = SlotDecoder(self.content + _PAIR.pack(slot, 0))
        try:
            return decoder.decode_slot(type_, slot, 0, slot, -1)
        except Corrupt as error:
            raise rebase(error, self.start) from None


def rebase(error: Corrupt, shift: int) -> Corrupt:
    """The same error with its byte counted from another place.

    >>> rebase(Corrupt("cut short", offset=3), 10).offset
    13
    """
    return Corrupt(
        error.message,
        path=error.path,
        offset=None if error.offset is None else error.offset + shift,
        json_path=error.json_path,
        expected=error.expected,
        seen=error.seen,
        hint=error.hint,
    )
