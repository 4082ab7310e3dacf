"""BinaryRows written again: partitions, keys and statistics with other values of the same types.

The layout is that of `lakelens.codecs.paimon.row`. Head, nulls and truth values stay; every other value is given away as
what it is ordered by, and what is given back is encoded as Paimon's `BinaryRowWriter` does. Nested values and variants,
which have no statistics, become null.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.model.skeleton.ordinals import count_digits, rank_float

Ordinal = int | str
Give = Callable[[PaimonField, Ordinal], Ordinal]
WIDTHS = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8, "DATE": 4, "TIME": 4}
TEXTS = frozenset(("CHAR", "VARCHAR"))
BYTES = frozenset(("BINARY", "VARBINARY"))
TIMES = frozenset(("TIMESTAMP", "TIMESTAMP_LTZ"))
_INLINE = 7


def rewrite_row(data: bytes, columns: Sequence[PaimonField], give: Give) -> bytes | None:
    """A row with other values; None when these bytes are no row of these columns.

    >>> row = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> columns = [PaimonField(0, "id", PaimonType("INT")), PaimonField(1, "name", PaimonType("VARCHAR"))]
    >>> rewrite_row(row, columns, lambda column, old: 7 if column.id == 0 else "z" * 9).hex()[40:]
    '09000000180000007a7a7a7a7a7a7a7a7a00000000000000'
    """
    arity = int.from_bytes(data[:4], "big", signed=True)
    row, head = data[4:], (len(columns) + 71) // 64 * 8
    if arity != len(columns) or len(row) < head + 8 * arity:
        return data if arity == 0 and len(data) <= 12 else None
    made, slots, variable = bytearray(row[:head]), bytearray(), bytearray()
    fixed = head + 8 * arity
    for number, column in enumerate(columns):
        slot = row[head + 8 * number : head + 8 * number + 8]
        is_null = bool(row[(number + 8) // 8] >> (number + 8) % 8 & 1)
        try:
            ordinal = None if is_null else _read(row, slot, column.type)
        except (ValueError, struct.error):
            return None
        new = None if ordinal is None else give(column, ordinal)
        if new is None and not is_null and not _stays(column.type):
            made[(number + 8) // 8] |= 1 << (number + 8) % 8
            is_null = True
        if new is None and not is_null:
            slots += slot
            continue
        stored, more = _write(column.type, new, fixed + len(variable))
        slots += stored.ljust(8, b"\0")
        variable += more + bytes(-len(more) % 8)
    return data[:4] + bytes(made + slots + variable)


def encode_key(columns: Sequence[PaimonField], ordinals: Sequence[Ordinal]) -> bytes:
    """The row of a key, without the arity in front: what its bucket is a hash of."""
    fixed = (len(columns) + 71) // 64 * 8 + 8 * len(columns)
    slots, variable = bytearray(fixed - 8 * len(columns)), bytearray()
    for column, ordinal in zip(columns, ordinals, strict=True):
        stored, more = _write(column.type, ordinal, fixed + len(variable))
        slots += stored.ljust(8, b"\0")
        variable += more + bytes(-len(more) % 8)
    return bytes(slots + variable)


def _stays(kind: PaimonType) -> bool:
    """Whether a value without an order stays: a truth value, NaN, an infinity."""
    return kind.name in ("BOOLEAN", "FLOAT", "DOUBLE")


def _read(row: bytes, slot: bytes, kind: PaimonType) -> Ordinal | None:
    name = kind.name
    if name in WIDTHS:
        return int.from_bytes(slot[: WIDTHS[name]], "little", signed=True)
    if name in ("FLOAT", "DOUBLE"):
        (value,) = struct.unpack("<f" if name == "FLOAT" else "<d", slot[: 4 if name == "FLOAT" else 8])
        return rank_float(value) if math.isfinite(value) else None
    if name == "DECIMAL":
        if (kind.precision or 10) <= 18:
            return int.from_bytes(slot, "little", signed=True)
        length, begin = struct.unpack("<ii", slot)
        return int.from_bytes(_cut(row, begin, length), "big", signed=True)
    if name in TIMES:
        digits = count_digits(_precision(kind))
        if _precision(kind) <= 3:
            return int.from_bytes(slot, "little", signed=True)
        nanos, begin = struct.unpack("<ii", slot)
        (millis,) = struct.unpack("<q", _cut(row, begin, 8))
        return int(millis * 10 ** (digits - 3) + nanos // 10 ** (9 - digits))
    if name in TEXTS or name in BYTES:
        size = slot[7]
        content = slot[: size & 0x7F] if size & 0x80 else _cut(row, *struct.unpack("<ii", slot)[::-1])
        return content.decode("utf-8" if name in TEXTS else "latin-1")
    return None


def _cut(row: bytes, begin: int, length: int) -> bytes:
    if begin < 0 or length < 0 or begin + length > len(row):
        raise ValueError("a value outside of its row")
    return row[begin : begin + length]


def _precision(kind: PaimonType) -> int:
    return 6 if kind.precision is None else kind.precision


def _write(kind: PaimonType, ordinal: Ordinal | None, begin: int) -> tuple[bytes, bytes]:
    """The slot of a value, and what goes to the variable part, which begins at a byte."""
    name = kind.name
    if name == "DECIMAL" and (kind.precision or 10) > 18:
        number = 0 if ordinal is None else int(ordinal)
        size = (number + (number < 0)).bit_length() // 8 + 1
        data = b"" if ordinal is None else number.to_bytes(size, "big", signed=True)
        return struct.pack("<ii", len(data), begin), data.ljust(16, b"\0")
    if name in TIMES and _precision(kind) > 3:
        digits = count_digits(_precision(kind))
        millis, rest = divmod(0 if ordinal is None else int(ordinal), 10 ** (digits - 3))
        return struct.pack("<ii", rest * 10 ** (9 - digits), begin), struct.pack("<q", millis)
    if ordinal is None:
        return b"", b""
    if isinstance(ordinal, str):
        data = ordinal.encode("utf-8" if name in TEXTS else "latin-1")
        if len(data) <= _INLINE:
            return data.ljust(7, b"\0") + bytes([0x80 + len(data)]), b""
        return struct.pack("<ii", len(data), begin), data
    if name in ("FLOAT", "DOUBLE"):
        return struct.pack("<f" if name == "FLOAT" else "<d", float(ordinal)), b""
    return ordinal.to_bytes(WIDTHS.get(name, 8), "little", signed=True), b""
