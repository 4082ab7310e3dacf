"""Every file of each format: who writes it, who names it, whether it may change, and when it goes. See `lifetimes.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lakelens.display import Named
from lakelens.errors import LakeError, list_nearest
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact


@dataclass(frozen=True, slots=True)
class Lifetime(Named):
    """The life of one kind of file: `change` says how it may change, and is empty where it never does."""

    format: str
    file: str
    what: str
    written_by: str
    named_by: str
    goes: str
    change: str = ""
    note: str = ""
    is_file: bool = True

    @property
    def may_change(self) -> bool:
        """Whether it is ever written again under its name."""
        return bool(self.change)


class Lifetimes(Items[Lifetime]):
    """The lives of all kinds of files, format by format: a card for one sheet of paper, and a table."""

    __slots__ = ()
    facts = (
        Fact("format"),
        Fact("file"),
        Fact("what"),
        Fact("written_by"),
        Fact("named_by"),
        Fact("may_change", "bool"),
        Fact("change"),
        Fact("goes"),
    )


@cache
def _read_lines() -> tuple[Lifetime, ...]:
    text = files("lakelens.views.map").joinpath("lifetimes.toml").read_text("utf-8")
    return tuple(Lifetime(name, **line) for name, lines in tomllib.loads(text).items() for line in lines)


def list_lifetimes(format: str | None = None) -> Lifetimes:
    """Every kind of file of each format: who writes it, who names it, whether it may change, and when it goes.

    Parameters
    ----------
    format
        `"iceberg"`, `"paimon"` or `"hive"`; all three by default.

    Returns
    -------
    Lifetimes
        A card, text, a page that prints on one sheet, and `to_arrow()` with a row for each kind of file.

    Raises
    ------
    LakeError
        There is no such format; the hint has the nearest.

    Examples
    --------
    >>> [line.file for line in list_lifetimes("hive") if not line.may_change]
    ['part-…, 000000_0']
    """
    lines = _read_lines()
    known = list(dict.fromkeys(line.format for line in lines))
    if format is not None and format not in known:
        raise LakeError(f"no lifetimes are known of the format {format!r}", hint=list_nearest(format, known))
    return Lifetimes(line for line in lines if format in (None, line.format))
