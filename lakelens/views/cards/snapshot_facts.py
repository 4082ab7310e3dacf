"""The row of facts of a snapshot and of a table: which, when, rows, files, bytes."""

from __future__ import annotations

from lakelens.analysis.figures import count_by_lists
from lakelens.model.snapshot import History, Snapshot
from lakelens.model.table import Table
from lakelens.model.traits import Figures
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Fact


def summarise(table: Table) -> tuple[Fact, ...]:
    """The row of facts of a table: those of its current snapshot, within its history."""
    current = table.current
    if current is None:
        return (Fact("snapshot", Cell("none", "mute"), "nothing was committed yet"),)
    return list_facts(current, table.outline_history())


def list_facts(snapshot: Snapshot, history: History | None = None) -> tuple[Fact, ...]:
    """The row of facts of a snapshot: which, when, rows, files, bytes."""
    figures = snapshot.figures
    facts = []
    if snapshot.id is not None:
        small = wording.clean(snapshot.operation or "operation not recorded")
        if snapshot.sequence_number is not None:
            small += f", sequence {snapshot.sequence_number}"
        facts.append(Fact("snapshot", cells.code(snapshot.id), small))
    if snapshot.committed_at is not None:
        label = "committed, UTC" if snapshot.id is not None else "newest file, UTC"
        facts.append(Fact(label, cells.moment(snapshot.committed_at), _word_history(history)))
    if figures.rows is not None:
        facts.append(Fact("rows", Cell(wording.count(figures.rows)), _word_deletes(figures)))
    files = count_by_lists(snapshot) if figures.files is None else figures.files
    if files is not None:
        facts.append(Fact("files", Cell(f"{wording.count(files)} data"), _word_delete_files(figures)))
    if figures.bytes is not None:
        every = files + (figures.delete_files or 0) if files else 0
        small = f"{wording.size(figures.bytes // every)} a file" if every else ""
        facts.append(Fact("bytes", cells.size(figures.bytes), small))
    return tuple(facts)


def _word_history(history: History | None) -> str:
    if history is None or not history.count:
        return ""
    first = history.first.committed_at if history.first is not None and history.count > 1 else None
    since = f" since {wording.moment(first)}" if first is not None else ""
    return f"{wording.plural(history.count, 'snapshot')}{since}"


def _word_deletes(figures: Figures) -> str:
    words = [
        f"{wording.count(number)} deleted by {how}"
        for number, how in ((figures.position_deletes, "position"), (figures.equality_deletes, "equality"))
        if number
    ]
    return ", ".join(words)


def _word_delete_files(figures: Figures) -> str:
    if figures.delete_files:
        return wording.plural(figures.delete_files, "delete file")
    return f"{figures.partitions} partitions" if figures.partitions else ""
