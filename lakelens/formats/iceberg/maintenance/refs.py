"""What moves a branch and nothing else: rollback, setting the current snapshot, fast-forward.

No file but a metadata document is written, and none is deleted. Snapshots that no branch leads to any more stay until they
expire. Follows `SetSnapshotOperation` and `UpdateSnapshotReferencesOperation` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    list_ancestors,
    list_dropped_documents,
)
from lakelens.formats.iceberg.maintenance.expiry import format_time, to_milliseconds
from lakelens.formats.iceberg.maintenance.statement import write_call
from lakelens.formats.iceberg.metadata.wire import to_time
from lakelens.model.maintenance.proposal import Fate, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_MAIN = "main"


def find_main(table: IcebergTable) -> int | None:
    """The id of the current snapshot of main."""
    ref = table.refs.get(_MAIN)
    return None if ref is None else ref.snapshot_id


def refuse(table: IcebergTable, call: str, why: str) -> Proposal:
    """The proposal of a procedure that the engine refuses to run."""
    return Proposal("Nothing changes: the engine refuses.", call, refusal=why, assumptions=assume(table))


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
    return Proposal(
        changes=_describe_change(branch, before, number, moments),
        call=call,
        kept=fates,
        writes=(estimate_document(table),),
        deletes=list_dropped_documents(table),
        assumptions=assume(table),
        notes=["Nothing is deleted: every snapshot can still be read by its id."],
        becomes=str(number) if branch == _MAIN else None,
    )


def _describe_change(branch: str, before: int | None, number: int, moments: Mapping[int, int]) -> str:
    to = f"snapshot {number} of {format_time(moments[number])}" if number in moments else f"snapshot {number}"
    what = (
        "Readers of the table see"
        if branch == _MAIN
        else f"The branch {branch} is made at"
        if before is None
        else f"Readers of the branch {branch} see"
    )
    return f"{what} {to}" + ("." if before is None else f", and no longer {before}.")
