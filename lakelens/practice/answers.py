"""Answers of readers: whatever they are, they are read as far as they go, and compared with what the bytes say."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, Literal

from lakelens.codecs.paimon.binary_row import count_null_bytes
from lakelens.codecs.paimon.types import PaimonType
from lakelens.practice.exercise import Wrong

_MOST = 10_000  # parts of an answer that are looked at
_PLAIN = (bool, int, float, str, bytes, Decimal, date, time)


def unwrap(answer: Any) -> Any:
    """A value of NumPy, pandas or Arrow, or a decoded row, as Python's own; all else as it is."""
    if isinstance(answer, bytearray | memoryview):
        return bytes(answer)
    home = type(answer).__module__.partition(".")[0]
    if home == "lakelens" and hasattr(answer, "to_dict"):
        return answer.to_dict()  # a row that was decoded
    if home == "pyarrow" and hasattr(answer, "to_pylist"):
        return answer.to_pylist()
    if home == "pyarrow" and hasattr(answer, "as_py"):
        return answer.as_py()
    if home in ("numpy", "pandas", "polars") and hasattr(answer, "tolist"):
        return answer.tolist()
    return answer


def quote(answer: Any) -> str:
    """Quote an answer in a few characters; what is not one of Python's own values only by its type.

    >>> quote("ab"), quote([1, None]), quote(object())
    ("'ab'", '[1, None]', 'an object')
    """
    answer = unwrap(answer)
    if answer is None or type(answer) in _PLAIN:
        text = str(answer) if isinstance(answer, Decimal | date | time) else repr(answer)
        return text if len(text) <= 60 else f"{text[:57]}…"
    if isinstance(answer, datetime):
        return str(answer)
    if type(answer) in (list, tuple):
        shown = ", ".join(quote(one) for one in answer[:5])
        return f"[{shown}{', …' if len(answer) > 5 else ''}]"
    noun = type(answer).__name__
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def name_kind(expected: Any) -> str:
    """Name what kind of value is expected, without which one it is.

    >>> name_kind(True), name_kind(5), name_kind("a")
    ('True or False', 'a whole number', 'a text')
    """
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "True or False"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a text"),
        (bytes, "bytes, or their hexadecimal digits"),
        (Decimal, "a decimal number, as Decimal('1.50') or '1.50'"),
        (datetime, "a datetime, or '2024-01-31 12:00:00.000'"),
        (date, "a date, or '2024-01-31'"),
        (time, "a time of day, or '12:00:00'"),
        (Mapping, "a dict"),
        (Sequence, "a list"),
    )
    return next((noun for kind, noun in kinds if isinstance(expected, kind)), "None")


def is_kind(expected: Any, answer: Any) -> bool:
    """Check whether an answer is of the kind that is expected; None is of every kind."""
    answer = unwrap(answer)
    if answer is None or expected is None:
        return True
    return _convert(expected, answer) is not None


def _convert(expected: Any, answer: Any) -> Any:
    """Convert an answer as a value that can be compared; None where it is of another kind."""
    try:
        if isinstance(expected, bool):
            return answer if isinstance(answer, bool) else None
        if isinstance(answer, bool):
            return None
        if isinstance(expected, int):
            return answer if isinstance(answer, int) else None
        if isinstance(expected, float):
            return float(answer) if isinstance(answer, int | float | Decimal) else None
        if isinstance(expected, Decimal):
            return Decimal(str(answer)) if isinstance(answer, int | float | str | Decimal) else None
        return _convert_text(expected, answer)
    except (ValueError, OverflowError, InvalidOperation):
        return None


def _convert_text(expected: Any, answer: Any) -> Any:
    if isinstance(expected, str):
        return answer if isinstance(answer, str) else None
    if isinstance(expected, bytes):
        return bytes.fromhex(answer.removeprefix("0x")) if isinstance(answer, str) else _keep(answer, bytes)
    for kind in (datetime, date, time):
        if isinstance(expected, kind):
            read = kind.fromisoformat(answer) if isinstance(answer, str) else answer
            return _keep(read, kind)
    if isinstance(expected, Mapping):
        return answer if isinstance(answer, Mapping | tuple | list) else None
    return _keep(answer, (list, tuple))


