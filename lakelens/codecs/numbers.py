"""Whole numbers that are text in a document, a name or an option."""

from __future__ import annotations

import re

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
