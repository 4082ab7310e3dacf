"""What `cherrypick_snapshot` would do.

    the parent is the current snapshot    main moves on to the snapshot itself: nothing is written again (fast-forward)
    append                                its files are added to the current state in a new snapshot
    overwrite that replaced partitions    its files are added and those it removed leave, if the partitions are unchanged
    anything else                         refused

A snapshot is picked once: not one that the current state is made from, nor one that was picked before, nor one whose
write-audit-publish id was published. Follows `CherryPickOperation` and `WapUtil` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.formats.iceberg.deletes.matching import partition_key
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    estimate_list,
    list_ancestors,
    list_dropped_documents,
)
from lakelens.formats.iceberg.maintenance.dropped_deletes import make_piece
from lakelens.formats.iceberg.maintenance.refs import find_main, move_branch, refuse
from lakelens.formats.iceberg.maintenance.sizes import estimate_manifests
from lakelens.formats.iceberg.maintenance.statement import write_call
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance.proposal import Output, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable

_STAGED, _PUBLISHED, _SOURCE = "wap.id", "published-wap-id", "source-snapshot-id"


class Pick:
    """One snapshot to pick, and the current state that it is picked onto."""

    def __init__(self, table: IcebergTable, picked: IcebergSnapshot) -> None:
        self.table = table
        self.picked = picked
        self.current = find_main(table)
        self.ancestors = list_ancestors(table, self.current)

    @property
    def is_next(self) -> bool:
        """Whether the snapshot follows the current one, so that main need only move on."""
        return self.picked.parent_id == self.current

    @property
    def replaces(self) -> bool:
        """Whether the snapshot replaced whole partitions."""
        is_replacing = self.picked.summary.get("replace-partitions", "").lower() == "true"
        return self.picked.operation == "overwrite" and is_replacing

    def refuse(self) -> str | None:
        """Why the engine refuses; None where it does not."""
        number, operation = self.picked.id, self.picked.operation
        if operation == "append" or self.replaces:
            parent = self.picked.parent_id
            if self.replaces and parent is not None and parent not in self.ancestors:
                return f"snapshot {number} overwrites, and the current state is not made from its parent"
            if (published := self._find_published()) is not None:
                return f"its write-audit-publish id {published} was published before"
        elif not self.is_next:
            return f"snapshot {number} ({operation}) is no append, no dynamic overwrite, and does not follow the current one"
        if self.is_next:
            return None
        if number in self.ancestors:
            return f"the current state is made from snapshot {number} already"
        for ancestor in self._walk_ancestors():
            if ancestor.summary.get(_SOURCE) == str(number):
                return f"snapshot {number} was picked before, as snapshot {ancestor.id}"
        return self._refuse_replacing() if self.replaces else None

    def _walk_ancestors(self) -> Iterator[IcebergSnapshot]:
        for number in self.ancestors:
            found = self.table.find_by_id(number)
            if found is not None:
                yield found

    def _find_published(self) -> str | None:
        own = self.picked.summary.get(_STAGED)
        if not own:
            return None
        known = ((one.summary.get(_STAGED), one.summary.get(_PUBLISHED)) for one in self._walk_ancestors())
        return own if any(own in ids for ids in known) else None

    def _refuse_replacing(self) -> str | None:
        """Files that came to the replaced partitions since, and files to remove that are gone."""
        replaced: set[Hashable] = {partition_key(file) for file in self.added}
        parent = self.picked.parent_id
        for ancestor in self._walk_ancestors():
            if ancestor.id == parent:
                break
            if any(partition_key(file) in replaced for file in _list_changed(ancestor, "ADDED")):
                return f"snapshot {ancestor.id} has changed a partition that it replaces"
        found = None if self.current is None else self.table.find_by_id(self.current)
        live = set() if found is None else {recorded for (recorded,) in found.files.pick("recorded_path")}
        gone = [file for file in self.removed if file.file_path not in live]
        return f"{gone[0].file_path}, which it removes, is not there any more" if gone else None

    @cached_property
    def added(self) -> list[IcebergDataFile]:
        """The data files that the snapshot added."""
        return _list_changed(self.picked, "ADDED")

    @cached_property
    def removed(self) -> list[IcebergDataFile]:
        """The data files that the snapshot removed."""
        return _list_changed(self.picked, "DELETED")

    @cached_property
    def manifests(self) -> Sequence[IcebergManifest]:
        """The manifests of data that the snapshot itself wrote."""
        return _list_own(self.picked)


def _list_own(snapshot: IcebergSnapshot) -> list[IcebergManifest]:
    return [
        one for one in snapshot.manifests if one.content == "data" and one.added_snapshot_id == snapshot.id
    ]


def _list_changed(snapshot: IcebergSnapshot, status: str) -> list[IcebergDataFile]:
    """The data files that a snapshot added or removed, as the manifests that it wrote say it. Raises `LakeError`."""
    return [
        entry.file  # type: ignore[misc]
        for manifest in _list_own(snapshot)
        for entry in manifest.entries
        if entry.status == status and entry.snapshot_id == snapshot.id
    ]


def plan_pick(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    number: int = values["snapshot_id"]
    call = write_call(table.name, "cherrypick_snapshot", dict(values))
    picked = table.find_by_id(number)
    if picked is None:
        return refuse(table, call, f"there is no snapshot {number}")
    pick = Pick(table, picked)
    refusal = pick.refuse()
    if refusal is not None:
        return refuse(table, call, refusal)
    if pick.is_next:
        return move_branch(table, call, "main", number)
    added = pick.added
    rows = sum(file.record_count or 0 for file in added)
    return Proposal(
        changes=f"Readers of the table see {len(added):,} more files with {rows:,} rows"
        + (f", and {len(pick.removed):,} files fewer." if pick.removed else "."),
        call=call,
        reads=FileSet(lambda: added, picked.describe_known_columns) if added else (),
        replaces=[make_piece(file, f"snapshot {number} removed it") for file in pick.removed],
        writes=_list_outputs(pick),
        deletes=list_dropped_documents(table),
        assumptions=assume(table),
        notes=["No data file is written again: the new snapshot names those of the one that is picked."],
        becomes="a new snapshot",
    )


def _list_outputs(pick: Pick) -> list[Output]:
    current = None if pick.current is None else pick.table.find_by_id(pick.current)
    changed = {file.file_path for file in pick.removed}
    held = 0 if current is None else len(current.manifests)
    size = estimate_manifests(pick.manifests, 1)
    most = None if changed else 1
    return [
        Output(
            "manifest",
            1,
            size.size,
            True,
            size.least,
            None if changed else size.most,
            1,
            most,
            "of the picked files",
        ),
        estimate_list(current, held + 1),
        estimate_document(pick.table, snapshots=1),
    ]
