"""The cards of files' lives: what happened to one, line by line, and who still keeps it; what any file goes through."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby, islice

from lakelens.analysis.life.biography import Biography, Holders
from lakelens.analysis.life.events import Event, Events, What
from lakelens.model.life.lifetimes import Lifetime, Lifetimes
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Grid, Note, Role
from lakelens.views.describe import describe, one

#: The marks of the timeline, each beside its word.
MARKS: dict[What, str] = {
    "written": "●",
    "added": "●",
    "there before": "●",
    "carried": "·",
    "manifest rewritten": "◇",
    "raised": "◇",
    "deleted from": "▼",
    "deletes gone": "▽",
    "removed": "○",
    "left behind": "○",
}
_ROLES: dict[What, Role] = {"removed": "del", "carried": "mute", "left behind": "warn"}

_LIFETIME_COLUMNS = (
    Column("file", title="a file by its name, or what is kept elsewhere"),
    Column("who writes it"),
    Column("who names it", title="where a reader finds its name"),
    Column("may change", title="whether it is ever written again under its name"),
    Column("when it goes", title="which statement or procedure deletes it"),
)
_ORPHANS = (
    "Files that nothing names and no rule removes (a crashed write, a lost commit) are orphans: remove_orphan_files of "
    "Iceberg or of Paimon looks for them by age. Hive has none: everything in the directory is the table."
)


@describe.register
def card_of_biography(life: Biography, detail: int = 1) -> Card:
    """What happened to a file, and who still keeps it."""
    body: list[Body] = [_grid_events(life.events, "biography.events", life)]
    body += (
        [Note(f"Something may be missing: {wording.clean('; '.join(life.doubts), 400)}", "warn")]
        if life.doubts
        else []
    )
    return Card(
        "Biography",
        format_life(life),
        wording.clean(life.relative_path),
        body=tuple(body),
        folds=(_fold_kept(life),),
        about=list_sections(life, "biography"),
        target=named.target_of_file(life.file),
    )


@describe.register
def card_of_events(events: Events, detail: int = 1) -> Card:
    """What happened to a file."""
    return Card("Events", wording.plural(len(events), "event"), body=one(_grid_events(events, "events")))  # type: ignore[arg-type]


def format_life(life: Biography) -> str:
    """Say how long it lived, what it lost, how it ended, and how many snapshots keep it.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> format_life(table.biography(table.snapshots[0].files[0]))
    'Added 2026-11-21 13:44:51 and there now; lost 4 of 10 rows to deletes. 5 snapshots keep it.'
    """
    words = [_format_span(life)]
    rows, is_exact = life.lost
    if rows and life.file.record_count is not None:
        sure = "" if is_exact else "at most "
        total = wording.plural(life.file.record_count, "row")
        words.append(f"lost {sure}{wording.count(rows)} of {total} to deletes")
    kept = len(life.kept_by)
    by = (
        f"{wording.plural(kept, 'snapshot')} keep{'s' if kept == 1 else ''} it"
        if kept
        else "Nothing keeps it"
    )
    return f"{'; '.join(words)}." + ("" if life.has_listing else f" {by}.")


def _format_span(life: Biography) -> str:
    added, removed = life.added, life.removed
    if life.has_listing:
        return f"Written {wording.moment(added.at if added else None)}, and no history is kept"
    since = (
        "Added before the oldest snapshot that is left"
        if added is None
        else f"Added {wording.moment(added.at)}"
    )
    if life.is_live:
        return f"{since} and there now"
    if life.file.content == "changelog":
        return f"{since}: a changelog, of which the table's rows are not read"
    if removed is None:
        return f"{since}, not in the branch that was opened"
    if life.lived is None or added is None:
        return f"{since}, removed {wording.moment(removed.at)}"
    return f"Lived {format_span(life.lived)}, {wording.moment(added.at)} to {wording.moment(removed.at)}"


def format_span(span: timedelta) -> str:
    """Format a span of time in its two largest units.

    >>> [format_span(timedelta(seconds=amount)) for amount in (925_380, 61, 0.25)]
    ['10 days 17 h', '1 min 1 s', '250 ms']
    """
    seconds = abs(span.total_seconds())
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    days, rest = divmod(int(seconds), 86_400)
    parts = [(rest // 3_600, "h"), (rest // 60 % 60, "min"), (rest % 60, "s")]
    words = [wording.plural(days, "day")] if days else []
    words += [f"{amount:,} {unit}" for amount, unit in parts if amount]
    return " ".join(words[:2])


def _grid_events(events: Events, how: str, life: Biography | None = None) -> Grid:
    """One line for each; an event of another branch leads nowhere where each branch numbers its own snapshots."""
    is_apart = life is not None and life.table.traits.numbers_branches
    shown = list(islice(events, display.max_rows))
    exact = wording.share_a_second(event.at for event in shown)
    rows = [_cells_of_event(event, not (is_apart and event.branch), exact) for event in shown]
    columns = ("time, UTC!", Column("", is_life=True), "what!", "how", "branch")
    more = None if life is None else named.page("biography", path=life.path, part="events")
    grid = cells.grid(columns, rows, how=how, noun="event", total=len(events), target=more)
    return cells.prune(grid)


def _cells_of_event(event: Event, is_linked: bool, exact: bool) -> tuple[Cell, ...]:
    lasts = event.until is not None and event.count > 1
    until = f" to {wording.moment(event.until, exact=exact)}" if lasts else ""
    at = cells.moment(event.at, exact=exact)
    when = Cell(f"{at.text}{until}", at.role, at.title)
    why = cells.text(event.why, "mute" if event.what == "carried" else "")
    why = named.linked(why, *named.mention(why.text, event.snapshot_id)) if is_linked else why
    return (
        named.snapshot(event.snapshot_id, when) if is_linked else when,
        Cell(MARKS[event.what], "mute"),
        Cell(event.what, _ROLES.get(event.what, "")),
        why,
        cells.text(event.branch or None) if event.branch else Cell(""),
    )


def _fold_kept(life: Biography) -> Fold:
    """Who keeps it, and what would free it."""
    kept = life.kept_by
    free = wording.clean(life.freed_by, 400)
    if life.has_listing or not len(kept):
        return Fold("Still kept", free)
    first, last = kept[0], kept[-1]
    many = wording.plural(len(kept), "snapshot")
    span = wording.moment(first.at) + (f" to {wording.moment(last.at)}" if len(kept) > 1 else "")
    tags = f", tag {wording.clean(', '.join(life.tags[:3]), 120)}" if life.tags else ""
    return Fold(
        "Still kept",
        f"by {many}, {span}{tags}; {free}",
        lambda: one(_grid_kept(kept, life)),
    )


def _grid_kept(kept: Holders, life: Biography) -> Grid:
    is_apart = life.table.traits.numbers_branches
    rows = [
        (
            cells.code(holder.snapshot_id)
            if is_apart and holder.branch
            else named.snapshot(holder.snapshot_id),
            cells.moment(holder.at),
            cells.text(", ".join(holder.names)),
            cells.text(holder.branch) if holder.branch else Cell(""),
        )
        for holder in islice(kept, display.max_rows)
    ]
    names = ("snapshot", "committed, UTC!", "kept as", "branch")
    more, total = named.page("biography", path=life.path, part="kept_by"), len(kept)
    return cells.prune(
        cells.grid(names, rows, how="biography.kept_by", noun="snapshot", total=total, target=more)
    )


@describe.register
def card_of_lifetimes(lines: Lifetimes, detail: int = 1) -> Card:
    """Show every file's life."""
    rows: list[tuple[Cell, ...]] = []
    groups: list[tuple[int, str]] = []
    for name, some in groupby(lines, key=lambda line: line.format):
        held = list(some)
        changing = sum(line.may_change for line in held)
        groups.append((len(rows), f"{name.title()}: {changing} of {len(held)} may change"))
        rows += [_cells_of_lifetime(line) for line in held]
    grid = Grid(_LIFETIME_COLUMNS, tuple(rows), groups=tuple(groups))
    sentence = "of each format: who writes it, who names it, may it change, when does it go"
    return Card("Every file", sentence, body=(grid, Note(_ORPHANS, "mute")))


@describe.register
def card_of_lifetime(line: Lifetime, detail: int = 1) -> Card:
    """Show one of them."""
    return Card("File", line.file, body=(Grid(_LIFETIME_COLUMNS, (_cells_of_lifetime(line),)),))


def _cells_of_lifetime(line: Lifetime) -> tuple[Cell, ...]:
    name = cells.code(line.file) if line.is_file else cells.text(line.file)
    signs = (Cell("■ "), Cell("yes", "strong"), Cell(f" {line.change}", "small"))
    still = (Cell("□ "), Cell("no", "mute"), *((Cell(f" {line.note}", "small"),) if line.note else ()))
    return (
        cells.explain(name, line.what),
        cells.text(line.written_by),
        cells.text(line.named_by),
        cells.join(*(signs if line.may_change else still)),
        cells.text(line.goes),
    )
