"""What a kind of damage is, and all of them by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Damage = TypeVar("Damage", bound=Callable[[Any], None])


@dataclass(frozen=True)
class Kind:
    """A kind of damage: the table, what is done to a copy of it, and the finding that a check must have."""

    lake: str  # the folder of the table below `tests/lakes`
    code: str
    path: str  # a part of the path that the finding names
    says: str  # words of its message
    data: bool  # whether the rows have to be read
    severity: str
    damage: Callable[[Any], None]


KINDS: dict[str, Kind] = {}


def kind(
    lake: str, code: str, path: str, says: str, *, data: bool = False, severity: str = "error"
) -> Callable[[Damage], Damage]:
    """Make a function that damages the copy of a table a kind, under its own name."""

    def keep(damage: Damage) -> Damage:
        assert damage.__name__ not in KINDS
        KINDS[damage.__name__] = Kind(lake, code, path, says, data, severity, damage)
        return damage

    return keep
