"""The tables that ship with the package, as a list."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable
from lakelens.lazy import dataclass
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    from lakelens.model.table import Table


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
