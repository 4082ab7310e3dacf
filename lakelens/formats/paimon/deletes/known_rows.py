"""What a Paimon snapshot proves of its rows without its manifests: by its totals, its options, and its index manifest.

A document counts the rows of the live files. An append table holds these but those that deletion vectors delete, which the
index manifest counts, one small file; writers before 1.0 did not, and then small vectors are decoded. Rows of a
primary-key table are merged by key when they are read, or wait in level 0: as many as recorded are the most that there are.
Of few files a few small manifests, or those that were read anyway, say whether anything is left to merge at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.datafile import MERGED, PaimonDataFile
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS
from lakelens.io.ahead import is_larger
from lakelens.model.comparison import sum_known
from lakelens.model.deletes import LiveRows
from lakelens.model.facts.traits import NO_ROWS, Amount

if TYPE_CHECKING:
    from lakelens.formats.paimon.deletes.positions import VectorReader
    from lakelens.formats.paimon.manifests.index import PaimonIndexFile
    from lakelens.formats.paimon.snapshot import PaimonSnapshot

MOST_BYTES = 1 << 20  # of an index manifest, or of all manifests, that are read to count
_MOST_ENTRIES, _MOST_FILES = 500, 2_000  # of manifests that are read to count, and of those that were read
_MOST_DECODED = (
    1 << 18
)  # bytes of the vectors of a snapshot that are decoded where their rows are not recorded


class KnownVector(NamedTuple):
    """Where the vector of a data file is, and how many rows it deletes: None where that is not recorded."""

    file: str
    offset: int | None
    cardinality: int | None

    @property
    def amount(self) -> Amount:
        """The rows that it deletes."""
        known = self.cardinality
        return Amount(1, None) if known is None else Amount(max(known, 0), max(known, 0))


#: by the name of the data file
KnownVectors = Mapping[str, KnownVector]


def state_rows(snapshot: PaimonSnapshot) -> LiveRows:
    """State the live rows: the recorded ones; of few files, what a few small manifests prove."""
    bounds = bound_rows(snapshot)
    # the newest one that can be read: what opens as the table's state is counted alike in whatever order one asks
    newest = snapshot._table.current
    is_newest = newest is not None and newest.id == snapshot.id
    if bounds.count is not None or not _is_small(snapshot, is_newest):
        return bounds
    counted = snapshot.listed_live_rows
    return bounds if snapshot.is_incomplete or counted.at_most is None else counted


def count_vectors(snapshot: PaimonSnapshot) -> int | None:
    """Count the deletion vectors that its index manifest names; None where that was not read."""
    marks = _read_marks(snapshot)
    return None if marks is None else len(marks)


def bound_rows(snapshot: PaimonSnapshot) -> LiveRows:
    """Bound the live rows by a snapshot's totals, its options and its index manifest."""
    rows, context = snapshot.record_count, snapshot.context
    if not rows:
        why = "the snapshot does not record its rows" if rows is None else "there are no rows"
        return LiveRows(rows, why, rows, rows, rows)
    marks = _read_marks(snapshot)
    if marks is None:
        return LiveRows(
            None, "vectors are not counted: the index manifest is large or damaged", rows, 0, rows
        )
    marked = sum_amounts(mark.amount for mark in marks.values())
    most = max(rows - marked.least, 0)
    deleted = f"{marked.exact:,} marked deleted" if marked.exact else ""
    if marked.exact is None:
        number = f"{len(marks):,} deletion vector{'' if len(marks) == 1 else 's'}"
        return LiveRows(None, f"{number} without a recorded count", rows, 0, most)
    if context.schema.primary_keys:
        why = deleted or ("level 0 is not read" if context.skips_level_0 else "known only by merging keys")
        return LiveRows(None, why, rows, 0, most)
    if context.is_on("data-evolution.enabled"):
        return LiveRows(None, "known only by row ids: files share rows", rows, 0, most)
    return LiveRows(most, deleted or "nothing is deleted", rows, most, most, deleted=rows - most)


