"""A Hive-style table: the facts of its directory and of its metastore, and its one state, a listing taken now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from lakelens.caching import cached_property
from lakelens.errors import Unsupported
from lakelens.formats.access import TableAccess, explain_late, run_ahead
from lakelens.formats.base import OpenRequest, name_table
from lakelens.formats.hive import FORMAT
from lakelens.formats.hive.datafile import FileContext, HiveFile, fetch_facts, make_partition
from lakelens.formats.hive.inference import infer_schema, make_partitioning, parse_catalog_schema
from lakelens.formats.hive.metastore import Registered, compare_partitions, list_registered, walk_registered
from lakelens.formats.hive.names import DEFAULT_PARTITION, parse_partition_value
from lakelens.formats.hive.read import DATA, EMPTY, NESTED, UNFINISHED, Found, Pairs, walk_table
from lakelens.io.ahead import fetch_below
from lakelens.io.relocation import Locator
from lakelens.model.collections import Document
from lakelens.model.comparison import FileComparison, FileCounts, WholeComparison, identify_copy
from lakelens.model.datafile import DataFile
from lakelens.model.facts.traits import Figures, Traits, parse_figure
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType, PartitionSpec, Schema
from lakelens.model.snapshot import Snapshot, SnapshotAnswers
from lakelens.model.storage import OWN_DIRECTORIES, Relocation, StoredFile
from lakelens.model.table import Table, TableSource

_THREADS = 8
_FEW = 4  # no thread is started for these


class ListedFiles(FileSet):
    """The files of a listing. Its one line does not count rows: that would open every file."""

    @property
    def record_count(self) -> int:
        """Rows of the data files by their footers; those of unknown counts are not added."""
        waiting = [
            file for file in self if isinstance(file, HiveFile) and file.size_bytes and not file.is_counted
        ]
        if len(waiting) > _FEW:
            jobs = (partial(file.read_facts, file.file_format) for file in waiting)
            for file, load in zip(waiting, run_ahead(jobs, _THREADS, waiting[0]._access.store), strict=True):
                file.count_rows(load)
        else:
            fetch_facts(waiting)
        return super().record_count

    def __repr__(self) -> str:
        return f"<FileSet {len(self)} files, {self.size_bytes} bytes>"


class ListingComparison(WholeComparison):
    """Two listings. Rows that were kept are not counted: that would open every file."""

    def count_kept(self) -> Mapping[str, FileCounts]:
        """Files and bytes that were kept, by content; rows where every file was opened before."""
        counts: dict[str, FileCounts] = {}
        for found in self.kept:
            rows = found.record_count if getattr(found, "is_counted", True) else None
            one = FileCounts(1, rows, found.own_size_bytes)
            counts[found.content] = counts.get(found.content, FileCounts()) + one
        return counts


def _identify_stored(found: DataFile) -> Hashable:
    return (found.path, found.size_bytes, getattr(found, "modified", None))


def _compare_listings(before: Snapshot, after: HiveListing) -> FileComparison:
    """Compare with another listing. A file of the same name with another size or time is another file."""
    is_copy = isinstance(before, HiveListing) and before._table.location != after._table.location
    return ListingComparison(before.files, after.files, identify_copy if is_copy else _identify_stored)


class HiveListing(Snapshot):
    """A listing of the visible files: it has no id, no parent, and no name; `committed_at` is the newest file's time."""

    answers = SnapshotAnswers(files=lambda listing: listing._files, compare_files=_compare_listings)
    id = None
    _without_bytes = "a listing is stored nowhere: table.files[0].bytes_view() shows a data file"

    def __init__(
        self,
        table: Table,
        found: Sequence[Found],
        files: ListedFiles,
    ) -> None:
        self._table = table
        self._files = files
        self.path = table.location
        self.summary = _summarise(found)
        count, size, partitions = (
            parse_figure(self.summary, f"total-{noun}") for noun in ("data-files", "files-size", "partitions")
        )
        self.figures = Figures(files=count, size_bytes=size, partitions=partitions)
        times = [one.info.modified for one in found if one.is_data and one.info.modified is not None]
        self.committed_at: datetime | None = max(times, default=None)

    def __repr__(self) -> str:
        return f"<Snapshot listing of {self.summary['total-data-files']} files>"


