"""The totals and changes in the summaries of snapshots, compared with the entries below them.

Follows "Snapshot Summary" (appendix F, "Metrics") of the Iceberg table specification. A total is of the live entries of all
of a snapshot's manifests; `added-…` of the entries that it ADDED, `deleted-…` and `removed-…` of those that it DELETED:
these name the snapshot's own id. A deletion vector counts the bytes of its blob, and its rows as position deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lakelens.model.check.ledger import LedgerLine
from lakelens.model.check.survey import State, Survey
from lakelens.model.facts.traits import parse_figure
from lakelens.model.finding import Severity

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable


# The entries of each manifest added up: what the totals of snapshots and the counts of lists are compared with.
#
# A manifest is added up once, however many snapshots name it; what a snapshot has is a sum over its manifests.

#: Columns of entries that the checks of Iceberg need beside those of every format.
COLUMNS = (
    *("recorded_path", "sequence_number", "file_sequence_number", "spec_id", "first_row_id"),
    *("content_offset", "content_size_in_bytes", "referenced_data_path", "referenced_data_file"),
    *("equality_ids", "split_offsets"),
)


class Key(NamedTuple):
    """Entries of a manifest that count alike: their status, what their files hold, and whose commit they name."""

    status: str
    content: str
    snapshot_id: int | None


class Amount(NamedTuple):
    """Files, their rows, and the bytes that are theirs: of a deletion vector those of its blob."""

    files: int = 0
    rows: int = 0
    bytes: int = 0

    def plus(self, other: Amount) -> Amount:
        """The sum of two amounts."""
        return Amount(self.files + other.files, self.rows + other.rows, self.bytes + other.bytes)


@dataclass(slots=True)
class ManifestTally:
    """The entries of one manifest, added up."""

    amounts: dict[Key, Amount] = field(default_factory=dict)

    def count(self, status: str) -> Amount:
        """Count all entries of a status."""
        total = Amount()
        for key, amount in self.amounts.items():
            if key.status == status:
                total = total.plus(amount)
        return total


def tally_manifests(survey: Survey) -> list[ManifestTally]:
    """Give the tally of each manifest of a survey."""
    import pyarrow.compute as pc

    tallies = [ManifestTally() for _ in survey.manifests]
    entries = survey.entries
    if not entries.num_rows:
        return tallies
    own = pc.coalesce(entries["content_size_in_bytes"], entries["size_bytes"])
    keys = ["number", "status", "content", "snapshot_id"]
    sums = (
        entries.append_column("own", own)
        .group_by(keys, use_threads=False)
        .aggregate([([], "count_all"), ("record_count", "sum"), ("own", "sum")])
    )
    columns = (*keys, "count_all", "record_count_sum", "own_sum")
    for number, status, content, snapshot_id, files, rows, size in zip(
        *(sums[name].to_pylist() for name in columns), strict=True
    ):
        tallies[number].amounts[Key(status, content, snapshot_id)] = Amount(files, rows or 0, size or 0)
    return tallies


def count_partitions(survey: Survey) -> dict[tuple[int, int], frozenset[int]]:
    """Count the partitions of the files that a commit added or removed, as numbers: by manifest and by the commit's id."""
    import pyarrow.compute as pc

    entries = survey.entries
    if not entries.num_rows or "partition" not in entries.column_names:
        return {}
    names = ["number", "snapshot_id", "spec_id", "partition"]
    changed = entries.select(names).filter(pc.not_equal(entries["status"], "EXISTING"))
    distinct = changed.group_by(names, use_threads=False).aggregate([])
    columns = (distinct[name].to_pylist() for name in names)
    numbers: dict[tuple[int | None, str], int] = {}
    found: dict[tuple[int, int], set[int]] = {}
    for manifest, snapshot_id, spec_id, partition in zip(*columns, strict=True):
        place = numbers.setdefault((spec_id, partition), len(numbers))
        found.setdefault((manifest, snapshot_id), set()).add(place)
    return {key: frozenset(places) for key, places in found.items()}


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


def compare_totals(table: IcebergTable, survey: Survey, tallies: Sequence[ManifestTally]) -> None:
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
    table: IcebergTable, line: LedgerLine, state: State, partitions: Mapping[tuple[int, int], frozenset[int]]
) -> None:
    """`changed-partition-count`: the different partitions of the files that the commit added and removed."""
    recorded, own = parse_figure(state.snapshot.summary, "changed-partition-count"), state.snapshot.id
    if recorded is None or own is None or not partitions:
        return
    touched = frozenset[int]().union(*(partitions.get((number, own), ()) for number, *_ in state.manifests))
    what = f"{state.name}: changed-partition-count"
    line.compare(recorded, len(touched), "changed-partition-count", table.metadata_path, what, state.ids)


def _excuse(table: IcebergTable, state: State, key: str, counted: dict[str, int]) -> str:
    """Say why a total that differs is no damage: the writer has counted on, from changes that it did not record in full.

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


def _count(state: State, tallies: Sequence[ManifestTally]) -> dict[str, int]:
    """Count what the entries below a state add up to, by key of the summary."""
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


# What manifest lists record of manifests, compared with the entries in them: counts of files and rows.
#
# Follows "Manifest Lists" of the Iceberg table specification, fields 504 to 506 and 512 to 514.

_COUNTS = (("ADDED", "added"), ("EXISTING", "existing"), ("DELETED", "deleted"))


def compare_counts(survey: Survey, tallies: Sequence[ManifestTally]) -> None:
    """Compare the counts of files and rows that lists record of each manifest. Damaged manifests are left out."""
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    manifests = f"{len(survey.manifests):,} manifest{'s' * (len(survey.manifests) != 1)}"
    line = survey.ledger.line("counts of manifests", lists, manifests)
    for number, tally in enumerate(tallies):
        if number in survey.damaged:
            continue
        found = {word: tally.count(status) for status, word in _COUNTS}
        for manifest in survey.lines[number]:
            for word, amount in found.items():
                for noun, counted in (("files", amount.files), ("rows", amount.rows)):
                    name = f"{word}_{noun}_count"
                    recorded = getattr(manifest, name)
                    if recorded is not None:
                        snapshots = partial(survey.list_snapshots, (number,))
                        line.compare(
                            recorded, counted, "manifest-counts", manifest.path, name, snapshots, "error"
                        )
