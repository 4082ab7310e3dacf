"""How times grow: a straight line through the logarithms of sizes and seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SMALLEST = 10_000  # below, what does not depend on the size weighs too much


@dataclass(frozen=True, slots=True)
class Fit:
    """`seconds = factor * size ** slope` over the sizes `first` to `last`; `per_item` are seconds an item at `last`."""

    slope: float
    factor: float
    r_squared: float
    first: float
    last: float

    @property
    def per_item(self) -> float:
        """Seconds an item at the greatest size."""
        return self.estimate(self.last) / self.last

    def estimate(self, size: float) -> float:
        """The seconds that the line gives for a size."""
        return float(self.factor * size**self.slope)


def fit_times(points: Iterable[tuple[float, float | None]], smallest: float = SMALLEST) -> Fit | None:
    """The line through sizes and seconds from `smallest` on; None when there are fewer than two.

    >>> fit = fit_times([(10_000, 0.5), (100_000, 5.0), (1_000_000, 50.0)])
    >>> round(fit.slope, 6), round(fit.r_squared, 6), round(fit.estimate(1_000), 6)
    (1.0, 1.0, 0.05)
    """
    import numpy as np

    known = sorted((size, seconds) for size, seconds in points if seconds is not None and size >= smallest)
    if len(known) < 2:
        return None
    sizes, seconds = np.log10(np.array(known)).T
    slope, offset = np.polyfit(sizes, seconds, 1)
    left = seconds - (slope * sizes + offset)
    spread = float(((seconds - seconds.mean()) ** 2).sum())
    r_squared = 1 - float((left**2).sum()) / spread if spread else 1.0
    return Fit(float(slope), float(10**offset), r_squared, known[0][0], known[-1][0])