def _summarise(found: Sequence[Found]) -> Document:
    """Count a listing, which is recorded nowhere: files, bytes, partitions, jobs, and files by role."""
    data = [listed for listed in found if listed.is_data]
    counted = {
        "total-data-files": len(data),
        "total-files-size": sum(listed.info.size for listed in data),
        "total-partitions": len({listed.pairs for listed in data if listed.pairs}),
        "write-jobs": len({listed.name.job for listed in data if listed.name.job}),
    }
    roles = Counter(listed.role for listed in found if not listed.is_data)
    return Document({key: str(value) for key, value in (*counted.items(), *sorted(roles.items()))}, "summary")


_MOST_LISTED = 100_000  # objects that are listed together; of more the directories are listed one by one
_FURTHER = (
    ("role", DataType("string", "string")),
    ("modified", DataType("timestamp", "timestamptz", precision=6)),
    ("write_id", DataType("string", "string")),
    ("task", DataType("int", "int32")),
)


class HiveTable(Table):
    """A directory of data files. Opening it reads nothing further; its files are listed when first asked for.

    `catalog` holds the metastore's facts when the table was opened through a Spark session: `columns`,
    `partition_columns`, `table`, `storage` (with the serde), `properties`, `partitions`, `statistics`. Without them
    `schema` is inferred from the files and `partitioning` from the directories.
    """

    _without_bytes = "a Hive-style table has no metadata files: table.files[0].bytes_view() shows a data file"

    def __init__(self, request: OpenRequest) -> None:
        if request.branch is not None or request.version is not None:
            raise Unsupported("a Hive table has no branches and no versions", path=request.path)
        facts = {key: value for key, value in (request.catalog or {}).items() if value is not None}
        self._facts = facts
        self._access = TableAccess(request.store, Locator(request.path, scheme=request.store.scheme))
        super().__init__(
            TableSource(
                format="hive",
                driver=FORMAT,
                location=request.path,
                name=request.name or name_table(request.path),
                evidence=request.evidence,
                access=self._access,
                catalog=facts or None,
                traits=self._describe_traits,
                schema=self._find_columns,
                schemas=lambda: (self.schema,),
                partitioning=self._find_partitioning,
                properties=lambda: facts.get("properties"),
                metadata=lambda: Document(facts, "catalog"),
                current=self._take_listing,
                list_files=self._list_objects,
                relocation=self._describe_relocation,
                mark=self._mark_listing,
            )
        )

    def _describe_traits(self) -> Traits:
        known = "as its metastore knows it" if self.catalog else "by its directory alone, without a metastore"
        return Traits(
            "Hive",
            f"Apache Hive table, {known}",
            self._describe_buckets(),
            has_snapshots=False,
            files_are_listed=True,
            has_sequence_numbers=False,
        )

    def _describe_buckets(self) -> str:
        table = self._facts.get("table")
        if not isinstance(table, Mapping) or not str(table.get("Num Buckets", "-1")).isdecimal():
            return ""
        columns = str(table.get("Bucket Columns", "")).strip("[]").replace("`", "")
        return f"{table['Num Buckets']} buckets by {columns}"

    def _mark_listing(self) -> tuple[str, Hashable]:
        """The listing is all that says which files there are."""
        return "the directory", tuple((listed.relative_path, listed.info.size) for listed in self._listing)

    @cached_property
    def _known_schema(self) -> Schema | None:
        return parse_catalog_schema(self._facts)

    def _find_columns(self) -> Schema:
        """Find the metastore's columns; else the union of the files' own columns, then the partition columns as strings."""
        if self._known_schema is not None:
            return self._known_schema
        files = [file for file in self.files if isinstance(file, HiveFile)]
        return infer_schema(files, self._partition_columns, self.findings, self.location)

    def _find_partitioning(self) -> PartitionSpec:
        """The partition columns; types are the metastore's, or inferred from the directories' texts (`raw` says which)."""
        values: dict[str, set[str | None]] = {name: set() for name in self._partition_columns}
        for pairs in {one.pairs for one in self._listing if one.is_data}:
            for name, value in make_partition(pairs, self._partition_columns).items():
                values[name].add(value)
        return make_partitioning(self._known_schema, self._partition_columns, values)

    @cached_property
    def _partition_columns(self) -> list[str]:
        recorded = self._facts.get("partition_columns")
        if recorded or self._known_schema is not None:
            return [column["name"] for column in recorded or ()]
        return list_columns(one for one in self._listing if one.is_data)

    def _take_listing(self) -> HiveListing:
        files = ListedFiles(self._load_files, self._make_columns)
        self._note_absence()
        return HiveListing(self, self._listing, files)

    def _note_absence(self) -> None:
        """Keep as an error that there is no file, although the metastore counts some."""
        properties = self._facts.get("properties")
        recorded = parse_figure(properties, "numFiles") if isinstance(properties, Mapping) else None
        message = Figures(files=recorded).explain_emptiness(None, "")
        if message is not None and not any(one.is_data for one in self._listing):
            self.findings.add("error", "no-files", self.location, f"the metastore: {message}")

    def _describe_relocation(self) -> Relocation:
        """Describe the location that the metastore records; nothing else is recorded."""
        return self._access.describe_relocation(self._facts.get("storage", {}).get("Location"))

    def _list_objects(self) -> Iterator[StoredFile]:
        """List every object below the table's directory, and those of partitions elsewhere; listed again at each call."""
        for one in self.list_found(Findings()):
            by = (f"listing of {'/'.join('='.join(p) for p in one.pairs) or 'the directory'}",)
            yield StoredFile(
                one.path,
                one.relative_path,
                one.info.size,
                one.role,
                by if one.is_data else (),
                one.info.modified,
            )

    @cached_property
    def _registered(self) -> list[Registered]:
        return list_registered(self._facts, self._access)

    @cached_property
    def _listing(self) -> list[Found]:
        found = self.list_found(self.findings)
        observe_listing(found, self.findings, self.location)
        return found

    def list_early(self) -> None:
        """List a small directory now: detection has its listings already."""
        if fetch_below(self._access.store, self.location):
            _ = self._listing

    def list_found(self, findings: Findings) -> list[Found]:
        """List every object below the directory and below registered partitions elsewhere; what is wrong is a finding."""
        fetch_below(self._access.store, self.location, _MOST_LISTED)
        places = {one.path: one.pairs for one in self._registered if one.path is not None}
        store = self._access.store
        found = list(walk_table(store, self.location, findings, registered=places))
        if not self._facts.get("partition_columns"):
            return found
        found.extend(walk_registered(store, self.location, self._registered, findings))
        count = int(self._facts.get("partition_count", len(self._registered)))
        return compare_partitions(found, self._registered, count, self.location, store, findings)

    def _load_files(self) -> list[HiveFile]:
        # Hive ignores case: a column of a file is shown as the metastore spells it
        known = self._known_schema
        names = {} if known is None else {name.casefold(): name for name in known.names}
        explain = partial(explain_late, "lakelens.formats.hive.explain")
        context = FileContext(self._access, self._partition_columns, names, explain, lambda: self.schema)
        data = [one for one in self._listing if one.is_data]
        # one object for all files of a directory
        partitions = {pairs: make_partition(pairs, context.columns) for pairs in {one.pairs for one in data}}
        return [HiveFile(context, one, partitions[one.pairs]) for one in data]

    def _make_columns(self) -> FileColumns:
        keys = {name.casefold() for name in self._partition_columns}
        stats = tuple((path, leaf.type) for path, leaf in self.schema.leaves() if path.casefold() not in keys)
        text = DataType("string", "string")
        return FileColumns(stats, (), tuple((name, text) for name in self._partition_columns), _FURTHER)


