"""Listings of tables: what `find` found below a directory, and the samples that ship with the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Self

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact
from lakelens.model.storage import Evidence
from lakelens.model.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class FoundTable(Displayable):
    """One table that `find` found: its path, its format, and the evidence for it."""

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., Table] = field(compare=False)

    def open(self, **options: Any) -> Table:
        """Open this table; the options are `branch` and `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """The last component of the path, with the database before it where the parent is `NAME.db`."""
        parts = PurePath(self.path).parts
        if len(parts) > 1 and parts[-2].endswith(".db"):
            return f"{parts[-2][:-3]}.{parts[-1]}"
        return parts[-1] if parts else self.path

    def __repr__(self) -> str:
        return f"<FoundTable {self.format} {self.name}>"


class Catalog(NamedItems[FoundTable]):
    """The tables found below a directory, in path order; also by name."""

    facts = (
        Fact("name"),
        Fact("format"),
        Fact("path"),
    )

    def __init__(self, root: str, tables: Iterable[FoundTable], problems: Sequence[LakeError] = ()) -> None:
        super().__init__(tables)
        self.root = root
        self.problems = tuple(problems)

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(self.root, held, self.problems)

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return item.name, item.path, PurePath(item.path).name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.root, tuple(self), self.problems)

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
