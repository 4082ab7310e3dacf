"""What a ladder is: steps from nothing to a reader of one's own, and how far a reader came.

Nothing here reads a table: whoever makes a ladder gives it a function that tries a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakelens.display import Displayable
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a ladder: what is asked of a reader, on which table, and the rule of the format that it is about."""

    number: int
    title: str
    asks: str
    sample: str
    text: str
    rule: str
    answer: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    write: Mapping[str, str] = field(default_factory=dict)
    copy: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def call(self) -> str:
        """How the reader's function is called."""
        named = "".join(f", {name}={value!r}" for name, value in self.arguments.items())
        return f"{self.asks}(table{named})"


class Steps(Items[Step]):
    """The steps of a ladder, from easy to hard."""

    __slots__ = ()
    facts = (Fact("number", "int64"), Fact("title"), Fact("call"), Fact("text"), Fact("sample"), Fact("rule"))


@dataclass(frozen=True, slots=True, repr=False)
class Climb(Displayable):
    """How far a reader came: true when it passed every step; else the first one that it did not pass, and why.

    `table` is the sample on which it differs, `difference` the first row or file, `file` where that row is stored, and
    `rule` what in the format explains it.
    """

    format: str
    passed: int
    total: int
    step: Step | None = None
    difference: str = ""
    file: str = ""

    def __bool__(self) -> bool:
        return self.step is None

    @property
    def table(self) -> str:
        """The sample on which it differs; empty where it does not."""
        return "" if self.step is None else self.step.sample

    @property
    def rule(self) -> str:
        """What in the format explains the difference; empty where there is none."""
        return "" if self.step is None else self.step.rule

    @property
    def sentence(self) -> str:
        """How far it came, in a sentence."""
        if self.step is None:
            return f"all {self.total} steps are passed"
        return f"step {self.step.number} of {self.total}, {self.step.title}: {self.difference}"

    def __repr__(self) -> str:
        return f"<Climb of {self.format}: {self.sentence}>"


class Ladder(Displayable):
    """The steps from nothing to a reader of a format: `run(mine)` says which is the next one, and what is wrong there.

    >>> import lakelens as ll
    >>> ll.ladder("hive")
    <Ladder hive: 4 steps>
    >>> ll.ladder("hive").run({}).sentence
    'step 1 of 4, a directory: there is no function `rows` yet: rows(table) gives the rows, a dict from column to value each'
    """

    __slots__ = ("_climb", "_find", "format", "steps")

    def __init__(
        self, format: str, steps: Steps, climb: Callable[[Ladder, Any], Climb], find: Callable[[str], Ladder]
    ) -> None:
        self.format = format
        self.steps = steps
        self._climb = climb
        self._find = find

    def run(self, mine: Any) -> Climb:
        """Try a reader on one table after the other, up to the first that it reads otherwise than the engine.

        Parameters
        ----------
        mine
            The reader: a module, the path of a Python file, a dict of functions, one function, or any object with them.
            Each step calls one of `files`, `keys`, `rows` and `changes` with the path of a table.

        Returns
        -------
        Climb
            True in an `if` when all steps are passed. What the reader raises is a difference, and not raised again.

        Examples
        --------
        >>> import lakelens as ll
        >>> def rows(table):
        ...     return []
        >>> climb = ll.ladder("hive").run(rows)
        >>> climb.table, climb.passed
        ('hive-bucketed', 0)
        """
        return self._climb(self, mine)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._find, (self.format,)

    def __repr__(self) -> str:
        return f"<Ladder {self.format}: {len(self.steps)} steps>"
