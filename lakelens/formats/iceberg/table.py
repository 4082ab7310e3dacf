"""The Iceberg table.

Follows "Table Metadata" and "Snapshot References" of the Iceberg table specification, versions 1 to 3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
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
from lakelens.formats.iceberg.snapshot import IcebergSnapshot, SnapshotReaders
from lakelens.io.relocation import split_location
from lakelens.model.collections import Document, Items
from lakelens.model.facts.traits import Traits
from lakelens.model.fileset import FileSet
from lakelens.model.schema import PartitionSpec, PartitionSpecs, Schema, Schemas, SortOrders
from lakelens.model.snapshot import LogEntry, Ref, Refs, Snapshot, SnapshotLog, Snapshots
from lakelens.model.storage import (
    EncryptionKeys,
    Evidence,
    MetadataLog,
    MetadataLogEntry,
    Reads,
    Relocation,
)
from lakelens.model.table import Table

if TYPE_CHECKING:
    from lakelens.formats.contents import TableStorage
    from lakelens.formats.iceberg.scan.plan import IcebergScan
    from lakelens.model.storage import StoredFile

_MAIN = "main"


class IcebergTable(TableObject, Table):
    """An Iceberg table, opened from its metadata document."""

    format = "iceberg"
    driver = FORMAT

    def __init__(
        self, context: TableContext, layout: TableLayout, evidence: Evidence, request: OpenRequest
    ) -> None:
        self._context = context
        self._layout = layout
        self._readers = SnapshotReaders(context)
        self.evidence = evidence
        self.catalog = request.catalog
        self.findings = context.findings
        self.location = layout.root
        self.format_version = context.typed.format_version
        self.uuid = context.typed.table_uuid
        self.name = request.name or _name_table(context.typed.location or layout.root)
        self.branch = request.branch
        self._note_doubts()
        if self.branch is not None and self.refs.get(self.branch) is None:
            hint = list_nearest(self.branch, self.refs.keys())
            raise Missing(f"no branch {self.branch!r}", path=self.location, hint=hint)

    @property
    def traits(self) -> Traits:
        """What is true of every Iceberg table."""
        kind = f"Apache Iceberg table, format version {self.format_version}"
        variant = f"v{self.format_version}"
        return Traits(
            "Iceberg", kind, "", variant, has_versions=True, lists_referrers=True, unquote=unquote_plus
        )

    @property
    def metadata_path(self) -> str:
        """The metadata document that was opened."""
        return self._context.document.path

    @property
    def pointer_mark(self) -> tuple[str, Hashable]:
        """See `Table.pointer_mark`: the metadata document."""
        return self.metadata_path.rpartition("/")[2], self.metadata_path

    @cached_property
    def metadata(self) -> Document:
        """The metadata document as it is, every key kept."""
        return Document(self._context.document.raw, "metadata", self.vocabulary)

    @cached_property
    def properties(self) -> Document:
        """The table's properties."""
        return Document(self._context.properties, "properties")

    @property
    def schema(self) -> Schema:
        """Today's schema."""
        return self._context.schemas.current

    @property
    def schemas(self) -> Schemas:
        """Every schema that the document knows, by id."""
        known = self._context.schemas.schemas
        return Schemas(known[number] for number in sorted(known))

    @cached_property
    def encryption_keys(self) -> EncryptionKeys:
        """See `Table.encryption_keys`."""
        return list_keys(self._context.typed)

    @property
    def partitioning(self) -> PartitionSpec:
        """Today's partition spec."""
        specs = self._context.specs.specs
        default = self._context.typed.default_spec_id
        return specs[default] if default in specs else specs[max(specs)]

    @property
    def specs(self) -> PartitionSpecs:
        """Every partition spec, by id."""
        known = self._context.specs.specs
        return PartitionSpecs(known[number] for number in sorted(known))

    @cached_property
    def sort_orders(self) -> SortOrders:
        """Every sort order, by id; 0 is unsorted."""
        orders = describe_sort_orders(self._context.typed, self._context.schemas.newest_first())
        return SortOrders(replace(orders[number], _source=self._source) for number in sorted(orders))

    @cached_property
    def refs(self) -> Refs:
        """Branches and tags; `main` is there as soon as there is a current snapshot."""
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
        return Refs(refs)

    @cached_property
    def snapshots(self) -> Snapshots:
        """The snapshots in commit order."""
        return Snapshots(self._known, table=self)

    @cached_property
    def _known(self) -> Items[IcebergSnapshot]:
        return Items(range(len(self._index)), WeakLruCache(self._make_snapshot))

    def _make_snapshot(self, position: int) -> IcebergSnapshot:
        index, document = self._index.locate(position), self._context.document
        wire, raw = document.typed.snapshots[index], document.decode_snapshot(index)
        return IcebergSnapshot(self, self._readers, wire, raw)

    @property
    def _index(self) -> SnapshotIndex:
        return self._context.document.snapshots

    @cached_property
    def current(self) -> IcebergSnapshot | None:
        """The current snapshot, of the branch that was asked for; None before the first commit."""
        if self.branch is not None:
            ref = self.refs.get(self.branch)
            return None if ref is None or ref.snapshot_id is None else self.find_by_id(ref.snapshot_id)
        return None if self._current_id is None else self.find_by_id(self._current_id)

    @cached_property
    def metadata_log(self) -> MetadataLog:
        """Earlier metadata files, oldest first; not the one that was opened."""
        locate = self._context.access.locator.locate
        return MetadataLog(
            MetadataLogEntry(moment, locate(log.metadata_file), log.metadata_file, _source=self._source)
            for log in self._context.typed.metadata_log
            if (moment := to_time(log.timestamp_ms)) is not None
        )

    @cached_property
    def snapshot_log(self) -> SnapshotLog:
        """Which snapshot was the current one from when on."""
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
    def relocation(self) -> Relocation:
        """How recorded locations were mapped so far."""
        return self._context.access.describe_relocation(self._context.typed.location)

    @property
    def reads(self) -> Reads:
        """What was read so far."""
        return self._context.access.count_reads()

    @property
    def storage(self) -> TableStorage:
        """What the table's data files say of themselves."""
        from lakelens.formats.contents import TableStorage

        return TableStorage(self._context.access)

    def list_files(self) -> Iterator[StoredFile]:
        """Every object below the table's directory with its role, for which every manifest is read."""
        from lakelens.formats.iceberg.listing import list_stored_files

        return list_stored_files(self, self._readers, self._layout)

    def scan_manifests(self, manifests: Iterable[Any]) -> IcebergScan:
        """See `Table.scan_manifests`."""
        from lakelens.formats.iceberg.scan.plan import plan_scan

        return plan_scan(self._context, manifests)

    @property
    def last_sequence_number(self) -> int:
        """The highest sequence number that was given to a snapshot."""
        return self._context.typed.last_sequence_number

    def find_by_id(self, snapshot_id: int) -> IcebergSnapshot | None:
        """The snapshot of an id; None when there is none."""
        position = self._index.find(snapshot_id)
        return None if position is None else self._known[position]

    def walk_snapshots(self) -> Iterator[IcebergSnapshot]:
        """The snapshots in commit order, one after another."""
        return iter(self._known)

    def _find_snapshot(self, ref: Any) -> Snapshot | None:
        """The snapshot that is meant, by the index where it is an id; the others are not made."""
        if isinstance(ref, int) and not isinstance(ref, bool):
            return self.find_by_id(ref)
        return super()._find_snapshot(ref)

    def _snapshot_of_ref(self, name: str) -> Snapshot | None:
        wanted = self.refs[name].snapshot_id
        return None if wanted is None else self.find_by_id(wanted)

    @cached_property
    def _current_id(self) -> int | None:
        """The current snapshot's id; absent, null and -1 all mean that there is none."""
        recorded = self._context.typed.current_snapshot_id
        return None if recorded in (None, -1) else recorded

    @cached_property
    def _empty_files(self) -> FileSet:
        return FileSet(lambda: (), self._context.describe_columns)

    def _snapshot_at(self, moment: datetime) -> Snapshot | None:
        """What was current then, by the snapshot log; by commit times where the log does not reach back."""
        if self.branch is None:
            logged = ((line.snapshot_id, line.timestamp_ms) for line in self._context.typed.snapshot_log)
            found = _find_last(logged, moment)
            if found is not None:
                return self.find_by_id(found)
        ancestors = self._list_ancestors(None if self.current is None else self.current.id)
        committed = ((number, at) for number, at in self._index.iter_moments() if number in ancestors)
        found = _find_last(committed, moment)
        return None if found is None else self.find_by_id(found)

    def _list_ancestors(self, snapshot_id: int | None) -> set[int]:
        found: set[int] = set()
        while snapshot_id is not None and snapshot_id not in found:
            found.add(snapshot_id)
            snapshot_id = self._index.find_parent(snapshot_id)
        return found

    def _note_doubts(self) -> None:
        """What the document itself shows to be wrong."""
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


def _find_last(moments: Iterable[tuple[int, int]], moment: datetime) -> int | None:
    """The last of some ids whose time is not after a moment; None when there is none."""
    before = [number for number, at in moments if (time := to_time(at)) is not None and time <= moment]
    return before[-1] if before else None


def _name_table(location: str) -> str:
    """The last two components of a location, `.db` left off the first.

    >>> _name_table("file:/wh/sales.db/orders"), _name_table("s3://b/orders/")
    ('sales.orders', 'b.orders')
    """
    parts = [part for part in split_location(location)[1].split("/") if part][-2:]
    if len(parts) == 2:
        parts[0] = parts[0].removesuffix(".db")
    return ".".join(parts)
