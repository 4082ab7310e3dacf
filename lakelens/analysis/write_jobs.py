"""Who wrote the files of a table that keeps no history: its jobs, by the names of the files and their times."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from lakelens.model.table import Table
from lakelens.views.card import cells, wording
from lakelens.views.card.model import Fold, Grid
from lakelens.views.describe import one


def fold_writes(table: Table) -> Fold:
    """The files grouped by the job that wrote them, newest first; nothing else tells what happened."""
    jobs: dict[Any, list[Any]] = {}
    for found in table.files:
        jobs.setdefault(getattr(found, "write_id", None), []).append(found)
    if not jobs:
        return Fold("Writes", "no snapshots are kept, and there is no visible file")
    named = sum(1 for job in jobs if job is not None)
    told = f"{wording.plural(named, 'job')} by the names of the files" if named else "the names tell no job"
    return Fold("Writes", f"no snapshots are kept; {told}", lambda: one(_grid_jobs(jobs)))


def _grid_jobs(jobs: dict[Any, list[Any]]) -> Grid:
    ordered = sorted(jobs.items(), key=lambda item: _find_newest(item[1]) or datetime.min, reverse=True)
    rows = [
        (
            cells.code(job) if job is not None else cells.text("not told", "mute"),
            cells.moment(_find_newest(files)),
            cells.number(len(files)),
            cells.number(len({str(found.partition) for found in files if found.partition})),
            cells.size(sum(found.size_bytes or 0 for found in files)),
        )
        for job, files in ordered
    ]
    names = ("job", "newest file, UTC!", "files#", "partitions#", "bytes#")
    about = ("hive.writes",)
    return cells.grid(names, rows, how="table.files", noun="job", about=about)


def _find_newest(files: list[Any]) -> datetime | None:
    times = [found.modified for found in files if getattr(found, "modified", None) is not None]
    return max((time.replace(tzinfo=None) for time in times), default=None)
