"""Listings of tables: what `find` met below a directory, and the samples that ship with the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, overload

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.storage import Evidence
from lakelens.model.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class FoundTable(Displayable):
    """One table that `find` met: where it lies, its format, and why."""

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., Table] = field(compare=False)

    def open(self, **options: Any) -> Table:
        """Open it; `branch` and `version` as for `lakelens.open`."""
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


class Catalog(Sequence[FoundTable], Displayable):
    """The tables found below a directory, in path order; also by name."""

    def __init__(self, root: str, tables: Sequence[FoundTable], problems: Sequence[LakeError] = ()) -> None:
        self.root = root
        self.problems = tuple(problems)
        self._tables = tuple(tables)

    @overload
    def __getitem__(self, key: int | str) -> FoundTable: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[FoundTable]: ...
    def __getitem__(self, key: int | str | slice) -> FoundTable | Sequence[FoundTable]:
        if not isinstance(key, str):
            return self._tables[key]
        for found in self._tables:
            if key in (found.name, found.path, PurePath(found.path).name):
                return found
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[FoundTable]:
        return iter(self._tables)

    def __repr__(self) -> str:
        return f"<Catalog {len(self)} tables>"


@dataclass(frozen=True, slots=True, repr=False)
class Sample(Displayable):
    """One table that ships with the package: its name, its format, what it shows, and what happened to it.

    `script` is the source text of what made it, the command first; `size_bytes` and `files` count it unpacked.
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
        """Copy the table to a temporary directory, which lasts as long as this process, and open it there."""
        return self.opener(self.name)

    def unpack(self, directory: str | os.PathLike[str] | None = None) -> Path:
        """Copy the table into a directory, as a directory of its own name, and give its path. None: a temporary one.

        Raises `LakeError` when there is something of that name already.
        """
        return self.unpacker(self.name, None if directory is None else Path(directory))

    def __repr__(self) -> str:
        return f"<Sample {self.name} ({self.format}: {self.feature})>"


class Samples(Sequence[Sample], Displayable):
    """The tables that ship with the package; also by name."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = tuple(samples)

    @overload
    def __getitem__(self, key: int | str) -> Sample: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Sample]: ...
    def __getitem__(self, key: int | str | slice) -> Sample | Sequence[Sample]:
        if not isinstance(key, str):
            return self._samples[key]
        for found in self._samples:
            if found.name == key:
                return found
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __repr__(self) -> str:
        return f"<Samples {', '.join(one.name for one in self)}>"
