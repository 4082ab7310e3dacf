"""One table, one view, one directory that was found, and what a table is at a glance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from lakelens.caching import cached_property
from lakelens.display import Displayable, Named, call
from lakelens.errors import LakeError
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact
from lakelens.model.storage import Evidence, Reads
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.model.deletes import LiveRows
    from lakelens.model.finding import Finding
    from lakelens.model.view import View


@dataclass(frozen=True, slots=True)
class Outline:
    """What a table is today, by its own newest metadata alone; `error` says why it could not be opened.

    `rows` are the live ones, within bounds where files must be read to know. `title` and `variant` are the format's. Without
    `has_snapshots` the time is that of the newest file, and there is no `snapshot_count`. `reads` is what it took.
    """

    title: str
    variant: str = ""
    has_snapshots: bool = True
    rows: LiveRows | None = None
    files: int | None = None
    size_bytes: int | None = None
    snapshot_count: int | None = None
    committed_at: datetime | None = None
    operation: str | None = None
    findings: tuple[Finding, ...] = ()
    reads: Reads | None = None
    error: LakeError | None = None

    def count_findings(self, severity: str) -> int:
        """How many findings of a severity there are; that it cannot be opened is an error."""
        found = sum(finding.severity == severity for finding in self.findings)
        return found + (severity == "error" and self.error is not None)


@dataclass(frozen=True, repr=False)
class FoundTable(Displayable):
    """One table that `find` found: its path, its format, and the evidence for it.

    Of one that `is_far`, behind a network, the outline counts no files that its newest metadata does not, unless it
    `is_measured`.
    """

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., Table] = field(compare=False)
    _stamper: Callable[[Sequence[str], float | None], object] | None = field(default=None, compare=False)
    is_far: bool = field(default=False, compare=False, kw_only=True)
    is_measured: bool = field(default=False, compare=False, kw_only=True)
    known_as: str = field(default="", kw_only=True)
    _looker: Callable[[], Table] | None = field(default=None, compare=False, kw_only=True)

    def stamp(self, paths: Sequence[str], since: float | None = None) -> object:
        """Equal to what it was before as long as nothing was written beside the files at these paths, or in their place.

        `paths` are the documents that were read to open the table. Changes since a moment, else of this one, are never equal
        to anything: they may not be all.
        """
        return object() if self._stamper is None else self._stamper(paths, since)

    def again(self) -> FoundTable:
        """The same table, not outlined yet."""
        return replace(self, _looker=None)

    def measure(self) -> FoundTable:
        """The same table; its outline counts files and bytes of the newest state, where its metadata does not."""
        return replace(self, is_measured=True)

    def look(self) -> Table:
        """The table, opened for its outline: what was read to find it is not read again."""
        return self.opener() if self._looker is None else self._looker()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_looker": None}

    @cached_property
    def outline(self) -> Outline:
        """What the table is today: it is opened for it, and no manifest is read. An error is kept in it, not raised.

        Behind a network it is what it was when it was found.
        """
        try:
            return cast("Outline", call("analysis.figures:outline_table", self))
        finally:
            object.__setattr__(self, "_looker", None)

    @property
    def is_outlined(self) -> bool:
        """Whether the table was opened for its outline already."""
        return "outline" in vars(self)

    def open(self, **options: Any) -> Table:
        """Open this table; the options are `branch` and `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """What a catalog calls it; else the last component of the path, after the database where that is in `NAME.db`."""
        return self.known_as or _name_place(self.path)

    def __repr__(self) -> str:
        return f"<FoundTable {self.format} {self.name}>"


def _name_place(path: str) -> str:
    parts = PurePath(path).parts
    if len(parts) > 1 and parts[-2].endswith(".db"):
        return f"{parts[-2][:-3]}.{parts[-1]}"
    return parts[-1] if parts else path


@dataclass(frozen=True, repr=False)
class FoundView(Displayable):
    """One view that `find` found: its path, its format, and why it is one. It holds no rows: it is a query over tables."""

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., View] = field(compare=False)
    known_as: str = field(default="", kw_only=True)

    @cached_property
    def view(self) -> View | LakeError:
        """The view, opened; an error that keeps it from being opened is returned, not raised."""
        try:
            return self.open()
        except LakeError as error:
            return error.without_frames()

    def open(self, **options: Any) -> View:
        """Open this view; the option is `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """What a catalog calls it; else the last component of the path, after the database where that is in `NAME.db`."""
        return self.known_as or _name_place(self.path)

    def __repr__(self) -> str:
        return f"<FoundView {self.format} {self.name}>"


@dataclass(frozen=True, slots=True)
class Folder(Named):
    """A directory that is no table: how many files are right in it, and whether what is below was not walked any more."""

    path: str
    files: int
    is_deepest: bool = False


def _ask_view(name: str, kind: str = "string") -> Fact:
    return Fact(name, kind, lambda found: getattr(found.view, name, None))


class FoundViews(NamedItems[FoundView]):
    """The views found below a directory, in path order; also by name."""

    __slots__ = ()
    _noun = "view"
    facts = (
        Fact("name"),
        Fact("format"),
        Fact("path"),
        _ask_view("version_id", "int64"),
        _ask_view("dialects", "strings"),
        Fact("versions", "int64", lambda found: len(getattr(found.view, "versions", ()))),
        Fact("error", "string", lambda found: getattr(found.view, "reason", None)),
    )

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return item.name, item.path, PurePath(item.path).name
