"""Manifest lists, manifests and their entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakelens.display import Displayable
from lakelens.model.datafile import DataFile
from lakelens.model.explainable import Explainable, Source


@dataclass(frozen=True, slots=True, repr=False)
class Entry(Explainable, Displayable):
    """One line of a manifest: a file and what the commit did with it.

    `status` is worded as the format words it ("ADDED", "EXISTING", "DELETED"; Paimon "ADD", "DELETE"). `snapshot_id` and
    the sequence numbers have inheritance applied; `raw` is the record as stored.
    """

    status: str
    snapshot_id: int | None
    sequence_number: int | None
    file: DataFile
    file_sequence_number: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_live(self) -> bool:
        """Whether the entry says that the file is there."""
        return self.status in ("ADDED", "EXISTING", "ADD")

    def __repr__(self) -> str:
        return f"<Entry {self.status} {self.file.path.rsplit('/', 1)[-1]}>"


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """What a manifest list says of one partition field over a manifest's files; `lower` and `upper` are values."""

    name: str
    lower: Any = None
    upper: Any = None
    contains_null: bool | None = None
    contains_nan: bool | None = None
    null_count: int | None = None


class Manifest(Explainable, Displayable, ABC):
    """One manifest, as its line in the manifest list describes it; `entries` reads the file.

    `content` is "data" or "deletes" (Paimon: "data", "changelog"). Counts are None where the list does not tell. `raw` is
    the line of the list; every field of it is there under its specified name.
    """

    path: str
    recorded_path: str
    size_bytes: int | None
    content: str = "data"
    spec_id: int | None = None
    schema_id: int | None = None
    sequence_number: int | None = None
    added_snapshot_id: int | None = None
    added_files_count: int | None = None
    existing_files_count: int | None = None
    deleted_files_count: int | None = None
    partition_summary: tuple[FieldSummary, ...] = ()
    raw: Mapping[str, Any]

    @property
    @abstractmethod
    def entries(self) -> Sequence[Entry]:
        """Every entry, deleted ones included, in file order. Raises `LakeError` when the file cannot be read."""

    @property
    @abstractmethod
    def header(self) -> Mapping[str, Any]:
        """The container's own words: `format`, `schema` (parsed), `codec` and `metadata` (key/values)."""

    def __repr__(self) -> str:
        counts = f"+{self.added_files_count} ={self.existing_files_count} -{self.deleted_files_count}"
        return f"<Manifest {self.content} {self.path.rsplit('/', 1)[-1]}: {counts}>"


class ManifestList(Explainable, Displayable, ABC):
    """One manifest list: `role` is "all" in Iceberg, "base", "delta" or "changelog" in Paimon.

    An Iceberg v1 snapshot with inline manifests has a list without a file: `path` is None.
    """

    path: str | None
    recorded_path: str | None
    role: str
    size_bytes: int | None

    @property
    @abstractmethod
    def manifests(self) -> Sequence[Manifest]:
        """The manifests it names, in order. Raises `LakeError` when the file cannot be read."""

    @property
    @abstractmethod
    def header(self) -> Mapping[str, Any]:
        """The container's own words: `format`, `schema` (parsed), `codec` and `metadata` (key/values)."""

    def __repr__(self) -> str:
        return f"<ManifestList {self.role} {(self.path or 'inline').rsplit('/', 1)[-1]}>"
