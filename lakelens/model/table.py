"""The table: the entry to everything else."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from lakelens import display
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing, find_nearest, say_value
from lakelens.model.answers import Answers
from lakelens.model.bytes_view import Explainable, Reopened
from lakelens.model.collections import Document, stored
from lakelens.model.driver import Parts
from lakelens.model.facts.traits import UNKNOWN, Traits, Vocabulary
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.finding import Findings
from lakelens.model.revision import Default, find_revision
from lakelens.model.schema import PartitionSpec, PartitionSpecs, Schema, Schemas, SortOrders
from lakelens.model.snapshot import History, Refs, Snapshot, SnapshotLog, Snapshots
from lakelens.model.storage import (
    EncryptionKeys,
    Evidence,
    MetadataLog,
    Reads,
    Relocation,
    Storage,
    StoredFile,
)

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.timeline.timeline import Timeline
    from lakelens.analysis.tree import StorageTree
    from lakelens.model.manifest import Manifest
    from lakelens.model.scan.plan import FileScan
    from lakelens.views.render.plot import Plot
    from lakelens.watching import Watch

_ID = re.compile(r"-?[0-9]{1,19}")  # 64 bits
_MOST_SUGGESTED = 20  # of the newest snapshots, each of which may be a document of its own


class Table(Reopened, Answers, Explainable, Displayable, ABC):
    """A data lake table, read from nothing but its files. Lazy, cached, never written to."""

    format: str
    #: what its format is, and says to the answers
    driver: Parts = Parts()
    format_version: int | None = None
    name: str
    location: str
    uuid: str | None = None
    evidence: Evidence
    findings: Findings
    #: What the format says of the keys of its documents.
    vocabulary: Vocabulary = UNKNOWN
    # facts that only a catalog or metastore knows, when the table was opened through one
    catalog: Mapping[str, Any] | None = stored("catalog")

    @property
    def traits(self) -> Traits:
        """What is true of it because of its format."""
        title = self.format.title()
        return Traits(title, f"{title} table")

    @property
    def storage(self) -> Storage | None:
        """What the table's data files say; None where the format gives no access to them."""
        return None

    @property
    def metadata_path(self) -> str | None:
        """The document that says what the table is now; None where there is none."""
        return self.current.path if self.current is not None else None

    @property
    def pointer_mark(self) -> tuple[str, Hashable]:
        """What the table was opened as: in words, and what differs as soon as a commit or an expiry was made since."""
        path = self.metadata_path or ""
        return path.rpartition("/")[2] or "nothing", (path, self.snapshot_count)

    def find_newer(self) -> str | None:
        """Whether the table has gone on since it was opened, as a sentence; None where it has not, or where nobody can say.

        The pointer is looked at once more: a writer may commit, expire and delete beside a reader, whose opened state then
        lacks files, although the table is sound.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").find_newer() is None
        True
        """
        if self.reopening is None:
            return None
        open_again, how = self.reopening
        try:
            (now, mark), (then, known) = open_again(*how).pointer_mark, self.pointer_mark
        except LakeError:
            return None
        if mark == known:
            return None
        is_newer = (
            f"{now} is newer than {then}, which was opened"
            if now != then
            else f"{now} is not as it was opened"
        )
        return f"the table has gone on: {is_newer}; what is missing may have expired since: open it again"

    @property
    @abstractmethod
    def properties(self) -> Document:
        """The table's properties (Paimon: options)."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Today's schema."""

    @property
    @abstractmethod
    def schemas(self) -> Schemas:
        """Every schema that is known, by id."""

    @property
    @abstractmethod
    def partitioning(self) -> PartitionSpec:
        """Today's partitioning."""

    @property
    def specs(self) -> PartitionSpecs:
        """Every partitioning that is known."""
        return PartitionSpecs((self.partitioning,))

    @property
    def sort_orders(self) -> SortOrders:
        """The sort orders; only Iceberg has them."""
        return SortOrders()

    @property
    def encryption_keys(self) -> EncryptionKeys:
        """The keys that its metadata names, themselves encrypted; only Iceberg since version 3 has them."""
        return EncryptionKeys()

    @property
    @abstractmethod
    def refs(self) -> Refs:
        """Branches and tags."""

    @property
    @abstractmethod
    def snapshots(self) -> Snapshots:
        """The snapshots in commit order; empty for Hive."""

    @property
    def snapshot_count(self) -> int:
        """How many snapshots there are. No snapshot is read only to count it, so damaged ones may be counted too."""
        return len(self.snapshots)

    def has_snapshot(self, number: int) -> bool:
        """Whether there is a snapshot of this id. No snapshot is read only to know it."""
        return any(snapshot.id == number for snapshot in self.snapshots)

    def fetch_outline(self) -> None:
        """Read what an outline shows, all together; nothing where the store answers without a network."""
        return

    def outline_history(self, most: int = 5) -> History:
        """The history in outline: the number of snapshots, the first, and the newest in commit order.

        At most `most` of the newest are listed. A format with a file for each snapshot reads only these if there are many.

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
    def metadata(self) -> Document:
        """The raw metadata document (Iceberg), or documents by name (Paimon); every key kept."""

    @property
    def metadata_log(self) -> MetadataLog:
        """Earlier versions of the metadata; only Iceberg keeps them."""
        return MetadataLog()

    @property
    def snapshot_log(self) -> SnapshotLog:
        """Which snapshot was the current one from when on; only Iceberg keeps it."""
        return SnapshotLog()

    @property
    def separate_branches(self) -> Mapping[str, Snapshots]:
        """The snapshots of other branches by name, where each branch numbers its own: only Paimon's do."""
        return {}

    @property
    @abstractmethod
    def relocation(self) -> Relocation:
        """How recorded locations were mapped onto where the table is now."""

    @property
    @abstractmethod
    def reads(self) -> Reads:
        """What was read so far."""

    @abstractmethod
    def list_files(self) -> Iterator[StoredFile]:
        """Every object below the table's directory with its role; listed again at each call."""

    @property
    def files(self) -> FileSet:
        """The live files of the current snapshot; empty before the first commit."""
        return self.current.files if self.current is not None else self._empty_files

    @cached_property
    def _empty_files(self) -> FileSet:
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

    def scan_manifests(self, manifests: Iterable[Manifest]) -> FileScan | None:
        """A plan to read every entry of some of the table's manifests, each once; None where the format has no such plan."""
        return None

    def snapshot(self, ref: Any) -> Snapshot:
        """The snapshot of an id, a branch, a tag or a time; also as git names a commit.

        Parameters
        ----------
        ref
            An id, the name of a branch or tag, or a time (`datetime`, UTC when it has no zone, or ISO text): the last
            snapshot committed at or before it. None is the current one; a `Snapshot` is returned unchanged.
            As text also `"main~1"`, the parent of what `main` points at, `"~1"`, the current one's parent, `"-1"`, the
            newest one, and in Iceberg tables the first digits of an id, at least four.

        Raises
        ------
        Missing
            There is no such snapshot; the hint lists some that exist.
        Ambiguous
            Several ids begin so; the hint lists them.
        LakeError
            `ref` is none of these.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> table.snapshot("main").id == table.snapshots[-1].id
        True
        >>> table.snapshot("main~1").id == table.snapshot("-2").id == table.snapshots[-2].id
        True
        """
        if isinstance(ref, Snapshot):
            return ref
        found = self._find_snapshot(ref)
        if found is None and (isinstance(ref, str) or (isinstance(ref, int) and ref < 0)):
            found = find_revision(self, ref if isinstance(ref, str) else say_value(ref))
        if found is None:
            name = say_value(ref)
            raise Missing(
                f"no snapshot {name}", path=self.location, hint=self._suggest_snapshot(name.strip("'"))
            )
        return found

    def _suggest_snapshot(self, ref: str) -> str:
        """The nearest refs and ids; else all refs and the newest ids."""
        refs, ids = self.refs.keys(), [str(s.id) for s in self.snapshots[-_MOST_SUGGESTED:]]
        if self.refs.get(ref) is not None:
            return "nothing was committed to it, or its snapshot is gone"
        if not ids and not refs:
            return "it is empty: there is no snapshot"
        near = find_nearest(ref, [*refs, *ids])
        return f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join([*ids[-5:], *refs])}"

    def _find_snapshot(self, ref: Any) -> Snapshot | None:
        if isinstance(ref, int) and not isinstance(ref, bool):
            return next((s for s in self.snapshots if s.id == ref), None)
        if isinstance(ref, str):
            if self.refs.get(ref) is not None:
                return self._snapshot_of_ref(ref)
            if _ID.fullmatch(ref):
                return self._find_snapshot(int(ref))
            ref = _parse_time(ref)
            if ref is None:
                return None
        if isinstance(ref, datetime):
            return self._snapshot_at(ref if ref.tzinfo else ref.replace(tzinfo=UTC))
        if ref is None:
            return self.current
        message = f"{say_value(ref)} is not a snapshot id, a branch, a tag or a time"
        raise LakeError(message, path=self.location)

    def _snapshot_of_ref(self, name: str) -> Snapshot | None:
        wanted = self.refs[name].snapshot_id
        return next((s for s in self.snapshots if s.id == wanted), None)

    def _snapshot_at(self, moment: datetime) -> Snapshot | None:
        before = [s for s in self.snapshots if s.committed_at is not None and s.committed_at <= moment]
        return before[-1] if before else None

    def diff(self, before: Any = Default.PARENT, after: Any = None) -> Diff:
        """What changed from one snapshot to another: of `table.diff()` by the last commit.

        Files, manifests and documents are read when a part is accessed.

        Files are identified by path, deletion vectors in Puffin files by their offset too; the files of two tables by
        their path below the table.

        Parameters
        ----------
        before, after
            Snapshots, anything that `Table.snapshot` takes (an id, a branch, a tag, a time, `"main~1"`), or tables of this
            format, of which the current snapshot is meant. `before` may be None, for a diff from nothing, and is the
            parent of `after` where it is left out; `after` is the current snapshot then.

        Raises
        ------
        Missing
            There is no such snapshot, or the parent has expired.
        LakeError
            The two are of different formats.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> diff = table.diff(table.snapshots[0], table.current)
        >>> len(diff.added) - len(diff.removed) == len(table.files) - len(table.snapshots[0].files)
        True
        """
        return cast("Diff", display.call("analysis.diff.diff:diff_table", self, before, after))

    def tree(self, references: bool = True) -> StorageTree:
        """Every object in the table's directory with its size, its role and what refers to it.

        Parameters
        ----------
        references
            Whether to find what refers to what, by walking every snapshot; False only lists.
        """
        return cast("StorageTree", display.call("analysis.tree:build_tree", self, references=references))

    @cached_property
    def history(self) -> Timeline:
        """Every snapshot once, with branches, tags, rollbacks and what expired: a still picture. Reads no manifest.

        A Hive table has no snapshots: its history is when its files were written.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").history
        <Timeline of lakes.v3_merge_on_read: 5 snapshots>
        """
        return cast("Timeline", display.call("analysis.timeline.marks:trace_history", self))

    def timeline(self, *, spacing: Literal["time", "even"] = "time") -> Any:
        """The history as a widget: choose a snapshot for its card, two of them or a range for the diff.

        The choice is `widget.snapshot` and `widget.diff`. Needs anywidget (`pip install 'lakelens[notebook]'`); without
        a kernel a reader sees the still picture of `history`.

        Parameters
        ----------
        spacing
            Whether snapshots are placed true to time or evenly.
        """
        if spacing not in ("time", "even"):
            raise ValueError(f"spacing is 'time' or 'even', not {spacing!r}")
        widget = self.history.widget()
        widget.spacing = spacing
        return widget

    def watch(self, *, spark: Any = None, storage_options: Mapping[str, Any] | None = None) -> Watch:
        """Watch what a block of code does to this table's storage: see `lakelens.watch`.

        Parameters
        ----------
        spark
            A session: a table that was opened by name is then found again through its catalog.
        storage_options
            Options of the store, as in `lakelens.open`.
        """
        options = {"spark": spark, "storage_options": storage_options}
        return cast("Watch", display.call("watching:watch", self, **options))

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Plot:
        """Plot how the table grew: rows, files and bytes after each snapshot, as the snapshots record them.

        No manifest is read. A table with fewer than two snapshots shows its files instead: see `FileSet.plot`.

        Parameters
        ----------
        figsize
            Width and height in inches.

        Raises
        ------
        Unsupported
            Matplotlib is not installed.

        Examples
        --------
        >>> import lakelens as ll
        >>> [axes.get_ylabel() for axes in ll.sample("iceberg").plot().figure.axes]
        ['live rows', 'files', 'bytes (binary units)']
        """
        return cast("Plot", display.call("views.render.plots:plot_growth", self, figsize))

    def __repr__(self) -> str:
        version = f" v{self.format_version}" if self.format_version is not None else ""
        return f"<Table {self.name} ({self.format}{version})>"


def _parse_time(text: str) -> datetime | None:
    """ISO text as a datetime; anything else is no time."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
