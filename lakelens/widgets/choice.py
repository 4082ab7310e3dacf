"""What is shown of a choice in a timeline: five facts of a snapshot with what it changed, or of two with the difference.

All of it is recorded in the snapshots: an arrow key goes on to the next one without reading what they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lakelens.analysis.timeline.timeline import Mark, Timeline
from lakelens.model.facts.traits import Figures
from lakelens.model.snapshot import Snapshot
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Fact
from lakelens.views.cards.snapshot import list_facts
from lakelens.views.timeline.selection import describe_pause

_SAME = "unchanged"


def present_mark(timeline: Timeline, mark: Mark) -> Card:
    """When a snapshot was committed, its rows, files, bytes and schema, and what it changed of them."""
    snapshot = mark.snapshot
    changes = _list_changes(mark.amounts)
    facts = []
    for fact in list_facts(snapshot):
        if fact.label == "snapshot":  # the line above names it
            continue
        if fact.label.startswith("committed"):
            value = cells.moment(snapshot.committed_at, exact=True)
            facts.append(replace(fact, value=value, small=describe_pause(timeline, mark)))
        elif fact.label == "bytes":
            facts.append(replace(fact, small=changes["bytes"] or fact.small))
        else:
            changed = changes.get(fact.label.removeprefix("live "), "")
            facts.append(replace(fact, small="; ".join(filter(None, (changed, fact.small)))))
    return Card("", "", facts=(*facts, *_describe_schema(timeline, mark, snapshot)))


def _list_changes(figures: Figures) -> dict[str, str]:
    """What a commit changed of each figure, as it records it."""
    net = figures.net_bytes
    rows = _pair(figures.added_rows, figures.removed_rows) or _pair(figures.net_rows, 0)
    marked = wording.deleted(figures.deleted, figures.added_equality_deletes)
    return {
        "rows": ", ".join(filter(None, ("" if marked and rows == _SAME else rows, marked))),
        "files": _pair(figures.added_files, figures.removed_files),
        "bytes": "" if net is None else cells.changed_size(net).text if net else _SAME,
    }


def _pair(came: int | None, gone: int | None) -> str:
    """`+9,927 −3`; nothing where neither is recorded."""
    if came is None and gone is None:
        return ""
    return " ".join(wording.change(amount) for amount in (came or 0, -(gone or 0)) if amount) or _SAME


def _describe_schema(timeline: Timeline, mark: Mark, snapshot: Snapshot) -> tuple[Fact, ...]:
    if snapshot.schema_id is None:
        return ()
    parent = timeline.find(mark.parent) if mark.parent is not None else None
    before = None if parent is None else timeline.marks[parent].snapshot.schema_id
    changed = "" if before in (None, snapshot.schema_id) else f"{before} before"
    return (Fact("schema", Cell(str(snapshot.schema_id)), changed),)


def present_range(before: Snapshot, after: Snapshot) -> Card:
    """How far rows, files, bytes and schema of two snapshots differ, as both record them."""
    one, other = before.figures, after.figures
    live = before.known_live_rows, after.known_live_rows
    is_known = all(rows.count is not None for rows in live)
    label = (
        "rows"
        if all(rows.count == rows.recorded for rows in live)
        else "live rows"
        if is_known
        else "rows stored"
    )
    old_rows, new_rows = (rows.count if is_known else rows.recorded for rows in live)
    figures: tuple[tuple[str, int | None, int | None, Callable[[int], Cell], Callable[[int], str]], ...] = (
        ("files", one.files, other.files, cells.changed, wording.count),
        (label, old_rows, new_rows, cells.changed, wording.count),
        ("bytes", one.size_bytes, other.size_bytes, cells.changed_size, wording.size),
    )
    facts = [
        Fact(name, write(new - old), f"{word(old)} became {word(new)}")
        for name, old, new, write, word in figures
        if old is not None and new is not None
    ]
    if before.schema_id is not None and after.schema_id is not None:
        is_same = before.schema_id == after.schema_id
        words = "same" if is_same else f"{before.schema_id} became {after.schema_id}"
        facts.append(Fact("schema", Cell(words), str(after.schema_id) if is_same else ""))
    return Card("", "", facts=tuple(facts))
