"""Sequence numbers and snapshot ids: of snapshots, of the manifests that they name, and of the entries in those.

Follows "Sequence Numbers" and "Sequence Number Inheritance" of the Iceberg table specification. A manifest has the number
of the commit that wrote it, so no entry has a higher one and no snapshot that names it a lower one. Readers match deletes
with data files by these numbers: a wrong one brings deleted rows back, or deletes others.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.model.check.ledger import LedgerLine
from lakelens.model.check.survey import State, Survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.table import IcebergTable


_NONE = -1


def compare_sequences(table: IcebergTable, survey: Survey) -> None:
    """Compare the sequence numbers of snapshots, manifests and entries with each other."""
    line = survey.ledger.line("sequence numbers", "entries, lists", "the order of commits")
    if (table.format_version or 1) > 1:
        _compare_snapshots(table, survey, line)
    _compare_lists(table, survey, line)
    if survey.entries.num_rows:
        _compare_entries(survey, line)
        _compare_minimum(survey, line)


def _compare_snapshots(table: IcebergTable, survey: Survey, line: LedgerLine) -> None:
    path, last = table.metadata_path, table.last_sequence_number
    for state in survey.states:
        number = state.snapshot.sequence_number or 0
        message = f"{state.name} has sequence number {number}, last-sequence-number is {last}"
        line.require(number <= last, "sequence-number", path, message, state.ids)
        parent = table.find_by_id(state.snapshot.parent_id) if state.snapshot.parent_id is not None else None
        if parent is not None and number:
            message = f"{state.name} has sequence number {number}, its parent {parent.sequence_number}"
            line.require((parent.sequence_number or 0) < number, "sequence-number", path, message, state.ids)
    ordered = sorted(survey.states, key=lambda state: state.snapshot.sequence_number or 0)
    for one, other in pairwise(ordered):
        number = one.snapshot.sequence_number or 0
        if number and one.snapshot is not other.snapshot:
            message = f"{one.name} and {other.name} both have sequence number {number}"
            is_unique = number != other.snapshot.sequence_number
            line.require(is_unique, "sequence-number", path, message, (*one.ids, *other.ids))


def _compare_lists(table: IcebergTable, survey: Survey, line: LedgerLine) -> None:
    """Compare the number that a list gives a manifest, with the snapshot that added it and those that name it."""
    for state in survey.states:
        own = state.snapshot.sequence_number or 0
        for _, _, manifest in state.manifests:
            if not isinstance(manifest, IcebergManifest) or not isinstance(manifest.sequence_number, int):
                continue
            number = manifest.sequence_number
            message = f"{state.name}, sequence number {own}, names a manifest of sequence number {number}"
            line.require(number <= own, "manifest-sequence", manifest.path, message, state.ids)
    for number, manifest in enumerate(survey.manifests):
        for known in survey.lines[number]:
            added = known.added_snapshot_id
            snapshot = None if added is None else table.find_by_id(added)
            if snapshot is not None and isinstance(known, IcebergManifest):
                what = f"sequence number of the manifest that snapshot {added} added"
                snapshots = partial(survey.list_snapshots, (number,))
                line.compare(
                    known.sequence_number,
                    snapshot.sequence_number,
                    "manifest-sequence",
                    manifest.path,
                    what,
                    snapshots,
                    "error",
                )


def _compare_entries(survey: Survey, line: LedgerLine) -> None:
    import numpy as np
    import pyarrow.compute as pc

    entries = survey.entries
    of_manifest = _spread(survey, "sequence_number")
    data, file = survey.numpy("sequence_number", _NONE), survey.numpy("file_sequence_number", _NONE)
    live = survey.live
    rules: tuple[tuple[str, Any, str], ...] = (
        ("entry-sequence", (data == _NONE) & live, "has no sequence number, and cannot inherit one"),
        ("entry-sequence", (data > of_manifest) & live, "has a higher sequence number than its manifest"),
        (
            "entry-sequence",
            (file > of_manifest) & live,
            "has a higher file sequence number than its manifest",
        ),
        ("entry-sequence", (data > file) & (file != _NONE) & live, "has rows younger than their file"),
    )
    line.agree(len(rules) * int(live.sum()))
    for code, wrong, words in rules:
        _note_rows(survey, line, wrong, code, words)
    added = np.asarray(pc.equal(entries["status"], "ADDED").to_numpy())
    own, theirs = survey.numpy("snapshot_id", _NONE), _spread(survey, "added_snapshot_id")
    line.agree(int(added.sum()))
    wrong = added & (own != theirs) & (theirs != _NONE)
    _note_rows(survey, line, wrong, "entry-snapshot", "is ADDED by another snapshot than its manifest")


def _note_rows(survey: Survey, line: LedgerLine, wrong: NDArray[Any], code: str, words: str) -> None:
    """Note a finding for each entry that breaks a rule; all were counted as keeping it."""
    import numpy as np

    for row in np.flatnonzero(wrong).tolist():
        number = survey.entries["number"][row].as_py()
        line.compared -= 1
        path = survey.entries["path"][row].as_py().rpartition("/")[2]
        message = f"{survey.describe_entry(row)} ({path}) {words}"
        snapshots = partial(survey.list_snapshots, (number,))
        line.differ("error", code, survey.manifests[number].path, message, snapshots)


def _compare_minimum(survey: Survey, line: LedgerLine) -> None:
    """`min_sequence_number` of each manifest: the lowest data sequence number of its live files."""
    import numpy as np

    data, numbers, live = survey.numpy("sequence_number", _NONE), survey.numpy("number"), survey.live
    least = np.full(len(survey.manifests), np.iinfo(np.int64).max)
    known = live & (data != _NONE)
    np.minimum.at(least, numbers[known], data[known])
    for number, found in enumerate(least.tolist()):
        if number in survey.damaged or found == np.iinfo(np.int64).max:
            continue
        for manifest in survey.lines[number]:
            if not isinstance(manifest, IcebergManifest):
                continue
            recorded = manifest.raw.get("min_sequence_number")
            if recorded is None:
                continue
            severity: Any = "error" if recorded > found else "warning"
            what = "min_sequence_number, the lowest of its live files"
            snapshots = partial(survey.list_snapshots, (number,))
            line.compare(recorded, found, "min-sequence-number", manifest.path, what, snapshots, severity)


def _spread(survey: Survey, name: str) -> NDArray[Any]:
    """A number of each manifest, for each of its entries."""
    import numpy as np

    values = [getattr(manifest, name, None) for manifest in survey.manifests]
    known = [value if isinstance(value, int) and abs(value) < 2**63 else _NONE for value in values]
    found: NDArray[Any] = np.array(known, np.int64)[survey.numpy("number")]
    return found


# Row ids of version 3: what snapshots and manifests reserve, and what files have of it.
#
# Follows "Row Lineage" of the Iceberg table specification. A snapshot takes `added-rows` ids from its `first-row-id` on,
# each data manifest that it adds a part of them, and each file without an id of its own the next of its manifest's::
#
#     next-row-id  >=  snapshot: first-row-id + added-rows  >=  manifest: first_row_id + rows  >=  file: first_row_id +
#                  rows
#
# Ids of live files of one snapshot never overlap: two rows would be one.


def compare_lineage(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the ranges of row ids with each other."""
    following = context.typed.next_row_id
    if (table.format_version or 1) < 3 or following is None:
        return
    line = survey.ledger.line("row ids", "entries, lists, metadata", "the ids that were given before")
    _compare_snapshots_lineage(table, survey, line, following)
    for number in range(len(survey.manifests)):
        for manifest in survey.lines[number]:
            if isinstance(manifest, IcebergManifest):
                _compare_manifest(survey, line, manifest, number, following)
    if survey.entries.num_rows:
        _compare_files(survey, line, following)


