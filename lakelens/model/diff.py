"""Diffs: what lies between two states of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Displayable
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Manifest

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class JsonChange:
    """One place of a JSON document that changed: `path` (`$.refs.main`), `kind`, the old and the new value.

    >>> print(JsonChange("$.last-updated-ms", "changed", 1, 2))
    $.last-updated-ms: 1 → 2
    """

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        if self.kind == "added":
            return f"{self.path}: absent → {_word_json(self.after)}"
        if self.kind == "removed":
            return f"{self.path}: {_word_json(self.before)} → absent"
        return f"{self.path}: {_word_json(self.before)} → {_word_json(self.after)}"


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One column that changed: `kind`, its field id, its name today, and its wording before and after."""

    kind: Literal["added", "dropped", "renamed", "retyped"]
    field_id: int
    name: str
    before: str | None = None
    after: str | None = None


class ManifestChanges:
    """Manifests by what happened to them: `kept`, `new`, `dropped`."""

    def __init__(
        self,
        kept: tuple[Manifest, ...] = (),
        new: tuple[Manifest, ...] = (),
        dropped: tuple[Manifest, ...] = (),
    ) -> None:
        self.kept, self.new, self.dropped = kept, new, dropped

    @cached_property
    def rewrites(self) -> Mapping[str, tuple[str, ...]]:
        """Which dropped manifests' live files each new one took over, by path; reads the new and dropped manifests."""
        holders: dict[Any, str] = {}
        for manifest in self.dropped:
            holders |= {entry.file.identity: manifest.path for entry in manifest.entries}
        found = {}
        for manifest in self.new:
            kept = [entry.file.identity for entry in manifest.entries if entry.is_live]
            sources = dict.fromkeys(holders[identity] for identity in kept if identity in holders)
            if sources:
                found[manifest.path] = tuple(sources)
        return found

    def __repr__(self) -> str:
        return f"<ManifestChanges +{len(self.new)} -{len(self.dropped)} ={len(self.kept)}>"


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


class Diff(Displayable):
    """What changed from `before` (None: from nothing) to `after`. Each part is found when it is first asked for.

    `added`, `removed` and `kept` are file sets; `kept` holds today's description of a file.
    """

    def __init__(
        self,
        before: Snapshot | None,
        after: Snapshot,
        *,
        added: FileSet,
        removed: FileSet,
        kept: FileSet,
        manifests: Callable[[], ManifestChanges],
        metadata: Callable[[], tuple[JsonChange, ...]],
        schema: Callable[[], tuple[SchemaChange, ...]],
        by_partition: Callable[[], tuple[PartitionChange, ...]],
    ) -> None:
        self.before, self.after = before, after
        self.added, self.removed, self.kept = added, removed, kept
        self._find_manifests, self._find_metadata = manifests, metadata
        self._find_schema, self._find_by_partition = schema, by_partition

    @cached_property
    def manifests(self) -> ManifestChanges:
        """Manifests kept, new and dropped."""
        return self._find_manifests()

    @cached_property
    def metadata(self) -> tuple[JsonChange, ...]:
        """Places of the snapshots' documents that differ."""
        return self._find_metadata()

    @cached_property
    def schema(self) -> tuple[SchemaChange, ...]:
        """Columns added, dropped, renamed or retyped."""
        return self._find_schema()

    @cached_property
    def by_partition(self) -> tuple[PartitionChange, ...]:
        """Files, rows and bytes added and removed, by partition; partitions without a change are left out."""
        return self._find_by_partition()

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


def _word_json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
