"""What the parts of one open Paimon table share: storage, folders, schemas, partitions, and where its files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import parse_type
from lakelens.errors import AccessDenied, LakeError
from lakelens.formats.access import LruCache, TableAccess
from lakelens.formats.paimon.discovery import SnapshotPointer, find_latest
from lakelens.formats.paimon.metadata.layout import (
    FOLDERS,
    MAIN,
    TableLayout,
    list_keys,
    list_numbers,
    name_bucket,
)
from lakelens.formats.paimon.metadata.logical_types import (
    Promotion,
    describe_field,
    describe_row,
    describe_type,
    find_promotion,
)
from lakelens.formats.paimon.metadata.partitions import Partitions
from lakelens.formats.paimon.metadata.schemas import PaimonSchema, Schemas
from lakelens.formats.paimon.metadata.wire import VOCABULARY
from lakelens.io.ahead import fetch
from lakelens.io.relocation import Locator, split_location
from lakelens.io.store import ObjectInfo, find_info, list_names
from lakelens.io.tracing import TracingStore
from lakelens.model.bytes_view import Bound, Explainable, Source
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType
from lakelens.model.storage import Relocation

if TYPE_CHECKING:
    from lakelens.codecs.avro.records import AvroRecords
    from lakelens.model.bytes_view import BytesView

# Paimon's own columns of a set of files, after the keys
_FURTHER = {
    "total_buckets": "INT",
    "min_sequence_number": "BIGINT",
    "max_sequence_number": "BIGINT",
    "file_source": "STRING",
    "creation_time": "TIMESTAMP(3)",
    "delete_row_count": "BIGINT",
    "extra_files": "ARRAY<STRING>",
    "external_path": "STRING",
    "first_row_id": "BIGINT",
    "write_cols": "ARRAY<STRING>",
    "write_cols_sequences": "ARRAY<BIGINT>",
    "value_stats_cols": "ARRAY<STRING>",
    "embedded_file_index": "BYTES",
}


_OPENED = 4


class TableContext(Bound):
    """The storage side of a Paimon table seen from one branch, shared by its snapshots, manifests and files.

    `find_bytes` explains an object of the table: it is called with the object, this context and what else belongs to the
    object. Without it, as in a scan that was unpickled, objects have no `bytes_view`.
    """

    def __init__(
        self,
        store: TracingStore,
        root: str,
        branch: str = MAIN,
        find_bytes: Callable[..., BytesView] | None = None,
    ) -> None:
        #: of the manifests that were looked into last, to read one entry after the other
        self.opened: LruCache[str, Sequence[Any] | AvroRecords] = LruCache(_OPENED)
        self.access = TableAccess(store, Locator(root, folders=FOLDERS, scheme=store.scheme))
        self.store = self.access.store
        self.findings = self.access.findings
        self.layout = TableLayout(root, branch)
        self.find_bytes = find_bytes
        self.schemas = Schemas(self.access, self.layout, self.source())
        self.external: dict[str, str] = {}
        #: of branches that were not opened: the current snapshot, and what is odd about its hints
        self.pointers: dict[str, tuple[SnapshotPointer, Findings]] = {}
        self._lost: list[str] = []
        self._promotions: dict[int, dict[int, Promotion | None]] = {}

    def explain(self, thing: Any, *needs: Any) -> BytesView:
        """The bytes of an object of this table; `needs` is what finding them takes beside the object. Raises `LakeError`."""
        if self.find_bytes is None:
            raise LakeError(f"no bytes belong to this {type(thing).__name__}", hint="open its table again")
        return self.find_bytes(thing, self, *needs)

    @cached_property
    def pointer(self) -> SnapshotPointer:
        """The current snapshot's number and how it was found."""
        return find_latest(self.store, self.layout.folder("snapshot"), self.findings)

    def find_pointer(self, branch: str) -> SnapshotPointer:
        """Find the current snapshot of another branch; what is odd about its hints is kept for when that is opened."""
        if branch not in self.pointers:
            findings, folder = Findings(), TableLayout(self.layout.root, branch).folder("snapshot")
            self.pointers[branch] = find_latest(self.store, folder, findings), findings
        return self.pointers[branch][0]

    @cached_property
    def tag_names(self) -> Sequence[str]:
        """The names of the tags by the names of their files, readable or not, without markers of finished tags."""
        return list_keys(self.list_folder(self.layout.folder("tag")), "tag")

    @cached_property
    def changelog_numbers(self) -> Sequence[int]:
        """The numbers of the changelog documents, readable or not."""
        return list_numbers(self.list_folder(self.layout.folder("changelog")), "changelog")

    @cached_property
    def branch_names(self) -> tuple[str, ...]:
        """The names of the branches, readable or not, `main` first."""
        children = self.list_folder(f"{self.layout.root}/branch")
        return (MAIN, *list_keys((name for name, info in children.items() if info.is_dir), "branch"))

    def list_folder(self, folder: str) -> dict[str, ObjectInfo]:
        """List the children of a folder by name; none, with a finding, of a far one that may be read and not listed."""
        try:
            return list_names(self.store, folder)
        except AccessDenied:
            if not self.store.is_far:
                raise
        self.findings.add("warning", "not-listed", folder, "may not be listed: what is in it is not known")
        return {}

    def source(self, *needs: Any) -> Source:
        """Say what plain objects of this table find their bytes by; see `explain`."""
        return Source(self.explain, *needs)

    @cached_property
    def schema(self) -> PaimonSchema:
        """Today's schema: the latest of the branch. Without any readable one a schema without columns."""
        found = self.schemas.latest
        if found is not None:
            return found
        message = "no readable schema: nothing can be decoded by it"
        self.findings.add("error", "schema-missing", self.layout.folder("schema"), message)
        return PaimonSchema(None, ())

    @property
    def options(self) -> Mapping[str, str]:
        """Today's table options."""
        return self.schema.options

    def is_on(self, option: str) -> bool:
        """Check whether an option that is off by default is on."""
        return self.options.get(option, "false").strip().lower() == "true"

    @property
    def skips_level_0(self) -> bool:
        """Whether batch readers leave out level 0: with deletion vectors, and with the merge engine `first-row`."""
        if self.is_on("deletion-vectors.enabled"):
            return not self.is_on("deletion-vectors.merge-on-read")
        return self.options.get("merge-engine", "").strip().lower() == "first-row"

    @cached_property
    def partitions(self) -> Partitions:
        """Decodes partitions and finds their directories."""
        columns = self.schema.partition_columns
        return Partitions(columns, self.options, self.access, self.layout, self.source)

    def locate_data(
        self, partition: bytes, bucket: int, name: str, external: str | None, manifest: str
    ) -> str:
        """Locate where a data file (or a file beside it) is now."""
        if external is not None:
            relative = (str(self.partitions.decode(partition, manifest)), name_bucket(bucket), name)
            return self.locate_external(external, "/".join(part for part in relative if part))
        return f"{self.partitions.folder(partition, manifest)}/{name_bucket(bucket)}/{name}"

    def locate_external(self, recorded: str, relative: str) -> str:
        """Locate where a file with a recorded absolute path is now: there if its root still exists, else beside the table.

        `relative` is the part of the path below that root; each root is looked for once.
        """
        _, path = split_location(recorded)
        prefix = (
            path[: -len(relative)].rstrip("/") if path.endswith("/" + relative) else path.rpartition("/")[0]
        )
        now = self.external.get(prefix)
        if now is None:
            now = self.external[prefix] = self._find_external(prefix, recorded)
        return f"{now}{path[len(prefix) :]}"

    def _find_external(self, prefix: str, recorded: str) -> str:
        """Find the recorded root itself, or a directory that keeps its place relative to the table."""
        root = self.layout.root
        candidates = [self.access.locator.in_store(prefix)]
        parts, above = [part for part in prefix.split("/") if part], root
        for _ in range(3):  # moved together: a sibling of the table, of its database, or of the warehouse
            above = above.rpartition("/")[0]
            candidates += [f"{above}/{'/'.join(parts[start:])}" for start in range(len(parts))]
        fetch(self.store, infos=candidates)
        for candidate in candidates:
            try:
                if find_info(self.store, candidate) is not None:
                    return candidate
            except LakeError:
                continue
        self._lost.append(recorded)
        self.findings.add("warning", "external-path", recorded, "the external location is not there")
        return candidates[0]

    def describe_relocation(self, recorded_location: str | None) -> Relocation:
        """Describe how external roots were mapped so far, and those that are not there."""
        moved = tuple((recorded, now) for recorded, now in self.external.items() if recorded != now)
        return Relocation(recorded_location, self.layout.root, moved, tuple(self._lost))

    def promotions(self, written: PaimonSchema) -> dict[int, Promotion | None]:
        """For the columns of an older schema that still exist: how their values become today's, by field id."""
        key = written.id or 0
        if key not in self._promotions:
            kinds = {column.id: column.type for column in self.schema.columns}
            self._promotions[key] = {
                column.id: find_promotion(column.type, kinds[column.id])
                for column in written.columns
                if column.id in kinds
            }
        return self._promotions[key]

    def describe_columns(self) -> FileColumns:
        """Describe which columns the files have when they are shown as Arrow.

        Paimon keeps statistics of top-level columns only: a nested column is one column, with null counts and without
        bounds.
        """
        schema = self.schema
        today = {column.id for column in schema.columns}
        dropped = {
            f"{field.name}#{field.id}": field.type
            for older in self.schemas.all()
            for field in older.fields
            if field.id not in today
        }
        key = describe_row(schema.key_columns) if schema.key_columns else None
        keys: dict[str, DataType] = {} if key is None else {"min_key": key, "max_key": key}
        own = {name: describe_type(parse_type(kind)) for name, kind in _FURTHER.items()}
        return FileColumns(
            stats=tuple((field.name, field.type) for field in schema.fields),
            dropped=tuple(dropped.items()),
            partition=tuple((c.name, describe_field(c).type) for c in schema.partition_columns),
            further=tuple((keys | own).items()),
        )


class TableObject(Explainable):
    """An object that knows the context of its table, and finds its bytes through it."""

    context: TableContext
    vocabulary = VOCABULARY

    @property
    def _source(self) -> Source:
        return self.context.source()
