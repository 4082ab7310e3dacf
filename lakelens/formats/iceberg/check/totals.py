"""The totals and changes in the summaries of snapshots, compared with the entries below them.

Follows "Snapshot Summary" (appendix F, "Metrics") of the Iceberg table specification. A total is of the live entries of all
of a snapshot's manifests; `added-…` of the entries that it ADDED, `deleted-…` and `removed-…` of those that it DELETED:
these name the snapshot's own id. A deletion vector counts the bytes of its blob, and its rows as position deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lakelens.formats.iceberg.check.tallies import Amount, Tally, count_partitions
from lakelens.model.check.ledger import Line
from lakelens.model.check.survey import State, Survey
from lakelens.model.facts.traits import parse_figure
from lakelens.model.finding import Severity

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_DATA = ("data",)
_POSITION = ("position_deletes",)
_EQUALITY = ("equality_deletes",)
_VECTOR = ("deletion_vector",)
_DELETES = (*_POSITION, *_EQUALITY, *_VECTOR)
_EVERY = (*_DATA, *_DELETES)


class Total(NamedTuple):
    """What a key of the summary counts: of which contents, and what of their files."""

    contents: tuple[str, ...]
    measure: str


#: Of live entries: `total-…`.
TOTALS = {
    "data-files": Total(_DATA, "files"),
    "delete-files": Total(_DELETES, "files"),
    "records": Total(_DATA, "rows"),
    "files-size": Total(_EVERY, "bytes"),
    "position-deletes": Total((*_POSITION, *_VECTOR), "rows"),
    "equality-deletes": Total(_EQUALITY, "rows"),
}
#: Of the entries of one commit, by the words that a key begins with when files came and when they went.
CHANGES = {
    ("added-data-files", "deleted-data-files"): Total(_DATA, "files"),
    ("added-records", "deleted-records"): Total(_DATA, "rows"),
    ("added-delete-files", "removed-delete-files"): Total(_DELETES, "files"),
    ("added-position-delete-files", "removed-position-delete-files"): Total(_POSITION, "files"),
    ("added-equality-delete-files", "removed-equality-delete-files"): Total(_EQUALITY, "files"),
    ("added-dvs", "removed-dvs"): Total(_VECTOR, "files"),
    ("added-files-size", "removed-files-size"): Total(_EVERY, "bytes"),
    ("added-position-deletes", "removed-position-deletes"): Total((*_POSITION, *_VECTOR), "rows"),
    ("added-equality-deletes", "removed-equality-deletes"): Total(_EQUALITY, "rows"),
}


_CHANGES_OF = {
    "total-data-files": ("added-data-files", "deleted-data-files"),
    "total-delete-files": ("added-delete-files", "removed-delete-files"),
    "total-records": ("added-records", "deleted-records"),
    "total-files-size": ("added-files-size", "removed-files-size"),
    "total-position-deletes": ("added-position-deletes", "removed-position-deletes"),
    "total-equality-deletes": ("added-equality-deletes", "removed-equality-deletes"),
}


def compare_totals(table: IcebergTable, survey: Survey, tallies: Sequence[Tally]) -> None:
    """Compare every total and change that the summaries record. States with unread manifests are left out."""
    summaries = f"{len(survey.states):,} summar{'y' if len(survey.states) == 1 else 'ies'}"
    line = survey.ledger.line("totals of snapshots", summaries, "the entries below them")
    partitions = count_partitions(survey)
    for state in survey.states:
        if not survey.is_whole(state):
            continue
        _compare_partitions(table, line, state, partitions)
        summary, path = state.snapshot.summary, table.metadata_path
        counted = _count(state, tallies)
        for key, found in counted.items():
            recorded = parse_figure(summary, key)
            if recorded is not None:
                excuse = "" if recorded == found else _excuse(table, state, key, counted)
                what = f"{state.name}: {key}{excuse}"
                severity: Severity = "note" if excuse else "warning"
                line.compare(recorded, found, key, path, what, state.ids, severity)
            elif key in summary:
                message = f"{state.name}: {key} is {summary[key][:40]!r}, not a number"
                line.differ("warning", key, path, message, state.ids)


def _compare_partitions(
    table: IcebergTable, line: Line, state: State, partitions: Mapping[tuple[int, int], frozenset[int]]
) -> None:
    """`changed-partition-count`: the different partitions of the files that the commit added and removed."""
    recorded, own = parse_figure(state.snapshot.summary, "changed-partition-count"), state.snapshot.id
    if recorded is None or own is None or not partitions:
        return
    touched = frozenset[int]().union(*(partitions.get((number, own), ()) for number, *_ in state.manifests))
    what = f"{state.name}: changed-partition-count"
    line.compare(recorded, len(touched), "changed-partition-count", table.metadata_path, what, state.ids)


def _excuse(table: IcebergTable, state: State, key: str, counted: dict[str, int]) -> str:
    """Why a total that differs is no damage: the writer has counted on, from changes that it did not record in full.

    A commit that appends whole manifests (imported files) adds up neither their bytes nor their deletes; the totals after
    it lack them too.
    """
    if not key.startswith("total-"):
        return ""
    came, went = _CHANGES_OF[key]
    summary, parent = state.snapshot.summary, state.snapshot.parent_id
    before = 0
    if parent is not None:
        older = table.find_by_id(parent)
        known = None if older is None else parse_figure(older.summary, key)
        if known is None:
            return ""
        before = known
    added, removed = (parse_figure(summary, name) or 0 for name in (came, went))
    if parse_figure(summary, key) != before + added - removed:
        return ""
    if came not in summary and counted[came]:
        return f" (the commit appended whole manifests, and records no {came})"
    return " (counted on from its parent's)" if parent is not None else ""


def _count(state: State, tallies: Sequence[Tally]) -> dict[str, int]:
    """What the entries below a state add up to, by key of the summary."""
    sums: dict[tuple[str, str], Amount] = {}
    own = state.snapshot.id
    for number, _, _ in state.manifests:
        for key, amount in tallies[number].amounts.items():
            kinds = ["total"] if key.status != "DELETED" else []
            if key.snapshot_id == own and key.status != "EXISTING":
                kinds.append(key.status)
            for kind in kinds:
                place = (kind, key.content)
                sums[place] = sums.get(place, Amount()).plus(amount)
    found = {f"total-{noun}": _measure(sums, "total", total) for noun, total in TOTALS.items()}
    for (came, went), total in CHANGES.items():
        found[came] = _measure(sums, "ADDED", total)
        found[went] = _measure(sums, "DELETED", total)
    return found


def _measure(sums: dict[tuple[str, str], Amount], kind: str, total: Total) -> int:
    return sum(getattr(sums.get((kind, content), Amount()), total.measure) for content in total.contents)
