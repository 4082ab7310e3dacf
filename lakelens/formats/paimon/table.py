"""A Paimon table, read from nothing but its files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.formats.paimon import FORMAT
from lakelens.formats.paimon.context import TableContext, TableObject
from lakelens.formats.paimon.manifests.manifest import KnownManifests
from lakelens.formats.paimon.metadata.layout import MAIN, describe_buckets
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.reading import SHORT_HISTORY, fetch_outline
from lakelens.formats.paimon.refs import (
    enter_branch,
    make_branch,
    make_tag,
    read_changelogs,
    read_consumers,
    read_tags,
)
from lakelens.formats.paimon.snapshot import PaimonSnapshot, read_snapshot
from lakelens.model.collections import Document
from lakelens.model.driver import later
from lakelens.model.facts.traits import Traits
from lakelens.model.snapshot import History, Ref, Snapshot, Snapshots
from lakelens.model.storage import Evidence
from lakelens.model.table import Table, TableSource

if TYPE_CHECKING:
    from lakelens.formats.paimon.deletes.positions import VectorReader

_MOST_ANCESTORS = 200  # that are followed: each is a document of its own
_PLAN_SCAN = later("lakelens.formats.paimon.listed_files:plan_scan")
_LIST_OBJECTS = later("lakelens.formats.paimon.roles:list_stored_files")


class PaimonTable(TableObject, Table):
    """A Paimon table, seen from one of its branches (`branch_name`, "main" unless another was asked for).

    Beside the neutral facts: `options`, `comment`, `primary_keys`, `partition_keys`, `bucket`, `changelogs`, `consumers`,
    `branch(name)`.
    """

    schema: PaimonSchema
    current: PaimonSnapshot | None

    def __init__(
        self,
        context: TableContext,
        evidence: Evidence,
        name: str,
        catalog: Any = None,
    ) -> None:
        self.context = context
        self._known_manifests = KnownManifests(context)
        self._snapshots: dict[int, PaimonSnapshot | None] = {}
        self._is_outlined = False
        self._branches: dict[str, PaimonTable] = {}
        branch, choice = context.layout.branch, context.pointer.reason
        how = choice if branch == MAIN else f"{branch}: {choice}"
        super().__init__(
            TableSource(
                format="paimon",
                driver=FORMAT,
                location=context.layout.root,
                name=name,
                evidence=replace(evidence, version_choice=how),
                access=context.access,
                catalog=catalog,
                branch_name=branch,
                most_ancestors=_MOST_ANCESTORS,
                traits=self._describe_traits,
                format_version=self._find_version,
                schema=lambda: context.schema,
                schemas=context.schemas.all,
                find_schema=context.schemas.find,
                partitioning=lambda: context.schema.partitioning,
                properties=lambda: context.options,
                metadata=self._collect_documents,
                columns=context.describe_columns,
                refs=self._list_refs,
                snapshots=self._list_snapshots,
                current=self._find_current,
                separate_branches=self._list_branches,
                count=lambda: len(context.pointer.ids),
                has=lambda number: number in self._numbers,
                find=lambda number: self.find_numbered(number) if number in self._numbers else None,
                find_tagged=self._find_tagged,
                follow=self._follow_ref,
                outline=self._outline_history,
                fetch_outline=self._fetch_outline,
                list_files=lambda: _LIST_OBJECTS(self),
                scan_manifests=partial(_PLAN_SCAN, context),
                # only external paths are recorded as absolute locations; all else is found from partition and bucket
                relocation=lambda: context.describe_relocation(context.options.get("path")),
                mark=self._mark_history,
            )
        )
        context.schemas.find_referred = lambda: self.current.schema_id if self.current else None

    def _mark_history(self) -> tuple[str, Hashable]:
        """Mark the numbers of the snapshots, of which expiry removes the oldest, and the tags."""
        return f"snapshot {self.context.pointer.latest}", (tuple(self.context.pointer.ids), tuple(self.tags))

    def _describe_traits(self) -> Traits:
        kind = f"Apache Paimon table with{'' if self.primary_keys else 'out'} primary key"
        buckets = describe_buckets(self.bucket, bool(len(self.partitioning)), bool(self.primary_keys))
        words = (kind, buckets, "primary key" if self.primary_keys else "append only")
        return Traits("Paimon", *words, numbers_branches=True, has_levels=True)

    def _find_version(self) -> int | None:
        """Find the version of the current snapshot's document, of the schema's before the first commit."""
        current = self.current
        return current.version if current is not None else self.context.schema.version

    @cached_property
    def _vector_reader(self) -> VectorReader:
        from lakelens.formats.paimon.deletes.positions import VectorReader

        return VectorReader(self.context.access)

    @property
    def options(self) -> Document:
        """The table options of today's schema: Paimon's name for the properties."""
        return self.properties

    @property
    def comment(self) -> str | None:
        """The table's comment."""
        return self.context.schema.comment

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """The primary key, partition columns included; empty for an append table."""
        return self.context.schema.primary_keys

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """The partition columns."""
        return self.context.schema.partition_keys

    @property
    def bucket(self) -> int:
        """The option `bucket`: a number of buckets, -1 (dynamic, or none), -2 (postponed)."""
        try:
            return int(self.options.get("bucket", "-1"))
        except ValueError:
            return -1

    @cached_property
    def tags(self) -> Mapping[str, PaimonSnapshot]:
        """What each tag keeps; the snapshot's own file may have expired."""
        return read_tags(self)

    def _list_refs(self) -> Iterable[Ref]:
        """List `main`, the other branches, and the opened branch's tags."""
        branches = [make_branch(self, name) for name in self.context.branch_names]
        return [*branches, *(make_tag(name, snapshot) for name, snapshot in self.tags.items())]

    def _list_snapshots(self) -> Iterable[Snapshot]:
        """List the branch's snapshots by id, as the engine sees them; unreadable ones are left out and are findings.

        `snapshot(id)` also finds a snapshot file outside of the range of the hints.
        """
        ids = self.context.pointer.ids
        unread = [number for number in ids if number not in self._snapshots]
        paths = [self.context.layout.document("snapshot", number) for number in unread]
        for number, read in zip(unread, self.context.store.read_together(paths), strict=True):
            self.find_numbered(number, read)
        return list(self._find_readable(ids))

    def _list_branches(self) -> Mapping[str, Snapshots]:
        """List the snapshots of the other branches: each is a directory with snapshot files of its own."""

        def list_branch(ref: Ref) -> Snapshots:
            path, none = ref.path or self.location, Snapshots(())
            return self.context.access.attempt(lambda: self.branch(ref.name).snapshots, path, none)

        return {ref.name: list_branch(ref) for ref in self.refs.branches if ref.name != self.branch_name}

    def _outline_history(self, most: int) -> History | None:
        """Outline a long history: the listing gives the count, and few snapshots are read."""
        ids = self.context.pointer.ids
        tried = most + SHORT_HISTORY  # a run of damaged ones is not followed without end
        if len(ids) <= tried:
            return None
        newest = list(islice(self._find_readable(ids[: -tried - 1 : -1]), most))
        first = next(self._find_readable(ids[:SHORT_HISTORY]), None)
        lost = sum(number in self._snapshots and self._snapshots[number] is None for number in ids)
        return History(len(ids) - lost, first, Snapshots(newest[::-1]))

    def _find_readable(self, ids: Sequence[int]) -> Iterator[PaimonSnapshot]:
        found = (self.find_numbered(number) for number in ids)
        return (snapshot for snapshot in found if snapshot is not None)

    def _fetch_outline(self) -> None:
        if not self._is_outlined:
            self._is_outlined = True
            fetch_outline(self)

    def _find_current(self) -> PaimonSnapshot | None:
        """Find the latest snapshot; the latest readable one, with a finding, when that one is damaged."""
        ids = [number for number in self.context.pointer.ids if number <= (self.context.pointer.latest or 0)]
        return next(self._find_readable(ids[::-1]), None)

    @cached_property
    def changelogs(self) -> Sequence[PaimonSnapshot]:
        """Snapshot documents that are kept for their changelog after the snapshot expired, by id."""
        return read_changelogs(self)

    @cached_property
    def consumers(self) -> Mapping[str, int]:
        """The next snapshot that each consumer will read."""
        return read_consumers(self)

    def _collect_documents(self) -> Document:
        """Collect the raw documents by relative name: today's schema, the current snapshot, the hints, the tags."""
        documents: dict[str, Any] = {}
        schema = self.context.schema
        if schema.raw is not None:
            documents[self._relative(schema.path)] = schema.raw
        if self.current is not None:
            documents[self._relative(self.current.path)] = self.current.raw
        folder = self._relative(self.context.layout.folder("snapshot"))
        documents |= {f"{folder}/{name}": text for name, text in self.context.pointer.hints.items()}
        documents |= {self._relative(tag.path): tag.raw for tag in self.tags.values()}
        return Document(documents, "documents", self.vocabulary)

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
            own = enter_branch(self.context, name)
            self._branches[name] = PaimonTable(own, self.evidence, self.name, self.catalog)
        return self._branches[name]

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset((*self.context.pointer.ids, *self.context.pointer.stray))

    def _find_tagged(self, number: int) -> PaimonSnapshot | None:
        return next((snapshot for snapshot in self.tags.values() if snapshot.id == number), None)

    def _follow_ref(self, ref: Ref) -> Snapshot | None:
        return self.branch(ref.name).current if ref.type == "branch" else self.tags[ref.name]

    def find_numbered(self, number: int, read: Callable[[], bytes] | None = None) -> PaimonSnapshot | None:
        """The snapshot file of a number; None, with a finding, when it cannot be read. `read` may have its bytes already."""
        if number not in self._snapshots:
            path = self.context.layout.document("snapshot", number)
            self._snapshots[number] = read_snapshot(self, path, number, read, (number,))
        return self._snapshots[number]

    def _relative(self, path: str | None) -> str:
        return (path or "").removeprefix(self.location).lstrip("/")
