"""What moves a branch and nothing else: rollback, setting the current snapshot, fast-forward.

No file but a metadata document is written, and none is deleted. Snapshots that no branch leads to any more stay until they
expire. Follows `SetSnapshotOperation` and `UpdateSnapshotReferencesOperation` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.deletes.matching import partition_key
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    estimate_list,
    list_ancestors,
    list_dropped_documents,
    make_piece,
    refuse,
    write_call,
)
from lakelens.formats.iceberg.maintenance.expiry import format_time, to_milliseconds
from lakelens.formats.iceberg.maintenance.packing import estimate_manifests
from lakelens.formats.iceberg.metadata.wire import to_time
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance import Fate, Output, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable


_MAIN = "main"


def find_main(table: IcebergTable) -> int | None:
    """Find the id of the current snapshot of main."""
    ref = table.refs.get(_MAIN)
    return None if ref is None else ref.snapshot_id


def plan_rollback(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """`rollback_to_snapshot`: main goes back to one of its ancestors."""
    number: int = values["snapshot_id"]
    call = write_call(table.name, "rollback_to_snapshot", dict(values))
    if number not in table._context.document.snapshots:
        return refuse(table, call, f"there is no snapshot {number}")
    if number not in list_ancestors(table, find_main(table)):
        return refuse(
            table,
            call,
            f"snapshot {number} is no ancestor of the current one; set_current_snapshot can go there",
        )
    return move_branch(table, call, _MAIN, number)


def plan_rollback_to_time(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """`rollback_to_timestamp`: main goes back to its newest ancestor from before a time."""
    limit = to_milliseconds(values["timestamp"])
    call = write_call(table.name, "rollback_to_timestamp", dict(values))
    moments = dict(table._context.document.snapshots.iter_moments())
    older = [number for number in list_ancestors(table, find_main(table)) if 0 < moments[number] < limit]
    if not older:
        return refuse(table, call, f"no ancestor of the current snapshot is older than {format_time(limit)}")
    return move_branch(table, call, _MAIN, max(older, key=moments.__getitem__))


def plan_current(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """`set_current_snapshot`: main goes to any snapshot, or to where a ref points."""
    number, name = values.get("snapshot_id"), values.get("ref")
    if (number is None) == (name is None):
        raise LakeError(
            "set_current_snapshot needs one of the options snapshot_id and ref", hint="snapshot_id=…"
        )
    call = write_call(table.name, "set_current_snapshot", dict(values))
    if name is not None:
        ref = table.refs.get(name)
        if ref is None or ref.snapshot_id is None:
            return refuse(table, call, f"there is no branch or tag {name}")
        number = ref.snapshot_id
    assert number is not None
    if number not in table._context.document.snapshots:
        return refuse(table, call, f"there is no snapshot {number}")
    return move_branch(table, call, _MAIN, number)


def plan_fast_forward(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """`fast_forward`: a branch goes on to where another ref is, if it leads there; one that there is not is made."""
    branch, to = values["branch"], values["to"]
    call = write_call(table.name, "fast_forward", dict(values))
    target, moved = table.refs.get(to), table.refs.get(branch)
    if target is None or target.snapshot_id is None:
        return refuse(table, call, f"there is no ref {to}")
    if moved is not None and moved.type != "branch":
        return refuse(table, call, f"{branch} is a tag, not a branch")
    is_at = moved is not None and moved.snapshot_id == target.snapshot_id
    if moved is not None and not is_at and moved.snapshot_id not in list_ancestors(table, target.snapshot_id):
        return refuse(table, call, f"{branch} is no ancestor of {to}: it has commits of its own")
    return move_branch(table, call, branch, target.snapshot_id)


def move_branch(table: IcebergTable, call: str, branch: str, number: int) -> Proposal:
    """The proposal of a branch that points to another snapshot afterwards."""
    ref = table.refs.get(branch)
    before = None if ref is None else ref.snapshot_id
    if before == number:
        return Proposal(
            f"Nothing changes: {branch} is at snapshot {number} already.",
            call,
            assumptions=assume(table),
            becomes=str(number),
        )
    moments = dict(table._context.document.snapshots.iter_moments())
    moved = {one.name: one.snapshot_id for one in table.refs} | {branch: number}
    tags = {one.name for one in table.refs if one.type == "tag"}
    kept_by: dict[int, str] = {}
    for name, at in sorted(moved.items(), key=lambda item: item[0] != branch):
        led = [] if at is None else [at] if name in tags else list_ancestors(table, at)
        for one in led:
            kept_by.setdefault(one, f"{'tag' if name in tags else 'branch'} {name}")
    loose = "no branch leads to it: expire_snapshots would remove it once it is old enough"
    fates = []
    for one, moment in moments.items():
        by = kept_by.get(one, "")
        fates.append(Fate(f"snapshot {one}", "" if by else loose, by or "no ref", one, to_time(moment)))
    to = f"snapshot {number} of {format_time(moments[number])}" if number in moments else f"snapshot {number}"
    what = (
        "Readers of the table see"
        if branch == _MAIN
        else f"The branch {branch} is made at"
        if before is None
        else f"Readers of the branch {branch} see"
    )
    return Proposal(
        changes=f"{what} {to}" + ("." if before is None else f", and no longer {before}."),
        call=call,
        kept=fates,
        writes=(estimate_document(table),),
        deletes=list_dropped_documents(table),
        assumptions=assume(table),
        notes=["Nothing is deleted: every snapshot can still be read by its id."],
        becomes=str(number) if branch == _MAIN else None,
    )


# What `cherrypick_snapshot` would do.
#
#     the parent is the current snapshot    main moves on to the snapshot itself: nothing is written again (fast-forward)
#     append                                its files are added to the current state in a new snapshot
#     overwrite that replaced partitions    its files are added and those it removed leave, if the partitions are unchanged
#     anything else                         refused
#
# A snapshot is picked once: not one that the current state is made from, nor one that was picked before, nor one whose
# write-audit-publish id was published. Follows `CherryPickOperation` and `WapUtil` of Iceberg 1.12.

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
        """Say why the engine refuses; None where it does not."""
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
        known = (
            (ancestor.summary.get(_STAGED), ancestor.summary.get(_PUBLISHED))
            for ancestor in self._walk_ancestors()
        )
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
        manifest
        for manifest in snapshot.manifests
        if manifest.content == "data" and manifest.added_snapshot_id == snapshot.id
    ]


def _list_changed(snapshot: IcebergSnapshot, status: str) -> list[IcebergDataFile]:
    """List the data files that a snapshot added or removed, as the manifests that it wrote say it. Raises `LakeError`."""
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
    current = None if pick.current is None else pick.table.find_by_id(pick.current)
    changed = {file.file_path for file in pick.removed}
    held = 0 if current is None else len(current.manifests)
    size = estimate_manifests(pick.manifests, 1)
    most = None if changed else 1
    return Proposal(
        changes=f"Readers of the table see {len(added):,} more files with {rows:,} rows"
        + (f", and {len(pick.removed):,} files fewer." if pick.removed else "."),
        call=call,
        reads=FileSet(lambda: added, picked.describe_known_columns) if added else (),
        replaces=[make_piece(file, f"snapshot {number} removed it") for file in pick.removed],
        writes=[
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
        ],
        deletes=list_dropped_documents(table),
        assumptions=assume(table),
        notes=["No data file is written again: the new snapshot names those of the one that is picked."],
        becomes="a new snapshot",
    )
