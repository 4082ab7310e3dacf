"""What the parts of one open Iceberg table share: storage, metadata document, schemas, specs and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.access import LruCache, TableAccess
from lakelens.formats.iceberg.metadata.columns import ColumnIndex
from lakelens.formats.iceberg.metadata.document import Document
from lakelens.formats.iceberg.metadata.partitions import SpecBook
from lakelens.formats.iceberg.metadata.schemas import SchemaBook, describe_specs
from lakelens.formats.iceberg.metadata.vocabulary import VOCABULARY
from lakelens.formats.iceberg.metadata.wire import to_text
from lakelens.model.bytes_view import Bound, Explainable, Source
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.schema import DataType, Field

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import OpenEntries
    from lakelens.model.bytes_view import BytesView

_INT = DataType("int", "int32")
_LONG = DataType("long", "int64")
_STRING = DataType("string", "string")
_BINARY = DataType("binary", "binary")


def _list_of(kind: DataType) -> DataType:
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


_OPENED_BYTES = 64 * 2**20


class TableContext(Bound):
    """Shared by a table, its snapshots, manifests and files.

    `explain` finds the bytes of an object of this table: it is called with the object, this context and what else belongs
    to the object. Without it, as in a scan that was unpickled, objects have no `bytes_view`.
    """

    def __init__(
        self,
        access: TableAccess,
        document: Document,
        explain: Callable[..., BytesView] | None = None,
        columns: ColumnIndex | None = None,
    ) -> None:
        self.access = access
        self.document = document
        self.typed = document.typed
        self._explain = explain
        self._known_columns = columns
        #: of the manifests that were looked into last, to read one entry after the other
        self.opened: LruCache[str, OpenEntries] = LruCache(_OPENED_BYTES, lambda one: one.records.size_bytes)

    def source(self, *needs: Any) -> Source | None:
        """Say how an object of this table finds its bytes; `explain` gets `needs` after the object and this context."""
        return None if self._explain is None else Source(self._explain, self, *needs)

    @property
    def findings(self) -> Findings:
        """What is odd about the table, so far."""
        return self.access.findings

    @cached_property
    def schemas(self) -> SchemaBook:
        """Every schema."""
        book = SchemaBook(self.typed, self.document.path, self.report)
        source = self.source()
        book.schemas = {number: replace(schema, _source=source) for number, schema in book.schemas.items()}
        return book

    @cached_property
    def specs(self) -> SpecBook:
        """Every partition spec."""
        structs = self.schemas.newest_first()
        source = self.source()
        specs = describe_specs(self.typed, structs)
        return SpecBook({number: replace(spec, _source=source) for number, spec in specs.items()}, structs)

    @cached_property
    def columns(self) -> ColumnIndex:
        """What column ids are called today."""
        known = self._known_columns
        return ColumnIndex(self.schemas.newest_first()) if known is None else known

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The table's properties."""
        return {key: to_text(value) for key, value in (self.typed.properties or {}).items()}

    def report(self, error: LakeError) -> None:
        """Keep damage as a finding."""
        self.findings.add_error(error, self.document.path)

    def describe_columns(self) -> FileColumns:
        """Describe the columns of this table's files in Arrow."""
        return FileColumns(
            tuple((column.name, column.type) for column in self.columns.today()),
            tuple((column.name, column.type) for column in self.columns.dropped()),
            self.specs.model_columns(),
            FURTHER,
        )


class TableObject(Explainable):
    """An object that knows the context of its table, and finds its bytes through it."""

    _context: TableContext
    vocabulary = VOCABULARY

    @property
    def _source(self) -> Source | None:
        return self._context.source()
