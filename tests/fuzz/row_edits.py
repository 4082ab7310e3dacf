"""Changes inside a BinaryRow of Paimon by slot, wherever a manifest has one: arity, null bits, an offset, a length.

A row in a manifest is four bytes of arity, the highest first, then as Paimon's BinaryRow: a byte of the kind and a null bit
for each field in whole words of eight bytes, a slot of eight bytes for each, the lowest byte first, and what does not fit
there behind them. A slot of something longer has its length in the lower half and its offset, from the kind on, in the
upper one; one of seven bytes and less has it inside, and its length with the highest bit set in the last byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from tests.fuzz.documents import list_places, open_document, put_place, read_place

_MOST_FIELDS = 4
_ARITIES = (0, 1, -1, 2**31 - 1, -(2**31), 65_535)
_OFFSETS = (0, 7, 2**31 - 1, 2**32 - 1)
_LENGTHS = (0, 1, 8, 2**31 - 1, 2**32 - 1)
_INLINE = (0x80, 0x87, 0x88, 0xFF)


def find_row_places(data: bytes) -> Iterator[tuple[list[Any], bytes]]:
    """Where a file has rows: bytes in its records that are an arity and enough words for it."""
    tree = open_document(data).tree
    for at, value in list_places(tree) if isinstance(tree, dict) else ():
        if isinstance(value, bytes) and len(value) >= 12 and len(value) % 8 == 4:
            (arity,) = struct.unpack(">i", value[:4])
            if 0 <= arity < 10_000 and len(value) >= 4 + _find_slots(arity) + 8 * arity:
                yield at, value


def _find_slots(arity: int) -> int:
    """Where the first slot is, from the byte of the kind on."""
    return (arity + 63 + 8) // 64 * 8


def change_row(data: bytes, edit: dict[str, Any]) -> bytes:
    """A file with one row changed: `do` is arity, kind, null, every-null, offset, length, inline, slot or tail."""
    document = open_document(data)
    row = bytearray(read_place(document.tree, edit["at"]))
    what, value = edit["do"], edit["value"]
    (arity,) = struct.unpack(">i", row[:4])
    slot = 4 + _find_slots(arity) + 8 * edit.get("field", 0)
    if what == "arity":
        row[:4] = struct.pack(">i", value)
    elif what == "kind":
        row[4] = value
    elif what == "null":
        bit = edit["field"] + 8
        row[4 + bit // 8] ^= 1 << bit % 8
    elif what == "every-null":
        row[5 : 4 + _find_slots(arity)] = bytes([value]) * (_find_slots(arity) - 1)
    elif what == "length":
        row[slot : slot + 4] = struct.pack("<I", value)
    elif what == "offset":
        row[slot + 4 : slot + 8] = struct.pack("<I", value)
    elif what == "inline":
        row[slot + 7] = value
    elif what == "slot":
        row[slot : slot + 8] = bytes([value]) * 8
    elif what == "tail":
        row = row[:value] if value < 0 else row + bytes(value)
    else:
        raise ValueError(what)
    put_place(document, edit["at"], bytes(row))
    return document.build()


def list_row_edits(data: bytes) -> Iterator[dict[str, Any]]:
    """Every change of the rows of a file, of each field that has some once."""
    seen = set()
    for at, row in find_row_places(data):
        same = tuple(step for step in at if isinstance(step, str))
        if same in seen:
            continue
        seen.add(same)
        (arity,) = struct.unpack(">i", row[:4])
        base = {"how": "row", "at": at}
        values = {
            "arity": (*_ARITIES, arity + 1, arity - 1),
            "kind": (1, 255),
            "every-null": (0, 255),
            "tail": (-8, -1, 1, 8),
        }
        for what, several in values.items():
            yield from ({**base, "do": what, "value": value} for value in several)
        for field in range(min(arity, _MOST_FIELDS)):
            yield {**base, "do": "null", "field": field, "value": 1}
            slots = {
                "offset": (*_OFFSETS, len(row) - 4, len(row) - 5),
                "length": _LENGTHS,
                "inline": _INLINE,
                "slot": (0, 255),
            }
            for what, several in slots.items():
                yield from ({**base, "do": what, "field": field, "value": value} for value in several)
