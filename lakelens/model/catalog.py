"""Listings of tables and views: what `find` found below a directory, and the samples that ship with the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Self

from lakelens.display import Displayable, outline_table, read_outlines
from lakelens.errors import LakeError
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact
from lakelens.model.storage import Evidence, Reads
from lakelens.model.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

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
    """One table that `find` found: its path, its format, and the evidence for it."""

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., Table] = field(compare=False)

    @cached_property
    def outline(self) -> Outline:
        """What the table is today: it is opened for it, and no manifest is read. An error is kept in it, not raised."""
        return outline_table(self)

    @property
    def is_outlined(self) -> bool:
        """Whether the table was opened for its outline already."""
        return "outline" in vars(self)

    def open(self, **options: Any) -> Table:
        """Open this table; the options are `branch` and `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """The last component of the path, with the database before it where the parent is `NAME.db`."""
        return _name_place(self.path)

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
        """The last component of the path, with the database before it where the parent is `NAME.db`."""
        return _name_place(self.path)

    def __repr__(self) -> str:
        return f"<FoundView {self.format} {self.name}>"


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


class Catalog(NamedItems[FoundTable]):
    """The tables found below a directory, in path order; also by name. None is opened before it is shown or listed.

    `views` are the views that were found, which hold no rows.
    """

    _noun = "table"

    facts = (
        Fact("name"),
        Fact("format"),
        Fact("path"),
        Fact("live_rows", "int64", lambda found: getattr(found.outline.rows, "count", None)),
        Fact("at_most_rows", "int64", lambda found: getattr(found.outline.rows, "at_most", None)),
        Fact("files", "int64", lambda found: found.outline.files),
        Fact("size_bytes", "int64", lambda found: found.outline.size_bytes),
        Fact("snapshots", "int64", lambda found: found.outline.snapshot_count),
        Fact("committed_at", "time", lambda found: found.outline.committed_at),
        Fact("operation", "string", lambda found: found.outline.operation),
        Fact("errors", "int64", lambda found: found.outline.count_findings("error")),
        Fact("warnings", "int64", lambda found: found.outline.count_findings("warning")),
        Fact("error", "string", lambda found: found.outline.error and found.outline.error.reason),
    )

    def __init__(
        self,
        root: str,
        tables: Iterable[FoundTable],
        problems: Sequence[LakeError] = (),
        views: Iterable[FoundView] = (),
    ) -> None:
        super().__init__(tables)
        self.root = root
        self.problems = tuple(problems)
        self.views = FoundViews(views)

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(self.root, held, self.problems, self.views)

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return item.name, item.path, PurePath(item.path).name

    def place(self, path: str | None) -> str:
        """A path relative to the root; the root itself is `.`, and a path elsewhere stays whole."""
        root = self.root.rstrip("/")
        if path is None or path.rstrip("/") == root:
            return "."
        return path.removeprefix(f"{root}/")

    def read_outlines(self) -> list[Outline]:
        """The outline of each table, in order: every table is opened, by several threads; no manifest is read."""
        return read_outlines(self)

    def to_arrow(self) -> pa.Table:
        """One row for each, in path order; every table is opened, and no manifest is read.

        `live_rows` is exact or null; then `at_most_rows` may say how many there are at most. `error` says why a table
        cannot be opened.

        >>> from lakelens import find, sample
        >>> find(sample("iceberg-basic").location).to_arrow().select(["live_rows", "snapshots", "error"]).to_pylist()
        [{'live_rows': 4, 'snapshots': 3, 'error': None}]
        """
        self.read_outlines()
        return super().to_arrow()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.root, tuple(self), self.problems, tuple(self.views))

    def __repr__(self) -> str:
        return f"<Catalog {len(self)} tables>"


@dataclass(frozen=True, slots=True, repr=False)
class Sample(Displayable):
    """One table that ships with the package: its name, its format, what it shows, and what happened to it.

    `script` is the source text that made it, the command first; `size_bytes` and `files` are those of the unpacked table.
    """

    name: str
    format: str
    feature: str
    story: str
    script: str = field(compare=False)
    size_bytes: int
    files: int
    opener: Callable[[str], Table] = field(compare=False)
    unpacker: Callable[[str, Path | None], Path] = field(compare=False)

    def open(self) -> Table:
        """Copy the table to a temporary directory, which is removed when this process ends, and open it there."""
        return self.opener(self.name)

    def unpack(self, directory: str | os.PathLike[str] | None = None) -> Path:
        """Copy the table into a directory.

        Parameters
        ----------
        directory
            Where to copy it, as a directory of its own name; None for a temporary directory.

        Returns
        -------
        pathlib.Path
            The directory of the copy.

        Raises
        ------
        LakeError
            There is something of that name already.
        """
        return self.unpacker(self.name, None if directory is None else Path(directory))

    def __repr__(self) -> str:
        return f"<Sample {self.name} ({self.format}: {self.feature})>"


class Samples(NamedItems[Sample]):
    """The tables that ship with the package; also by name."""

    __slots__ = ()
    _noun = "sample"
    facts = (
        Fact("name"),
        Fact("format"),
        Fact("feature"),
        Fact("story"),
        Fact("size_bytes", "int64"),
        Fact("files", "int64"),
    )

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return (item.name,)

    def __repr__(self) -> str:
        return f"<Samples {', '.join(self.keys())}>"
