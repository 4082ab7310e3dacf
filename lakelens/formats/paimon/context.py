"""What every object of one open Paimon table shares: storage, folders, schemas, partitions, and what was already read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.types import PaimonField
from lakelens.codecs.paimon.types_sql import parse_type
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.paimon.discovery.layout import FOLDERS, MAIN, Layout, name_bucket
from lakelens.formats.paimon.metadata.partitions import Partitions
from lakelens.formats.paimon.metadata.schema import PaimonSchema, Schemas
from lakelens.formats.paimon.metadata.type_promotion import Promotion, find_promotion
from lakelens.formats.paimon.metadata.types import describe_field, describe_row
from lakelens.io.locate import Locator, split_location
from lakelens.io.store import find_info
from lakelens.io.tracing import TracingStore
from lakelens.model.datafile import Content
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType
from lakelens.model.storage import Relocation

if TYPE_CHECKING:
    from lakelens.formats.paimon.deletes.positions import VectorReader
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest

TEXT = DataType("STRING", "string")
LONG = DataType("BIGINT", "int64")
TEXTS = DataType(
    "ARRAY<STRING>", "list", children=(describe_field(PaimonField(0, "element", parse_type("STRING"))),)
)
LONGS = DataType(
    "ARRAY<BIGINT>", "list", children=(describe_field(PaimonField(0, "element", parse_type("BIGINT"))),)
)


class TableContext(TableAccess):
    """The storage side of a Paimon table seen from one branch."""

    def __init__(
        self, store: TracingStore, root: str, branch: str = MAIN, findings: Findings | None = None
    ) -> None:
        super().__init__(store, Locator(root, folders=FOLDERS, scheme=store.scheme), findings)
        self.layout = Layout(root, branch)
        self.schemas = Schemas(store, self.layout, self.findings)
        self.external: dict[str, str] = {}
        self._lost: list[str] = []
        self._manifests: dict[tuple[str, str], PaimonManifest] = {}
        self._kinds: dict[PaimonField, DataType] = {}
        self._promotions: dict[tuple[int, int], dict[int, Promotion | None]] = {}

    @cached_property
    def schema(self) -> PaimonSchema:
        """Today's schema: the latest of the branch. Without any readable one a schema without columns."""
        found = self.schemas.latest
        if found is not None:
            return found
        self.findings.add(
            "error",
            "schema-missing",
            self.layout.folder("schema"),
            "no readable schema: nothing can be decoded by it",
        )
        return PaimonSchema(None, ())

    @property
    def options(self) -> Mapping[str, str]:
        """Today's table options."""
        return self.schema.options

    @cached_property
    def partitions(self) -> Partitions:
        """Decodes partitions and finds their directories."""
        return Partitions(self.schema.partition_columns, self.options, self.store, self.layout, self.findings)

    @cached_property
    def vector_reader(self) -> VectorReader:
        """Decodes deletion vectors, and keeps the last index files."""
        from lakelens.formats.paimon.deletes.positions import VectorReader

        return VectorReader(self)

    def locate_data(
        self, partition: bytes, bucket: int, name: str, external: str | None, manifest: str
    ) -> str:
        """Where a data file (or a file beside it) lies now."""
        if external is not None:
            relative = (str(self.partitions.decode(partition, manifest)), name_bucket(bucket), name)
            return self.locate_external(external, "/".join(part for part in relative if part))
        return f"{self.partitions.folder(partition, manifest)}/{name_bucket(bucket)}/{name}"

    def locate_external(self, recorded: str, relative: str) -> str:
        """Where a file with a recorded absolute path lies now: there if its root still exists, else by the locator.

        `relative` is the part of the path below that root; each root is asked for once.
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
        """The recorded root itself, or a directory that keeps its place relative to the table."""
        root = self.layout.root
        candidates = [prefix if root.startswith("/") else prefix.lstrip("/")]
        parts, above = [part for part in prefix.split("/") if part], root
        for _ in range(3):  # moved together: a sibling of the table, of its database, or of the warehouse
            above = above.rpartition("/")[0]
            candidates += [f"{above}/{'/'.join(parts[start:])}" for start in range(len(parts))]
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
        """How external roots were mapped so far, and those that are not there."""
        moved = tuple((recorded, now) for recorded, now in self.external.items() if recorded != now)
        return Relocation(recorded_location, self.layout.root, moved, tuple(self._lost))

    def promotions(self, written: PaimonSchema) -> dict[int, Promotion | None]:
        """For the columns of an older schema that still exist: how their values become today's, by field id."""
        today = self.schema
        key = (written.id or 0, today.id or 0)
        if key not in self._promotions:
            kinds = {column.id: column.type for column in today.columns}
            self._promotions[key] = {
                column.id: find_promotion(column.type, kinds[column.id])
                for column in written.columns
                if column.id in kinds
            }
        return self._promotions[key]

    def share_manifest(self, record: Mapping[str, Any], content: Content) -> PaimonManifest:
        """The manifest of a line; one object for all lists that name the same one, so that it is read once."""
        from lakelens.formats.paimon.manifests.manifest import PaimonManifest

        key = (record["_FILE_NAME"], content)
        known = self._manifests.get(key)
        if known is None or known.raw != record:
            known = self._manifests[key] = PaimonManifest(record, content, self)
        return known

    def find_manifest(self, name: str, content: Content) -> PaimonManifest | None:
        """A manifest that a list was found to name; None for one that no list named so far."""
        return self._manifests.get((name, content))

    def kind_of(self, column: PaimonField) -> DataType:
        """The type of a column in the words of the model, made once."""
        found = self._kinds.get(column)
        if found is None:
            found = self._kinds[column] = describe_field(column).type
        return found

    def describe_columns(self) -> FileColumns:
        """Which columns the files have when they are shown as Arrow.

        Paimon keeps statistics of top-level columns only: a nested column stands for itself, with null counts, and never
        has bounds.
        """
        today = {column.id for column in self.schema.columns}
        dropped: dict[str, DataType] = {}
        for schema in self.schemas.all():
            for column in schema.columns:
                if column.id not in today:
                    dropped[f"{column.name}#{column.id}"] = describe_field(column).type
        return FileColumns(
            stats=tuple((column.name, describe_field(column).type) for column in self.schema.columns),
            dropped=tuple(dropped.items()),
            partition=tuple((c.name, describe_field(c).type) for c in self.schema.partition_columns),
            further=self._further_columns(),
        )

    def _further_columns(self) -> tuple[tuple[str, DataType], ...]:
        keys = self.schema.key_columns
        key = describe_row(keys) if keys else None
        return (
            *((name, key) for name in ("min_key", "max_key") if key is not None),
            ("total_buckets", DataType("INT", "int32")),
            ("min_sequence_number", LONG),
            ("max_sequence_number", LONG),
            ("file_source", TEXT),
            ("creation_time", DataType("TIMESTAMP(3)", "timestamp", precision=3)),
            ("delete_row_count", LONG),
            ("extra_files", TEXTS),
            ("external_path", TEXT),
            ("first_row_id", LONG),
            ("write_cols", TEXTS),
            ("write_cols_sequences", LONGS),
            ("value_stats_cols", TEXTS),
            ("embedded_file_index", DataType("BYTES", "binary")),
        )