def _compare_snapshots_lineage(table: IcebergTable, survey: Survey, line: LedgerLine, following: int) -> None:
    path = table.metadata_path
    ranges: list[tuple[int, int, State]] = []
    for state in survey.states:
        first, rows = (
            getattr(state.snapshot, "first_row_id", None),
            getattr(state.snapshot, "added_rows", None),
        )
        if first is None or rows is None:
            continue
        ranges.append((first, first + rows, state))
        message = f"{state.name} gives row ids up to {first + rows:,}, $.next-row-id is {following:,}"
        line.require(first + rows <= following, "row-ids", path, message, state.ids)
        _compare_assigned(survey, line, state, first, rows)
    for (_, end, one), (begin, _, other) in pairwise(sorted(ranges, key=lambda item: item[:2])):
        message = f"{one.name} and {other.name} both give row ids from {begin:,} on"
        line.require(end <= begin, "row-ids", path, message, (*one.ids, *other.ids))


def _compare_assigned(survey: Survey, line: LedgerLine, state: State, first: int, rows: int) -> None:
    """Compare the manifests that a snapshot added have their ids within those that it gives."""
    for _, _, manifest in state.manifests:
        if not isinstance(manifest, IcebergManifest) or manifest.added_snapshot_id != state.snapshot.id:
            continue
        begin = manifest.first_row_id
        if manifest.content != "data" or not isinstance(begin, int):
            continue
        if begin < first:
            continue  # its rows had ids before
        end = begin + (manifest.added_rows_count or 0) + (manifest.existing_rows_count or 0)
        message = (
            f"first_row_id {begin:,} and {end - begin:,} rows are not within the {rows:,} ids from {first:,} on "
            f"that {state.name} gives"
        )
        line.require(end <= first + rows, "row-ids", manifest.path, message, state.ids)