def _is_small(snapshot: PaimonSnapshot, is_newest: bool) -> bool:
    """Check whether the live files were looked at; or are listed by few and small manifests, of the newest state alone."""
    if snapshot.files.is_loaded:
        return len(snapshot.files) <= _MOST_FILES
    if not is_newest:
        return False
    try:
        lists = [listed for listed in snapshot.manifest_lists if listed.role != "changelog"]
        manifests = [manifest for listed in lists for manifest in listed.manifests]
    except LakeError:
        return False
    size = sum_known(*(manifest.file_size for manifest in manifests))
    entries = sum_known(
        *(sum_known(manifest.num_added_files, manifest.num_deleted_files) for manifest in manifests)
    )
    return size is not None and entries is not None and size <= MOST_BYTES and entries <= _MOST_ENTRIES


def count_new(snapshot: PaimonSnapshot) -> Amount | None:
    """Count the rows that vectors delete since the commit, by the index manifests of the two snapshots.

    None where one of them is large or cannot be read, or where the snapshot before has expired.
    """
    if not _may_have_vectors(snapshot):
        return NO_ROWS
    before = snapshot.parent if snapshot.is_kept() else None
    if before is not None and before.index_manifest == snapshot.index_manifest:
        return NO_ROWS
    after = _read_marks(snapshot)
    if after is None or (before is None and snapshot.id > 1 and after):
        return None
    known = {} if before is None else _read_marks(before)
    if known is None:
        return None
    return sum_amounts(_count_grown(mark, known.get(name)) for name, mark in after.items())


def _count_grown(mark: KnownVector, before: KnownVector | None) -> Amount:
    """The rows that a vector deletes and the one before it did not: a vector holds all that the one before it held."""
    if before is None:
        return mark.amount
    if mark == before:
        return NO_ROWS
    if mark.cardinality is None or before.cardinality is None:
        return Amount(0, None)
    grown = max(mark.cardinality - before.cardinality, 0)
    return Amount(grown, grown)


def sum_amounts(amounts: Iterable[Amount]) -> Amount:
    """Give all of them together."""
    return sum(amounts, NO_ROWS)


def _may_have_vectors(snapshot: PaimonSnapshot) -> bool:
    """Whether the index manifest may name vectors: that of a primary-key table without them names hash indexes alone."""
    context = snapshot.context
    return snapshot.index_manifest is not None and (
        context.is_on("deletion-vectors.enabled") or not context.schema.primary_keys
    )


def _read_marks(snapshot: PaimonSnapshot) -> KnownVectors | None:
    """Read the vectors of a snapshot, none where it has none; None where its index manifest is large or cannot be read."""
    name = snapshot.index_manifest
    if name is None or not _may_have_vectors(snapshot):
        return {}
    kept: dict[str, KnownVectors | None] = snapshot._table._vector_reader.marks
    snapshot.fetch_near()
    if name not in kept:
        kept[name] = _count_vectors(snapshot, snapshot.context.layout.shared("manifest", name))
    return kept[name]


def _count_vectors(snapshot: PaimonSnapshot, path: str) -> KnownVectors | None:
    with suppress(LakeError):
        if is_larger(snapshot.context.store, path, MOST_BYTES):
            return None
    try:
        files = snapshot.read_index_files()
    except LakeError as error:
        snapshot.context.findings.add_error(error, path, (snapshot.id,))
        return None
    files = [file for file in files if file.index_type == DELETION_VECTORS]
    uncounted = [file for file in files if any(item["cardinality"] is None for item in file.ranges)]
    reader = None
    if uncounted and sum(file.size_bytes or _MOST_DECODED for file in uncounted) < _MOST_DECODED:
        reader = snapshot._table._vector_reader
        reader.fetch(uncounted)
    return {
        str(item["data_file"]): KnownVector(
            file.recorded_path, item["offset"], _count_rows(file, item, reader)
        )
        for file in files
        for item in file.ranges
    }


def _count_rows(file: PaimonIndexFile, item: Mapping[str, Any], reader: VectorReader | None) -> int | None:
    """Count the rows of a vector as recorded, else as decoded: writers before 1.0 recorded none."""
    rows: int | None = item["cardinality"]
    if rows is not None or reader is None:
        return rows
    try:
        return len(reader.read_vector(file, item))
    except LakeError:
        return None


