"""What the parts of one open Iceberg table share: storage, document, schemas, specs, columns, manifests read so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.iceberg.metadata.columns import ColumnIndex
from lakelens.formats.iceberg.metadata.document import Document
from lakelens.formats.iceberg.metadata.partitions import SpecBook
from lakelens.formats.iceberg.metadata.schemas import SchemaBook, describe_specs
from lakelens.model.explainable import Source
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    from lakelens.formats.iceberg.deletes.positions import DeleteReader
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest

_INT = DataType("int", "int32")
_LONG = DataType("long", "int64")
_STRING = DataType("string", "string")
_BINARY = DataType("binary", "binary")


def _list_of(kind: DataType) -> DataType:
    from lakelens.model.schema import Field

    return DataType(f"list<{kind}>", "list", children=(Field(0, "element", kind),))


FURTHER = (
    ("equality_ids", _list_of(_INT)),
    ("split_offsets", _list_of(_LONG)),
    ("sort_order_id", _INT),
    ("first_row_id", _LONG),
    ("referenced_data_file", _STRING),
    ("referenced_data_path", _STRING),
    ("content_offset", _LONG),
    ("content_size_in_bytes", _LONG),
    ("file_sequence_number", _LONG),
    ("key_metadata", _BINARY),
)


class TableContext:
    """Shared by a table, its snapshots, manifests and files."""

    def __init__(self, access: TableAccess, document: Document) -> None:
        self.access = access
        self.document = document
        self.typed = document.typed
        self.manifests: dict[tuple[Any, ...], IcebergManifest] = {}
        # what was read of each manifest list, by its recorded path
        self.manifest_lists: dict[str, tuple[Sequence[IcebergManifest], LakeError | None]] = {}
        self.recent_documents: dict[str, dict[str, Any]] = {}

    @property
    def findings(self) -> Findings:
        """What is odd about the table, so far."""
        return self.access.findings

    @cached_property
    def schemas(self) -> SchemaBook:
        """Every schema."""
        book = SchemaBook(self.typed, self.document.path, self.report)
        source = Source("lakelens.formats.iceberg.explain.objects.explain_schema", self)
        book.schemas = {number: replace(schema, _source=source) for number, schema in book.schemas.items()}
        return book

    @cached_property
    def specs(self) -> SpecBook:
        """Every partition spec."""
        structs = self.schemas.newest_first()
        source = Source("lakelens.formats.iceberg.explain.objects.explain_spec", self)
        specs = describe_specs(self.typed, structs)
        return SpecBook({number: replace(spec, _source=source) for number, spec in specs.items()}, structs)

    @cached_property
    def columns(self) -> ColumnIndex:
        """What column ids are called today."""
        return ColumnIndex(self.schemas.newest_first())

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The table's properties."""
        return {key: _to_text(value) for key, value in (self.typed.properties or {}).items()}

    @cached_property
    def delete_reader(self) -> DeleteReader:
        """Decodes delete files and vectors, and keeps the last of them."""
        from lakelens.formats.iceberg.deletes.positions import DeleteReader

        return DeleteReader(self)

    def report(self, error: LakeError) -> None:
        """Keep damage as a finding."""
        self.findings.add_error(error, self.document.path)

    def describe_columns(self) -> FileColumns:
        """The columns of this table's files in Arrow."""
        return FileColumns(
            tuple((column.name, column.type) for column in self.columns.today()),
            tuple((column.name, column.type) for column in self.columns.dropped()),
            self.specs.model_columns(),
            FURTHER,
        )


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
