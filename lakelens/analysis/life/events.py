"""What happened to a file, line of time by line of time: each difference between two states that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.model.collections import Items
from lakelens.model.deletes import DeleteMatch, unite_positions
from lakelens.model.facts.facts import Fact
from lakelens.model.life.living import Living

if TYPE_CHECKING:
    from lakelens.analysis.life.past import Line, Past, Presence, Sighting
    from lakelens.model.datafile import DataFile
    from lakelens.model.life.living import FileDeletes
    from lakelens.model.snapshot import Snapshot

What = Literal[
    "written",
    "added",
    "there before",
    "carried",
    "manifest rewritten",
    "deleted from",
    "deletes gone",
    "raised",
    "removed",
    "left behind",
]
_KINDS = {
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
#: Delete files that are read to count their rows; beyond, only what is recorded is said.
MOST_DELETES = 200


@dataclass(frozen=True, slots=True, repr=False)
class Event(Displayable):
    """One thing that happened to a file: the snapshot, when, `what`, and `why` in words.

    `until` and `count` are of what lasts: how many states carried the file unchanged. `rows` are those that an event deletes
    or moves, `left` those of the file that are left after it; `is_exact` is false where they are a bound. `branch`
    is empty on the line of the branch that was opened.
    """

    snapshot_id: int | None
    at: datetime | None
    what: What
    why: str
    branch: str = ""
    until: datetime | None = None
    count: int = 1
    rows: int | None = None
    left: int | None = None
    is_exact: bool = True

    def __repr__(self) -> str:
        return f"<Event {self.what} by {self.snapshot_id}>"


class Events(Items[Event]):
    """What happened to a file, in the order of time."""

    __slots__ = ()
    facts = (
        Fact("at", "time"),
        Fact("what"),
        Fact("snapshot_id", "int64"),
        Fact("why"),
        Fact("branch"),
        Fact("until", "time"),
        Fact("count", "int64"),
        Fact("rows", "int64"),
        Fact("left", "int64"),
        Fact("is_exact", "bool"),
    )


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many rows some deletes delete of a file; a bound where they were not all read."""

    rows: int
    is_exact: bool