# How many rows of a Paimon table are left, and where that cannot be counted without merging.
#
# An append table holds its rows but those that deletion vectors delete. Rows of a primary-key table are merged by key when
# they are read: they can be counted only where nothing is left to merge. With deletion vectors, batch readers skip level 0
# until it is compacted and read the other levels unmerged ("Deletion Vectors" of the primary-key table documentation).

Files = Sequence[PaimonDataFile]
# counts the rows of files without those that vectors delete
Count = Callable[[Files], LiveRows]


def count_rows(context: TableContext, files: Files, count: Count) -> LiveRows:
    """Count the rows of a snapshot's live files that a batch reader sees."""
    if not context.schema.primary_keys:
        return _count_appended(files, count)
    if context.skips_level_0:
        return _count_upper(files, count)
    why = _find_merge(files)
    counted = count(files)
    return counted if why is None else replace(counted, count=None, reason=why, at_least=0)


def _count_appended(files: Files, count: Count) -> LiveRows:
    counted = count(files)
    partial = [file for file in files if file.write_cols is not None or file.file_name.endswith(".blob")]
    if not partial:
        return counted
    if any(file.first_row_id is None for file in partial):
        return replace(counted, count=None, reason="files hold some of the columns of rows without ids")
    if any(file.deletes for file in files):
        return replace(counted, count=None, reason="files share rows, and vectors delete of some of them")
    starts = ((file.first_row_id or 0, file.row_count or 0) for file in files)
    rows = _measure_union(sorted((start, start + length) for start, length in starts))
    why = "by row ids: files share rows"
    return replace(counted, count=rows, at_least=rows, at_most=rows, reason=why, deleted=None)


def _measure_union(ranges: Sequence[tuple[int, int]]) -> int:
    """Measure how many numbers are in any of the half-open ranges, given in order.

    >>> _measure_union([(0, 3), (0, 3), (2, 5), (7, 8)])
    6
    """
    total, end = 0, 0
    for start, stop in ranges:
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def _count_upper(files: Files, count: Count) -> LiveRows:
    upper = [file for file in files if file.level and (file.bucket or 0) >= 0]
    waiting = [file for file in files if not (file.level and (file.bucket or 0) >= 0)]
    counted = count(upper)
    if not waiting:
        return counted
    rows = [counted.recorded, *(file.row_count for file in waiting)]
    recorded = None if None in rows else sum(number or 0 for number in rows)
    some = "1 file of level 0 waits" if len(waiting) == 1 else f"{len(waiting)} files of level 0 wait"
    why = f"{counted.reason}; {some} for compaction, which batch readers skip until then"
    waits = 0 if recorded is None or counted.recorded is None else recorded - counted.recorded
    return replace(counted, recorded=recorded, reason=why, waiting=waits)


def _find_merge(files: Files) -> str | None:
    """Find why the rows of a primary-key table cannot be counted: what must be merged; None when nothing must.

    A file alone in its bucket and all files of a bucket on one level above 0 are one sorted run in which each key is once:
    engines read such a file as it is (Paimon's `MergeTreeSplitGenerator`). What waits in the bucket of a postponed table
    is not read yet.
    """
    levels: dict[tuple[bytes, int | None], list[int | None]] = {}
    for file in files:
        levels.setdefault((file.partition_bytes, file.bucket), []).append(file.level)
        if file.delete_row_count:
            return file.merge_reason
        if file.delete_row_count is None:
            return f"{MERGED}; this writer did not record how many rows are deletes"
    merging = sum(not _is_one_run(bucket, held) for (_, bucket), held in levels.items())
    if not merging:
        return None
    return f"{MERGED}, in {merging} of {len(levels)} buckets from several levels or from level 0"


def _is_one_run(bucket: int | None, levels: Sequence[int | None]) -> bool:
    """Whether files on some levels of a bucket are one run; level 0 may have keys twice, and so may one not recorded."""
    is_alone = len(levels) == 1 and (bucket or 0) >= 0
    return is_alone or (len(set(levels)) == 1 and bool(levels[0]))
