"""Snapshots named as git names commits: counted back (`main~2`, `-1`), at a time, or by the beginning of an id.

`main~2` is the parent of the parent of what `main` points at, `~1` that of the current snapshot; `-1` is the newest one, as
`table.snapshots[-1]` is. `@{2026-03-01}` is what the table was at this time, `audit@{2026-03-01}` the last snapshot up to
it among those that `audit` points at and was committed on. A table without branches has its one line of commits, which is
`main` as everywhere. An id is known by its first digits, at least four, unless several ids begin so: only where a format
draws ids at random, as every number is a snapshot of its own where they are counted.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING

from lakelens.errors import Ambiguous, Missing

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


class Default(Enum):
    """What a diff begins with where nobody says it: the parent of the snapshot that it ends with."""

    PARENT = "the parent"


_BACK = re.compile(r"(?P<name>.*)~(?P<steps>[0-9]{0,9})", re.DOTALL)
_AT = re.compile(r"(?P<name>.*)@\{(?P<time>[^{}]+)\}", re.DOTALL)
_MAIN = ("", "main")  # where the table itself says what was current
_FROM_END = re.compile(r"-(?P<place>[0-9]{1,9})")
_BEGINNING = re.compile(r"(?P<digits>-?[0-9]{4,18})…?")
_MOST_LISTED = 8


def find_revision(table: Table, text: str) -> Snapshot | None:
    """Find the snapshot that a text counts to, or whose id begins with it; None where it does neither.

    Raises `Ambiguous` where several ids begin so, `Missing` where there is no commit as far back.
    """
    if (counted := _FROM_END.fullmatch(text)) is not None:
        place, known = int(counted["place"]), table.snapshots
        return known[-place] if 0 < place <= len(known) else None
    if (counted := _BACK.fullmatch(text)) is not None:
        return _walk_back(table, table.snapshot(counted["name"] or None), int(counted["steps"] or 1), text)
    if (dated := _AT.fullmatch(text)) is not None:
        return _find_at(table, dated["name"], dated["time"], text)
    begun = _BEGINNING.fullmatch(text)
    if begun is not None and table.traits.draws_ids:
        return _find_begun(table, begun["digits"])
    return table.current if text == "main" and table.traits.has_snapshots and not table.refs else None


def find_parent(table: Table, snapshot: Snapshot) -> Snapshot | None:
    """Find the snapshot that one was committed on; None for a first one. Raises `Missing` where it is not kept."""
    if not table.traits.has_snapshots:
        kept = f"a {table.traits.title} table keeps no snapshots: nothing is known from before the listing"
        raise Missing(kept, path=table.location, hint="its history, which shows when its files were written")
    parent = snapshot.changes.before  # its own table's: a branch may number its commits itself
    number = snapshot.id or 0
    is_first = snapshot.parent_id is None and not (table.traits.numbers_branches and number > 1)
    if parent is None and not is_first:
        gone = number - 1 if snapshot.parent_id is None else snapshot.parent_id
        hint = "a diff from nothing"
        raise Missing(f"snapshot {gone}, the parent of {number}, has expired", path=table.location, hint=hint)
    return parent


def _walk_back(table: Table, start: Snapshot, steps: int, text: str) -> Snapshot:
    snapshot = start
    for step in range(steps):
        parent = find_parent(table, snapshot)
        if parent is None:
            before = "no snapshot" if step == 0 else f"only {step:,}"
            raise Missing(
                f"no snapshot {text!r}: {start.id} has {before} before it",
                path=table.location,
                hint=f"{snapshot.id}, the first one",
            )
        snapshot = parent
    return snapshot


def _find_at(table: Table, name: str, time: str, text: str) -> Snapshot:
    """Find what a branch or tag was at a time: of the table's own line as it says, else by who was committed on whom."""
    moment = parse_time(time)
    if moment is None:
        hint = "a date or a time in ISO form, such as @{2026-03-01} or main@{2026-03-01T13:00}"
        raise Missing(f"no snapshot {text!r}: {time!r} is no time", path=table.location, hint=hint)
    if name in _MAIN:
        return table.snapshot(moment)
    snapshot: Snapshot | None = table.snapshot(name)
    while snapshot is not None and (snapshot.committed_at is None or snapshot.committed_at > moment):
        snapshot = find_parent(table, snapshot)
    if snapshot is None:
        hint = f"{name}, what it is now"
        raise Missing(f"no snapshot {text!r}: it was committed later", path=table.location, hint=hint)
    return snapshot


def parse_time(text: str) -> datetime | None:
    """Parse a date or a time in ISO form, in UTC where it has no zone; None for any other text.

    >>> parse_time("2026-03-01"), parse_time("main")
    (datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc), None)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _find_begun(table: Table, digits: str) -> Snapshot | None:
    """Find the snapshot whose id alone begins with these digits."""
    alike = [s for s in table.snapshots if s.id is not None and str(s.id).startswith(digits)]
    if len(alike) > 1:
        listed = " or ".join(str(s.id) for s in alike[-_MOST_LISTED:])
        more = f"; {len(alike) - _MOST_LISTED:,} more" if len(alike) > _MOST_LISTED else ""
        raise Ambiguous(
            f"{len(alike):,} snapshots have an id that begins with {digits}",
            path=table.location,
            hint=f"{listed}{more}",
        )
    return alike[0] if alike else None