class LiveOnLine:
    """Follows a file along one line of time."""

    def __init__(
        self, past: Past, presence: Presence, file: DataFile, deletes: FileDeletes, line: Line
    ) -> None:
        self.past = past
        self.presence = presence
        self.file = file
        self.deletes = deletes
        self.line = line
        self._carried: list[int] = []
        self._counts: dict[Hashable, Deleted] = {}

    def list_events(self) -> Iterator[Event]:
        """List the events, each after what was carried until then."""
        for before, place in self.line.walk():
            found = list(self._compare(before, place))
            if found and self._carried:
                yield self._close()
            yield from found
            if not found and self.presence.held[:, place].any():
                self._carried.append(place)
        if self._carried:
            yield self._close()

    def _close(self) -> Event:
        places, self._carried = self._carried, []
        first, last = self.past.snapshot(places[0]), self.past.snapshot(places[-1])
        many = f"by {len(places):,} snapshots" if len(places) > 1 else f"by snapshot {first.id}"
        event = self._make(places[0], "carried", f"{many}, its manifest as it was")
        return replace(event, until=last.committed_at, count=len(places))

    def _make(self, place: int, what: What, why: str, **further: Any) -> Event:
        snapshot = self.past.snapshot(place)
        branch = "" if self.line is self.past.lines[0] else self.line.name
        return Event(snapshot.id, snapshot.committed_at, what, why, branch, **further)

    def _compare(self, before: int | None, place: int) -> Iterator[Event]:
        """Compare what is different in a state from the one before it."""
        now = self.presence.find(place)
        then = [] if before is None else self.presence.find(before)
        if now and not then:
            yield from self._appear(before, place, now[0])
        elif then and not now:
            yield self._remove(before, place, then[0])
        elif now and then:
            yield from self._change(before, place, then[0], now[0])

    # --- beginning and end ---------------------------------------------------------------------------------------------

    def _appear(self, before: int | None, place: int, now: Sighting) -> Iterator[Event]:
        past, snapshot = self.past, self.past.snapshot(place)
        adder = now.snapshot_id
        if adder is not None:
            is_here = adder == snapshot.id
        else:  # a list of the snapshot's own changes names the entry's manifest
            path = past.survey.manifests[now.manifest].path
            lists = (listed for listed in snapshot.manifest_lists if listed.role in ("delta", "changelog"))
            is_here = any(manifest.path == path for listed in lists for manifest in listed.walk()[0])
        is_known = past.is_next(before, place) or (
            before is None and not Living.of(past.table).begins_later(snapshot)
        )
        if is_here or is_known:
            rows = self.file.record_count
            yield self._make(place, "added", describe_added(past, snapshot, self.file), rows=rows, left=rows)
        else:
            yield self._make(place, "there before", self._describe_before(before, place, adder))
        deleted = self._count(place)
        if deleted.rows:
            yield self._make(
                place, "deleted from", self._describe_deletes(place, None, deleted), **self._rows(deleted, 0)
            )

    def _describe_before(self, before: int | None, place: int, adder: int | None) -> str:
        by = "" if adder is None else f" by snapshot {adder}, which has expired"
        if before is not None:
            since = self.past.snapshot(before)
            return f"added after snapshot {since.id}{by or '; those between have expired'}"
        here = self.past.snapshot(place)
        return f"added before snapshot {here.id}, the oldest that is left{by and ','}{by}"

    def _remove(self, before: int | None, place: int, then: Sighting) -> Event:
        snapshot = self.past.snapshot(place)
        deleted = self._count(before) if before is not None else Deleted(0, True)
        left = None if self.file.record_count is None else self.file.record_count - deleted.rows
        is_next = self.past.is_next(before, place)
        commit = Living.of(self.past.table).describe_commit(snapshot)
        by = (
            f"by {commit} {snapshot.id}"
            if is_next
            else f"before snapshot {snapshot.id}; those between have expired"
        )
        went = self._describe_heirs(place, snapshot, left) if is_next and self.file.content == "data" else ""
        why = f"{by}{f': {went}' if went else ''}"
        return self._make(place, "removed", why, rows=left, left=0, is_exact=deleted.is_exact)

    def _describe_heirs(self, place: int, snapshot: Snapshot, left: int | None) -> str:
        """Describe where the rows went on that were left."""
        try:
            heirs = [
                one
                for one in snapshot.changes.added
                if one.content == "data"
                and one.partition == self.file.partition
                and one.bucket == self.file.bucket
            ]
        except LakeError as error:
            return f"what it added cannot be read ({error.reason})"
        rows = "its rows" if left is None else f"its {left:,} row{'s' * (left != 1)}"
        if not heirs:
            return f"{rows} {'was' if left == 1 else 'were'} deleted with it, nothing was added in its place"
        name = heirs[0].path.rpartition("/")[2]
        more = f" and {len(heirs) - 1:,} more" if len(heirs) > 1 else ""
        if moves_rows(snapshot):
            return f"{rows} went on in {name}{more}"
        return f"what is left of {rows} went on in {name}{more}"

    # --- changes -------------------------------------------------------------------------------------------------------

    def _change(self, before: int | None, place: int, then: Sighting, now: Sighting) -> Iterator[Event]:
        assert before is not None
        snapshot = self.past.snapshot(place)
        commit = f"by {Living.of(self.past.table).describe_commit(snapshot)} {snapshot.id}"
        if then.level != now.level:
            yield self._make(
                place, "raised", f"{commit}: from level {then.level} to {now.level}, not rewritten"
            )
        elif then.manifest != now.manifest:
            yield self._make(place, "manifest rewritten", f"{commit}: {self._describe_manifest(now)}")
        mine, theirs = self.deletes.mark(self.past.snapshot(before)), self.deletes.mark(snapshot)
        if mine != theirs and self.file.content == "data":
            was, is_now = self._count(before), self._count(place)
            known = {_identify(match) for match in self._match(before)}
            new = [match for match in self._match(place) if _identify(match) not in known]
            if new and is_now.rows != was.rows:
                words = self._describe_deletes(place, new, is_now, was.rows)
                yield self._make(place, "deleted from", words, **self._rows(is_now, was.rows))
            elif is_now.rows < was.rows:
                words = f"{was.rows - is_now.rows:,} rows are there again: what deleted them is gone"
                yield self._make(place, "deletes gone", words, **self._rows(is_now, was.rows))

    def _describe_manifest(self, now: Sighting) -> str:
        manifest = self.past.survey.manifests[now.manifest]
        name = manifest.path.rpartition("/")[2]
        kept = manifest.existing_files_count
        many = "" if kept is None else f" with {kept:,} entr{'y' if kept == 1 else 'ies'} that it kept"
        return f"the entry is {now.status} in {name}{many}"

    def _rows(self, deleted: Deleted, before: int) -> dict[str, Any]:
        total = self.file.record_count
        left = None if total is None else max(total - deleted.rows, 0)
        return {"rows": deleted.rows - before, "left": left, "is_exact": deleted.is_exact}

    def _describe_deletes(
        self, place: int, new: Sequence[DeleteMatch] | None, deleted: Deleted, before: int = 0
    ) -> str:
        snapshot = self.past.snapshot(place)
        matches = list(self._match(place) if new is None else new)
        counts: dict[str, int] = {}
        for match in matches:
            noun = _KINDS[match.kind]
            if match.kind == "equality_deletes" and match.columns:
                noun += f" on {', '.join(match.columns)}"
            counts[noun] = counts.get(noun, 0) + 1
        nouns = ", ".join(noun if many == 1 else f"{many:,} {noun}s" for noun, many in counts.items())
        rows, total = deleted.rows - before, self.file.record_count
        sure = "" if deleted.is_exact else "at most "
        many = f"{sure}{rows:,} row{'s' * (rows != 1)}"
        left = (
            ""
            if total is None
            else f", {'' if deleted.is_exact else 'at least '}{max(total - deleted.rows, 0):,} left"
        )
        by = (
            f" by {Living.of(self.past.table).describe_commit(snapshot)} {snapshot.id}"
            if new is not None
            else ""
        )
        return f"{nouns}{by}: {many}{left}"

    def _match(self, place: int) -> Sequence[DeleteMatch]:
        if self.file.content != "data" or self.past.is_changelog(place):
            return ()
        return self.deletes.match(self.past.snapshot(place), self.file)

    def _count(self, place: int) -> Deleted:
        matches = self._match(place)
        key = frozenset(map(_identify, matches))
        if key not in self._counts:
            self._counts[key] = count_deleted(matches, self.file.record_count)
        return self._counts[key]


