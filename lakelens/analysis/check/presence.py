"""Every file that is referred to: whether it is there, and as long as recorded, by one listing of the directory."""

from __future__ import annotations

from typing import Any

from lakelens.analysis.check.strays import Stray, Strays
from lakelens.model.check.ledger import MOST_FINDINGS
from lakelens.model.check.survey import Survey


def compare_presence(survey: Survey, strays: Strays) -> set[str]:
    """Count the files that are there and as long as recorded; a finding for each of the others. The paths of lost ones."""
    paths: set[str] = set()
    if strays.is_listed:
        return paths
    if strays.not_listed:
        first, *others = strays.not_listed
        more = f" and in {len(others):,} more" if others else ""
        why = "a directory that may not be listed: what is missing or left over there is not known"
        survey.ledger.leave(f"which files are in {first}{more}", why)
    line = survey.ledger.line("presence and length", "entries, lists, metadata", "a listing of the directory")
    line.agree(strays.referenced - len(strays.missing) - len(strays.resized))
    for lost in strays.missing:
        paths.add(lost.path)
        if len(paths) > MOST_FINDINGS:
            line.differ(_judge(lost), "file-missing", lost.path, lost.reason)
            continue
        recorded = lost.recorded_bytes
        length = "" if recorded is None else f" recorded with {recorded:,} B{_count_rows(survey, lost.path)}"
        message = f"{lost.role}{length}: {lost.reason}"
        line.differ(_judge(lost), "file-missing", lost.path, message, lost.snapshots)
    for changed in strays.resized:
        message = (
            f"{changed.role} recorded with {changed.recorded_bytes or 0:,} B: it has {changed.size_bytes:,}"
        )
        line.differ(_judge(changed), "file-length", changed.path, message, changed.snapshots)
    return paths


def _count_rows(survey: Survey, path: str) -> str:
    """The rows that an entry records of a file; empty for what no entry names."""
    import pyarrow.compute as pc

    entries = survey.entries
    place = pc.index(entries["path"], path).as_py() if entries.num_rows else -1
    rows = entries["record_count"][place].as_py() if place >= 0 else None
    return "" if rows is None else f" and {rows:,} row{'s' * (rows != 1)}"


def _judge(stray: Stray) -> Any:
    """An error where a state cannot be read without it; earlier documents and statistics are missed less.

    So is whatever a copy lacks and its original has: it would be lost with that.
    """
    return "error" if stray.referenced_by or stray.original else "warning"
