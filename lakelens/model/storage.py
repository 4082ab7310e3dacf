"""A table in storage: why its directory is recognised, how locations are mapped, its objects, and what was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from lakelens.display import Displayable
from lakelens.model.collections import Items
from lakelens.model.explainable import Explainable, Source
from lakelens.model.facts import Fact


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored object: its path, also relative to the table, its size, and its `role` ("manifest list", "data").

    `referenced_by` names what refers to it ("snapshot 3, delta manifest list"); empty when nothing was found.
    """

    path: str
    relative_path: str
    size_bytes: int
    role: str
    referenced_by: tuple[str, ...] = ()
    modified: datetime | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Displayable):
    """Why a directory is recognised as a table of a format.

    `reasons` are sentences; `files` those that made it certain; `version_choice` says how the current version was found,
    `candidates` which others exist. `others` names formats that were found in the same directory.
    """

    format: str
    reasons: tuple[str, ...]
    files: tuple[str, ...] = ()
    confidence: float = 1.0
    version_choice: str | None = None
    candidates: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Evidence {self.format}: {'; '.join(self.reasons)}>"


@dataclass(frozen=True, slots=True, repr=False)
class Relocation(Displayable):
    """How recorded locations were mapped: pairs of recorded and actual prefix, and what could not be mapped."""

    recorded_location: str | None
    location: str
    mapping: tuple[tuple[str, str], ...] = ()
    unmapped: tuple[str, ...] = ()

    @property
    def is_moved(self) -> bool:
        """Whether any recorded location is elsewhere now."""
        return bool(self.mapping)

    def __repr__(self) -> str:
        return f"<Relocation {self.recorded_location} to {self.location}>"


@dataclass(frozen=True, slots=True, repr=False)
class Reads(Displayable):
    """What was read so far: requests to the store, files opened, bytes, seconds spent waiting; and which files."""

    requests: int
    files: int
    bytes: int
    seconds: float = field(compare=False)
    paths: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Reads {self.requests} requests, {self.files} files, {self.bytes} bytes>"


@dataclass(frozen=True, slots=True, repr=False)
class MetadataLogEntry(Explainable, Displayable):
    """One earlier version of the table's metadata: when, and the file as recorded and where it is now."""

    timestamp: datetime
    path: str
    recorded_path: str
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<MetadataLogEntry {self.timestamp:%Y-%m-%d %H:%M:%S} {self.path.rsplit('/', 1)[-1]}>"


class MetadataLog(Items[MetadataLogEntry]):
    """Earlier versions of a table's metadata, oldest first."""

    __slots__ = ()
    facts = (
        Fact("timestamp", "time"),
        Fact("path"),
        Fact("recorded_path"),
    )