def _identify(match: DeleteMatch) -> Hashable:
    return (match.kind, match.file.path, match.offset)


def count_deleted(matches: Sequence[DeleteMatch], total: int | None) -> Deleted:
    """Count how many rows some deletes delete; what cannot be read, or is too much to read, counts as recorded."""
    if not matches:
        return Deleted(0, True)
    if len(matches) <= MOST_DELETES:
        try:
            return Deleted(len(unite_positions(matches, total)), True)
        except LakeError:
            pass
    most = sum(match.at_most or 0 for match in matches)
    return Deleted(most if total is None else min(most, total), False)


def moves_rows(snapshot: Snapshot) -> bool:
    """Check whether a commit only moves rows, by its operation: a rewrite in Iceberg, a compaction in Paimon."""
    return (snapshot.operation or "").lower() in ("replace", "compact")


def describe_added(past: Past, snapshot: Snapshot, file: DataFile) -> str:
    """By which commit a file was added, what it holds, who wrote it and how."""
    table = past.table
    parts = (
        [] if file.record_count is None else [f"{file.record_count:,} row{'s' * (file.record_count != 1)}"]
    )
    if file.own_size_bytes is not None:
        parts.append(f"{file.own_size_bytes:,} bytes")
    rest = [Living.of(table).describe_writer(snapshot), *Living.of(table).describe_origin(file)]
    held = "; ".join(filter(None, (", ".join(parts), *rest)))
    from_ = _describe_sources(snapshot, file)
    return f"by {Living.of(table).describe_commit(snapshot)} {snapshot.id}: {held}{from_}"


def _describe_sources(snapshot: Snapshot, file: DataFile) -> str:
    """Describe the files whose rows a rewrite put into a new one."""
    if file.content != "data" or not moves_rows(snapshot):
        return ""
    try:
        gone = [
            one
            for one in snapshot.changes.removed
            if one.content == "data" and one.partition == file.partition and one.bucket == file.bucket
        ]
    except LakeError:
        return ""
    if not gone:
        return ""
    first = gone[0].path.rpartition("/")[2]
    return f"; made from {first}" + (f" and {len(gone) - 1:,} more" if len(gone) > 1 else "")


def sort_events(found: Sequence[Event]) -> list[Event]:
    """Events in the order of time; those of one moment stay as they are."""
    return sorted(found, key=_order)


_NEVER = datetime.min.replace(tzinfo=UTC)
_order: Callable[[Event], datetime] = lambda event: event.at or _NEVER  # noqa: E731 - a key
