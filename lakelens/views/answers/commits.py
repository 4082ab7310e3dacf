"""The cards of the crash lab: what each step changed and what a SELECT saw, kills, and the anomalies of each format."""

from __future__ import annotations

from lakelens.options import display
from lakelens.practice.commits.seen import ROWS, AnomalyTable, Kills, Moments
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Card, Cell, Role
from lakelens.views.describe import describe

_COUNTS = ("torn read", "dirty read", "lost update", "failed", "orphan files")


@describe.register
def card_of_moments(moments: Moments, detail: int = 1) -> Card:
    """Show each step with its changes, and what a SELECT saw after it; half an INSERT is marked."""
    rows = []
    for number, moment in enumerate(moments, 1):
        lines = [Cell(wording.clean(change), "code") for change in moment.changes]
        parts = [part for line in lines for part in (cells.BREAK, line)][1:]
        is_failed = moment.outcome.startswith("failed")
        rows.append(
            (
                cells.number(number),
                Cell(moment.writer, "strong"),
                Cell(moment.step),
                cells.join(*parts) if parts else Cell("nothing", "mute"),
                show_rows(moment.rows, is_wrong=moment.is_torn),
                Cell(wording.clean(moment.outcome), "warn" if is_failed else "mute"),
            )
        )
    columns = ("n#", "who", "step!", "changes", "SELECT sees", "then")
    with display.using(max_rows=max(display.max_rows, len(rows), 1)):
        grid = cells.grid(columns, rows, is_open=True)
    said = f"{wording.plural(len(rows), 'step')} of " + " and ".join(
        f"{name} (rows {', '.join(map(str, ids))})" for name, ids in ROWS.items()
    )
    return Card("Crash lab", said, body=(grid,))


@describe.register
def card_of_kills(kills: Kills, detail: int = 1) -> Card:
    """Show what was left where an INSERT was killed, and after it was run once more."""
    rows = [
        (
            cells.number(kill.changes),
            Cell(wording.clean(kill.last) or "nothing", "code" if kill.last else "mute"),
            show_rows(kill.rows, is_wrong="torn read" in kill.anomalies),
            show_rows(kill.again, is_wrong="double rows" in kill.anomalies),
            Cell(", ".join(kill.anomalies) or "none", "warn" if kill.anomalies else "mute"),
            cells.number(kill.orphans),
        )
        for kill in kills
    ]
    columns = ("changes#", "the last of them", "SELECT sees", "run again, it sees", "anomaly", "orphans#")
    with display.using(max_rows=max(display.max_rows, len(rows), 1)):
        grid = cells.grid(columns, rows, is_open=True)
    said = (
        f"one INSERT, at {wording.plural(len(rows), 'place')}; run again, its rows 2 and 3 are called 4 and 5"
    )
    return Card("Killed", said, body=(grid,))


@describe.register
def card_of_anomalies(table: AnomalyTable, detail: int = 1) -> Card:
    """Show in how many orders of two INSERTs each anomaly was seen."""
    rows = []
    for line in table:
        counts = (line.torn_read, line.dirty_read, line.lost_update, line.failed, line.orphan_files)
        marked: list[tuple[int, Role]] = [(line.none, "add" if line.none == line.orders else "")]
        marked += [(count, "warn" if count else "mute") for count in counts]
        rows.append(
            (Cell(line.variant), cells.number(line.orders), *(Cell(str(n), role) for n, role in marked))
        )
    grid = cells.grid(("format", "orders#", "none#", *(f"{name}#" for name in _COUNTS)), rows, is_open=True)
    return Card("Anomalies", "of every order of two INSERTs, by what was read after each step", body=(grid,))


def show_rows(rows: tuple[int, ...], *, is_wrong: bool) -> Cell:
    """Show the ids that a SELECT gave."""
    return Cell(", ".join(map(str, rows)), "warn" if is_wrong else "exact")
