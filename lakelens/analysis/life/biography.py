"""The life of one file: who added it, who carried it, what deleted from it, what removed it, and who still keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from lakelens.analysis.life.events import Event, Events, LiveOnLine, describe_added, sort_events
from lakelens.analysis.life.past import (
    Past,
    Presence,
    Sighting,
    choose_paths,
    find_named,
    find_sightings,
    read_file,
)
from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing, list_nearest, say_value
from lakelens.model.collections import Items, Tabular
from lakelens.model.datafile import DataFile
from lakelens.model.facts.facts import Fact
from lakelens.model.life.living import Living

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.analysis.life.past import Line
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class Holder(Displayable):
    """A state that still needs the file: its snapshot, when it was committed, and the names under which it is kept."""

    snapshot_id: int | None
    at: datetime | None
    names: tuple[str, ...]
    branch: str = ""

    def __repr__(self) -> str:
        return f"<Holder {', '.join(self.names)}>"


class Holders(Items[Holder]):
    """The states that still need a file, in the order of commits."""

    __slots__ = ()
    facts = (
        Fact("snapshot_id", "int64"),
        Fact("at", "time"),
        Fact("names", "strings", lambda holder: list(holder.names)),
        Fact("branch"),
    )


class Biography(Tabular, Displayable):
    """The answer of `Table.biography`: what happened to a file, from the commit that added it to who still keeps it.

    `events` are in the order of time, `kept_by` the states that need the file. `is_live` says whether the current state has
    it. `doubts` says what could not be read, so that something may be missing.
    """

    def __init__(self, table: Table, past: Past, file: DataFile, sightings: Sequence[Sighting]) -> None:
        self.table = table
        self.name = table.name
        self.file = file
        self.past = past
        self.presence = Presence(past, sightings)

    @property
    def path(self) -> str:
        """The file's path."""
        return self.file.path

    @property
    def relative_path(self) -> str:
        """The file's path below the table."""
        return self.path.removeprefix(self.table.location.rstrip("/") + "/")

    @property
    def has_listing(self) -> bool:
        """Whether the one state is a listing, because the format keeps no history."""
        return not self.table.traits.has_snapshots

    @cached_property
    def events(self) -> Events:
        """What happened to it, in the order of time."""
        if self.has_listing:
            file = self.file
            job = getattr(file, "write_id", None)
            by = f"by write job {job}" if job else "the name does not say by which job"
            held = "" if file.size_bytes is None else f"; {file.size_bytes:,} bytes"
            rows = file.record_count
            many = "" if rows is None else f", {rows:,} row{'s' * (rows != 1)}"
            why = f"{by}{held}{many}; the directory keeps no history: this is the time of the file"
            return Events(
                [Event(None, getattr(file, "modified", None), "written", why, rows=rows, left=rows)]
            )
        if self.file.content == "changelog":
            return Events(self._describe_changelog())
        deletes = Living.of(self.table).open_deletes([self.file])
        found: list[Event] = []
        for line in self.past.lines:
            here = LiveOnLine(self.past, self.presence, self.file, deletes, line)
            found += here.list_events()
            if line.is_loose and not line.name:
                found += self._note_loose(line)
        return Events(sort_events(found))

    def _describe_changelog(self) -> list[Event]:
        """Who wrote a changelog file: later snapshots do not carry it."""
        found = []
        for place in self._holding[:1]:
            snapshot = self.past.snapshot(place)
            added = describe_added(self.past, snapshot, self.file)
            why = f"{added}; the changelog of that snapshot, which no later one carries"
            rows = self.file.record_count
            found.append(Event(snapshot.id, snapshot.committed_at, "added", why, rows=rows, left=rows))
        return found

    def _note_loose(self, line: Line) -> list[Event]:
        """That no branch leads to a state that has the file: it was rolled back, or staged."""
        last = line.places[-1]
        if not self.presence.held[:, last].any():
            return []
        snapshot = self.past.snapshot(last)
        why = f"no branch leads to snapshot {snapshot.id}: it was rolled back, or never published"
        return [Event(snapshot.id, snapshot.committed_at, "left behind", why)]

    # --- who keeps it --------------------------------------------------------------------------------------------------

    @cached_property
    def _holding(self) -> list[int]:
        import numpy as np

        found: list[int] = (
            np.flatnonzero(self.presence.held.any(axis=0)).tolist() if self.presence.keys else []
        )
        return found

    @cached_property
    def kept_by(self) -> Holders:
        """The states that need it."""
        if self.has_listing:
            return Holders([Holder(None, None, ("the listing",))])
        lines = {place: line for line in self.past.lines for place in line.places}
        holders = []
        for place in self._holding:
            snapshot, kept = self.past.snapshot(place), self.past.kept[place]
            line = lines.get(place)
            branch = "" if line is None or line is self.past.lines[0] else line.name
            names = (*kept.snapshots, *kept.tags, *kept.changelogs)
            holders.append(Holder(snapshot.id, snapshot.committed_at, names, branch))
        return Holders(holders)

    @property
    def is_live(self) -> bool:
        """Whether the current state has it."""
        if self.has_listing:
            return True
        return bool(self.past.lines) and self.past.lines[0].places[-1] in self._holding

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The branches whose newest state has it."""
        return tuple(
            line.name for line in self.past.lines if not line.is_loose and line.places[-1] in self._holding
        )

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags whose state has it."""
        return tuple(
            tag.rpartition("tag ")[2] for place in self._holding for tag in self.past.kept[place].tags
        )

    @cached_property
    def last_needed(self) -> Snapshot | None:
        """The newest snapshot that has it and is kept under no tag and by no branch alone; None where there is none."""
        places = [
            place
            for place in self._holding
            if self.past.kept[place].snapshots or self.past.kept[place].changelogs
        ]
        return self.past.snapshot(places[-1]) if places else None

    @cached_property
    def freed_by(self) -> str:
        """What would have to go so that the file can be deleted, in words."""
        if self.has_listing:
            return "no history is kept: who deletes the file deletes its rows"
        if not self._holding:
            return "nothing keeps it"
        if self.heads:
            newest = (
                f"branch {_join(self.heads)}" if self.table.traits.has_branches else "the newest snapshot"
            )
            return f"no expiring frees it: {newest} needs it"
        words = []
        if self.tags:
            words.append(f"deleting tag {_join(self.tags)}")
        if self.last_needed is not None:
            at = self.last_needed.committed_at
            when = "" if at is None else format_time(at)
            words.append(Living.of(self.past.table).describe_release(self.last_needed, when))
        return f"{' and '.join(words)} frees its {self.file.own_size_bytes or 0:,} bytes"

    # --- in short ------------------------------------------------------------------------------------------------------

    @cached_property
    def added(self) -> Event | None:
        """How it came: None where that is not recorded any more."""
        return next((event for event in self.events if event.what in ("added", "written")), None)

    @cached_property
    def removed(self) -> Event | None:
        """What removed it from the branch that was opened; None while it is there."""
        if self.is_live:
            return None
        return next(
            (event for event in reversed(self.events) if event.what == "removed" and not event.branch), None
        )

    @cached_property
    def lived(self) -> timedelta | None:
        """How long the branch that was opened had it; None while it is there, or where an end is not known."""
        if self.added is None or self.removed is None or self.added.at is None or self.removed.at is None:
            return None
        return self.removed.at - self.added.at

    @cached_property
    def lost(self) -> tuple[int, bool]:
        """How many rows were deleted from it on the opened branch, and whether that is exact."""
        found = [
            event
            for event in self.events
            if event.what in ("deleted from", "deletes gone") and not event.branch
        ]
        return sum(one.rows or 0 for one in found), all(one.is_exact for one in found)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What could not be read, so that something of this may be missing."""
        lost = [f"{keeper.name} cannot be read" for keeper in self.past.unread]
        lost += [
            f"{state.name}: a manifest list cannot be read" for state in self.past.states if state.unread
        ]
        refused = {finding.path for finding in self.table.findings if finding.severity == "error"}
        paths = [manifest.path for manifest in self.past.survey.manifests if manifest.path in refused]
        return (*lost, *(f"{path.rpartition('/')[2]} cannot be read" for path in paths))

    def to_arrow(self) -> pa.Table:
        """One row an event: `at`, `what`, `snapshot_id`, `why`, `branch`, `until`, `count`, `rows`, `left`, `is_exact`."""
        return self.events.to_arrow()

    def __repr__(self) -> str:
        parts = []
        if self.added is not None:
            parts.append(f"{self.added.what} {_day(self.added.at)}")
        if self.removed is not None:
            parts.append(f"removed {_day(self.removed.at)}")
        kept = len(self.kept_by)
        by = "the listing" if self.has_listing else f"{kept:,} snapshot{'s' * (kept != 1)}"
        parts.append(f"kept by {by}" if kept else "kept by nothing")
        return f"<Biography of {self.path.rpartition('/')[2]}: {', '.join(parts)}>"


def write_biography(table: Table, file: str | DataFile) -> Biography:
    """Write the life of a file; see `Table.biography`."""
    if not isinstance(file, str | DataFile):
        raise TypeError(f"a biography is of a path, a name or a DataFile, not of {type(file).__name__}")
    past = Past(table)
    if not table.traits.has_snapshots:
        return Biography(table, past, _find_listed(table, file), ())
    if isinstance(file, DataFile):
        found = find_sightings(past, choose_paths([file.path]))
        offset = getattr(file, "content_offset", None)
        found = [one for one in found if offset is None or one.offset == offset]
        if not found:
            raise Missing(f"no state of {table.name} has this file", path=file.path)
        return Biography(table, past, file, found)
    found = find_named(past, file)
    chosen = next((one for one in found if one.weight > 0), found[-1])
    return Biography(table, past, read_file(past, chosen), found)


def _find_listed(table: Table, file: str | DataFile) -> DataFile:
    """Find the file of a listing that a path or a name means."""

    name = file.path if isinstance(file, DataFile) else file
    found = [one for one in table.files if one.path == name or one.path.endswith("/" + name.lstrip("/"))]
    if not found:
        names = (one.path.rpartition("/")[2] for one in table.files[:2_000])
        hint = list_nearest(name.rpartition("/")[2], names)
        raise Missing(f"{table.name} has no file {say_value(name)}", path=table.location, hint=hint)
    if len(found) > 1:
        hint = f"one of {', '.join(one.path for one in found[:5])}"
        raise LakeError(f"{name!r} is the name of {len(found):,} files", path=table.location, hint=hint)
    return found[0]


def format_time(at: datetime) -> str:
    """Format a time to the second, in UTC."""
    return at.strftime("%Y-%m-%d %H:%M:%S")


def _day(at: datetime | None) -> str:
    return "at an unknown time" if at is None else at.strftime("%Y-%m-%d")


def _join(names: Sequence[str], most: int = 3) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown
