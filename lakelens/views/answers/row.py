"""The card of the lives of rows: time runs down, a line for each version: what changed, where it was, what ended it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from lakelens.analysis.life.rows import End, Life, Move, RowLife, Version, Versions
from lakelens.options import display
from lakelens.views.answers.biography import format_span
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Grid, Note, Role
from lakelens.views.describe import describe

_MOST_LIVES = 3
_MOST_VALUES = 12
_COLUMNS = ("since, UTC!", Column("", is_life=True), "version!", "values, and what ended it", "branch")


@describe.register
def card_of_row_life(life: RowLife, detail: int = 1) -> Card:
    """Show every version of the rows that a predicate is about."""
    body: list[Body] = []
    shown = life.lives[: _MOST_LIVES if detail < 2 else display.max_rows]
    if life.lives:
        body.append(_grid_lives(life, shown))
    left = len(life.lives) - len(shown)
    if left:
        said = f"{wording.plural(left, 'more row')}, each with a life of its own"
        body.append(
            cells.hint(
                said, ".lives, .to_arrow()", named.page("row", where=life.where, part="versions"), said
            )
        )
    if life.doubts[0 if life.lives else 1 :]:
        body.append(Note(f"Something may be missing: {wording.clean('; '.join(life.doubts), 400)}", "warn"))
    identity = f"{life.identity.words}; {life.merge}" if life.merge else life.identity.words
    looked = life.looked
    opened = f"{wording.count(looked.files)} {'was' if looked.files == 1 else 'were'} opened"
    answer = (
        f"{wording.count(looked.candidates)} of {wording.plural(looked.of, 'data file')} of all states may hold such rows, "
        f"{opened}; {wording.plural(looked.rows, 'stored row')}, "
        f"{wording.plural(looked.delete_files, 'delete file')}; {wording.size(looked.bytes)} in "
        f"{wording.plural(looked.requests, 'request')}"
    )
    return Card(
        "Row" if len(life.lives) < 2 else "Rows",
        format_lives(life),
        f"{wording.clean(life.where, 200)} of {wording.clean(life.name)}",
        alert="gone" if len(life.lives) == 1 and life.lives[0].gone is not None else "",
        body=tuple(body),
        folds=(
            Fold("The same row", wording.clean(identity, 400)),
            *_list_still(life),
            Fold("Looked at", answer),
        ),
        about=list_sections(life, "row"),
    )


@describe.register
def card_of_versions(versions: Versions, detail: int = 1) -> Card:
    """Versions of rows."""
    shown = list(islice(versions, display.max_rows))
    exact = wording.share_a_second(version.since for version in shown)
    rows = [_cells_of_version(version, exact) for version in shown]
    grid = cells.grid(_COLUMNS, rows, how="versions", noun="version", total=len(versions))
    return Card("Versions", wording.plural(len(versions), "version"), body=(cells.prune(grid),))


@describe.register
def card_of_version(version: Version, detail: int = 1) -> Card:
    """One version of a row."""
    pairs = [(name, cells.value(held)) for name, held in version.values.items()]
    sentence = f"version {version.number} of row {version.row}, {wording.clean(version.ended_by or 'there')}"
    return Card("Version", sentence, body=(cells.pairs(pairs, is_open=True),))


def format_lives(life: RowLife) -> str:
    """Say how many rows and versions, how often they moved, and whether they are there.

    >>> import lakelens as ll
    >>> format_lives(ll.sample("paimon").row("id = 4"))
    '1 row, 1 version, moved once; there now.'
    """
    if not life.lives:
        doubt = f"Not known: {wording.clean(life.doubts[0], 400)}." if life.doubts else ""
        return doubt or "No state that is left has such a row."
    count = len(life.lives)
    words = [wording.plural(count, "row"), wording.plural(len(life.versions), "version")]
    if life.moves:
        words.append(f"moved {'once' if life.moves == 1 else f'{wording.count(life.moves)} times'}")
    if count > 1:
        end = "all there now" if life.there == count else f"{wording.count(life.there)} there now"
    else:
        gone = life.lives[0].gone
        end = "there now" if gone is None else f"gone since {wording.moment(gone.at)}"
        end = end if life.lives[0].main else "on another branch alone"
    if not life.has_history:
        end += "; the directory keeps no history"
    return f"{', '.join(words)}; {end}."


def _grid_lives(life: RowLife, shown: tuple[Life, ...]) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    groups = []
    exact = wording.share_a_second(_list_times(shown))
    for shown_life in shown:
        if len(life.lives) > 1:
            groups.append((len(rows), _name_row(life, shown_life)))
        rows += _rows_of_life(shown_life, life.identity.follows, exact)
    grid = cells.grid(_COLUMNS, rows, how="row.versions", noun="line", groups=groups)
    return cells.prune(grid)


def _list_times(lives: tuple[Life, ...]) -> Iterator[datetime | None]:
    for life in lives:
        for version in life.versions:
            yield version.since
            yield from (move.at for move in version.moves)
        if life.gone is not None:
            yield life.gone.at


def _name_row(life: RowLife, one: Life) -> str:
    names = life.identity.columns
    key = one.key if isinstance(one.key, tuple) else (one.key,)
    if names:
        pairs = ", ".join(f"{name} {wording.value(held)}" for name, held in zip(names, key, strict=False))
        return wording.clean(f"Row {one.number}: {pairs}", 120)
    return f"Row {one.number}" + (f": row id {key[0]}" if life.identity.kind == "row id" else "")


def _rows_of_life(life: Life, is_followed: bool, exact: bool) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for version in life.versions:
        rows.append(_cells_of_version(version, exact))
        rows += (_cells_of_move(version, move, exact) for move in version.moves)
    if life.gone is not None:
        gone = life.gone
        text = cells.text(f"{gone.how}: no later version{'' if is_followed else ' that fits'}")
        rows.append(
            (
                _name_commit(gone, gone.snapshot_id, cells.moment(gone.at, exact=exact)),
                Cell("▼", "mute"),
                Cell("gone", "del"),
                text,
                cells.text(gone.branch),
            )
        )
    return rows


def _cells_of_version(version: Version, exact: bool) -> tuple[Cell, ...]:
    mark = "●" if version.number == 1 else "■"
    before = " or before" if version.is_first_known else ""
    at = cells.moment(version.since, exact=exact)
    return (
        _name_commit(version, version.since_id, Cell(f"{at.text}{before}", at.role, at.title)),
        Cell(mark, "mute"),
        Cell(str(version.number), "strong"),
        _format_values(version),
        cells.text(version.branch) if version.branch else Cell(""),
    )


def _name_commit(of: Version | Move | End, number: int | None, shown: Cell) -> Cell:
    """Name when a commit was made, which leads to its snapshot; other branches may number their own."""
    return shown if of.branch else named.snapshot(number, shown)


def _format_values(version: Version) -> Cell:
    """Format the values that changed, of the first version all; where it is; what ended it."""
    wanted = version.changed if version.number > 1 else tuple(version.values)
    parts: list[Cell] = []
    for name in wanted[:_MOST_VALUES]:
        parts += [Cell(", ")] if parts else []
        said = "not known" if name in version.unknown else wording.value(version.values.get(name))
        role: Role = "changed" if version.number > 1 else "code"
        parts += [Cell(f"{wording.clean(name, 60)} "), Cell(wording.clean(said, 120), role)]
    if len(wanted) > _MOST_VALUES:
        parts.append(Cell(f" and {len(wanted) - _MOST_VALUES:,} more"))
    if not parts:
        parts.append(Cell("same values, written again"))
    by = wording.clean(version.by, 120)
    number = None if version.branch else version.since_id
    parts += [cells.BREAK, _name_place(version.file, version.position, f"; by {by}", number)]
    for end in version.ends:
        span = ""
        if end.at is not None and version.since is not None:
            span = f" after {format_span(end.at - version.since)}"
        on = f" on branch {end.branch}" if end.branch != version.branch else ""
        parts += [cells.BREAK, Cell(wording.clean(f"ended{on}{span}: {end.how}", 300))]
    return cells.join(*parts)


def _cells_of_move(version: Version, move: Move, exact: bool) -> tuple[Cell, ...]:
    where = _name_place(move.file, move.position)
    text = cells.join(
        Cell(wording.clean(f"same values, rewritten {move.how}", 200), "mute"), cells.BREAK, where
    )
    number = Cell(f"{version.number}, moved", "mute")
    return (
        _name_commit(move, move.snapshot_id, cells.moment(move.at, exact=exact)),
        Cell("○", "mute"),
        number,
        text,
        cells.text(move.branch) if move.branch else Cell(""),
    )


def _name_place(file: str, position: int, more: str = "", number: int | None = None) -> Cell:
    """Name where a row is: its file and its position, and by which commit it came there."""
    name, place = wording.name(file), f", row {wording.count(position)}"
    said = named.mention(more, number) or named.sentence(more)
    small = (replace(part, role="small") for part in named.sentence(place, *said))
    return Cell(f"{name}{place}{more}", "small", linked=(named.file(file, name, "small"), *small))


def _list_still(life: RowLife) -> list[Fold]:
    """List which snapshots still show each version."""
    if not life.has_history or not life.lives:
        return []
    past = life.past
    rows = []
    for version in islice(life.versions, display.max_rows):
        places = sorted(version.places)
        first, last = past.snapshot(places[0]), past.snapshot(places[-1])
        tags = ", ".join(tag for place in places for tag in past.kept[place].tags)
        rows.append(
            (
                cells.number(version.row),
                cells.number(version.number),
                cells.number(len(places)),
                named.snapshot(first.id),
                named.snapshot(last.id),
                cells.text(tags) if tags else Cell(""),
            )
        )
    names = ("row#", "version#", "snapshots#", "from snapshot", "to snapshot", "tags")
    grid = cells.grid(names, rows, how=".versions", noun="version", total=len(life.versions))
    call = cells.hint("As a reader of a snapshot sees them", ".at(snapshot)")
    states = {place for version in life.versions for place in version.places}
    answer = f"by time travel to {wording.plural(len(states), 'snapshot')}, until they expire"
    return [Fold("Still read", answer, lambda: [cells.prune(grid), call])]
