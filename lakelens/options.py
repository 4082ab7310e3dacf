"""Options of the display, of requests to a store, and budgets for what a file may cost; checked when they are assigned.

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
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, ClassVar, Self

#: Days. Files that nobody refers to and that are younger may belong to a commit that is still running.
orphan_age: float = 3
#: Requests to one store that are under way together.
max_connections: int = 64
#: Seconds that one request to a store may take until it is given up, and until a connection is made.
timeout: float = 30
connect_timeout: float = 5
#: How often a request is tried again that failed for a reason which may pass: throttling, a connection that was cut.
retries: int = 4
#: A directory that keeps what is read of remote tables and never changes, for the next session; None for none.
cache_dir: str | os.PathLike[str] | None = None
#: Bytes that `cache_dir` may hold; what was not used for longest goes first.
cache_bytes: int = 1 << 30
#: "follow" reads a file where metadata recorded it, also outside of the table's directory; "never" reads nothing outside of
#: the directory of each table that is opened from then on, as `enclosed=True` does.
recorded_places: str = "follow"

_MIB = 1 << 20


class _Options:
    """Named values, each checked when it is assigned."""

    _defaults: ClassVar[Mapping[str, int | bool]]
    _ranges: ClassVar[Mapping[str, tuple[int, int]]]

    def __init__(self) -> None:
        self.reset()

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, self._check(name, value))

    def _check(self, name: str, value: Any) -> int | bool:
        if name not in self._defaults:
            raise AttributeError(f"no option {name!r}; there are {', '.join(self._defaults)}")
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
    With `meanings` what each name on a card stands for is a column of its tables (else it is shown to those who hover).
    With `progress` readings of more than a second say how far they are (off with `LAKELENS_PROGRESS=0` in the environment).
    With `strict_views` an error in a view is raised, not only reported (also `LAKELENS_STRICT_VIEWS=1` in the environment).

    Sizes set by `using` are those of the thread that set them: another one draws its own view meanwhile.
    """

    max_rows: int
    max_text: int
    max_bytes: int
    meanings: bool
    strict_views: bool
    progress: bool
    _within: ContextVar[dict[str, int | bool] | None]

    _ranges: ClassVar[Mapping[str, tuple[int, int]]] = {
        "max_rows": (1, 10_000),
        "max_text": (16, 100_000),
        "max_bytes": (4_096, 262_144),
    }
    _defaults: ClassVar[Mapping[str, int | bool]] = {
        "max_rows": 20,
        "max_text": 400,
        "max_bytes": 65_536,
        "meanings": False,
        "strict_views": False,
        "progress": True,
    }

    def __init__(self) -> None:
        # threads of a server draw at once, each with values of its own inside of its `with` blocks
        object.__setattr__(self, "_within", ContextVar("within", default=None))
        super().__init__()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            within = object.__getattribute__(self, "_within").get()
            if within is not None and name in within:
                return within[name]
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        within = self._within.get()
        if within is not None and name in within:
            within[name] = self._check(name, value)
        else:
            super().__setattr__(name, value)

    @contextmanager
    def using(self, **values: Any) -> Iterator[Self]:
        """Other values inside a `with` block, for the thread that is in it.

        Parameters
        ----------
        **values
            The options to set, by name.
        """
        checked = {name: self._check(name, value) for name, value in values.items()}
        token = self._within.set({**(self._within.get() or {}), **checked})
        try:
            yield self
        finally:
            self._within.reset(token)

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


def export_limits() -> dict[str, Any]:
    """Export the budgets, and what a request may cost: for other processes, which have options of their own.

    >>> export_limits()["max_document"], export_limits()["timeout"]
    (67108864, 30)
    """
    own = {name: globals()[name] for name in (*_Checked._ranges, *_Checked._choices)}
    return own | {name: getattr(budgets, name) for name in Budgets._defaults}


def adopt_limits(limits: Mapping[str, Any]) -> None:
    """Take the limits of the process that sent the work."""
    for name, value in limits.items():
        setattr(budgets if name in Budgets._defaults else sys.modules[__name__], name, value)


class _Checked(ModuleType):
    """This module: its own values are checked when they are assigned, too."""

    _ranges: ClassVar[Mapping[str, tuple[type, float, float]]] = {
        "orphan_age": (float, 0, 36_500),
        "max_connections": (int, 1, 1_000),
        "timeout": (float, 0.001, 86_400),
        "connect_timeout": (float, 0.001, 86_400),
        "retries": (int, 0, 100),
        "cache_bytes": (int, 0, 1 << 50),
    }
    _choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"recorded_places": ("follow", "never")}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._ranges:
            kind, low, high = self._ranges[name]
            is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
            if not is_number or not low <= value <= high:
                noun = "a whole number" if kind is int else "a number"
                raise ValueError(f"{name} must be {noun} from {low:,} to {high:,}, not {value!r}")
        elif name in self._choices:
            if value not in self._choices[name]:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, self._choices[name]))}, not {value!r}"
                )
        elif name == "cache_dir" and not isinstance(value, str | os.PathLike | None):
            raise ValueError(f"cache_dir must be a path or None, not {value!r}")
        elif name[:1] != "_" and name not in globals():
            raise AttributeError(f"no option {name!r}; there are {', '.join(__dir__())}")
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Checked


def __dir__() -> list[str]:
    return sorted(
        [
            "Budgets",
            "DisplayOptions",
            "budgets",
            "cache_dir",
            "display",
            *_Checked._ranges,
            *_Checked._choices,
        ]
    )
