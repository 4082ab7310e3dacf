"""Why a value is not what a reader said: what the bytes of a BinaryRow, of an Iceberg bound or of a whole row say about it.

A reason names the byte that decides, and the mistake where it is a known one: the sign, the order of bytes, a scale, a
length, digits that were read in the wrong base. It leaves the last step to the reader: no reason holds the answer.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import Any, Literal

from lakelens.codecs.paimon.binary_row import count_null_bytes
from lakelens.codecs.paimon.types import PaimonType
from lakelens.codecs.span.reader import format_count
from lakelens.practice.answers import convert, is_kind, is_same, name_kind, quote, unwrap

_WIDTHS = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
_ELEMENTS = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4}
_TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
_WORD = 8  # bytes of a slot


def explain_field(row: bytes, arity: int, place: int, type_: PaimonType, value: Any, given: Any) -> str:
    """Explain why a field of a row without its arity has another value than the one given.

    >>> row = bytes.fromhex("0000000000000000 61626300000000 83".replace(" ", ""))
    >>> explain_field(row, 1, 0, PaimonType("VARCHAR", length=9), "abc", "ab")
    "you said 'ab', but the length byte 0x83 says 3 bytes"
    """
    bit = place + 8
    where = f"bit {bit % 8} of byte {bit // 8} in the header"
    if value is None:
        digits = type_.precision or 0
        is_far = digits > 18 if type_.name == "DECIMAL" else type_.name.startswith("TIMESTAMP") and digits > 3
        room = "; the bytes that its slot leads to are only kept free" if is_far else ""
        return f"you said {quote(given)}, but {where} is set{room}"
    if unwrap(given) is None:
        return f"you said None, but {where} is 0"
    if (wrong := explain_kind(value, given)) is not None:
        return wrong
    start = count_null_bytes(arity) + _WORD * place
    slot = explain_slot(row, start, _WORD, type_, value, convert(value, given))
    return f"you said {quote(given)}, but {slot}"


def explain_kind(value: Any, given: Any) -> str | None:
    """Explain what is said where an answer is of another kind than the value, or of its kind but said in a wrong way.

    >>> explain_kind(date(2024, 1, 1), datetime(2024, 1, 1, 12))
    'expected a date, and 2024-01-01 12:00:00 has a time of day'
    """
    plain = unwrap(given)
    if isinstance(value, date) and not isinstance(value, datetime) and isinstance(plain, datetime):
        if not is_kind(value, plain):
            return f"expected a date, and {quote(plain)} has a time of day"
    elif isinstance(value, datetime) and (wrong := _explain_zone(value, plain)) is not None:
        return wrong
    return None if is_kind(value, given) else f"expected {name_kind(value)}, not {quote(given)}"


def _explain_zone(value: datetime, given: Any) -> str | None:
    """Explain that the hours are those of another zone, where the rest is right."""
    if isinstance(given, str):
        with suppress(ValueError):
            given = datetime.fromisoformat(given.strip())
    if not isinstance(given, datetime) or given.tzinfo is None or is_same(value, given):
        return None
    if is_same(value, given.replace(tzinfo=None)):
        return f"with its zone {quote(given)} is another instant: what is stored counts in UTC"
    return None


def explain_slot(row: bytes, start: int, width: int, type_: PaimonType, value: Any, given: Any) -> str:
    """Explain what a slot, or an element of an array, says about a value that is not null."""
    slot, name = row[start : start + width], type_.name
    if name in _WIDTHS:
        return explain_integer(slot[: _WIDTHS[name]], "little", given, f"{name} at byte {start}")
    if name == "BOOLEAN":
        return f"the byte at byte {start} is {slot[:1].hex()}: 00 is false, 01 is true"
    if name in ("FLOAT", "DOUBLE"):
        return explain_float(slot[: 4 if name == "FLOAT" else 8], given)
    if name == "DATE":
        return explain_date(slot[:4])
    if name == "TIME":
        return f"`{slot[:4].hex(' ')}` is a little-endian number of milliseconds since midnight"
    if name in _TEXTS:
        return _explain_text(row, slot, value, given)
    if name == "DECIMAL":
        return _explain_decimal(row, slot, type_, value, given)
    if name.startswith("TIMESTAMP"):
        return _explain_timestamp(row, slot, type_, value, given)
    length, offset = struct.unpack("<ii", slot)
    return _explain_nested(row[offset : offset + length], offset, type_, value, given)


def explain_integer(content: bytes, order: Literal["little", "big"], given: Any, what: str) -> str:
    """Explain what the bytes of a whole number say.

    >>> explain_integer(bytes.fromhex("ecffffff"), "little", 4294967276, "INT at byte 8")
    "the highest bit of `ec ff ff ff` is set, in ff: the number is negative (two's complement)"
    >>> explain_integer(bytes.fromhex("64000000"), "little", 64, "INT at byte 8")
    'the digits of `64 00 00 00` are hexadecimal: the first of two counts sixteens'
    """
    other: Literal["little", "big"] = "big" if order == "little" else "little"
    highest = content[-1 if order == "little" else 0]
    if highest & 0x80 and isinstance(given, int) and given >= 0:
        return f"the highest bit of `{content.hex(' ')}` is set, in {highest:02x}: the number is negative (two's complement)"
    if given in (int.from_bytes(content, other, signed=True), int.from_bytes(content, other)):
        first = "least" if order == "little" else "most"
        return f"the first byte of `{content.hex(' ')}` is the {first} significant one ({order}-endian)"
    digits = (content[::-1] if order == "little" else content).hex().lstrip("0")
    if isinstance(given, int) and str(given) in (digits, content.hex().strip("0")):
        return f"the digits of `{content.hex(' ')}` are hexadecimal: the first of two counts sixteens"
    return f"the {what} is `{content.hex(' ')}`, {order}-endian"


def explain_float(content: bytes, given: Any) -> str:
    """Explain what the bytes of a floating-point number say.

    >>> explain_float(bytes.fromhex("0000c03f"), 1069547520.0)
    '`00 00 c0 3f` is no whole number, but an IEEE 754 number of 4 bytes, little-endian: sign, exponent, fraction'
    """
    is_whole = given in (int.from_bytes(content, "little"), int.from_bytes(content, "big"))
    noun = f"an IEEE 754 number of {len(content)} bytes, little-endian: sign, exponent, fraction"
    return f"`{content.hex(' ')}` is {'no whole number, but ' if is_whole else ''}{noun}"


def explain_date(content: bytes) -> str:
    """Explain what the bytes of a date say."""
    days = int.from_bytes(content, "little", signed=True)
    return f"`{content.hex(' ')}` is {days:,} days after 1970-01-01, little-endian"


def explain_text(content: bytes, value: Any, given: Any) -> str:
    """Explain where a text or bytes begin to differ from what was given.

    >>> explain_text(b"abc", "abc", "abd"), explain_text(b"abc", "abc", "61 62 63")
    ('byte 2 of the text is 0x63', 'those are its bytes in hexadecimal: in UTF-8 each of them is a letter, or a part of one')
    """
    typed = given.encode() if isinstance(given, str) else bytes(given)
    if (slip := _find_slip(content, value, given)) is not None:
        return slip
    noun = "text" if isinstance(value, str) else "value"
    place = next((at for at, byte in enumerate(content) if typed[at : at + 1] != bytes([byte])), len(content))
    if place == len(content):
        return f"the {noun} ends after {format_count(len(content), 'byte')}"
    return f"byte {place} of the {noun} is 0x{content[place]:02x}"


def _find_slip(content: bytes, value: Any, given: Any) -> str | None:
    """Find a known mistake in a text or in bytes, whatever their length: digits, padding, capitals."""
    if isinstance(value, str):
        if convert(b"", given) == content:
            return "those are its bytes in hexadecimal: in UTF-8 each of them is a letter, or a part of one"
        if value.casefold() == given.casefold():
            return "capital and small letters have bytes of their own"
    typed = given.encode() if isinstance(given, str) else bytes(given)
    noun = "text" if isinstance(value, str) else "value"
    return (
        f"the zeros after the {noun} are padding, and no part of it"
        if typed.rstrip(b"\0") == content
        else None
    )


def _explain_text(row: bytes, slot: bytes, value: Any, given: Any) -> str:
    typed = given.encode() if isinstance(given, str) else bytes(given)
    if slot[7] & 0x80:
        length = slot[7] & 0x7F
        content, said = slot[:length], f"the length byte 0x{slot[7]:02x} says {format_count(length, 'byte')}"
    else:
        length, offset = struct.unpack("<ii", slot)
        content = row[offset : offset + length]
        head = f"the slot's last byte, 0x{slot[7]:02x}, has no high bit, so the text is far"
        said = f"{head}: {format_count(length, 'byte')} at offset {offset}"
        if content != row[length : length + offset] == typed:
            said = f"`{slot.hex(' ')}` is the length first, and then the offset"
    if len(typed) == length:
        return explain_text(content, value, given)
    return _find_slip(content, value, given) or said


def _explain_decimal(row: bytes, slot: bytes, type_: PaimonType, value: Any, given: Any) -> str:
    scale = type_.scale or 0
    if (type_.precision or 0) <= 18:
        return explain_decimal(slot, "little", scale, value, given)
    length, offset = struct.unpack("<ii", slot)
    said = explain_decimal(row[offset : offset + length], "big", scale, value, given)
    return f"with more than 18 digits the slot leads to {format_count(length, 'byte')} at offset {offset}, and {said}"


def explain_decimal(
    content: bytes, order: Literal["little", "big"], scale: int, value: Any, given: Any
) -> str:
    """Explain what the unscaled number of a decimal says.

    >>> from decimal import Decimal
    >>> explain_decimal(bytes.fromhex("012c"), "big", 2, Decimal("3.00"), Decimal(300))
    '300 is the unscaled number: the type puts the point before its last 2 digits'
    """
    unscaled = int.from_bytes(content, order, signed=True)
    if given == unscaled:
        return f"{unscaled} is the unscaled number: the type puts the point before its last {format_count(scale, 'digit')}"
    if value < 0 <= given:
        return f"the highest bit of `{content.hex(' ')}` is set: the number is negative (two's complement)"
    if given.is_finite() and given and any(given.scaleb(places) == value for places in range(-20, 21)):
        return "the digits are right, and the point is not: how many digits follow it is in the type"
    other: Literal["little", "big"] = "big" if order == "little" else "little"
    if given.is_finite() and given.scaleb(scale) == int.from_bytes(content, other, signed=True):
        return f"`{content.hex(' ')}` has its bytes the other way round: it is {order}-endian"
    return f"`{content.hex(' ')}` is the unscaled number, {order}-endian, and {scale} of its digits follow the point"


def _explain_timestamp(row: bytes, slot: bytes, type_: PaimonType, value: Any, given: Any) -> str:
    if (type_.precision or 0) <= 3:
        return f"the slot `{slot.hex(' ')}` is milliseconds since 1970-01-01 00:00, little-endian"
    nanos, offset = struct.unpack("<ii", slot)
    if is_same(value.replace(microsecond=value.microsecond // 1000 * 1000), given):
        return f"those are the milliseconds: the slot's first four bytes add {nanos:,} nanoseconds"
    millis = row[offset : offset + 8]
    head = f"the milliseconds since 1970-01-01 are at offset {offset}, `{millis.hex(' ')}`"
    return f"{head}, and the slot's first four bytes add nanoseconds"


def _explain_nested(content: bytes, offset: int, type_: PaimonType, value: Any, given: Any) -> str:
    """Explain what a list, a map or a nested row says: the first element that is wrong."""
    head = f"in the {len(content)} bytes at offset {offset}"
    if type_.name == "ROW" and isinstance(given, Mapping):
        for place, field in enumerate(type_.fields):
            held, typed = value[field.name], given.get(field.name)
            if not is_same(held, typed):
                why = explain_field(content, len(type_.fields), place, field.type, held, typed)
                return f"{head}, a row of its own with a header of its own, `{field.name}` differs: {why}"
        return f"{head} is a row of {format_count(len(type_.fields), 'field')}"
    if type_.name == "ARRAY" and type_.element is not None and isinstance(given, Sequence):
        return f"{head}, {_explain_array(content, type_.element, value, given)}"
    keys = int.from_bytes(content[:4], "little")
    return (
        f"{head}, the first four say that the array of keys has {keys} bytes; the array of values follows it"
    )


def _explain_array(content: bytes, element: PaimonType, value: Sequence[Any], given: Sequence[Any]) -> str:
    count = len(value)
    if len(given) != count:
        return f"`{content[:4].hex(' ')}` says how many elements the array has, and you gave {len(given)}"
    place = next(at for at in range(count) if not is_same(value[at], given[at]))
    name = f"element {place}, counted from 0 as its null bit is,"
    if value[place] is None:
        return f"{name} differs: bit {place} of the null bits, `{content[4:8].hex(' ')}`, is set"
    if given[place] is None:
        return f"{name} differs: bit {place} of the null bits, `{content[4:8].hex(' ')}`, is 0"
    width = _ELEMENTS.get(element.name, _WORD)
    start = 4 + (count + 31) // 32 * 4 + place * width
    said = explain_slot(content, start, width, element, value[place], convert(value[place], given[place]))
    return f"{name} differs: {said}"


def explain_bytes(right: bytes, given: bytes) -> str:
    """Explain where bytes that a reader wrote begin to differ from the right ones, without saying what is right there.

    >>> explain_bytes(bytes.fromhex("0a00000010000000"), bytes.fromhex("100000000a000000"))
    'byte 0 is where yours begin to differ: two numbers of four bytes are the other way round there'
    >>> explain_bytes(bytes.fromhex("2c010000"), bytes.fromhex("0000012c"))
    'byte 0 is where yours begin to differ: the 4 bytes there are in the wrong order'
    >>> explain_bytes(b"a" + bytes(7), b"a")
    'yours end after 1 byte: what is there is right, and zeros up to a multiple of 8 bytes are missing'
    """
    at = next((place for place, pair in enumerate(zip(right, given, strict=False)) if pair[0] != pair[1]), -1)
    if at < 0:
        if len(given) > len(right):
            return f"the first {format_count(len(right), 'byte')} are right, and nothing comes after them"
        rest = right[len(given) :]
        ends = f"yours end after {format_count(len(given), 'byte')}: what is there is right, and "
        is_padding = not any(rest) and len(rest) < _WORD and len(right) % _WORD in (0, 4)
        return ends + ("zeros up to a multiple of 8 bytes are missing" if is_padding else "more follow")
    head = f"byte {at} is where yours begin to differ"
    for width in (2, 4, 8):
        start = at - at % width
        part = right[start : start + width]
        if len(part) == width and given[start : start + width] == part[::-1]:
            return f"{head}: the {width} bytes there are in the wrong order"
    for start in {at - at % _WORD, at - (at - 4) % _WORD}:
        word = right[start : start + _WORD] if start >= 0 else b""
        if len(word) == _WORD and given[start : start + _WORD] == word[4:] + word[:4]:
            return f"{head}: two numbers of four bytes are the other way round there"
    zeros = len(right[at:]) - len(right[at:].lstrip(b"\0"))
    if zeros and given[at:] == right[at + zeros :]:
        return f"{head}: zeros are missing there, as padding or as the upper bytes of a number"
    return f"{head}: {given[at]:02x} is not right there"
