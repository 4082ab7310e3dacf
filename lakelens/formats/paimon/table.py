"""A Paimon table, read from nothing but its files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.formats.paimon import FORMAT
from lakelens.formats.paimon.context import TableContext, TableObject
from lakelens.formats.paimon.deletes.positions import VectorReader
from lakelens.formats.paimon.discovery import SnapshotPointer, find_latest
from lakelens.formats.paimon.manifests.manifest import KnownManifests
from lakelens.formats.paimon.metadata.layout import MAIN, describe_buckets, list_numbers
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.reading import SHORT_HISTORY, fetch_outline
from lakelens.formats.paimon.refs import (
    Pointers,
    enter_branch,
    find_pointer,
    list_branches,
    list_tag_names,
    make_branch,
    make_tag,
    read_changelogs,
    read_consumers,
    read_tags,
)
from lakelens.formats.paimon.snapshot import PaimonSnapshot, read_snapshot
from lakelens.model.collections import Document
from lakelens.model.facts.traits import Traits
from lakelens.model.schema import PartitionSpec, Schemas
from lakelens.model.snapshot import History, Ref, Refs, Snapshot, Snapshots
from lakelens.model.storage import Evidence, Reads, Relocation, StoredFile
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.formats.contents import TableStorage
    from lakelens.formats.paimon.scan.plan import PaimonScan


class PaimonTable(TableObject, Table):
    """A Paimon table, seen from one of its branches (`branch_name`, "main" unless another was asked for).

    Beside the neutral facts: `options`, `comment`, `primary_keys`, `partition_keys`, `bucket`, `changelogs`, `consumers`,
    `branch(name)`.
    """

    format = "paimon"
    driver = FORMAT
    uuid = None  # Paimon gives tables no id in their files

    def __init__(
        self,
        context: TableContext,
        evidence: Evidence,
        name: str,
        catalog: Any = None,
        pointer: SnapshotPointer | None = None,
    ) -> None:
        self.context = context
        if pointer is not None:
            self.pointer = pointer
        self.location = context.layout.root
        self.branch_name = context.layout.branch
        self.name = name
        self.catalog = catalog
        self.findings = context.findings
        self.known_manifests = KnownManifests(context)
        self.vector_reader = VectorReader(context.access)
        self._snapshots: dict[int, PaimonSnapshot | None] = {}
        self._is_outlined = False
        context.schemas.find_referred = lambda: self.current.schema_id if self.current else None
        self._branches: dict[str, PaimonTable] = {}
        self._pointers: Pointers = {}
        choice = self.pointer.reason
        self.evidence = replace(
            evidence, version_choice=choice if self.branch_name == MAIN else f"{self.branch_name}: {choice}"
        )

    @cached_property
    def pointer(self) -> SnapshotPointer:
        """The current snapshot's number and how it was found."""
        return find_latest(self.context.store, self.context.layout.folder("snapshot"), self.findings)

    @property
    def pointer_mark(self) -> tuple[str, Hashable]:
        """See `Table.pointer_mark`: the numbers of the snapshots, of which expiry removes the oldest, and the tags."""
        return f"snapshot {self.pointer.latest}", (tuple(self.pointer.ids), tuple(self.tags))

    def find_pointer(self, name: str) -> SnapshotPointer:
        """The current snapshot of another branch, which is not opened for it."""
        return find_pointer(self.context, name, self._pointers)

    @property
    def traits(self) -> Traits:
        """What is true of every Paimon table; its key, and its buckets."""
        kind = f"Apache Paimon table with{'' if self.primary_keys else 'out'} primary key"
        buckets = describe_buckets(self.bucket, bool(len(self.partitioning)), bool(self.primary_keys))
        words = (kind, buckets, "primary key" if self.primary_keys else "append only")
        return Traits("Paimon", *words, numbers_branches=True, has_levels=True)

    @property
    def snapshot_count(self) -> int:
        """How many snapshots there are, by the names of their files."""
        return len(self.pointer.ids)

    @property
    def format_version(self) -> int | None:  # type: ignore[override]
        """The version of the current snapshot's document, of the schema's before the first commit."""
        current = self.current
        return current.version if current is not None else self.schema.version

    @property
    def schema(self) -> PaimonSchema:
        """The latest schema of the branch; without columns, with a finding, when there is none."""
        return self.context.schema

    @property
    def schemas(self) -> Schemas:
        """Every readable schema, by id."""
        return Schemas(self.context.schemas.all())

    @property
    def properties(self) -> Document:
        """The table options of today's schema; `options` is Paimon's name for them."""
        return Document(self.schema.options, "properties")

    options = properties

    @property
    def comment(self) -> str | None:
        """The table's comment."""
        return self.schema.comment

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """The primary key, partition columns included; empty for an append table."""
        return self.schema.primary_keys

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """The partition columns."""
        return self.schema.partition_keys

    @property
    def bucket(self) -> int:
        """The option `bucket`: a number of buckets, -1 (dynamic, or none), -2 (postponed)."""
        try:
            return int(self.options.get("bucket", "-1"))
        except ValueError:
            return -1

    @property
    def partitioning(self) -> PartitionSpec:
        """The partition columns, each as it is (transform identity)."""
        return self.schema.partitioning

    @cached_property
    def tags(self) -> Mapping[str, PaimonSnapshot]:
        """What each tag keeps; the snapshot's own file may have expired."""
        return read_tags(self)

    @cached_property
    def tag_names(self) -> Sequence[str]:
        """The names of the tags, readable or not."""
        return list_tag_names(self.context)

    @cached_property
    def branch_names(self) -> tuple[str, ...]:
        """The names of the branches, readable or not, `main` first."""
        return tuple(list_branches(self.context))

    @cached_property
    def refs(self) -> Refs:
        """`main`, the other branches, and the opened branch's tags, by name."""
        branches = [make_branch(self, name) for name in self.branch_names]
        return Refs([*branches, *(make_tag(name, snapshot) for name, snapshot in self.tags.items())])

    @cached_property
    def snapshots(self) -> Snapshots:
        """The branch's snapshots by id, as the engine sees them; unreadable ones are left out and are findings.

        `snapshot(id)` also finds a snapshot file outside of the range of the hints.
        """
        ids = self.pointer.ids
        unread = [number for number in ids if number not in self._snapshots]
        paths = [self.context.layout.document("snapshot", number) for number in unread]
        for number, read in zip(unread, self.context.store.read_together(paths), strict=True):
            self.find_numbered(number, read)
        return Snapshots(list(self._find_readable(ids)), table=self)

    @property
    def separate_branches(self) -> Mapping[str, Snapshots]:
        """The snapshots of the other branches: each is a directory with snapshot files of its own."""

        def list_branch(ref: Ref) -> Snapshots:
            path, none = ref.path or self.location, Snapshots(())
            return self.context.access.attempt(lambda: self.branch(ref.name).snapshots, path, none)

        return {ref.name: list_branch(ref) for ref in self.refs.branches if ref.name != self.branch_name}

    def outline_history(self, most: int = 5) -> History:
        """The history in outline. Of a long one the listing gives the count, and few snapshots are read.

        Damaged ones among those few are passed over and are findings, as in `snapshots`.
        """
        ids = self.pointer.ids
        tried = most + SHORT_HISTORY  # a run of damaged ones is not followed without end
        if "snapshots" in self.__dict__ or len(ids) <= tried:
            return super().outline_history(most)
        newest = list(islice(self._find_readable(ids[: -tried - 1 : -1]), most))
        first = next(self._find_readable(ids[:SHORT_HISTORY]), None)
        lost = sum(number in self._snapshots and self._snapshots[number] is None for number in ids)
        return History(len(ids) - lost, first, Snapshots(newest[::-1]))

    def _find_readable(self, ids: Sequence[int]) -> Iterator[PaimonSnapshot]:
        found = (self.find_numbered(number) for number in ids)
        return (snapshot for snapshot in found if snapshot is not None)

    def fetch_outline(self) -> None:
        """See `Table.fetch_outline`."""
        if not self._is_outlined:
            self._is_outlined = True
            fetch_outline(self)

    @cached_property
    def current(self) -> PaimonSnapshot | None:
        """The latest snapshot; the latest readable one, with a finding, when that one is damaged."""
        ids = [number for number in self.pointer.ids if number <= (self.pointer.latest or 0)]
        return next(self._find_readable(ids[::-1]), None)

    @cached_property
    def changelogs(self) -> Sequence[PaimonSnapshot]:
        """Snapshot documents that are kept for their changelog after the snapshot expired, by id."""
        return read_changelogs(self)

    @cached_property
    def changelog_numbers(self) -> Sequence[int]:
        """The numbers of the changelog documents, readable or not."""
        folder = self.context.layout.folder("changelog")
        return list_numbers(self.context.list_folder(folder), "changelog")

    @cached_property
    def consumers(self) -> Mapping[str, int]:
        """The next snapshot that each consumer will read."""
        return read_consumers(self)

    @property
    def metadata(self) -> Document:
        """The raw documents by relative name: today's schema, the current snapshot, the hints, the tags."""
        documents: dict[str, Any] = {}
        if self.schema.raw is not None:
            documents[self._relative(self.schema.path)] = self.schema.raw
        if self.current is not None:
            documents[self._relative(self.current.path)] = self.current.raw
        folder = self._relative(self.context.layout.folder("snapshot"))
        documents |= {f"{folder}/{name}": text for name, text in self.pointer.hints.items()}
        documents |= {self._relative(tag.path): tag.raw for tag in self.tags.values()}
        return Document(documents, "documents", self.vocabulary)

    @property
    def relocation(self) -> Relocation:
        """Only external paths are recorded as absolute locations; all else is found from partition and bucket."""
        return self.context.describe_relocation(self.options.get("path"))

    @property
    def reads(self) -> Reads:
        """What was read so far."""
        return self.context.access.count_reads()

    def branch(self, name: str) -> PaimonTable:
        """The table as another branch sees it.

        Parameters
        ----------
        name : str
            The branch, as in `refs`.

        Returns
        -------
        PaimonTable
            The same table as the branch has it.

        Raises
        ------
        Missing
            When there is no such branch.
        """
        if not isinstance(name, str):
            raise TypeError(f"a branch is asked for by its name, not by {type(name).__name__}")
        if name == self.branch_name:
            return self
        if name not in self._branches:
            own, pointer = enter_branch(self.context, name, self._pointers)
            self._branches[name] = PaimonTable(own, self.evidence, self.name, self.catalog, pointer)
        return self._branches[name]

    def has_snapshot(self, number: int) -> bool:
        """Whether the branch has a snapshot file of this number."""
        return number in self._numbers

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset((*self.pointer.ids, *self.pointer.stray))

    @property
    def storage(self) -> TableStorage:
        """What the table's data files say of themselves."""
        from lakelens.formats.contents import TableStorage

        return TableStorage(self.context.access)

    def list_files(self) -> Iterator[StoredFile]:
        """Every object below the table's directory with its role; listed again at each call."""
        from lakelens.formats.paimon.roles import list_stored_files

        return list_stored_files(self)

    def scan_manifests(self, manifests: Iterable[Any]) -> PaimonScan:
        """See `Table.scan_manifests`."""
        from lakelens.formats.paimon.scan.plan import PaimonScan, plan_tasks

        return PaimonScan(self.context, self.context.describe_columns(), plan_tasks(tuple(manifests)))

    def _find_snapshot(self, ref: Any) -> Snapshot | None:
        if isinstance(ref, int) and not isinstance(ref, bool):
            if self.has_snapshot(ref):
                return self.find_numbered(ref)
            return next((snapshot for snapshot in self.tags.values() if snapshot.id == ref), None)
        return super()._find_snapshot(ref)

    def _snapshot_of_ref(self, name: str) -> Snapshot | None:
        ref = self.refs[name]
        return self.branch(name).current if ref.type == "branch" else self.tags[name]

    def find_numbered(self, number: int, read: Callable[[], bytes] | None = None) -> PaimonSnapshot | None:
        """The snapshot file of a number; None, with a finding, when it cannot be read. `read` may have its bytes already."""
        if number not in self._snapshots:
            path = self.context.layout.document("snapshot", number)
            self._snapshots[number] = read_snapshot(self, path, number, read, (number,))
        return self._snapshots[number]

    def _relative(self, path: str | None) -> str:
        return (path or "").removeprefix(self.location).lstrip("/")
