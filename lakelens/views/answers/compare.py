"""The card of a comparison: whether two places hold one table, what that rests on, and the files that differ."""

from __future__ import annotations

from lakelens.analysis.compare import Comparison, Difference
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Fold, Grid, Make, Note, Role
from lakelens.views.describe import describe, one

_TITLES = {
    "same": "The same table",
    "not whole": "Not whole",
    "different": "Different",
    "behind": "Behind",
    "other table": "Two tables",
}
_ROLES: dict[str, Role] = {"SAME": "mute", "BEHIND": "warn", "ONLY": "warn"}


@describe.register
def card_of_comparison(compared: Comparison, detail: int = 1) -> Card:
    """Say whether it is one table, then by what each thing was compared."""
    body: list[Body] = [Note(_format_places(compared)), _grid_rows(compared)]
    body += [Note(wording.clean(note, 400), "warn") for note in compared.notes]
    folds: list[Fold] = []
    for words, states in (
        ("Missing", ("MISSING", "UNREADABLE")),
        ("Different", ("OTHER LENGTH", "OTHER BYTES")),
    ):
        chosen = [difference for difference in compared.differences if difference.state in states]
        if chosen:
            folds.append(Fold(words, _count_files(chosen), _make_files(chosen), opened=True))
    alone = [difference for difference in compared.differences if difference.state == "ONLY"]
    if alone:
        folds.append(Fold("On one side alone", _count_files(alone), _make_files(alone)))
    folds.append(Fold("Rests on", _format_grounds(compared)))
    title = _TITLES[compared.verdict]
    return Card(title, _format_sentence(compared), body=tuple(body), folds=tuple(folds))


def _format_sentence(compared: Comparison) -> str:
    """Say what the verdict is about, in a line."""
    if compared.verdict == "same":
        return f"{wording.plural(compared.files, 'file')} in both"
    if compared.verdict == "other table":
        return "what each says that it is differs"
    return wording.clean(compared.detail, 200)


def _format_places(compared: Comparison) -> str:
    places = " · ".join(
        f"{name} {wording.clean(table.location, 200)} ({table.traits.title})"
        for name, table in (("a", compared.a), ("b", compared.b))
    )
    at = "" if compared.at is None else f"; the newest state that both have is {compared.at}"
    return f"{places}{at}."


def _grid_rows(compared: Comparison) -> Grid:
    rows = [
        (
            Cell(wording.clean(row.name, 80)),
            Cell(wording.clean(row.a, 60), "code"),
            Cell(wording.clean(row.b, 60), "code"),
            Cell(row.state, _ROLES.get(row.state, "del")),
            Cell(wording.clean(row.by, 200), "mute"),
        )
        for row in compared.rows
    ]
    columns: tuple[str | Column, ...] = (
        *(Column(name, is_short=True) for name in ("what", "a", "b", "state")),
        "compared by",
    )
    return cells.grid(columns, rows, how=".rows", is_open=True)


def _count_files(differences: list[Difference]) -> str:
    live = sum(difference.is_live for difference in differences)
    return wording.plural(len(differences), "file") + (f", {wording.count(live)} live" if live else "")


def _make_files(differences: list[Difference]) -> Make:
    """Make the grid of files when it is opened."""
    return lambda: one(_grid_files(differences))


def _grid_files(differences: list[Difference]) -> Grid:
    rows = (
        (
            Cell(difference.state, _ROLES.get(difference.state, "del")),
            Cell(difference.side or "both"),
            Cell(wording.clean(difference.role, 60)),
            cells.code(difference.relative_path),
            *(
                Cell("—", "mute") if size is None else cells.size(size)
                for size in (difference.a_bytes, difference.b_bytes)
            ),
            Cell(_format_reason(difference), "mute"),
        )
        for difference in differences
    )
    columns = ("state", "in", "role", "file", "a#", "b#", "why")
    return cells.grid(columns, rows, how=".differences", noun="file", total=len(differences))


def _format_reason(difference: Difference) -> str:
    count = len(difference.snapshots)
    states = f"; {wording.plural(count, 'snapshot')} need{'s' if count == 1 else ''} it" if count else ""
    return f"{wording.clean(difference.why, 200)}{states}"


def _format_grounds(compared: Comparison) -> str:
    """Say what was read, and what that cannot see."""
    if compared.a.format != compared.b.format:
        return (
            "names, lengths and recorded counts of live files, as each format records them; no bytes of data"
        )
    words = ["documents by all bytes"]
    if compared.other_bytes:
        words[0] += f" ({wording.plural(compared.other_bytes, 'document')} differ in recorded places alone)"
    words.append(
        "data files by all bytes"
        if compared.reads_data
        else "data files by name and length: other bytes of the same length are seen with data=True alone"
    )
    return f"{wording.plural(compared.files, 'file')}: {'; '.join(words)}"
