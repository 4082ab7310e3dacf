"""The Iceberg table.

Follows "Table Metadata" and "Snapshot References" of the Iceberg table specification, versions 1 to 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote_plus

from lakelens.caching import cached_property
from lakelens.errors import Missing, list_nearest
from lakelens.formats.access import WeakLruCache
from lakelens.formats.base import OpenRequest
from lakelens.formats.iceberg import FORMAT
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.discovery.detect import TableLayout
from lakelens.formats.iceberg.encryption import list_keys
from lakelens.formats.iceberg.metadata.document import SnapshotIndex
from lakelens.formats.iceberg.metadata.schemas import describe_sort_orders
from lakelens.formats.iceberg.metadata.wire import to_time
from lakelens.formats.iceberg.snapshot import PLAN_SCAN, IcebergSnapshot, SnapshotReaders
from lakelens.io.relocation import split_location
from lakelens.model.collections import Document, Items
from lakelens.model.driver import later
from lakelens.model.facts.traits import Traits
from lakelens.model.schema import PartitionSpec, SortOrder
from lakelens.model.snapshot import LogEntry, Ref, Snapshot, SnapshotLog
from lakelens.model.storage import (
    Evidence,
    MetadataLogEntry,
)
from lakelens.model.table import Table, TableSource

if TYPE_CHECKING:
    pass

_MAIN = "main"
_LIST_OBJECTS = later("lakelens.formats.iceberg.listing:list_stored_files")
T = TypeVar("T")


class IcebergTable(TableObject, Table):
    """An Iceberg table, opened from its metadata document."""

    current: IcebergSnapshot | None
    metadata_path: str
    find_by_id: Callable[[int], IcebergSnapshot | None]

    def __init__(
        self, context: TableContext, layout: TableLayout, evidence: Evidence, request: OpenRequest
    ) -> None:
        self._context = context
        self._layout = layout
        self._readers = SnapshotReaders(context)
        self.branch = request.branch
        typed = context.typed
        super().__init__(
            TableSource(
                format="iceberg",
                driver=FORMAT,
                location=layout.root,
                name=request.name or _name_table(typed.location or layout.root),
                evidence=evidence,
                access=context.access,
                uuid=typed.table_uuid,
                catalog=request.catalog,
                document=context.document.path,
                traits=self._describe_traits,
                format_version=lambda: typed.format_version,
                schema=lambda: context.schemas.current,
                schemas=lambda: _sort(context.schemas.schemas),
                find_schema=lambda number: context.schemas.schemas.get(number),
                partitioning=self._find_partitioning,
                specs=lambda: _sort(context.specs.specs),
                sort_orders=self._list_sort_orders,
                properties=lambda: context.properties,
                encryption_keys=lambda: list_keys(typed),
                metadata=lambda: Document(context.document.raw, "metadata", self.vocabulary),
                metadata_log=self._list_log,
                columns=context.describe_columns,
                refs=self._list_refs,
                snapshots=lambda: self._known,
                current=self._find_current,
                snapshot_log=self._make_log,
                find=self._find,
                find_at=self._find_at,
                list_files=lambda: _LIST_OBJECTS(self, self._readers, layout),
                scan_manifests=partial(PLAN_SCAN, context),
                relocation=lambda: context.access.describe_relocation(typed.location),
            )
        )
        self._note_doubts()
        if self.branch is not None and self.refs.get(self.branch) is None:
            hint = list_nearest(self.branch, self.refs.keys())
            raise Missing(f"no branch {self.branch!r}", path=self.location, hint=hint)

    def _describe_traits(self) -> Traits:
        version = self._context.typed.format_version
        kind = f"Apache Iceberg table, format version {version}"
        return Traits(
            "Iceberg",
            kind,
            variant=f"v{version}",
            draws_ids=True,
            has_versions=True,
            lists_referrers=True,
            unquote=unquote_plus,
        )

    def _find_partitioning(self) -> PartitionSpec:
        specs = self._context.specs.specs
        default = self._context.typed.default_spec_id
        return specs[default] if default in specs else specs[max(specs)]

    def _list_sort_orders(self) -> Iterator[SortOrder]:
        """List every sort order, by id; 0 is unsorted."""
        orders = describe_sort_orders(self._context.typed, self._context.schemas.newest_first())
        return (replace(order, _source=self._source) for order in _sort(orders))

    def _list_refs(self) -> list[Ref]:
        """List branches and tags; `main` is there as soon as there is a current snapshot."""
        typed = self._context.typed
        raws = self._context.document.outline.get("refs")
        raws = raws if isinstance(raws, dict) else {}
        source = self._source
        refs = [
            Ref(
                name,
                "tag" if wire.type.lower() == "tag" else "branch",
                wire.snapshot_id,
                wire.max_ref_age_ms,
                wire.max_snapshot_age_ms,
                wire.min_snapshots_to_keep,
                raw=raws.get(name),
                _source=source,
            )
            for name, wire in (typed.refs or {}).items()
        ]
        current = self._current_id
        if current is not None and not any(ref.name == _MAIN for ref in refs):
            refs.insert(0, Ref(_MAIN, "branch", current, _source=source))
        return refs

    @cached_property
    def _known(self) -> Items[IcebergSnapshot]:
        """The snapshots in commit order, as what they are."""
        return Items(range(len(self._index)), WeakLruCache(self._make_snapshot))

    def _make_snapshot(self, position: int) -> IcebergSnapshot:
        index, document = self._index.locate(position), self._context.document
        wire, raw = document.typed.snapshots[index], document.decode_snapshot(index)
        return IcebergSnapshot(self, self._readers, wire, raw)

    @property
    def _index(self) -> SnapshotIndex:
        return self._context.document.snapshots

    def _find_current(self) -> IcebergSnapshot | None:
        """Find the current snapshot, of the branch that was asked for; None before the first commit."""
        if self.branch is not None:
            ref = self.refs.get(self.branch)
            return None if ref is None or ref.snapshot_id is None else self._find(ref.snapshot_id)
        return None if self._current_id is None else self._find(self._current_id)

    def _list_log(self) -> Iterator[MetadataLogEntry]:
        """List earlier metadata files, oldest first; not the one that was opened."""
        locate = self._context.access.locator.locate
        return (
            MetadataLogEntry(moment, locate(log.metadata_file), log.metadata_file, _source=self._source)
            for log in self._context.typed.metadata_log
            if (moment := to_time(log.timestamp_ms)) is not None
        )

    def _make_log(self) -> SnapshotLog:
        log = self._context.typed.snapshot_log
        ancestors = self._list_ancestors(self._current_id)

        def describe(position: int) -> LogEntry:
            line = log[position]
            number = line.snapshot_id
            return LogEntry(
                to_time(line.timestamp_ms), number, self._index.find_parent(number), number in ancestors
            )

        return SnapshotLog(range(len(log)), describe)

    @property
    def last_sequence_number(self) -> int:
        """The highest sequence number that was given to a snapshot."""
        return self._context.typed.last_sequence_number

    def _find(self, snapshot_id: int) -> IcebergSnapshot | None:
        position = self._index.find(snapshot_id)
        return None if position is None else self._known[position]

    @cached_property
    def _current_id(self) -> int | None:
        """The current snapshot's id; absent, null and -1 all mean that there is none."""
        recorded = self._context.typed.current_snapshot_id
        return None if recorded in (None, -1) else recorded

    def _find_at(self, moment: datetime) -> Snapshot | None:
        """Find what was current then, by the snapshot log; by commit times where the log does not reach back."""
        if self.branch is None:
            logged = ((line.snapshot_id, line.timestamp_ms) for line in self._context.typed.snapshot_log)
            found = _find_last(logged, moment)
            if found is not None:
                return self._find(found)
        ancestors = self._list_ancestors(None if self.current is None else self.current.id)
        committed = ((number, at) for number, at in self._index.iter_moments() if number in ancestors)
        found = _find_last(committed, moment)
        return None if found is None else self._find(found)

    def _list_ancestors(self, snapshot_id: int | None) -> set[int]:
        found: set[int] = set()
        while snapshot_id is not None and snapshot_id not in found:
            found.add(snapshot_id)
            snapshot_id = self._index.find_parent(snapshot_id)
        return found

    def _note_doubts(self) -> None:
        """Note what the document itself shows to be wrong."""
        path, typed = self.metadata_path, self._context.typed
        known = self._index
        if typed.location is None:
            self.findings.add("warning", "no-location", path, "the metadata document records no location")
        elif not split_location(typed.location)[1].startswith("/"):
            message = f"the recorded location {typed.location} is relative"
            self.findings.add("warning", "relative-location", path, message)
        if self._current_id is not None and self._current_id not in known:
            message = f"the current snapshot {self._current_id} is not among the snapshots"
            self.findings.add("error", "missing-snapshot", path, message)
        for ref in self.refs:
            if ref.snapshot_id not in known and ref.snapshot_id != self._current_id:
                message = f"{ref.type} {ref.name} points to snapshot {ref.snapshot_id}, which is not there"
                self.findings.add("warning", "dangling-ref", path, message)
        main = self.refs.get(_MAIN)
        if main is not None and main.snapshot_id != self._current_id:
            message = f"branch main points to {main.snapshot_id}, current-snapshot-id is {self._current_id}"
            self.findings.add("warning", "main-differs", path, message)
        self._note_rounded_ids()

    def _note_rounded_ids(self) -> None:
        """Ids that a JSON tool rounded without a trace differ from the names of the manifest lists."""
        for number, named in self._index.rounded:
            message = (
                f"snapshot id {number} was rounded by some JSON tool: its manifest list is named {named}"
            )
            self.findings.add("warning", "rounded-number", self.metadata_path, message, (number,))


def _sort(known: Mapping[int, T]) -> list[T]:
    """List what is known by id in the order of the ids."""
    return [known[number] for number in sorted(known)]


def _find_last(moments: Iterable[tuple[int, int]], moment: datetime) -> int | None:
    """Find the last of some ids whose time is not after a moment; None when there is none."""
    before = [number for number, at in moments if (time := to_time(at)) is not None and time <= moment]
    return before[-1] if before else None


def _name_table(location: str) -> str:
    """Name the last two components of a location, `.db` left off the first.

    >>> _name_table("file:/wh/sales.db/orders"), _name_table("s3://b/orders/")
    ('sales.orders', 'b.orders')
    """
    parts = [part for part in split_location(location)[1].split("/") if part][-2:]
    if len(parts) == 2:
        parts[0] = parts[0].removesuffix(".db")
    return ".".join(parts)
