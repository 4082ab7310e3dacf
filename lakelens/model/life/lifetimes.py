"""The life of each kind of file: who writes it, who names it, whether it may change, and when it goes."""

from __future__ import annotations

from dataclasses import dataclass

from lakelens.display import Named
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
