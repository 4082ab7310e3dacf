"""Whole numbers that are text in a document, a name or an option."""

from __future__ import annotations

import re
import struct
from decimal import Decimal

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
