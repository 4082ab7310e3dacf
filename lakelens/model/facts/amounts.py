"""Amounts in words, the same wherever they are said."""

from __future__ import annotations


def format_size(number: float) -> str:
    """Bytes: exact below 10,000, else three digits and a binary unit.

    >>> format_size(9814), format_size(402653184), format_size(30_529_368_358)
    ('9,814 B', '384 MiB', '28.4 GiB')
    """
    if number < 10_000:
        return f"{number:,.0f} B"
    amount, unit = float(number), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1000 or unit == "PiB":
            break
        amount /= 1024
    return f"{amount:.{0 if amount >= 100 else 1 if amount >= 10 else 2}f} {unit}"
