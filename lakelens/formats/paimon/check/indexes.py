"""Index files and statistics, as index manifests and snapshots record them, compared with the files.

See "Table Index" of the Paimon documentation: deletion vectors of a bucket or of an append table, hashes of a
dynamic bucket, and statistics of ANALYZE.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.hashes import hash_murmur3
from lakelens.codecs.paimon.row_hash import SEED, encode_row
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import HashIndexFile, PaimonIndexFile, VectorIndexFile
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.checking import RowCheck
from lakelens.model.check.ledger import Ledger, LedgerLine
from lakelens.model.check.survey import State, Survey
from lakelens.progress import track

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.paimon.types import PaimonType
    from lakelens.formats.paimon.table import PaimonTable


#: Index files that are decoded; of more a part is.
MOST_INDEXES = 1_000


def compare_indexes(table: PaimonTable, survey: Survey) -> None:
    """Compare index files with what index manifests record of them, each once; statistics with their snapshots."""
    line = survey.ledger.line("index files", "index manifests", "index files, live data files")
    seen: dict[str, tuple[PaimonIndexFile, list[int]]] = {}
    for state in survey.states:
        snapshot = state.snapshot
        if not isinstance(snapshot, PaimonSnapshot) or state.roles == ("changelog",):
            continue
        for index in snapshot.index_files:
            seen.setdefault(index.path, (index, []))[1].extend(state.ids)
        _compare_statistics(survey, state, snapshot)
    rows: dict[str, int] = {}  # of data files by name, as entries record them
    if survey.entries.num_rows:
        names = map(posixpath.basename, survey.entries["path"].to_pylist())
        rows = dict(zip(names, survey.numpy("record_count").tolist(), strict=True))
    for path, (index, users) in track(list(seen.items())[:MOST_INDEXES], "index files", len(seen)):
        snapshots = tuple(sorted(set(users)))
        try:
            if isinstance(index, VectorIndexFile):
                _compare_vectors(line, index, rows, snapshots)
            elif isinstance(index, HashIndexFile):
                what = "hashes of the index file"
                line.compare(index.row_count, len(index.hashes), "index-rows", path, what, snapshots, "error")
        except (Missing, Unsupported):
            continue  # a missing file is found by the listing
        except LakeError as error:
            code = type(error).__name__.lower()
            line.differ("error", code, error.path or path, error.reason, snapshots)
    if len(seen) > MOST_INDEXES:
        what = f"{len(seen) - MOST_INDEXES:,} of {len(seen):,} index files"
        survey.ledger.leave(what, f"the first {MOST_INDEXES:,} were decoded")


def _compare_vectors(
    line: LedgerLine, index: VectorIndexFile, rows: Mapping[str, int], snapshots: tuple[int, ...]
) -> None:
    what = "vectors that the index manifest names"
    line.compare(index.row_count, len(index.ranges), "index-rows", index.path, what, snapshots, "error")
    vectors = index.vectors
    for found in index.ranges:
        name = str(found["data_file"])
        vector = vectors[name]
        what = f"deleted rows of {name}"
        line.compare(
            found["cardinality"], len(vector), "vector-cardinality", index.path, what, snapshots, "error"
        )
        message = f"it deletes rows of {name}, which no entry names"
        if line.require(name in rows, "vector-target", index.path, message, snapshots, "warning"):
            last: Any = vector.max() if len(vector) else -1
            message = f"it deletes row {last} of {name}, which has {rows[name]:,} rows"
            line.require(last < rows[name], "vector-target", index.path, message, snapshots)


def _compare_statistics(survey: Survey, state: State, snapshot: PaimonSnapshot) -> None:
    """Statistics are of this snapshot or of an earlier one, and count no more rows than it has."""
    if snapshot.document.statistics is None:
        return
    line = survey.ledger.line("statistics files", "statistics", "snapshots")
    for statistic in snapshot.statistics:
        if not statistic.raw:
            continue
        message = f"it is of snapshot {statistic.snapshot_id}, and snapshot {snapshot.id} uses it"
        is_earlier = statistic.snapshot_id is None or statistic.snapshot_id <= snapshot.id
        line.require(is_earlier, "statistics-snapshot", statistic.path, message, state.ids, "warning")
        merged, total = statistic.raw.get("mergedRecordCount"), snapshot.total_record_count
        if isinstance(merged, int) and total is not None and statistic.snapshot_id == snapshot.id:
            message = f"mergedRecordCount is {merged:,}, snapshot {snapshot.id} has {total:,} rows unmerged"
            line.require(merged <= total, "statistics-rows", statistic.path, message, state.ids, "warning")
        known = {column.name for column in snapshot.schema.columns}
        unknown = [name for name in statistic.columns if name not in known]
        message = f"it has statistics of {', '.join(unknown[:3])}, which the schema does not have"
        line.require(not unknown, "unknown-column", statistic.path, message, state.ids, "warning")


# The hash indexes of dynamic buckets, compared with the keys in their buckets.
#
# See "Dynamic Bucket" of the Paimon documentation: a writer looks the hash of a row's key up in the `HASH` index files of
# the partition, to write it into the bucket where the key is. A key whose hash is not in the index of its bucket is given
# a second bucket by the next write, and then is there twice. A hash without a key is none the worse: nothing takes hashes
# of deleted keys out. Of a table without a fixed number of buckets whose key has all partition columns; others keep no
# such index.

#: Keys of one file that are hashed; of more the first are.
MOST_KEYS = 100_000
_Bucket = tuple[str, int | None]


class HashIndexes:
    """The hashes of the current snapshot, by partition and bucket; a bucket whose index cannot be read is left out."""

    def __init__(self, table: PaimonTable) -> None:
        self._table = table

    @cached_property
    def _hashes(self) -> Mapping[_Bucket, set[int]]:
        current = self._table.current
        found: dict[_Bucket, set[int]] = {}
        unread = set[_Bucket]()
        for index in () if current is None else current.index_files:
            if isinstance(index, HashIndexFile):
                place = str(index.partition), index.bucket
                try:
                    found.setdefault(place, set()).update(index.hashes.tolist())
                except LakeError:  # found by the listing, or by the comparison of index files
                    unread.add(place)
        return {place: hashes for place, hashes in found.items() if place not in unread}

    @cached_property
    def _live(self) -> frozenset[str]:
        return frozenset(file.path for file in self._table.files) if self._hashes else frozenset()

    def list_checks(self, file: PaimonDataFile) -> Iterator[RowCheck]:
        """List the check of a file of the current snapshot whose bucket has an index."""
        place = str(file.partition), file.bucket
        if file.file_format == "avro" or file.content != "data" or place not in self._hashes:
            return  # Avro's rows come without their logical types
        columns = file.schema.key_columns
        if columns and file.path in self._live:
            yield HashCheck(
                file, {f"_KEY_{column.name}": column.type for column in columns}, self._hashes[place]
            )


class HashCheck(RowCheck):
    """Whether the hash of each key of a file is in the index of its bucket."""

    def __init__(self, file: PaimonDataFile, columns: Mapping[str, PaimonType], hashes: set[int]) -> None:
        self._file, self._columns, self._hashes = file, columns, hashes
        self._looked_up = self._rows = 0
        self._lost: list[tuple[Any, ...]] = []
        self._is_comparable = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        if not self._is_comparable or any(name not in rows.column_names for name in self._columns):
            self._is_comparable = False
            return
        self._rows += rows.num_rows
        kinds = list(self._columns.values())
        left = rows.slice(0, max(MOST_KEYS - self._looked_up, 0))
        try:
            keys = list(zip(*(left[name].to_pylist() for name in self._columns), strict=True))
            hashes = [hash_murmur3(encode_row(kinds, key), SEED) for key in keys]
        except (
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
        ):  # a type that Python holds in another form
            self._is_comparable = False
            return
        self._looked_up += len(keys)
        pairs = zip(keys, hashes, strict=True)
        self._lost += [key for key, hashed in pairs if hashed not in self._hashes]

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        file = self._file
        if not self._is_comparable:
            ledger.leave(
                f"the hashes of keys in bucket {file.bucket}", "keys of this type are not hashed here"
            )
            return
        if self._rows > self._looked_up:
            what = f"the hashes of {self._rows - self._looked_up:,} keys of {file.path.rpartition('/')[2]}"
            ledger.leave(what, f"the first {MOST_KEYS:,} of a file are looked up")
        line = ledger.line("hashes of keys", "hash indexes", "rows")
        line.agree(self._looked_up - len(self._lost))
        if self._lost:
            names = ", ".join(name.removeprefix("_KEY_") for name in self._columns)
            some = ", ".join(map(str, self._lost[0]))
            message = (
                f"the hash index of bucket {file.bucket} lacks {len(self._lost):,} of {self._looked_up:,} keys, "
                f"the first {names} = {some}: the next write of it goes to another bucket"
            )
            line.differ("error", "index-key", file.path, message, snapshots)
