"""The table: the entry to everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable, PlottableTable
from lakelens.errors import LakeError, Missing
from lakelens.model.explainable import Explainable, Source
from lakelens.model.fileset import FileSet
from lakelens.model.finding import Findings
from lakelens.model.schema import PartitionSpec, Schema, SortOrder
from lakelens.model.snapshot import History, Refs, Snapshot, Snapshots
from lakelens.model.stored_file import StoredFile
from lakelens.verbs import Analysable

if TYPE_CHECKING:
    from lakelens.model.scan.plan import FileScan


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Displayable):
    """Why a directory is held to be a table of a format.

    `reasons` are sentences; `files` the files that made it certain; `version_choice` how the current version was found
    and `candidates` which others there are. `others` names formats that were seen beside it.
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
    """How recorded locations were mapped: pairs of prefix recorded and place now, and what could not be mapped."""

    recorded_location: str | None
    location: str
    mapping: tuple[tuple[str, str], ...] = ()
    unmapped: tuple[str, ...] = ()

    @property
    def is_moved(self) -> bool:
        """Whether any recorded location lies elsewhere now."""
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


@dataclass(frozen=True, slots=True)
class MetadataLogEntry(Explainable):
    """One earlier version of the table's metadata: when, and the file as recorded and where it lies now."""

    timestamp: datetime
    path: str
    recorded_path: str
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)


class Table(Analysable, Explainable, Displayable, PlottableTable, ABC):
    """A data lake table, read from nothing but its files. Lazy, cached, never written to."""

    format: str
    format_version: int | None = None
    name: str
    location: str
    uuid: str | None = None
    evidence: Evidence
    findings: Findings
    # facts that only a catalog or metastore knows, when the table was opened through one
    catalog: Mapping[str, Any] | None = None

    @property
    @abstractmethod
    def properties(self) -> Mapping[str, str]:
        """The table's properties (Paimon: options)."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Today's schema."""

    @property
    @abstractmethod
    def schemas(self) -> Sequence[Schema]:
        """Every schema that is known, by id."""

    @property
    @abstractmethod
    def partitioning(self) -> PartitionSpec:
        """Today's partitioning."""

    @property
    def specs(self) -> Sequence[PartitionSpec]:
        """Every partitioning that is known."""
        return (self.partitioning,)

    @property
    def sort_orders(self) -> Sequence[SortOrder]:
        """The sort orders; only Iceberg has them."""
        return ()

    @property
    @abstractmethod
    def refs(self) -> Refs:
        """Branches and tags."""

    @property
    @abstractmethod
    def snapshots(self) -> Snapshots:
        """The snapshots in commit order; empty for Hive."""

    def outline_history(self, most: int = 5) -> History:
        """The history in outline: how many snapshots there are, the first, and the newest `most` in commit order.

        A format whose snapshots are files of their own reads only those that are given, where there are many.

        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> history = table.outline_history(2)
        >>> history.count == len(table.snapshots), len(history.newest)
        (True, 2)
        """
        known = self.snapshots
        return History(len(known), known[0] if len(known) else None, known[max(len(known) - most, 0) :])

    @property
    @abstractmethod
    def current(self) -> Snapshot | None:
        """The current snapshot; None before the first commit. For Hive a listing taken now."""

    @property
    @abstractmethod
    def metadata(self) -> Any:
        """The raw metadata document (Iceberg), or documents by name (Paimon); every key kept."""

    @property
    def metadata_log(self) -> Sequence[MetadataLogEntry]:
        """Earlier versions of the metadata; only Iceberg keeps them."""
        return ()

    @property
    def snapshot_log(self) -> Sequence[LogEntry]:
        """Which snapshot was the current one from when on; only Iceberg keeps it."""
        return ()

    @property
    def separate_branches(self) -> Mapping[str, Snapshots]:
        """The snapshots of other branches by name, where each branch numbers its own: only Paimon's do."""
        return {}

    @property
    @abstractmethod
    def relocation(self) -> Relocation:
        """How recorded locations were mapped onto where the table lies now."""

    @property
    @abstractmethod
    def reads(self) -> Reads:
        """What was read so far."""

    @abstractmethod
    def list_files(self) -> Iterator[StoredFile]:
        """Every object below the table's directory with its role; listed anew at each call."""

    @property
    def files(self) -> FileSet:
        """The live files of the current snapshot; empty before the first commit."""
        return self.current.files if self.current is not None else self._empty_files

    @cached_property
    def _empty_files(self) -> FileSet:
        from lakelens.model.fileset import FileColumns

        return FileSet(lambda: (), FileColumns)

    def scan_entries(self, *, all_snapshots: bool = False) -> FileScan | None:
        """A plan to read every entry of the current snapshot's manifests, or of every manifest that a snapshot names.

        A manifest that many snapshots name is read once. Reads the manifest lists; None where the format has no manifests.
        """
        chosen = self.snapshots if all_snapshots else [self.current] if self.current is not None else []
        scans = [scan for snapshot in chosen if (scan := snapshot.scan_entries()) is not None]
        if not scans:
            return None
        tasks = {task.path: task for scan in scans for task in scan.tasks}
        return scans[-1].with_tasks([replace(t, position=n) for n, t in enumerate(tasks.values())])

    def snapshot(self, ref: Any) -> Snapshot:
        """The snapshot of an id, a branch or tag name, or a time; a `Snapshot` is returned as it is.

        A time (`datetime`, UTC when it has no zone, or ISO text) means the last snapshot committed at or before it.
        Raises `Missing` when there is none, naming what there is.
        """
        if isinstance(ref, Snapshot):
            return ref
        found = self._find_snapshot(ref)
        if found is None:
            known = [str(s.id) for s in self.snapshots[-5:]] + self.refs.keys()
            raise Missing(
                f"no snapshot {ref!r}",
                path=self.location,
                hint=f"one of {', '.join(known) or 'none: it is empty'}",
            )
        return found

    def _find_snapshot(self, ref: Any) -> Snapshot | None:
        if isinstance(ref, int) and not isinstance(ref, bool):
            return next((s for s in self.snapshots if s.id == ref), None)
        if isinstance(ref, str):
            if self.refs.get(ref) is not None:
                return self._snapshot_of_ref(ref)
            if ref.lstrip("-").isdigit():
                return self._find_snapshot(int(ref))
            ref = _parse_time(ref)
            if ref is None:
                return None
        if isinstance(ref, datetime):
            return self._snapshot_at(ref if ref.tzinfo else ref.replace(tzinfo=UTC))
        if ref is None:
            return self.current
        raise LakeError(f"{ref!r} is not a snapshot id, a branch, a tag or a time", path=self.location)

    def _snapshot_of_ref(self, name: str) -> Snapshot | None:
        wanted = self.refs[name].snapshot_id
        return next((s for s in self.snapshots if s.id == wanted), None)

    def _snapshot_at(self, moment: datetime) -> Snapshot | None:
        before = [s for s in self.snapshots if s.committed_at is not None and s.committed_at <= moment]
        return before[-1] if before else None

    def __repr__(self) -> str:
        version = f" v{self.format_version}" if self.format_version is not None else ""
        return f"<Table {self.name} ({self.format}{version})>"


def _parse_time(text: str) -> datetime | None:
    """ISO text as a datetime; anything else is no time."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """When a snapshot became the current one, and whether it is an ancestor of today's."""

    made_current_at: datetime | None
    snapshot_id: int
    parent_id: int | None
    is_current_ancestor: bool
