"""What a format says to the answers about its tables: the parts of a driver, each loaded when it is first asked for.

A part is named by its answer ("health", "maintenance", …) and written as `module:name`, so that knowing a format loads none
of it. What the name stands for is plain data (rules, limits, procedures), a function, or a class below `Part`: then the
model's class has what serves every format, and a format overrides what it knows better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

from lakelens.errors import Unsupported

T = TypeVar("T")

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NOUNS = {"conflict": "known rules of conflicts", "maintenance": "maintenance procedures"}


def load_named(path: str) -> Any:
    """Load what is written as `module:name`.

    >>> load_named("lakelens.errors:Unsupported").__name__
    'Unsupported'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def later(path: str) -> Callable[..., Any]:
    """Make the function that is written as `module:name`, and is loaded when it is first called: a record can name it.

    >>> later("lakelens.errors:say_value")("orders")
    "'orders'"
    """

    def call(*arguments: Any, **options: Any) -> Any:
        return load_named(path)(*arguments, **options)

    return call


class Parts:
    """The parts that a format has: `parts` maps an answer to `module:name`, `lacks` one to why it cannot have that part.

    >>> class Ledger(Parts):
    ...     parts = {"health": "ledger_format.health:make_rules"}
    >>> Ledger().part("maintenance", default={})
    {}
    """

    parts: Mapping[str, str] = _NOTHING
    lacks: Mapping[str, str] = _NOTHING

    def part(self, answer: str, default: Any = None) -> Any:
        """Load what the format says to an answer; `default` where it says nothing."""
        return load_named(self.parts[answer]) if answer in self.parts else default


def require_part(table: Any, answer: str) -> Any:
    """Load what a table's format says to an answer. Raises `Unsupported` where it says nothing."""
    driver = table.driver
    if answer not in driver.parts:
        plain = (
            f"a {table.traits.title} table has no {_NOUNS.get(answer, answer)}: its format does not say how"
        )
        hint = "table.check(), table.space() and table.health() say what there is to know"
        raise Unsupported(driver.lacks.get(answer, plain), path=table.location, hint=hint)
    return driver.part(answer)


def open_part(table: Any, answer: str, default: Callable[[Any], T]) -> T:
    """Make a part of one table, once for as long as it is open: by its format's class or function, else by `default`."""
    opened = table.__dict__.setdefault("_parts", {})
    if answer not in opened:
        opened[answer] = table.driver.part(answer, default)(table)
    part: T = opened[answer]
    return part


class Part:
    """A part that is a class: what a format says of one table. The model's own class serves formats without it."""

    #: the name of the answer
    answer: ClassVar[str]

    def __init__(self, table: Any) -> None:
        self.table = table

    @classmethod
    def of(cls, table: Any) -> Self:
        """The part of a table's format, made once for each open table."""
        return open_part(table, cls.answer, cls)