def _compare_manifest(
    survey: Survey, line: LedgerLine, manifest: IcebergManifest, number: int, following: int
) -> None:
    begin = manifest.first_row_id
    if begin is None:
        return
    snapshots = partial(survey.list_snapshots, (number,))
    message = f"a manifest of deletes has first_row_id {begin}"
    if not line.require(manifest.content == "data", "row-ids", manifest.path, message, snapshots):
        return
    rows = (manifest.added_rows_count or 0) + (manifest.existing_rows_count or 0)
    message = f"first_row_id {begin:,} is not below $.next-row-id {following:,}"
    line.require(begin + min(rows, 1) <= following, "row-ids", manifest.path, message, snapshots)


def _compare_files(survey: Survey, line: LedgerLine, following: int) -> None:
    """Ids of live files are below the next one, and do not overlap those of another file."""
    import numpy as np

    first, rows = survey.numpy("first_row_id", -1), survey.numpy("record_count")
    known = np.flatnonzero(survey.live & (first >= 0))
    line.agree(2 * len(known))
    beyond = known[first[known] + rows[known] > following]
    for row in beyond.tolist():
        end = int(first[row] + rows[row])
        _note(survey, line, row, f"has row ids up to {end:,}, $.next-row-id is {following:,}")
    paths = survey.entries["path"].combine_chunks().dictionary_encode().indices.to_numpy()
    order = known[np.lexsort((paths[known], first[known]))]
    keys = np.stack([first[order], rows[order], paths[order]], axis=1)
    distinct = order[np.sort(np.unique(keys, axis=0, return_index=True)[1])] if len(order) else order
    ends = first[distinct] + rows[distinct]
    overlaps = np.flatnonzero((ends[:-1] > first[distinct][1:]) & (rows[distinct][1:] > 0))
    for place in overlaps.tolist():
        one, other = int(distinct[place]), int(distinct[place + 1])
        if _are_together(survey, one, other):
            name = survey.entries["path"][one].as_py().rpartition("/")[2]
            _note(survey, line, other, f"has row ids from {int(first[other]):,} on, which {name} has too")


def _are_together(survey: Survey, one: int, other: int) -> bool:
    """Check whether a snapshot names the manifests of both entries, which are of different files."""
    if survey.entries["path"][one].as_py() == survey.entries["path"][other].as_py():
        return bool(survey.entries["number"][one].as_py() == survey.entries["number"][other].as_py())
    numbers = [survey.entries["number"][row].as_py() for row in (one, other)]
    return bool(survey.holders[numbers[0]] & survey.holders[numbers[1]])


def _note(survey: Survey, line: LedgerLine, row: int, words: str) -> None:
    number: int = survey.entries["number"][row].as_py()
    name: Any = survey.entries["path"][row].as_py().rpartition("/")[2]
    line.compared -= 1
    message = f"{survey.describe_entry(row)} ({name}) {words}"
    line.differ(
        "error", "row-ids", survey.manifests[number].path, message, partial(survey.list_snapshots, (number,))
    )
