"""How whole numbers become bytes, each with a paragraph and a picture: little-endian, two's complement, varint, zigzag.

little-endian     BinaryRow, Iceberg's bounds, Parquet, Roaring bitmaps: the least significant byte first
two's complement  every signed number: the highest bit counts negative
varint            Avro, Thrift, Protobuf: seven bits a byte, the least significant first; the highest bit: more follows
zigzag            Avro, Thrift: 0, -1, 1, -2, … become 0, 1, 2, 3, …, so that small negative numbers stay short
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lakelens.display import Displayable
from lakelens.errors import LakeError, UnknownName, list_nearest

_WIDTHS = (1, 2, 4, 8)
_GROUP = 7  # bits of a varint's byte
_AROUND = 4  # numbers of zigzag on each side


class BitBox(NamedTuple):
    """A box of a picture: what is in it, and whether it is what the row is about."""

    text: str
    is_marked: bool = False


class Row(NamedTuple):
    """A row of boxes, and what it shows."""

    label: str
    boxes: tuple[BitBox, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Encoding(Displayable):
    """A whole number in one encoding: its bytes, a paragraph, and a picture of how one becomes the other."""

    name: str
    value: int
    data: bytes
    paragraph: str
    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return f"<Encoding {self.name}: {self.value} is {self.data.hex(' ')}>"


def explain_encoding(name: str, value: int, width: int | None = None) -> Encoding:
    """Explain how a whole number becomes bytes, with a picture that is drawn from it.

    Parameters
    ----------
    name
        "little-endian", "two's complement", "varint" or "zigzag".
    value
        The number; a varint has none below zero.
    width
        Bytes of the first two: 1, 2, 4 or 8; None for as few as hold the number, little-endian for 4 or 8.

    Returns
    -------
    Encoding
        `data` are the bytes; its card shows each step.

    Raises
    ------
    UnknownName
        There is no such encoding; the hint has the nearest names.
    LakeError
        The number is none, or does not fit.

    Examples
    --------
    >>> explain_encoding("zigzag", -3), explain_encoding("varint", 300)
    (<Encoding zigzag: -3 is 05>, <Encoding varint: 300 is ac 02>)
    >>> explain_encoding("two's complement", -20, width=4).data.hex(" ")
    'ff ff ff ec'
    """
    plain = str(name).lower().replace("'", "").replace("’", "").replace("_", "-").replace(" ", "-")
    make = _ENCODINGS.get(plain)
    if make is None:
        known = [one for one in _ENCODINGS if one != "twos-complement"] + ["two's complement"]
        raise UnknownName(f"no encoding {name!r}", hint=list_nearest(str(name), known))
    if isinstance(value, bool) or not isinstance(value, int):
        raise LakeError("a whole number is encoded", expected="an int", seen=repr(value)[:60])
    if width is not None and width not in _WIDTHS:
        raise LakeError("no such width", expected="1, 2, 4 or 8 bytes", seen=repr(width)[:60])
    return make(value, width)


def _choose_width(value: int, width: int | None, least: int) -> int:
    """Choose the width that is asked for, else the smallest one that holds the number."""
    fitting = [one for one in _WIDTHS if -(1 << 8 * one - 1) <= value < 1 << 8 * one - 1]
    if not fitting or (width is not None and width not in fitting):
        bytes_ = width or _WIDTHS[-1]
        raise LakeError(
            "the number does not fit", expected=f"a signed number of {bytes_} bytes", seen=str(value)[:60]
        )
    return width or max(fitting[0], least)


def _explain_little_endian(value: int, width: int | None) -> Encoding:
    size = _choose_width(value, width, 4)
    data = value.to_bytes(size, "little", signed=True)
    paragraph = (
        f"Little-endian: the least significant byte comes first. We write numbers the other way round: {value} is "
        f"{data[::-1].hex(' ')} with the most significant byte first. In the file the same {size} bytes are turned round."
    )
    rows = (
        Row(
            "as we write it", tuple(BitBox(f"{byte:02x}", i == size - 1) for i, byte in enumerate(data[::-1]))
        ),
        Row("in the file", tuple(BitBox(f"{byte:02x}", i == 0) for i, byte in enumerate(data))),
    )
    return Encoding("little-endian", value, data, paragraph, rows)


def _explain_complement(value: int, width: int | None) -> Encoding:
    size = _choose_width(value, width, 1)
    bits, data = 8 * size, value.to_bytes(size, "big", signed=True)
    if value >= 0:
        paragraph = (
            f"Two's complement: the highest of {bits} bits counts −2^{bits - 1}, all others count as usual. Here it is 0, "
            f"so the number is not negative: {value} is what the other bits add up to."
        )
        rows: tuple[Row, ...] = (_draw_bits(f"{value}", data),)
        return Encoding("two's complement", value, data, paragraph, rows)
    whole = 1 << bits
    paragraph = (
        f"Two's complement: the highest of {bits} bits counts −2^{bits - 1}, so a number whose highest bit is 1 is "
        f"negative. To read it, take the bits as a number without sign, {value + whole}, and subtract 2^{bits}, {whole}: "
        f"that is {value}. To write it, flip all bits of {-value} and add 1. The bytes are shown most significant first."
    )
    positive = (-value).to_bytes(size, "big") if -value < whole else data
    flipped = (whole - 1 + value).to_bytes(size, "big")
    rows = (_draw_bits(f"{-value}", positive), _draw_bits("flipped", flipped), _draw_bits("add 1", data))
    return Encoding("two's complement", value, data, paragraph, rows)


def _draw_bits(label: str, data: bytes) -> Row:
    """Bits one by one where there are few, else bytes; what holds the sign is marked."""
    if len(data) <= 2:
        digits = "".join(f"{byte:08b}" for byte in data)
        return Row(label, tuple(BitBox(digit, i == 0) for i, digit in enumerate(digits)))
    return Row(label, tuple(BitBox(f"{byte:02x}", i == 0) for i, byte in enumerate(data)))


def _split_groups(value: int) -> list[int]:
    """Groups of seven bits, the least significant first."""
    groups = [value & 0x7F]
    while value := value >> _GROUP:
        groups.append(value & 0x7F)
    return groups


def _write_varint(value: int) -> bytes:
    groups = _split_groups(value)
    return bytes(group | (0x80 if i < len(groups) - 1 else 0) for i, group in enumerate(groups))


def _explain_varint(value: int, width: int | None) -> Encoding:
    if not 0 <= value < 1 << 64:
        hint = "zigzag first: it makes negative numbers positive" if value < 0 else None
        raise LakeError("no varint", expected="a number from 0 to 2^64 - 1", seen=str(value)[:60], hint=hint)
    data = _write_varint(value)
    more = "more bytes follow" if len(data) > 1 else "another byte follows"
    paragraph = (
        "Varint: a number of as many bytes as it needs. Its bits are cut into groups of seven, the least significant group "
        f"comes first, and the highest bit of each byte says whether {more} (1) or it is the last one (0). {value} needs "
        f"{len(data)} byte{'' if len(data) == 1 else 's'}: {data.hex(' ')}."
    )
    groups = _split_groups(value)
    rows = (
        Row("groups of seven bits", tuple(BitBox(f"{group:07b}") for group in reversed(groups))),
        Row("the last group first", tuple(BitBox(f"{group:07b}") for group in groups)),
        Row(
            "1 before it: more follows",
            tuple(BitBox(f"{byte >> 7} {byte & 0x7F:07b}", byte > 0x7F) for byte in data),
        ),
        Row("bytes", tuple(BitBox(f"{byte:02x}", byte > 0x7F) for byte in data)),
    )
    return Encoding("varint", value, data, paragraph, rows)


def _explain_zigzag(value: int, width: int | None) -> Encoding:
    if not -(1 << 63) <= value < 1 << 63:
        raise LakeError("no long", expected="a signed number of 8 bytes", seen=str(value)[:60])
    mapped = 2 * value if value >= 0 else -2 * value - 1
    data = _write_varint(mapped)
    first = max(0, mapped - _AROUND)
    numbers = range(first, max(mapped + 2, first + 2 * _AROUND))
    before = [BitBox("…")] if first else []
    rule = "2 n" if value >= 0 else "−2 n − 1"
    paragraph = (
        "Zigzag: negative and positive numbers take turns, 0, −1, 1, −2, 2, …, and each is known by its place, so that "
        f"those near zero stay small. {value} is at place {mapped} ({rule}); as a varint that is {data.hex(' ')}. An odd "
        "place is a negative number."
    )
    rows = (
        Row(
            "number",
            (*before, *(BitBox(str(n // 2 if n % 2 == 0 else -(n + 1) // 2), n == mapped) for n in numbers)),
        ),
        Row("place", (*before, *(BitBox(str(n), n == mapped) for n in numbers))),
        Row("bytes", tuple(BitBox(f"{byte:02x}", True) for byte in data)),
    )
    return Encoding("zigzag", value, data, paragraph, rows)


_ENCODINGS: Mapping[str, Callable[[int, int | None], Encoding]] = {
    "little-endian": _explain_little_endian,
    "twos-complement": _explain_complement,
    "varint": _explain_varint,
    "zigzag": _explain_zigzag,
}


# A few bytes by name, for those who write a BinaryRow by hand: `be4(3)`, `le8(1)`, `pad8(b"text")`, and what a dump
# prints.
#
# >>> be4(3).hex(" "), le4(-20).hex(" "), le8(1).hex(" ")
# ('00 00 00 03', 'ec ff ff ff', '01 00 00 00 00 00 00 00')

_WORD = 8


def be4(number: int) -> bytes:
    """A signed number as 4 bytes, the most significant first: the arity of a row.

    >>> be4(2).hex()
    '00000002'
    """
    return number.to_bytes(4, "big", signed=True)


def le4(number: int) -> bytes:
    """A signed number as 4 bytes, the least significant first.

    >>> le4(300).hex()
    '2c010000'
    """
    return number.to_bytes(4, "little", signed=True)


def le8(number: int) -> bytes:
    """A signed number as 8 bytes, the least significant first: a slot.

    >>> le8(-2).hex()
    'feffffffffffffff'
    """
    return number.to_bytes(8, "little", signed=True)


def pad8(data: bytes) -> bytes:
    """Bytes with zeros after them, up to a multiple of 8: a slot of a small number, an item of the variable part.

    >>> pad8(b"Rotterdam").hex(), pad8(b"")
    ('526f7474657264616d00000000000000', b'')
    """
    return data.ljust(-(-len(data) // _WORD) * _WORD, b"\0")


def dump_bytes(data: bytes) -> str:
    r"""Bytes as an Avro tool prints them in JSON: each byte is the character of that number.

    >>> print(dump_bytes(bytes.fromhex("0100000061")))
    "\u0001\u0000\u0000\u0000a"
    """
    return json.dumps(data.decode("latin-1"))
