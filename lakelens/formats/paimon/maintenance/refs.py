"""What moves refs: `rollback` of a branch to a snapshot or a tag, `delete_tag` and `expire_tags`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing, list_nearest
from lakelens.formats.paimon.maintenance.deletion import (
    AT,
    ENGINE,
    Deletion,
    describe_damage,
    describe_engine,
    describe_fate,
    find_broken,
    is_new_engine,
    list_others,
    name_home,
    name_table,
    read_now,
    require_paimon,
    skip_none,
    warn_of_others,
    write_call,
)
from lakelens.formats.paimon.maintenance.estimates import write_hint, write_one
from lakelens.io.store import find_info
from lakelens.model.maintenance import Assumption, Fate, Option, Procedure, Proposal

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.table import Table


_ALONE = "only the tag keeps it"
_CHANGES = "The current data does not change."


class TagCleaner:
    """Takes tags away one after the other, as the engine does: each sees those that are left."""

    def __init__(self, branch: PaimonTable) -> None:
        self.branch = branch
        self.deletion = Deletion(branch)
        self.left: dict[str, PaimonSnapshot] = dict(branch.tags)
        self.lost: dict[str, str] = {}
        self.notes: list[str] = []

    def drop(self, name: str, why: str) -> None:
        """Drop one tag, and what it alone keeps."""
        tag = self.left[name]
        others = {other.id: other for other in self.left.values()}
        same = sum(other.id == tag.id for other in self.left.values())
        del self.left[name]
        self.lost[name] = why
        self.deletion.drop_document("tag", name, why)
        if self.branch.has_snapshot(tag.id):
            self.notes.append(f"Snapshot {tag.id} is still there: of tag {name} only the document goes.")
        elif same > 1:
            self.notes.append(f"Another tag is of snapshot {tag.id}: of tag {name} only the document goes.")
        else:
            self._clean(name, tag, [others[number] for number in sorted(others)])

    def _clean(self, name: str, tag: PaimonSnapshot, tags: Sequence[PaimonSnapshot]) -> None:
        numbers = [other.id for other in tags]
        place = numbers.index(tag.id)
        earliest = self.branch.context.pointer.ids[0] if self.branch.context.pointer.ids else None
        after = tags[place + 1] if place + 1 < len(tags) else None
        if earliest is None:
            fails = (
                "the engine fails after it" if after else "the engine then cannot find a snapshot, so that it"
            )
            did = "has removed the document" if after else "removes the document alone"
            self.notes.append(f"Tag {name}: there is no snapshot; {fails} {did}.")
            return
        neighbours = list(tags[place - 1 : place])
        if after is not None and after.id <= earliest:
            neighbours.append(after)
        else:
            first = self.branch.find_numbered(earliest)
            if first is None:
                self.notes.append(
                    f"Snapshot {earliest} cannot be read: the engine fails after it has removed the document of tag {name}."
                )
                return
            neighbours.append(first)
        deletion = self.deletion
        try:
            kept = {path for state in neighbours for path in deletion.list_live(state)}
        except LakeError as error:
            deletion.doubts[error.path or ""] = f"{error.reason}: the engine leaves the data files of the tag"
        else:
            deletion.drop_live(tag, kept.__contains__, _ALONE)
        try:
            skipped = deletion.name_metadata(neighbours)
        except LakeError as error:
            deletion.doubts[error.path or ""] = f"{error.reason}: the engine leaves the manifests of the tag"
        else:
            try:
                deletion.drop_metadata(tag, skipped, ("base", "delta"), _ALONE)
            except LakeError as error:
                self.notes.append(f"The engine fails before it is done: {error.reason}.")

    def propose(self, call: str, assumptions: Sequence[Assumption]) -> Proposal:
        """Propose what goes and what stays."""
        home = name_home(self.branch)
        lost = [
            Fate(f"{home}tag {name}", why, f"tag {name}", tag.id, tag.committed_at)
            for name, why in self.lost.items()
            for tag in (self.branch.tags[name],)
        ]
        kept = [
            describe_fate(
                self.branch, self.branch.find_numbered(number), number, "a tag's end does not concern it"
            )
            for number in self.branch.context.pointer.ids
        ]
        names = frozenset(fate.keeper for fate in lost)
        pieces = self.deletion.pieces
        notes = [*self.notes, *describe_damage(self.deletion)]
        return Proposal(
            _CHANGES,
            call,
            lost=lost,
            kept=[*kept, *list_others(self.branch, names)],
            deletes=tuple(pieces.values()),
            assumptions=assumptions,
            notes=notes,
            frees="states",
            dangers=warn_of_others(self.branch, self.deletion),
        )


def _assume(branch: PaimonTable, is_new: bool) -> list[Assumption]:
    planned = f"No commit happens in between; this was planned on snapshot {branch.context.pointer.latest}."
    return [Assumption(planned), describe_engine(is_new)]


def plan_deletion(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `delete_tag` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    names = list(dict.fromkeys(values["tag"]))
    call = write_call("delete_tag", {"table": name_table(branch), "tag": ",".join(names)})
    for name in names:
        if name not in branch.context.tag_names:
            raise Missing(
                f"there is no tag {name}",
                path=branch.location,
                hint=list_nearest(name, branch.context.tag_names),
            )
    unread = [name for name in branch.context.tag_names if name not in branch.tags]
    assumptions = _assume(branch, is_new)
    if unread:
        refusal = f"tag {unread[0]} cannot be read: the engine fails"
        return Proposal(_CHANGES, call, refusal=refusal, assumptions=assumptions)
    cleaner = TagCleaner(branch)
    for name in names:
        cleaner.drop(name, "asked for")
    return cleaner.propose(call, assumptions)


def plan_expiry(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `expire_tags` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    before = values.get("older_than")
    arguments = {
        "table": name_table(branch),
        "older_than": None if before is None else f"{before:%Y-%m-%d %H:%M:%S}",
    }
    call = write_call("expire_tags", arguments)
    assumptions = _assume(branch, is_new)
    assumptions.append(
        Assumption(
            "A tag's time is its maker's wall clock; the engine runs in the same zone, taken to be UTC.",
            False,
        )
    )
    unread = [name for name in branch.context.tag_names if name not in branch.tags]
    if unread:
        refusal = f"tag {unread[0]} cannot be read: the engine fails"
        return Proposal(_CHANGES, call, refusal=refusal, assumptions=assumptions)
    cleaner = TagCleaner(branch)
    if not is_new:
        cleaner.notes.append(
            "Paimon 0.9 has no such call: its writers expire tags after a commit, by the same rule."
        )
    now = read_now(values).replace(tzinfo=None)
    for name in branch.context.tag_names:
        why = _find_end(branch, name, now, before if is_new else None)
        if why is not None:
            cleaner.drop(name, why)
    return cleaner.propose(call, assumptions)


def _find_end(branch: PaimonTable, name: str, now: datetime, before: datetime | None) -> str | None:
    """Find why a tag is at its end; None where it is not."""
    ref = next((ref for ref in branch.refs.tags if ref.name == name), None)
    made, kept = (None, None) if ref is None else (ref.created_at, ref.max_ref_age_ms)
    if made is not None and kept is not None and (now - made) // timedelta(milliseconds=1) > kept:
        return f"its {timedelta(milliseconds=max(kept, 0))} are over"
    if before is None:
        return None
    if made is None or kept is None:
        found = find_info(branch.context.store, branch.context.layout.document("tag", name))
        if found is None or found.modified is None:
            return None
        made = found.modified.astimezone(UTC).replace(tzinfo=None)
    return "made before older_than" if before.replace(tzinfo=None) > made else None


DELETE = Procedure(
    "delete_tag",
    "Delete a tag",
    "a tag goes, with the files that it alone keeps",
    (Option("tag", "texts", "the tag, or several", is_required=True), ENGINE),
    plan_deletion,
)
EXPIRE = Procedure(
    "expire_tags",
    "Expire tags",
    "the tags that were kept long enough go",
    (Option("older_than", "time", "tags that were made before it go too", "none"), ENGINE, AT),
    plan_expiry,
)


# `rollback`: a branch goes back to a snapshot or a tag; all that was committed later is gone.
#
#     0.9    documents of later snapshots, tags and changelogs; the files that their commits added; the live files of later
#            tags, but for those of the state that is kept; lists, manifests and index files that it does not name
#     2.0    the documents alone: what they referred to is left for `remove_orphan_files`
#
# 0.9 deletes each file that a later commit adds. A compaction that only changes a file's level adds it again, under its
# name: such a file goes although the state that is kept needs it. Follows `RollbackHelper` of Paimon 0.9 and 2.0.

_LATER = "a commit that is undone made it"


def find_target(branch: PaimonTable, version: str) -> PaimonSnapshot:
    """Find the state of a snapshot's number, else of a tag. Raises `Missing` where there is none, `LakeError` on damage."""
    if version.isascii() and version.isdigit():
        number = int(version) if len(version) < 20 else -1
        if not branch.has_snapshot(number):
            hint = (
                "there is none"
                if not branch.context.pointer.ids
                else f"there are {branch.context.pointer.ids[0]} to {branch.context.pointer.latest}"
            )
            raise Missing(f"there is no snapshot {version}", path=branch.location, hint=hint)
        found = branch.find_numbered(number)
        path = branch.context.layout.document("snapshot", number)
    else:
        if version not in branch.context.tag_names:
            raise Missing(
                f"there is no tag {version}",
                path=branch.location,
                hint=list_nearest(version, branch.context.tag_names),
            )
        found = branch.tags.get(version)
        path = branch.context.layout.document("tag", version)
    if found is None:
        raise LakeError(f"{version} cannot be read: the engine fails", path=path)
    return found


