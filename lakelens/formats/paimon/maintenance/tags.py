"""`delete_tag` and `expire_tags`: a tag goes, with the files that it alone keeps.

    the snapshot is still there            only the tag's document goes
    another tag is of the same snapshot    only the tag's document goes
    otherwise                              its live files, manifests, index files and statistics, but for those of its
                                           neighbours: the tag before it, and the tag after it or the earliest snapshot

A tag expires when it has been kept for longer than `time_retained`, which it was given when it was made; from 1.0 on also
when it was made before `older_than`. Follows `TagManager`, `TagDeletion` and `TagTimeExpire` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing, list_nearest
from lakelens.formats.paimon.maintenance.deletion import Deletion
from lakelens.formats.paimon.maintenance.others import describe_damage, warn_of_others
from lakelens.formats.paimon.maintenance.states import (
    AT,
    ENGINE,
    describe_engine,
    describe_fate,
    is_new_engine,
    list_others,
    name_home,
    name_table,
    read_now,
    require_paimon,
    write_call,
)
from lakelens.io.store import find_info
from lakelens.model.maintenance.procedure import Option, Procedure
from lakelens.model.maintenance.proposal import Assumption, Fate, Proposal

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
        """One tag, and what it alone keeps."""
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
        earliest = self.branch.pointer.ids[0] if self.branch.pointer.ids else None
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
        self._drop_files(tag, neighbours)

    def _drop_files(self, tag: PaimonSnapshot, neighbours: Sequence[PaimonSnapshot]) -> None:
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
        """What goes and what stays."""
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
            for number in self.branch.pointer.ids
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
    planned = f"No commit happens in between; this was planned on snapshot {branch.pointer.latest}."
    return [Assumption(planned), describe_engine(is_new)]


def plan_deletion(table: Table, values: Mapping[str, Any]) -> Proposal:
    """What `delete_tag` would do."""
    branch = require_paimon(table)
    is_new = is_new_engine(branch, values)
    names = list(dict.fromkeys(values["tag"]))
    call = write_call("delete_tag", {"table": name_table(branch), "tag": ",".join(names)})
    for name in names:
        if name not in branch.tag_names:
            raise Missing(
                f"there is no tag {name}", path=branch.location, hint=list_nearest(name, branch.tag_names)
            )
    unread = [name for name in branch.tag_names if name not in branch.tags]
    assumptions = _assume(branch, is_new)
    if unread:
        refusal = f"tag {unread[0]} cannot be read: the engine fails"
        return Proposal(_CHANGES, call, refusal=refusal, assumptions=assumptions)
    cleaner = TagCleaner(branch)
    for name in names:
        cleaner.drop(name, "asked for")
    return cleaner.propose(call, assumptions)


def plan_expiry(table: Table, values: Mapping[str, Any]) -> Proposal:
    """What `expire_tags` would do."""
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
    unread = [name for name in branch.tag_names if name not in branch.tags]
    if unread:
        refusal = f"tag {unread[0]} cannot be read: the engine fails"
        return Proposal(_CHANGES, call, refusal=refusal, assumptions=assumptions)
    cleaner = TagCleaner(branch)
    if not is_new:
        cleaner.notes.append(
            "Paimon 0.9 has no such call: its writers expire tags after a commit, by the same rule."
        )
    now = read_now(values).replace(tzinfo=None)
    for name in branch.tag_names:
        why = _find_end(branch, name, now, before if is_new else None)
        if why is not None:
            cleaner.drop(name, why)
    return cleaner.propose(call, assumptions)


def _find_end(branch: PaimonTable, name: str, now: datetime, before: datetime | None) -> str | None:
    """Why a tag is at its end; None where it is not."""
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
