"""Findings: what is wrong or odd about a table, kept beside what could still be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.collections import Items
from lakelens.model.facts.facts import FINDING

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Displayable):
    """One thing found: `severity`, a stable `code`, the `path` it concerns, a sentence, the `snapshots` affected.

    >>> Finding("warning", "manifest-length", "m0.avro", "manifest list says 10 bytes, the file has 12")
    <Finding warning manifest-length m0.avro>
    """

    severity: Severity
    code: str
    path: str
    message: str
    snapshots: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"<Finding {self.severity} {self.code} {self.path}>"


class Findings(Items[Finding]):
    """The findings of one table so far; it grows while more of the table is read. Equal ones are kept once."""

    __slots__ = ("_found",)
    facts = FINDING
    # it grows: it is equal to nothing but itself
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, found: Iterable[Finding] = ()) -> None:
        self._make = None
        self._found = {(one.code, one.path, one.message): one for one in found}

    @property
    def _held(self) -> Sequence[Finding]:  # type: ignore[override]
        return tuple(self._found.values())

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held)

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self, severity: Severity, code: str, path: str, message: str, snapshots: Sequence[int] = ()
    ) -> None:
        """Keep a finding; the same code, path and message again only adds snapshots."""
        key = (code, path, message)
        known = self._found.get(key)
        merged = tuple(sorted({*snapshots, *(known.snapshots if known else ())}))
        self._found[key] = Finding(severity, code, path, message, merged)

    def add_error(self, error: LakeError, path: str, snapshots: Sequence[int] = ()) -> None:
        """Keep what a reader raised as a finding of severity error."""
        code = type(error).__name__.lower()
        self.add("error", code, error.path or path, error.reason, snapshots)
