"""Options of the display, checked when they are assigned.

>>> from lakelens.options import display
>>> display.max_rows
20
>>> display.max_rows = 0
Traceback (most recent call last):
ValueError: max_rows must be a whole number from 1 to 10000, not 0
>>> with display.using(max_rows=5):
...     display.max_rows
5
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Days. Files that nobody refers to and that are younger may belong to a commit that is still running.
orphan_age: float = 3

_RANGES = {"max_rows": (1, 10_000), "max_text": (16, 100_000), "max_bytes": (4_096, 262_144)}
_DEFAULTS: dict[str, int | bool] = {
    "max_rows": 20,
    "max_text": 400,
    "max_bytes": 65_536,
    "strict_views": False,
    "progress": True,
}


class DisplayOptions:
    """How much is shown.

    `max_rows` rows of a list before "… n more", `max_text` characters of one value, `max_bytes` bytes of one HTML view.
    With `progress` readings of more than a second say how far they are (off with `LAKELENS_PROGRESS=0` in the environment).
    With `strict_views` an error in a view is raised, not only reported (also `LAKELENS_STRICT_VIEWS=1` in the environment).
    """

    max_rows: int
    max_text: int
    max_bytes: int
    strict_views: bool
    progress: bool

    def __init__(self) -> None:
        self.reset()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _DEFAULTS:
            raise AttributeError(f"no option {name!r}; there are {', '.join(_DEFAULTS)}")
        object.__setattr__(self, name, _check(name, value))

    def reset(self) -> None:
        """Back to the defaults."""
        for name, value in _DEFAULTS.items():
            setattr(self, name, value)
        if os.environ.get("LAKELENS_STRICT_VIEWS", "") not in ("", "0"):
            self.strict_views = True
        if os.environ.get("LAKELENS_PROGRESS") == "0":
            self.progress = False

    @contextmanager
    def using(self, **values: Any) -> Iterator[DisplayOptions]:
        """Other values inside a `with` block.

        Parameters
        ----------
        **values
            The options to set, by name.
        """
        before = {name: getattr(self, name) for name in values if name in _DEFAULTS}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        return f"DisplayOptions({', '.join(f'{name}={getattr(self, name)}' for name in _DEFAULTS)})"


def _check(name: str, value: Any) -> int | bool:
    if name not in _RANGES:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False, not {value!r}")
        return value
    low, high = _RANGES[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return value


display = DisplayOptions()


def __dir__() -> list[str]:
    return ["DisplayOptions", "display", "orphan_age"]