def _keep(answer: Any, kinds: Any) -> Any:
    return answer if isinstance(answer, kinds) else None


def is_same(expected: Any, answer: Any) -> bool:
    """Check whether an answer is the value that is expected; a time without a zone is one in UTC.

    >>> is_same(Decimal("1.50"), 1.5), is_same(date(2024, 1, 31), "2024-01-31"), is_same(1, True)
    (True, True, False)
    """
    answer = unwrap(answer)
    if expected is None or answer is None:
        return answer is None and expected is None
    given = _convert(expected, answer)
    if given is None:
        return False
    if isinstance(expected, float):
        return math.isclose(expected, given, rel_tol=1e-6) or (math.isnan(expected) and math.isnan(given))
    if isinstance(expected, datetime):
        return bool(expected.replace(tzinfo=None) == given.replace(tzinfo=None))
    if isinstance(expected, Mapping):
        given = given if isinstance(given, Mapping) else dict(zip(expected, given, strict=False))
        return given.keys() == expected.keys() and all(is_same(expected[key], given[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(expected) == len(given) and all(map(is_same, expected, given))
    return bool(expected == given)


def read_fields(answer: Any, names: Sequence[str]) -> list[Any] | Wrong:
    """Read the values of an answer in the order of some fields, or what keeps it from being one.

    >>> read_fields({"name": "a", "id": 1}, ["id", "name"]), read_fields([1], ["id", "name"])
    ([1, 'a'], Wrong(field='field 2, `name`', reason='no value for it: 2 are expected, you gave 1'))
    """
    answer = unwrap(answer)
    if isinstance(answer, Mapping):
        for number, name in enumerate(names, 1):
            if name not in answer:
                return Wrong(f"field {number}, `{name}`", "your dict has no such key")
        extra = [str(key) for key in islice(answer, _MOST) if key not in names]
        if extra:
            return Wrong("", f"there is no field {extra[0]!r}: the fields are {', '.join(names)}")
        return [answer[name] for name in names]
    if isinstance(answer, list | tuple):
        if len(answer) < len(names):
            name = f"field {len(answer) + 1}, `{names[len(answer)]}`"
            return Wrong(name, f"no value for it: {len(names)} are expected, you gave {len(answer)}")
        if len(answer) > len(names):
            return Wrong("", f"{len(names)} values are expected, you gave {len(answer)}")
        return list(answer)
    if len(names) == 1 and (answer is None or isinstance(answer, _PLAIN)):
        return [answer]
    return Wrong("", f"expected the values in order, as a list or a dict by name, not {quote(answer)}")


def read_numbers(answer: Any, what: str) -> list[int] | Wrong:
    """Whole numbers in any collection of them; one alone too.

    >>> read_numbers({3, 1}, "positions"), read_numbers(7, "positions")
    ([1, 3], [7])
    """
    answer = unwrap(answer)
    if isinstance(answer, int) and not isinstance(answer, bool):
        return [answer]
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        return Wrong("", f"expected {what} as a list of whole numbers, not {quote(answer)}")
    found = []
    for one in islice(answer, _MOST):
        plain = unwrap(one)
        if isinstance(plain, bool) or not isinstance(plain, int):
            return Wrong("", f"expected {what} as a list of whole numbers; {quote(plain)} is none")
        found.append(plain)
    return sorted(found)


# Why a value is not what a reader said: what the bytes of a BinaryRow or of an Iceberg bound say about it.
#
# A reason names the byte that decides, and the mistake where it is a known one: the sign, the order of bytes, a scale, a
# length. It leaves the last step to the reader.

_WIDTHS = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
_ELEMENTS = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4}
_TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")


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
        room = " (the bytes that its slot leads to are only kept free)" if is_far else ""
        return f"you said {quote(given)}, but {where} is set: the field is null{room}"
    if given is None:
        return f"you said None, but {where} is 0: the field is not null"
    if (wrong := explain_kind(value, given)) is not None:
        return wrong
    start = count_null_bytes(arity) + 8 * place
    return f"you said {quote(given)}, but {explain_slot(row, start, 8, type_, value, unwrap(given))}"


def explain_kind(value: Any, given: Any) -> str | None:
    """Explain what is said where an answer is of another kind than the value; None where it is of that kind."""
    return None if is_kind(value, given) else f"expected {name_kind(value)}, not {quote(given)}"


def explain_slot(row: bytes, start: int, width: int, type_: PaimonType, value: Any, given: Any) -> str:
    """Explain what a slot, or an element of an array, says about a value that is not null."""
    slot, name = row[start : start + width], type_.name
    if name in _WIDTHS:
        return explain_integer(slot[: _WIDTHS[name]], "little", given, f"{name} {_at(start)}")
    if name == "BOOLEAN":
        return f"the byte {_at(start)} is {_hex(slot[:1])}: 00 is false, 01 is true"
    if name in ("FLOAT", "DOUBLE"):
        return explain_float(slot[: 4 if name == "FLOAT" else 8])
    if name == "DATE":
        return explain_date(slot[:4], value)
    if name == "TIME":
        return f"`{_hex(slot[:4])}` is a little-endian number of milliseconds since midnight"
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
    """
    other: Literal["little", "big"] = "big" if order == "little" else "little"
    highest = content[-1 if order == "little" else 0]
    if highest & 0x80 and isinstance(given, int) and given >= 0:
        return f"the highest bit of `{_hex(content)}` is set, in {highest:02x}: the number is negative (two's complement)"
    if given in (int.from_bytes(content, other, signed=True), int.from_bytes(content, other)):
        first = "least" if order == "little" else "most"
        return f"the first byte of `{_hex(content)}` is the {first} significant one ({order}-endian)"
    return f"the {what} is `{_hex(content)}`, {order}-endian"


def explain_float(content: bytes) -> str:
    """Explain what the bytes of a floating-point number say."""
    code = "<f" if len(content) == 4 else "<d"
    return f"`{_hex(content)}` is an IEEE 754 number of {len(content)} bytes, little-endian: struct.unpack({code!r}, …)"


def explain_date(content: bytes, value: Any) -> str:
    """Explain what the bytes of a date say."""
    days = int.from_bytes(content, "little", signed=True)
    return f"`{_hex(content)}` is {days:,} days after 1970-01-01, little-endian"


def explain_text(content: bytes, value: Any, given: Any) -> str:
    """Explain where a text or bytes begin to differ from what was given.

    >>> explain_text(b"abc", "abc", "abd")
    'byte 2 of the text is 0x63'
    """
    typed = _to_bytes(value, given)
    noun = "text" if isinstance(value, str) else "value"
    place = next((i for i, byte in enumerate(content) if typed[i : i + 1] != bytes([byte])), len(content))
    if place == len(content):
        return f"the {noun} ends after {len(content)} bytes"
    return f"byte {place} of the {noun} is 0x{content[place]:02x}"


def _to_bytes(value: Any, given: Any) -> bytes:
    if isinstance(given, str):
        return given.encode() if isinstance(value, str) else bytes.fromhex(given.removeprefix("0x"))
    return bytes(given)


def _explain_text(row: bytes, slot: bytes, value: Any, given: Any) -> str:
    typed = len(_to_bytes(value, given))
    if slot[7] & 0x80:
        length = slot[7] & 0x7F
        if typed != length:
            return f"the length byte 0x{slot[7]:02x} says {length} bytes"
        return explain_text(slot[:length], value, given)
    length, offset = struct.unpack("<ii", slot)
    if typed != length:
        head = f"the slot's last byte, 0x{slot[7]:02x}, has no high bit, so the text is far"
        return f"{head}: {length} bytes at offset {offset}"
    return explain_text(row[offset : offset + length], value, given)


def _explain_decimal(row: bytes, slot: bytes, type_: PaimonType, value: Any, given: Any) -> str:
    scale = type_.scale or 0
    if (type_.precision or 0) <= 18:
        return explain_decimal(slot, "little", scale, value, given)
    length, offset = struct.unpack("<ii", slot)
    said = explain_decimal(row[offset : offset + length], "big", scale, value, given)
    return f"with more than 18 digits the slot leads to {length} bytes at offset {offset}, and {said}"


def explain_decimal(
    content: bytes, order: Literal["little", "big"], scale: int, value: Any, given: Any
) -> str:
    """Explain what the unscaled number of a decimal says.

    >>> explain_decimal(bytes.fromhex("012c"), "big", 2, Decimal("3.00"), Decimal(300))
    '300 is the unscaled number: the type puts the point before its last 2 digits'
    """
    said = Decimal(str(given))
    unscaled = int.from_bytes(content, order, signed=True)
    if said == unscaled:
        return f"{unscaled} is the unscaled number: the type puts the point before its last {scale} digits"
    if value < 0 <= said:
        return f"the highest bit of `{_hex(content)}` is set: the number is negative (two's complement)"
    return f"`{_hex(content)}` is the unscaled number, {order}-endian, and {scale} of its digits follow the point"


def _explain_timestamp(row: bytes, slot: bytes, type_: PaimonType, value: Any, given: Any) -> str:
    if (type_.precision or 0) <= 3:
        return f"the slot `{_hex(slot)}` is milliseconds since 1970-01-01 00:00, little-endian"
    nanos, offset = struct.unpack("<ii", slot)
    if is_same(value.replace(microsecond=value.microsecond // 1000 * 1000), given):
        return f"those are the milliseconds: the slot's first four bytes add {nanos:,} nanoseconds"
    millis = row[offset : offset + 8]
    head = f"the milliseconds since 1970-01-01 are at offset {offset}, `{_hex(millis)}`"
    return f"{head}, and the slot's first four bytes add nanoseconds"


def _explain_nested(content: bytes, offset: int, type_: PaimonType, value: Any, given: Any) -> str:
    """Explain what a list, a map or a nested row says: the first element that is wrong."""
    head = f"in the {len(content)} bytes at offset {offset}"
    if type_.name == "ROW" and isinstance(given, Mapping | Sequence):
        typed = (
            [given.get(field.name) for field in type_.fields] if isinstance(given, Mapping) else list(given)
        )
        for i, (one, part) in enumerate(zip(type_.fields, typed, strict=False)):
            kept = value[one.name]
            if not is_same(kept, part):
                why = explain_field(content, len(type_.fields), i, one.type, kept, part)
                return f"{head}, a row of its own with a header of its own, `{one.name}` differs: {why}"
        return f"{head} is a row of {len(type_.fields)} fields"
    if type_.name == "ARRAY" and type_.element is not None and isinstance(given, Sequence):
        return f"{head}, {_explain_array(content, type_.element, value, given)}"
    keys = int.from_bytes(content[:4], "little")
    return (
        f"{head}, the first four say that the array of keys has {keys} bytes; the array of values follows it"
    )


def _explain_array(content: bytes, element: PaimonType, value: Sequence[Any], given: Sequence[Any]) -> str:
    count = len(value)
    if len(given) != count:
        return f"`{_hex(content[:4])}` says that the array has {count} elements"
    place = next(i for i in range(count) if not is_same(value[i], given[i]))
    bit = f"bit {place} of the null bits"
    if value[place] is None:
        return f"{bit}, `{_hex(content[4:8])}`, is set: element {place} is null"
    if given[place] is None:
        return f"{bit}, `{_hex(content[4:8])}`, is 0: element {place} is not null"
    width = _ELEMENTS.get(element.name, 8)
    start = 4 + (count + 31) // 32 * 4 + place * width
    said = explain_slot(content, start, width, element, value[place], given[place])
    return f"element {place} differs: {said}"


def _hex(content: bytes) -> str:
    return content.hex(" ")


def _at(start: int) -> str:
    return f"at byte {start}"


def format_answer(value: Any) -> str:
    """Format a value as a reader would type it: what a solution shows."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{format_answer(k)}: {format_answer(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_answer, value)) + "]"
    return str(value) if isinstance(value, Decimal | date | datetime | time) else repr(value)