def open_hive(request: OpenRequest) -> HiveTable:
    """Open a table; its directory is listed when its files are first asked for, a far one now if that takes one listing."""
    table = HiveTable(request)
    if request.store.is_far:
        table.list_early()
    return table


# The oddities of a listing that matter to a reader of the table: each becomes a finding.


def observe_listing(found: Sequence[Found], findings: Findings, root: str) -> None:
    """Add the findings of the whole listing."""
    data = [one for one in found if one.is_data]
    _observe_partitions(data, findings, root)
    _observe_formats(data, findings, root)
    _observe_acid(found, findings, root)
    for one in found:
        if one.role == EMPTY:
            message = "a file of no bytes: readers skip it, or fail on it"
            findings.add("note", "empty-file", one.path, message)
        if not is_unicode(one.path):
            message = (
                "the name is not UTF-8: engines may not find it, and tables of files spell its bytes out"
            )
            findings.add("note", "name-not-utf8", one.path, message)
    for role, severity, code, words in (
        (UNFINISHED, "warning", "unfinished-write", "left behind by a write that did not end"),
        (NESTED, "note", "nested-files", "in plain subdirectories, where readers do not look by default"),
        ("unfinished copy", "warning", "unfinished-copy", "of a copy that did not end"),
        *(
            (
                own.role,
                "warning",
                own.title.lower().replace(" ", "-"),
                f"of a {own.role}: it says which files are live, this listing does not",
            )
            for own in OWN_DIRECTORIES.values()
            if own.decides
        ),
    ):
        affected = [one for one in found if one.role == role]
        if affected:
            count = f"{len(affected)} file{'s' * (len(affected) != 1)} "
            findings.add(severity, code, affected[0].path, count + words)  # type: ignore[arg-type]


