"""The entries of each manifest added up: what the totals of snapshots and the counts of lists are compared with.

A manifest is added up once, however many snapshots name it; what a snapshot has is a sum over its manifests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from lakelens.model.check.survey import Survey

#: Columns of entries that the checks of Iceberg need beside those of every format.
COLUMNS = (
    *("recorded_path", "sequence_number", "file_sequence_number", "spec_id", "first_row_id"),
    *("content_offset", "content_size_in_bytes", "referenced_data_path", "referenced_data_file"),
    "equality_ids",
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
class Tally:
    """The entries of one manifest, added up."""

    amounts: dict[Key, Amount] = field(default_factory=dict)

    def count(self, status: str) -> Amount:
        """All entries of a status."""
        total = Amount()
        for key, amount in self.amounts.items():
            if key.status == status:
                total = total.plus(amount)
        return total


def tally_manifests(survey: Survey) -> list[Tally]:
    """The tally of each manifest of a survey."""
    import pyarrow.compute as pc

    tallies = [Tally() for _ in survey.manifests]
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
    """The partitions of the files that a commit added or removed, as numbers: by manifest and by the commit's id."""
    import pyarrow.compute as pc

    entries = survey.entries
    if not entries.num_rows or "partition" not in entries.column_names:
        return {}
    changed = entries.filter(pc.not_equal(entries["status"], "EXISTING"))
    names = ["number", "snapshot_id", "spec_id", "partition"]
    distinct = changed.group_by(names, use_threads=False).aggregate([])
    columns = (distinct[name].to_pylist() for name in names)
    numbers: dict[tuple[int | None, str], int] = {}
    found: dict[tuple[int, int], set[int]] = {}
    for manifest, snapshot_id, spec_id, partition in zip(*columns, strict=True):
        place = numbers.setdefault((spec_id, partition), len(numbers))
        found.setdefault((manifest, snapshot_id), set()).add(place)
    return {key: frozenset(places) for key, places in found.items()}
