"""Bounds that a writer has cut: made so wide again that they bound whatever was there.

Texts are cut to 32 characters, or to as many units of UTF-16; an upper bound should then have a character more, and some
writers leave that out. Decimals may have gone through a double, and numbers of 32 bits have as few digits as these need.
"""

from __future__ import annotations

import math
import struct
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.schema import DataType

CUT = 32  # characters of text in statistics
_MOST_SINGLE = 3.4028234663852886e38  # the largest number of 32 bits
EXACT_DIGITS, _DOUBLE_DIGITS = 15, 17  # that a double always keeps, and that it is written with


def widen_decimal(number: Decimal, kind: DataType, is_upper: bool) -> tuple[Decimal, bool]:
    """Widen a bound that may have gone through a double, as delta-rs writes it: then its last digits are rounded.

    Values of the column are multiples of its smallest digit, and within its precision, so the bound is one of them.

    >>> from lakelens.model.schema import DataType
    >>> kind = DataType("decimal(18, 2)", "decimal", precision=18, scale=2)
    >>> [str(widen_decimal(Decimal(text), kind, True)[0]) for text in ("3.10", "1000000000000000.00")]
    ['3.10', '1000000000000000.12']
    """
    if kind.precision <= EXACT_DIGITS or len(number.normalize().as_tuple().digits) > _DOUBLE_DIGITS:
        return number, False
    near = float(number)
    if Decimal(repr(near)) != number:
        return number, False
    with localcontext() as context:
        context.prec = 200
        rounded, unit = Decimal(math.ulp(near)), Decimal(1).scaleb(-kind.scale)
        most = Decimal(10) ** (kind.precision - kind.scale) - unit
        if is_upper:
            return min((number + rounded).quantize(unit, ROUND_FLOOR), max(most, number)), True
        return max((number - rounded).quantize(unit, ROUND_CEILING), min(-most, number)), True


def widen_single(bound: float, is_upper: bool) -> float:
    """Widen a bound that may be the shortest text of a number of 32 bits, as which a reader of 64 bits has another one.

    >>> widen_single(1.1, True), widen_single(1.1, False), widen_single(1e300, True)
    (1.100000023841858, 1.1, 1e+300)
    """
    if not abs(bound) <= _MOST_SINGLE:
        return bound
    (single,) = struct.unpack("f", struct.pack("f", bound))
    return float(max(single, bound) if is_upper else min(single, bound))


def widen_singles(bounds: pa.Array, is_upper: bool) -> pa.Array:
    """`widen_single` of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fits = pc.less_equal(pc.abs(bounds), _MOST_SINGLE)
    singles = pc.if_else(fits, bounds.cast(pa.float32(), safe=False).cast(pa.float64()), bounds)
    return (pc.max_element_wise if is_upper else pc.min_element_wise)(singles, bounds, skip_nulls=False)


def is_cut(text: str) -> bool:
    """Whether text has the length to which it is cut, in characters, or in units of UTF-16 as some writers count."""
    return len(text) >= CUT or len(text) + sum(ord(letter) > 0xFFFF for letter in text) >= CUT


def widen_text(text: str) -> tuple[str | None, bool]:
    """Raise an upper bound that was cut and not raised by its writer, who would have appended a character for it."""
    units = len(text) + sum(ord(letter) > 0xFFFF for letter in text)
    if CUT not in (len(text), units):
        return text, is_cut(text)
    for place in range(len(text) - 1, -1, -1):
        code = ord(text[place]) + 1
        code = 0xE000 if 0xD800 <= code <= 0xDFFF else code
        if code <= 0x10FFFF:
            return text[:place] + chr(code), True
    return None, True


def widen_texts(texts: pa.Array) -> pa.Array:
    """Raise the upper bounds that were cut and not raised by their writer."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(texts)).as_py() or 0) < CUT:
        return texts
    letters = pc.utf8_length(texts)
    # a letter of two units of UTF-16 has four bytes
    units = pc.add(letters, pc.divide(pc.subtract(pc.binary_length(texts), letters), 3))
    perhaps = pc.fill_null(pc.and_(pc.less_equal(letters, CUT), pc.greater_equal(units, CUT)), False)
    if not pc.any(perhaps).as_py():
        return texts
    raised = [widen_text(value)[0] for value in texts.filter(perhaps).to_pylist()]
    return pc.replace_with_mask(texts, perhaps, pa.array(raised, pa.string()))
