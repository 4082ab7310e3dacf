"""Everything that is compared of a Paimon table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.hashes import hash_murmur3
from lakelens.codecs.paimon.row_hash import SEED, encode_row
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.formats.paimon.check.files import compare_files, list_row_checks
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import HashIndexFile, PaimonIndexFile, VectorIndexFile
from lakelens.formats.paimon.manifests.manifest import PaimonManifest
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.checking import Checking, RowCheck, compare_ranges
from lakelens.model.check.ledger import Affected, Ledger, LedgerLine, name_some
from lakelens.model.check.survey import State, Survey
from lakelens.progress import track

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.codecs.paimon.types import PaimonType
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.datafile import DataFile

# The documents of a Paimon table, compared with one another and with the entries below them.
#
# Ids, schemas, hints, tags, and the chain of snapshots; the rows that snapshots record, and the counts of manifest lists.
# See "Snapshot", "Schema" and "Manifest" of the Paimon specification. `totalRecordCount` is of the live files: rows of ADD
# entries of base and delta less those of DELETE entries; `deltaRecordCount` the same of the delta alone. The base list of a
# snapshot holds the files and the rows that the snapshot before it ended with. What opening the table has found already
# (hints, gaps between ids) is counted, not repeated.

_OPENED = ("stale-hint", "snapshot-gap", "snapshot-document")
_KINDS = ("APPEND", "COMPACT", "OVERWRITE", "ANALYZE")
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
    """Give the tally of each manifest."""
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


def compare_document(table: PaimonTable, survey: Survey, tallies: Sequence[ManifestTally]) -> None:
    """Compare snapshots, schemas, tags and hints with each other."""
    line = survey.ledger.line("chain, refs, hint, ids", "snapshots, schemas, tags, hints", "one another")
    # ids of schemas follow each other, names and ids of columns stand once, the highest id is no lower than any
    for name in _list_branches(table):
        branch = table.branch(name)
        schemas = [one for one in branch.schemas if isinstance(one, PaimonSchema) and one.id is not None]
        for one, other in pairwise(schemas):
            message = (
                f"schema {one.id} is followed by schema {other.id}: files of those between cannot be read"
            )
            follows = other.id == (one.id or 0) + 1
            line.require(follows, "schema-gap", one.path or "", message, (), "warning")
        for schema in schemas:
            _compare_schema(schema, line)
    _compare_snapshots(table, survey, line)
    _compare_chain(survey, line, tallies)
    _compare_consumers(table, line)
    # what opening the table compared: hints with the listing, ids with each other
    wrong = sum(finding.code in _OPENED and finding.severity != "note" for finding in table.findings)
    looked = len(table.context.pointer.hints) + len(table.context.pointer.ids)
    line.compared += max(looked, wrong)
    line.differing += wrong


def _compare_schema(schema: PaimonSchema, line: LedgerLine) -> None:
    path, ids = schema.path or "", [column.id for column in schema.columns]
    highest = (schema.raw or {}).get("highestFieldId")
    every = [field.id for _, field in schema.walk() if field.id is not None and field.id >= 0]
    if isinstance(highest, int) and ids:
        message = f"$.highestFieldId is {highest}, a column has id {max(ids)}"
        line.require(highest >= max(ids), "highest-field-id", path, message)
    twice = [number for number, count in Counter(ids).items() if count > 1]
    line.require(not twice, "repeated-id", path, f"id {name_some(twice)} is given to more than one column")
    names = {column.name for column in schema.columns}
    for key, wanted in (("primaryKeys", schema.primary_keys), ("partitionKeys", schema.partition_keys)):
        unknown = [name for name in wanted if name not in names]
        message = f"$.{key} names {name_some(unknown)}, and there is no such column"
        line.require(not unknown, "unknown-column", path, message)
    line.agree(len(every) > 0)


def _compare_snapshots(table: PaimonTable, survey: Survey, line: LedgerLine) -> None:
    for state in survey.states:
        snapshot = state.snapshot
        if not isinstance(snapshot, PaimonSnapshot):
            continue
        path = snapshot.path or ""
        known = snapshot.context.schemas.find(snapshot.schema_id) is not None
        message = f"{state.name} has schema {snapshot.schema_id}, which cannot be read"
        line.require(known, "schema-missing", path, message, state.ids)
        message = f"commitKind is {snapshot.commit_kind[:40]!r}, none of {', '.join(_KINDS)}"
        line.require(snapshot.commit_kind in _KINDS, "commit-kind", path, message, state.ids, "warning")
        recorded = snapshot.raw.get("id")
        what = "the id within, and that of the file's name"
        line.compare(recorded, snapshot.id, "snapshot-id", path, what, state.ids, "error")
    _compare_files_of_schemas(table, survey, line)


def _compare_files_of_schemas(table: PaimonTable, survey: Survey, line: LedgerLine) -> None:
    """Compare every schema that a file was written with is there: its columns are known by it alone."""
    import numpy as np

    if not survey.entries.num_rows:
        return
    numbers = survey.numpy("schema_id", -1)
    known = {schema.id for name in _list_branches(table) for schema in table.branch(name).schemas}
    for number in np.unique(numbers[survey.live]).tolist():
        line.agree()
        if number < 0 or number in known:
            continue
        line.compared -= 1
        row = int(np.flatnonzero((numbers == number) & survey.live)[0])
        manifest = survey.manifest_of(row)
        message = f"{survey.describe_entry(row)}: _SCHEMA_ID is {number}, and that schema cannot be read"
        line.differ("error", "schema-missing", manifest.path, message, survey.snapshots_of(row))


def _compare_chain(survey: Survey, line: LedgerLine, tallies: Sequence[ManifestTally]) -> None:
    """The base of each snapshot has the files and rows of the one before it; times and row ids do not run backwards."""
    by_branch: dict[str, dict[int, State]] = {}
    for state in survey.states:
        home, _, name = state.name.rpartition("snapshot ")
        if isinstance(state.snapshot, PaimonSnapshot) and name.isdigit() and state.roles is None:
            by_branch.setdefault(home, {})[state.snapshot.id] = state
    for states in by_branch.values():
        for number, state in states.items():
            if number - 1 in states:
                _compare_pair(survey, line, tallies, states[number - 1], state)


def _compare_pair(
    survey: Survey, line: LedgerLine, tallies: Sequence[ManifestTally], before: State, after: State
) -> None:
    one, other = before.snapshot, after.snapshot
    assert isinstance(one, PaimonSnapshot)
    assert isinstance(other, PaimonSnapshot)
    path = other.path or ""
    message = f"{after.name} was committed before {before.name}"
    line.require(
        other.time_millis >= one.time_millis, "time-runs-backwards", path, message, after.ids, "warning"
    )
    if one.next_row_id is not None and other.next_row_id is not None:
        message = f"nextRowId went back from {one.next_row_id} to {other.next_row_id}"
        line.require(other.next_row_id >= one.next_row_id, "row-ids", path, message, after.ids)
    if not (survey.is_whole(before) and survey.is_whole(after)):
        return
    ended = _count(before, ("base", "delta"), tallies)
    began = _count(after, ("base",), tallies)
    if other.operation == "OVERWRITE" and began == (0, 0):
        return  # the table was replaced: its base is empty
    message = (
        f"{after.name} begins with {began[0]:,} files and {began[1]:,} rows, "
        f"{before.name} ended with {ended[0]:,} files and {ended[1]:,} rows"
    )
    line.require(ended == began, "base-differs", other.manifest_lists[0].path, message, after.ids)


def _count(state: State, roles: tuple[str, ...], tallies: Sequence[ManifestTally]) -> tuple[int, int]:
    """Count the files and rows that some lists of a state leave."""
    found = [tallies[number] for number, role, _ in state.manifests if role in roles]
    return sum(tally.added - tally.deleted for tally in found), sum(tally.rows for tally in found)


def _compare_consumers(table: PaimonTable, line: LedgerLine) -> None:
    """A consumer goes on with a snapshot that has not expired: expiry spares those that consumers need."""
    ids = table.context.pointer.ids
    for name, following in table.consumers.items():
        is_there = not ids or ids[0] <= following
        path = table.context.layout.document("consumer", name)
        message = f"nextSnapshot is {following}, the earliest snapshot is {ids[0] if ids else 0}"
        line.require(is_there, "consumer-lost", path, message, (), "warning")


def _list_branches(table: PaimonTable) -> list[str]:
    return [ref.name for ref in table.refs.branches]


class PaimonChecking(Checking):
    """What is compared of one Paimon table."""

    columns = COLUMNS
    table: PaimonTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        table = self.table
        tallies = tally_manifests(survey)
        lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
        survey.run(
            lambda: compare_totals(survey, tallies),
            lambda: compare_counts(survey, tallies),
            lambda: compare_ranges(survey, lists),
            lambda: compare_files(table, survey),
            lambda: compare_indexes(table, survey),
            lambda: compare_document(table, survey, tallies),
        )

    def list_row_checks(self, file: DataFile) -> tuple[RowCheck, ...]:
        """See `Checking.list_row_checks`."""
        return (*list_row_checks(file), *self._hash_indexes.list_checks(file))  # type: ignore[arg-type]

    @cached_property
    def _hash_indexes(self) -> HashIndexes:
        return HashIndexes(self.table)


# Index files and statistics, as index manifests and snapshots record them, compared with the files.
#
# See "Table Index" of the Paimon documentation: deletion vectors of a bucket or of an append table, hashes of a
# dynamic bucket, and statistics of ANALYZE.

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
