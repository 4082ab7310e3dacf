"""The figures of a snapshot's summary, and what they prove of the rows that are left.

See "Snapshots" and "Deletion Vectors" of the Iceberg table specification. A summary counts deletes, not rows: several
position delete files may name one row, files that are gone may still be named, so that what they count is the most that they
delete. A deletion vector names each row once, and a data file has at most one; but a vector may have stayed behind its data
file. That none did follows from the commits before, as far as they are still there:

* before the first delete, rows are as many as recorded;
* a commit that removes no data file, and adds or replaces nothing but vectors, leaves no vector behind;
* `replace` changes no row: the totals after it agree with those before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.manifests.manifest import count_line
from lakelens.model.comparison import FileCounts
from lakelens.model.deletes import LiveRows, bound_live_rows
from lakelens.model.facts.traits import NO_ROWS, Amount, Figures, parse_figure

if TYPE_CHECKING:
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot

Summary = Mapping[str, str]

# keys of the summary
_FIGURES = {
    "added_files": "added-data-files",
    "removed_files": "deleted-data-files",
    "added_rows": "added-records",
    "removed_rows": "deleted-records",
    "added_bytes": "added-files-size",
    "removed_bytes": "removed-files-size",
    "rows": "total-records",
    "files": "total-data-files",
    "delete_files": "total-delete-files",
    "size_bytes": "total-files-size",
    "position_deletes": "total-position-deletes",
    "equality_deletes": "total-equality-deletes",
    "added_equality_deletes": "added-equality-deletes",
}
# commits that are looked at to prove that no vector stayed behind
_MOST_STEPS = 50


def read_figures(summary: Summary) -> Figures:
    """Read what a summary records of the commit and of the state after it."""
    figures = {name: parse_figure(summary, key) for name, key in _FIGURES.items()}
    return Figures(**figures, deleted=_count_deleted(summary))


def correct_figures(figures: Figures, data: FileCounts, deletes: FileCounts) -> Figures:
    """Figures in which the totals are those that manifests or their list add up to, where these are others.

    >>> correct_figures(Figures(rows=300, files=3), FileCounts(5, 500, None), FileCounts(0, 0, None)).rows
    500
    """
    counted = (data.files, data.rows, deletes.files)
    recorded = (figures.files, figures.rows, figures.delete_files)
    if all(
        one is None or other is None or one == other for one, other in zip(counted, recorded, strict=True)
    ):
        return figures
    size = None if data.bytes is None or deletes.bytes is None else data.bytes + deletes.bytes
    return replace(figures, files=data.files, rows=data.rows, delete_files=deletes.files, size_bytes=size)


def count_lists(snapshot: IcebergSnapshot) -> tuple[FileCounts, FileCounts] | None:
    """Data files and delete files as the manifest list counts them; None where it does not, or is damaged."""
    walked = [listed.walk() for listed in snapshot.manifest_lists]
    if not walked or any(error for _, error in walked):
        return None
    data = deletes = FileCounts(0, 0, None)
    for manifest in dict.fromkeys(manifest for manifests, _ in walked for manifest in manifests):
        if manifest.content == "data":
            data += count_line(manifest)
        else:
            deletes += count_line(manifest)
    return None if data.files is None or deletes.files is None else (data, deletes)


def _count_deleted(summary: Summary) -> Amount | None:
    """Count the rows that a commit deleted by position or value; zero counts are left out of a summary."""
    if "operation" not in summary or (summary["operation"] != "replace" and "total-records" not in summary):
        return None  # a writer that counts nothing
    if summary["operation"] == "replace":
        return NO_ROWS
    positions, values = _count(summary, "added-position-deletes"), _count(summary, "added-equality-deletes")
    if _moves_vectors_alone(summary):
        # a vector holds all that the one before it held
        positions -= _count(summary, "removed-position-deletes")
        by_position = Amount(max(positions, 0), max(positions, 0))
    else:
        by_position = Amount(0, max(positions, 0))
    return by_position + Amount(0, None) if values > 0 else by_position


def _count(summary: Summary, key: str) -> int:
    return parse_figure(summary, key) or 0


def _moves_vectors_alone(summary: Summary) -> bool:
    """Check whether all deletes that a commit adds and removes are vectors, and no data file is removed."""
    return (
        _count(summary, "added-delete-files") == _count(summary, "added-dvs")
        and _count(summary, "removed-delete-files") == _count(summary, "removed-dvs")
        and _count(summary, "deleted-data-files") == 0
    )


def bound_rows(snapshot: IcebergSnapshot, version: int, distances: dict[int, float]) -> LiveRows:
    """Count the live rows of a snapshot by its summary, and by those before it where its vectors ask for them.

    `distances` keeps for each snapshot how many commits lead to it from a state that proves itself.
    """
    figures = snapshot.figures
    bounds = bound_live_rows(figures)
    rows, positions = figures.rows, figures.position_deletes
    if rows is None or bounds.count is not None:
        if version == 1 or _counts_deletes(figures):
            return bounds
        why, recorded = "deletes are not counted in the summary", bounds.recorded
        return LiveRows(None, why, recorded, None if recorded is None else 0, recorded)
    if figures.equality_deletes or positions is None or _find_distance(snapshot, distances) > _MOST_STEPS:
        return bounds
    live = max(rows - positions, 0)
    return LiveRows(live, f"{rows - live:,} deleted by vectors", rows, live, live, deleted=rows - live)


def _counts_deletes(figures: Figures) -> bool:
    """Check whether the totals say of all deletes how many there are."""
    return figures.delete_files == 0 or None not in (figures.position_deletes, figures.equality_deletes)


def _find_distance(snapshot: IcebergSnapshot, distances: dict[int, float]) -> float:
    """Find how many commits lead here from a state that proves itself; infinity where one between them proves nothing."""
    path: list[int] = []
    distance, one = inf, snapshot
    while len(path) <= _MOST_STEPS:
        known = 0 if _proves_itself(one.figures) else distances.get(one.id)
        if known is not None:
            distance = known
            break
        path.append(one.id)
        if one.parent_id is None and _keeps_proof(one):
            distance = 0  # of the empty table before the first commit
            break
        parent = one.parent
        if parent is None or not _keeps_proof(one):
            break
        one = parent
    else:
        path = path[:1]  # of those before it the way was not followed to its end
    for number in reversed(path):
        distance += 1
        distances[number] = distance
    return distance


def _proves_itself(figures: Figures) -> bool:
    has_deletes = figures.position_deletes or figures.equality_deletes
    return figures.rows is not None and _counts_deletes(figures) and not has_deletes


def _keeps_proof(snapshot: IcebergSnapshot) -> bool:
    """Check whether what is known of the rows before a commit is known of those after it too."""
    figures = snapshot.figures
    if figures.rows is None or figures.position_deletes is None or figures.equality_deletes != 0:
        return False
    if snapshot.operation == "replace":
        before = None if snapshot.parent is None else snapshot.parent.figures
        return (
            before is not None
            and before.rows is not None
            and before.rows - (before.position_deletes or 0) == figures.rows - figures.position_deletes
        )
    return _moves_vectors_alone(snapshot.summary)