def plan_rollback(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `rollback` would do."""
    branch = require_paimon(table)
    version, is_new = values["version"].strip(), is_new_engine(branch, values)
    call = write_call("rollback", {"table": name_table(branch), "version": version})
    target = find_target(branch, version)
    assumptions = [
        Assumption(
            f"No commit happens in between; this was planned on snapshot {branch.context.pointer.latest}."
        ),
        describe_engine(is_new),
    ]
    changes = f"The table is as it was at snapshot {target.id}: later commits are gone."
    ids = branch.context.pointer.ids
    if not ids:
        refusal = "there is no snapshot: the engine fails (Cannot find earliest snapshot)"
        return Proposal(changes, call, refusal=refusal, assumptions=assumptions)
    undone = [number for number in ids if number > target.id]
    later = {name: tag for name, tag in branch.tags.items() if tag.id > target.id}
    changelogs = [number for number in branch.context.changelog_numbers if number > target.id]
    deletion = Deletion(branch)
    notes = _take_documents(deletion, undone, later, changelogs)
    dangers: list[str] = []
    if not is_new:
        notes += _take_files(deletion, target, undone, later, changelogs)
        broken = find_broken(target, deletion)
        if broken:
            which = "1 file" if broken == 1 else f"{broken:,} files"
            dangers.append(
                f"{which} that snapshot {target.id} needs would go: Paimon 0.9 deletes what later commits added, "
                "and a compaction that only changed their level added them again. Reading fails afterwards."
            )
    else:
        notes.append("What only the undone commits need stays on disk, until remove_orphan_files.")
    writes = [write_hint("LATEST", target.id)]
    if not branch.has_snapshot(target.id):
        size = len(branch.context.store.read(target.path)) if target.path else None
        note = f"snapshot {target.id} again, of the tag"
        writes += [write_one("snapshot", size, note, is_estimated=is_new), write_hint("EARLIEST", target.id)]
    lost = _list_lost(branch, undone, later, changelogs)
    kept = [
        describe_fate(branch, branch.find_numbered(number), number, "it is older")
        for number in ids
        if number < target.id
    ]
    if target.id in ids:
        now = branch.find_numbered(target.id)
        kept.append(describe_fate(branch, now, target.id, "it is the current one again"))
    return Proposal(
        changes,
        call,
        writes=writes,
        lost=lost,
        kept=[*kept, *list_others(branch, frozenset(fate.keeper for fate in lost))],
        deletes=tuple(deletion.pieces.values()),
        assumptions=assumptions,
        notes=[*notes, *describe_damage(deletion)],
        dangers=[*dangers, *warn_of_others(branch, deletion)],
        becomes=str(target.id) if undone or not branch.has_snapshot(target.id) else None,
    )


def _take_documents(
    deletion: Deletion, undone: Sequence[int], tags: Mapping[str, Any], changelogs: Sequence[int]
) -> list[str]:
    for number in undone:
        deletion.drop_document("snapshot", number, "committed later")
    for name in tags:
        deletion.drop_document("tag", name, "of a later snapshot")
    for number in changelogs:
        deletion.drop_document("changelog", number, "of a later snapshot")
    unread = [number for number in undone if deletion.branch.find_numbered(number) is None]
    return [f"Snapshot {number} cannot be read: the engine fails before it is done." for number in unread]


def _list_lost(
    branch: PaimonTable, undone: Sequence[int], tags: Mapping[str, PaimonSnapshot], changelogs: Sequence[int]
) -> list[Fate]:
    home, why = name_home(branch), "of a later snapshot"
    return [
        *(describe_fate(branch, branch.find_numbered(n), n, "committed later") for n in undone),
        *(
            Fate(f"{home}tag {name}", why, f"tag {name}", tag.id, tag.committed_at)
            for name, tag in tags.items()
        ),
        *(Fate(f"{home}changelog {number}", why, "changelogs", number) for number in changelogs),
    ]


def _take_files(
    deletion: Deletion,
    target: PaimonSnapshot,
    undone: Sequence[int],
    tags: Mapping[str, PaimonSnapshot],
    changelogs: Sequence[int],
) -> list[str]:
    """Take the files of what is undone, as 0.9 takes them: see the module."""
    branch = deletion.branch
    states = [state for number in reversed(undone) if (state := branch.find_numbered(number)) is not None]
    kept_logs = [state for state in branch.changelogs if state.id in changelogs]
    tagged = sorted({tag.id: tag for tag in tags.values()}.values(), key=lambda tag: -tag.id)
    for state in states:
        deletion.drop_added(state, "delta", _LATER)
        deletion.drop_added(state, "changelog", _LATER)
    for state in kept_logs:
        deletion.drop_added(state, "changelog", _LATER)
        deletion.drop_removed(state, skip_none, _LATER)
    try:
        live = deletion.list_live(target)
    except LakeError as error:
        deletion.doubts[error.path or ""] = f"{error.reason}: the engine leaves the data files of later tags"
    else:
        for tag in tagged:
            deletion.drop_live(tag, live.__contains__, "a later tag keeps it")
    try:
        skipped = deletion.name_metadata([target])
        for state in states:
            deletion.drop_metadata(state, skipped, ("base", "delta", "changelog"), _LATER)
        for state in kept_logs:
            deletion.drop_metadata(state, skipped, ("changelog", "delta", "base"), _LATER, index=False)
        cleaned = {state.id for state in (*states, *kept_logs)}
        for tag in tagged:
            if tag.id not in cleaned:
                deletion.drop_metadata(tag, skipped, ("base", "delta"), "a later tag keeps it")
    except LakeError as error:
        return [f"The engine fails before it is done: {error.reason}."]
    return []


PROCEDURE = Procedure(
    "rollback",
    "Roll back",
    "a branch goes back to a snapshot or a tag, and later commits are gone",
    (Option("version", "text", "the number of a snapshot, or the name of a tag", is_required=True), ENGINE),
    plan_rollback,
)
