"""The rows that snapshots record, and the counts of manifest lists, compared with the entries below them.

See "Snapshot" and "Manifest" of the Paimon table specification. `totalRecordCount` is of the live files: rows of ADD entries
of base and delta less those of DELETE entries; `deltaRecordCount` the same of the delta alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.manifests.manifest import PaimonManifest
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.ledger import Affected, LedgerLine
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from numpy.typing import NDArray


_COUNTS = ("total_record_count", "delta_record_count", "changelog_record_count")
_KEYS = {name: "".join(p.title() if i else p for i, p in enumerate(name.split("_"))) for name in _COUNTS}


@dataclass(slots=True)
class ManifestTally:
    """The entries of one manifest added up."""

    added: int = 0
    deleted: int = 0
    added_rows: int = 0
    deleted_rows: int = 0

    @property
    def rows(self) -> int:
        """Rows added less rows removed."""
        return self.added_rows - self.deleted_rows


def tally_manifests(survey: Survey) -> list[ManifestTally]:
    """The tally of each manifest."""
    tallies = [ManifestTally() for _ in survey.manifests]
    if not survey.entries.num_rows:
        return tallies
    sums = (
        survey.entries.group_by(["number", "status"], use_threads=False)
        .aggregate([([], "count_all"), ("record_count", "sum")])
        .to_pylist()
    )
    for row in sums:
        tally, rows = tallies[row["number"]], row["record_count_sum"] or 0
        if row["status"] == "ADD":
            tally.added, tally.added_rows = row["count_all"], rows
        else:
            tally.deleted, tally.deleted_rows = row["count_all"], rows
    return tallies


def compare_totals(survey: Survey, tallies: Sequence[ManifestTally]) -> None:
    """Compare the record counts of each snapshot with its entries. States with unread manifests are left out."""
    many = f"{len(survey.states):,} snapshot{'s' * (len(survey.states) != 1)}"
    line = survey.ledger.line("totals of snapshots", many, "the entries below them")
    for state in survey.states:
        snapshot = state.snapshot
        if not survey.is_whole(state) or not isinstance(snapshot, PaimonSnapshot):
            continue
        rows = {"base": 0, "delta": 0, "changelog": 0}
        for number, role, _ in state.manifests:
            rows[role] += tallies[number].rows
        found = (rows["base"] + rows["delta"], rows["delta"], rows["changelog"])
        for name, counted in zip(_COUNTS, found, strict=True):
            if name == "changelog_record_count" or state.roles is None:
                what = f"{state.name}: {_KEYS[name]}"
                recorded = getattr(snapshot, name)
                code = "record-count"
                line.compare(recorded, counted, code, snapshot.path or "", what, state.ids)


def compare_counts(survey: Survey, tallies: Sequence[ManifestTally]) -> None:
    """Compare what lists record of each manifest: entries, and the ranges of buckets, levels, schemas and row ids."""
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    manifests = f"{len(survey.manifests):,} manifest{'s' * (len(survey.manifests) != 1)}"
    line = survey.ledger.line("counts of manifests", lists, manifests)
    # lengths of lists were compared when the lists were read: what differs is a finding of the table
    odd = {finding.path for finding in survey.table.findings if finding.code == "manifest-length"}
    measured = [path for path, listed in survey.lists.items() if listed.size_bytes is not None]
    line.compared += len(measured)
    line.differing += sum(path in odd for path in measured)
    ranges = _measure(survey)
    for number, tally in enumerate(tallies):
        if number in survey.damaged:
            continue
        for manifest in survey.lines[number]:
            if not isinstance(manifest, PaimonManifest):
                continue
            snapshots, path = partial(survey.list_snapshots, (number,)), manifest.path
            for name, found in (("_NUM_ADDED_FILES", tally.added), ("_NUM_DELETED_FILES", tally.deleted)):
                line.compare(manifest.raw.get(name), found, "manifest-counts", path, name, snapshots, "error")
            if tally.added or tally.deleted:
                _compare_ranges(line, manifest, number, ranges, snapshots)


def _measure(survey: Survey) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Least and greatest value of some columns for each manifest."""
    import numpy as np

    found: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    if not survey.entries.num_rows:
        return found
    numbers = survey.numpy("number")
    rows = survey.numpy("record_count")
    first = survey.numpy("first_row_id", -1)
    values = {name: (survey.numpy(name), survey.numpy(name)) for name in ("bucket", "level", "schema_id")}
    values["row_id"] = (first, np.where(first >= 0, first + rows - 1, -1))
    for name, (lows, highs) in values.items():
        least = np.full(len(survey.manifests), np.iinfo(np.int64).max)
        most = np.full(len(survey.manifests), np.iinfo(np.int64).min)
        np.minimum.at(least, numbers, lows)
        np.maximum.at(most, numbers, highs)
        found[name] = least, most
    return found


def _compare_ranges(
    line: LedgerLine,
    manifest: PaimonManifest,
    number: int,
    ranges: dict[str, tuple[NDArray[Any], NDArray[Any]]],
    snapshots: Affected,
) -> None:
    path = manifest.path
    for name in ("bucket", "level", "row_id"):
        least, most = (int(ends[number]) for ends in ranges[name])
        if name == "row_id" and least < 0:
            continue  # an entry without row ids: the list records none
        for key, found in ((f"_MIN_{name.upper()}", least), (f"_MAX_{name.upper()}", most)):
            recorded = manifest.raw.get(key)
            if recorded is None:
                continue
            # readers skip a manifest by its range, so one that leaves an entry out loses rows
            leaves_out = recorded > found if key.startswith("_MIN") else recorded < found
            severity: Any = "error" if leaves_out else "warning"
            line.compare(recorded, found, "manifest-range", path, key, snapshots, severity)
    most = int(ranges["schema_id"][1][number])
    line.compare(manifest.schema_id, most, "manifest-schema", path, "_SCHEMA_ID", snapshots)


# What a check of a Paimon table reads of entries.

#: Columns of entries that the checks of Paimon need beside those of every format.
COLUMNS = (
    *("bucket", "level", "schema_id", "first_row_id", "min_sequence_number", "max_sequence_number"),
    *("delete_row_count", "total_buckets"),
)
