"""Findings: what is wrong or odd about a table, kept beside what could still be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Self

from lakelens.display import Displayable
from lakelens.errors import LakeError, NotInstalled
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.facts.facts import FINDING

Severity = Literal["error", "warning", "note"]
#: The code of the note that a table has gone on since it was opened: what is missing may have expired meanwhile.
GONE_ON = "gone-on"


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

    __slots__ = ("_find_newer", "_found", "_gone")
    facts = FINDING
    # it grows: it is equal to nothing but itself
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, found: Iterable[Finding] = ()) -> None:
        self._make = None
        self._found = {(one.code, one.path, one.message): one for one in found}
        self._find_newer: Callable[[], str | None] | None = None
        self._gone = 0

    @property
    def _held(self) -> Sequence[Finding]:  # type: ignore[override]
        return tuple(self._found.values())

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held)

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self,
        severity: Severity,
        code: str,
        path: str,
        message: str,
        snapshots: Sequence[int] = (),
        *,
        counts_on: bool = False,
    ) -> None:
        """Keep a finding; the same code, path and message again only adds snapshots.

        One that `counts_on` takes the place of the one of the same code and path that did.
        """
        key = (code, path, "" if counts_on else message)
        known = self._found.get(key)
        merged = tuple(sorted({*snapshots, *(known.snapshots if known else ())}))
        self._found[key] = Finding(severity, code, path, message, merged)

    def add_error(self, error: LakeError, path: str, snapshots: Sequence[int] = ()) -> None:
        """Keep what a reader raised as a finding of severity error; that a package is missing is one note for all files."""
        code = type(error).__name__.lower()
        if isinstance(error, NotInstalled):
            words = f"some of the metadata is not decoded: {error.reason}; try: {error.hint}"
            self.add("note", code, "", words, snapshots)
            if next(iter(self._found))[0] != code:  # it comes first, whatever was read before
                self._found = dict(sorted(self._found.items(), key=lambda kept: kept[0][0] != code))
            return
        self.add("error", code, error.path or path, error.reason, snapshots)
        if code == "missing":
            self.look_again()

    def look_with(self, find_newer: Callable[[], str | None]) -> None:
        """Look at the table's pointer when a file is missing: `find_newer` says that the table has gone on since."""
        self._find_newer = find_newer

    def look_again(self) -> None:
        """Say where the table has gone on, a file being missing; of many the first, second, fourth, eighth, … look."""
        self._gone += 1
        if self._find_newer is None or self._gone & (self._gone - 1):
            return
        newer = self._find_newer()
        if newer is not None:
            self.add("note", GONE_ON, "", newer, counts_on=True)
