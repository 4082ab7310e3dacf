"""Options of the display, and budgets for what a file may cost to read; checked when they are assigned.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

#: Days. Files that nobody refers to and that are younger may belong to a commit that is still running.
orphan_age: float = 3

_MIB = 1 << 20


class _Options:
    """Named values, each checked when it is assigned."""

    _defaults: ClassVar[Mapping[str, int | bool]]
    _ranges: ClassVar[Mapping[str, tuple[int, int]]]

    def __init__(self) -> None:
        self.reset()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._defaults:
            raise AttributeError(f"no option {name!r}; there are {', '.join(self._defaults)}")
        object.__setattr__(self, name, self._check(name, value))

    def _check(self, name: str, value: Any) -> int | bool:
        if name not in self._ranges:
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be True or False, not {value!r}")
            return value
        low, high = self._ranges[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
        return value

    def reset(self) -> None:
        """Back to the defaults."""
        for name, value in self._defaults.items():
            setattr(self, name, value)

    @contextmanager
    def using(self, **values: Any) -> Iterator[Self]:
        """Other values inside a `with` block.

        Parameters
        ----------
        **values
            The options to set, by name.
        """
        before = {name: getattr(self, name) for name in values if name in self._defaults}
        try:
            for name, value in values.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)}' for name in self._defaults)})"
        )


class DisplayOptions(_Options):
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

    _ranges: ClassVar[Mapping[str, tuple[int, int]]] = {
        "max_rows": (1, 10_000),
        "max_text": (16, 100_000),
        "max_bytes": (4_096, 262_144),
    }
    _defaults: ClassVar[Mapping[str, int | bool]] = {
        "max_rows": 20,
        "max_text": 400,
        "max_bytes": 65_536,
        "strict_views": False,
        "progress": True,
    }

    def reset(self) -> None:
        """Back to the defaults."""
        super().reset()
        if os.environ.get("LAKELENS_STRICT_VIEWS", "") not in ("", "0"):
            self.strict_views = True
        if os.environ.get("LAKELENS_PROGRESS") == "0":
            self.progress = False


class Budgets(_Options):
    """What reading one file may cost: a few kilobytes that claim to be gigabytes are refused before they are unpacked.

    An error names the size, the limit and the budget that raises it. Numbers of bytes, but for the last two:

    `max_file`      what the blocks of a compressed file may become together; up to 2 GiB where it stores a 64th of that
    `max_document`  what a compressed metadata document may become; up to 2 GiB where it stores a 200th of that
    `max_footer`    the footer of a Puffin file, unpacked; up to 64 MiB where its blobs take a 16th of that
    `max_decoded`   what the records of a manifest in Parquet or ORC, or the rows of a preview, may become
    `max_vector`    the containers of one deletion vector, each of which stands for up to 65,536 rows
    `max_deletes`   the rows of one position delete file

    >>> from lakelens.options import budgets
    >>> with budgets.using(max_document=1 << 30):
    ...     budgets.max_document
    1073741824
    """

    max_file: int
    max_document: int
    max_footer: int
    max_decoded: int
    max_vector: int
    max_deletes: int

    _defaults: ClassVar[Mapping[str, int | bool]] = {
        "max_file": 64 * _MIB,
        "max_document": 64 * _MIB,
        "max_footer": _MIB,
        "max_decoded": 256 * _MIB,
        "max_vector": 1 << 17,
        "max_deletes": 1 << 27,
    }
    _ranges: ClassVar[Mapping[str, tuple[int, int]]] = dict.fromkeys(_defaults, (1 << 10, 1 << 40))


display = DisplayOptions()
budgets = Budgets()


def __dir__() -> list[str]:
    return ["Budgets", "DisplayOptions", "budgets", "display", "orphan_age"]
