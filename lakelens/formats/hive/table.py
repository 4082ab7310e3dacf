"""A Hive-style table: the facts of its directory and, when it was opened through one, of its metastore."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import partial

from lakelens.caching import cached_property
from lakelens.errors import Unsupported
from lakelens.formats.access import TableAccess, explain_late
from lakelens.formats.base import OpenRequest, name_table
from lakelens.formats.hive import FORMAT
from lakelens.formats.hive.datafile import FileContext, HiveFile, make_partition
from lakelens.formats.hive.inference import infer_schema, make_partitioning, parse_catalog_schema
from lakelens.formats.hive.listing import HiveListing, ListedFiles
from lakelens.formats.hive.metastore import Registered, compare_partitions, list_registered, walk_registered
from lakelens.formats.hive.observations import list_columns, observe_listing
from lakelens.formats.hive.read import Found, walk_table
from lakelens.io.ahead import fetch_below
from lakelens.io.relocation import Locator
from lakelens.model.collections import Document
from lakelens.model.facts.traits import Figures, Traits, parse_figure
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType, PartitionSpec, Schema
from lakelens.model.storage import Relocation, StoredFile
from lakelens.model.table import Table, TableSource

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
        """The metastore's columns; else the union of the files' own columns, then the partition columns as strings."""
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
        """The location that the metastore records; nothing else is recorded."""
        return self._access.describe_relocation(self._facts.get("storage", {}).get("Location"))

    def _list_objects(self) -> Iterator[StoredFile]:
        """Every object below the table's directory, and those of partitions elsewhere; listed again at each call."""
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
        return [HiveFile(context, one) for one in self._listing if one.is_data]

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
