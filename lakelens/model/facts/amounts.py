"""Amounts: what is known of a number, and sizes in words, the same wherever they are said."""

from __future__ import annotations

from dataclasses import dataclass

from lakelens.display import Named


@dataclass(frozen=True, slots=True)
class Amount(Named):
    """A number of rows as far as it is known: at least `least`, at most `most`; None where nothing says how many at most.

    >>> Amount(3, 3).exact, Amount(0, 3).exact, Amount(1, 1) + Amount(0, None)
    (3, None, Amount(least=1, most=None))
    """

    least: int
    most: int | None

    @property
    def exact(self) -> int | None:
        """The number where it is known exactly."""
        return self.least if self.least == self.most else None

    def __add__(self, other: Amount) -> Amount:
        known = self.most is not None and other.most is not None
        return Amount(self.least + other.least, (self.most or 0) + (other.most or 0) if known else None)


#: None at all.
NO_ROWS = Amount(0, 0)


def format_size(number: float) -> str:
    """Bytes: exact below 10,000, else three digits and a binary unit.

    >>> format_size(9814), format_size(402653184), format_size(30_529_368_358)
    ('9,814 B', '384 MiB', '28.4 GiB')
    >>> format_size(10**400)
    'more than 1 YiB'
    """
    if number >= 1 << 80:  # no size of a file, but a document may say it
        return "more than 1 YiB"
    if number < 10_000:
        return f"{number:,.0f} B"
    amount, unit = float(number), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1000 or unit == "PiB":
            break
        amount /= 1024
    return f"{amount:.{0 if amount >= 100 else 1 if amount >= 10 else 2}f} {unit}"
