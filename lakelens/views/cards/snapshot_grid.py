"""Snapshots as a grid: what each changed, newest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from lakelens.analysis.diff.level_promotion import Raised, find_raised_by
from lakelens.analysis.figures import read_changes
from lakelens.model.snapshot import Snapshot
from lakelens.model.traits import Figures
from lakelens.options import display
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Cell, Grid

# label, figure, how to word it
_CHANGES: tuple[tuple[str, Callable[[Figures], int | None], Callable[[int], Cell]], ...] = (
    ("files −#", lambda f: f.removed_files, cells.removed),
    ("files +#", lambda f: f.added_files, cells.added),
    ("rows −#", lambda f: f.removed_rows, cells.removed),
    ("rows +!", lambda f: f.added_rows, cells.added),
    ("rows ±#", lambda f: f.net_rows, cells.changed),
    ("bytes ±#", lambda f: f.net_bytes, cells.changed_size),
    ("rows then#", lambda f: f.rows, cells.number),
)


def grid_snapshots(
    snapshots: Sequence[Snapshot],
    how: str = "table.snapshots",
    total: int | None = None,
    *,
    looks_closer: bool = False,
) -> Grid:
    """The newest snapshots first; a column that no snapshot records is left out, a figure that one leaves out is 0.

    `total` counts them also where only the newest ones are given. Looking closer, the manifests of small commits are read
    that may only have raised files to another level.
    """
    grid = _grid(list(islice(reversed(snapshots), display.max_rows)), how, looks_closer)
    left = (len(snapshots) if total is None else total) - len(grid.rows)
    return replace(grid, more=f"… {wording.count(left)} older" if left else "", how=how if left else "")


def _grid(shown: Sequence[Snapshot], how: str, looks_closer: bool) -> Grid:
    raised = [find_raised_by(snapshot) if looks_closer else None for snapshot in shown]
    figures = [_read_figures(snapshot, found) for snapshot, found in zip(shown, raised, strict=True)]
    columns = [change for change in _CHANGES if any(change[1](f) is not None for f in figures)]
    exact = _share_seconds(shown)
    rows = [
        (
            cells.code(snapshot.id),
            cells.text(snapshot.operation),
            cells.moment(snapshot.committed_at, exact=exact),
            *(word(find(found) or 0) for _, find, word in columns),
            cells.text(_word_raised(up) if up is not None else "", "mute"),
            cells.text(", ".join(snapshot.refs), "mute"),
        )
        for snapshot, found, up in zip(shown, figures, raised, strict=True)
    ]
    names = ["snapshot", "operation!", "committed, UTC!", *(label for label, _, _ in columns), "note", "refs"]
    if "rows −#" in names and "rows +!" in names:
        place = names.index("rows +!")
        names.insert(place, "")
        drawn = cells.bars([(f.removed_rows or 0, f.added_rows or 0) for f in figures])
        rows = [(*row[:place], bar, *row[place:]) for row, bar in zip(rows, drawn, strict=True)]
    return cells.prune(cells.grid(names, rows, how=how, noun="snapshot", about=("common.anywhere",)))


def _read_figures(snapshot: Snapshot, raised: Raised | None) -> Figures:
    figures = read_changes(snapshot)
    return figures if raised is None else replace(figures, added_files=0, removed_files=0)


def _word_raised(raised: Raised) -> str:
    return f"{wording.plural(len(raised.files), 'file')} {raised.words}"


def _share_seconds(snapshots: Sequence[Snapshot]) -> bool:
    """Whether two of them were committed within one second, so that seconds alone do not tell them apart."""
    seconds = [s.committed_at.replace(microsecond=0) for s in snapshots if s.committed_at is not None]
    return len(set(seconds)) < len(seconds)


def word_snapshots(snapshots: Sequence[Snapshot], most: int = 5, total: int | None = None) -> str:
    """The newest operations in a line, the newest first; the same ones in a row are counted."""
    count = len(snapshots) if total is None else total
    runs: list[list[str | int]] = []
    for snapshot in reversed(snapshots[-most:]):
        word = wording.clean(snapshot.operation or "not recorded", 40)
        if runs and runs[-1][0] == word:
            runs[-1][1] = int(runs[-1][1]) + 1
        else:
            runs.append([word, 1])
    told = ", ".join(str(word) if times == 1 else f"{times} {word}" for word, times in runs)
    if count <= most:
        return f"{wording.plural(count, 'snapshot')}: {told}"
    return f"last {most} of {wording.plural(count, 'snapshot')}: {told}"


def word_changes(snapshot: Snapshot) -> str:
    """What a commit changed, as it records it, in a line."""
    raised = find_raised_by(snapshot)
    figures = _read_figures(snapshot, raised)
    words = [] if raised is None else [f"{_word_raised(raised)}, none rewritten"]
    for noun, gone, came in (
        ("files", figures.removed_files, figures.added_files),
        ("rows", figures.removed_rows, figures.added_rows),
    ):
        signed = [wording.change(amount) for amount in (-(gone or 0), came or 0) if amount]
        if signed:
            words.append(f"{noun} {' '.join(signed)}")
    if figures.net_rows:
        words.append(f"rows {wording.change(figures.net_rows)}")
    if figures.added_bytes or figures.removed_bytes:
        net = (figures.added_bytes or 0) - (figures.removed_bytes or 0)
        words.append(f"bytes {'+' if net > 0 else ''}{wording.size(net)}")
    return ", ".join(words) or "no file, as far as the snapshot records it"