def list_columns(found: Iterable[Found]) -> list[str]:
    """List the partition columns in the order that most files' directories have, spelled as most of them spell them."""
    orders: Counter[tuple[str, ...]] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for one in found:
        if not one.pairs:
            continue
        orders[tuple(key.casefold() for key, _ in one.pairs)] += 1
        for key, _ in one.pairs:
            spellings.setdefault(key.casefold(), Counter())[key] += 1
    names: dict[str, None] = {}
    for order, _ in sorted(orders.items(), key=lambda pair: (-pair[1], pair[0])):
        for name in order:
            names.setdefault(name)
    return [spellings[name].most_common(1)[0][0] for name in names]


def is_unicode(name: str) -> bool:
    r"""Check whether the bytes of a name are UTF-8; those that are not, Python keeps as surrogates.

    >>> is_unicode("é"), is_unicode("part-\udcff")
    (True, False)
    """
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _observe_partitions(data: Sequence[Found], findings: Findings, root: str) -> None:
    paths: dict[Pairs, Found] = {}
    for one in data:
        paths.setdefault(one.pairs, one)
    orders = {tuple(key.casefold() for key, _ in pairs): one for pairs, one in paths.items() if pairs}
    if len(orders) > 1:
        words = " and ".join(sorted("/".join(order) for order in orders))
        same = len({frozenset(order) for order in orders}) == 1
        code = "partition-key-order" if same else "partition-keys-differ"
        said = "nests the same keys in different orders" if same else "does not have the same keys everywhere"
        findings.add("warning", code, root, f"the directory {said}: {words}; values are taken by name")
    spelled = {key for pairs in paths for key, _ in pairs}
    folded = Counter(key.casefold() for key in spelled)
    for name, count in folded.items():
        if count > 1:
            words = ", ".join(sorted(key for key in spelled if key.casefold() == name))
            findings.add("warning", "partition-case", root, f"one partition column is spelled {words}")
    if orders and () in paths:
        message = "a data file beside the partition directories: readers of the partitions do not see it"
        findings.add("warning", "file-outside-partitions", paths[()].path, message)
    _observe_values(paths, findings)


def _observe_values(paths: dict[Pairs, Found], findings: Findings) -> None:
    """Observe two directories that stand for one partition; the default partition; the same key twice."""
    meaning: dict[frozenset[tuple[str, str | None]], Pairs] = {}
    for pairs, one in paths.items():
        keys = [key.casefold() for key, _ in pairs]
        if len(set(keys)) < len(keys):
            message = "the same key twice in one path; the last one counts"
            findings.add("warning", "partition-key-twice", one.path, message)
        defaults = [key for key, text in pairs if text == DEFAULT_PARTITION]
        if defaults:
            message = (
                f"{', '.join(defaults)} is {DEFAULT_PARTITION}: null and the empty string both read as null"
            )
            findings.add("note", "default-partition", one.path, message)
        values = {(key.casefold(), parse_partition_value(text)) for key, text in pairs}
        known = meaning.setdefault(frozenset(values), pairs)
        if known != pairs and [k.casefold() for k, _ in known] == keys:
            message = f"means the same partition as {'/'.join('='.join(pair) for pair in known)}"
            findings.add("warning", "partition-twice", one.path, message)


def _observe_formats(data: Sequence[Found], findings: Findings, root: str) -> None:
    kinds = Counter(one.name.format for one in data if one.role == DATA and one.name.format)
    if len(kinds) > 1:
        words = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        findings.add("warning", "mixed-formats", root, f"files of several formats: {words}")
    if not kinds:
        return
    for one in data:
        name = one.info.name
        if one.role == DATA and one.name.format is None and one.name.writer is None and "." in name:
            message = "its name fits no data format, but readers take every visible file for data"
            findings.add("note", "foreign-file", one.path, message)


def _observe_acid(found: Sequence[Found], findings: Findings, root: str) -> None:
    kinds = Counter(one.acid.kind for one in found if one.acid is not None)
    if not kinds:
        return
    places = ", ".join(
        f"{count} in {kind.replace('_', ' ')} directories" for kind, count in sorted(kinds.items())
    )
    message = (
        f"a transactional (ACID) Hive table: files are {places}. Which writes count is in the metastore; superseded "
        "directories are left out, deleted rows are not subtracted"
    )
    findings.add("warning", "hive-acid", root, message)
    superseded = sum("superseded" in one.role for one in found)
    if superseded:
        findings.add("note", "acid-superseded", root, f"{superseded} files are superseded by a compaction")
