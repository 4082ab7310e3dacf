"""Diffs: what lies between two states of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Displayable
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class JsonChange:
    """One place of a JSON document that changed: `path` (`$.refs.main`), `kind`, the old and the new value."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One column that changed: `kind` (added, dropped, renamed, retyped), its id, and its wording before and after."""

    kind: Literal["added", "dropped", "renamed", "retyped"]
    field_id: int
    name: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ManifestChanges:
    """Manifests by what happened to them; `rewrites` maps the path of a new one to those whose files it took over."""

    kept: tuple[Manifest, ...] = ()
    new: tuple[Manifest, ...] = ()
    dropped: tuple[Manifest, ...] = ()
    rewrites: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """What changed in one partition: counts of files, rows and bytes added and removed."""

    partition: str
    added_files: int = 0
    removed_files: int = 0
    added_rows: int = 0
    removed_rows: int = 0
    added_bytes: int = 0
    removed_bytes: int = 0


@dataclass(frozen=True, repr=False)
class Diff(Displayable):
    """What changed from `before` (None: from nothing) to `after`."""

    before: Snapshot | None
    after: Snapshot
    added: FileSet
    removed: FileSet
    kept: FileSet
    manifests: ManifestChanges
    metadata: tuple[JsonChange, ...]
    schema: tuple[SchemaChange, ...]
    by_partition: tuple[PartitionChange, ...]

    @property
    def summary(self) -> dict[str, int]:
        """Files, rows and bytes added, removed and kept."""
        sets = (("added", self.added), ("removed", self.removed), ("kept", self.kept))
        return {
            f"{name}_{unit}": amount
            for name, files in sets
            for unit, amount in (
                ("files", len(files)),
                ("rows", files.record_count),
                ("bytes", files.size_bytes),
            )
        }

    def __repr__(self) -> str:
        before = "nothing" if self.before is None else self.before.id
        return f"<Diff {before} to {self.after.id}: +{len(self.added)} -{len(self.removed)} files>"
