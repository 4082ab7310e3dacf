"""Whole numbers in a document, a name or an option, those that are text among them, and the times that they stand for."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

# of more digits than 64 bits have it is no number of any format, and Python refuses thousands of them
_WHOLE = re.compile(r"-?[0-9]{1,19}")


def parse_whole(text: str | bytes) -> int | None:
    """Parse the whole number that a text is; None for any other text, and for one of more than 19 digits.

    >>> parse_whole("17"), parse_whole(b"-3"), parse_whole("²"), parse_whole("1.0"), parse_whole("9" * 5000)
    (17, -3, None, None, None)
    """
    words = text.decode("latin-1") if isinstance(text, bytes) else text
    return int(words) if _WHOLE.fullmatch(words) else None


def clamp_long(number: int) -> int:
    """The number of 64 bits that is nearest to a number.

    >>> clamp_long(2**63), clamp_long(-1)
    (9223372036854775807, -1)
    """
    return max(-(1 << 63), min((1 << 63) - 1, number))


def write_single(value: float) -> str:
    """Write the fewest digits that mean a number of 32 bits, in scientific form.

    >>> write_single(0.10000000149011612), write_single(2.0**24)
    ('1e-01', '1.6777216e+07')
    """
    for digits in range(9):
        text = f"{value:.{digits}e}"
        mantissa, _, exponent = text.partition("e")
        # above a power of two the numbers are twice as far apart as below it: then the farther text may do
        farther = f"{Decimal(mantissa) + Decimal(1).scaleb(-digits).copy_sign(Decimal(mantissa))}e{exponent}"
        for shown in (text, farther):
            if round_single(float(shown)) == value:
                return shown
    return text


def round_single(value: float) -> float:
    """The number of 32 bits that is nearest to a number.

    >>> round_single(0.1), round_single(1e39)
    (0.10000000149011612, inf)
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def list_ranges(numbers: Iterable[int], most: int = 5) -> str:
    """List ascending numbers as ranges, the first ones of many.

    >>> list_ranges([1, 2, 3, 7]), list_ranges([1, 3, 5], most=2)
    ('1 to 3, 7', '1, 3, …')
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(low) if low == high else f"{low} to {high}" for low, high in ranges[:most]]
    return ", ".join(shown) + (", …" if len(ranges) > most else "")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_number(fields: Mapping[str, Any], name: str) -> int | None:
    """Read a whole number of 64 bits in a document; None for anything else.

    >>> [read_number({"size": value}, "size") for value in (3, 3.0, float("nan"), 2**63, "3")]
    [3, 3, None, None, None]
    """
    value = fields.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and -(2**63) <= value < 2**63 else None


def read_moment(fields: Mapping[str, Any], name: str) -> datetime | None:
    """Read milliseconds since 1970 in a document as a time; None for anything else.

    >>> read_moment({"at": 1_000}, "at"), read_moment({"at": 2**62}, "at")
    (datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc), None)
    """
    value = read_number(fields, name)
    try:
        return None if value is None else _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return None
