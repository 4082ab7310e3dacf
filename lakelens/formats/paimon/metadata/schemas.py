"""Paimon schemas: documents `schema/schema-N`, each file of the table naming the one it was written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import PaimonField, PaimonType, parse_field
from lakelens.errors import AccessDenied, Corrupt, LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.paimon.metadata.layout import TableLayout, list_numbers, parse_numbered
from lakelens.formats.paimon.metadata.logical_types import describe_field
from lakelens.formats.paimon.metadata.wire import SchemaDocument, parse_document, parse_json, parse_millis
from lakelens.io.ahead import fetch
from lakelens.io.store import list_names
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Source
from lakelens.model.schema import PartitionField, PartitionSpec, Schema

_MOST_SUPPOSED = 1_000  # schemas, where they may not be listed
# columns that the engine adds to data files; statistics may cover them
SYSTEM_FIELDS = (
    PaimonField(2147483646, "_SEQUENCE_NUMBER", PaimonType("BIGINT")),
    PaimonField(2147483645, "_VALUE_KIND", PaimonType("TINYINT")),
    PaimonField(2147483642, "_ROW_ID", PaimonType("BIGINT")),
)


@dataclass(frozen=True, slots=True, repr=False)
class PaimonSchema(Schema):
    """One schema with the other facts of its document: keys, options, comment, time of creation.

    `version` is the version of the document (3 since Paimon 0.9), `columns` the fields with Paimon's own types, `created_at`
    the time of the change (None where the document has none). `partition_columns` are in the order of the keys, and
    `key_columns` are the trimmed primary key: without the partition's columns, none for an append table.
    """

    version: int = 3
    columns: tuple[PaimonField, ...] = ()
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    highest_field_id: int | None = None
    created_at: datetime | None = None
    path: str | None = None
    partition_columns: tuple[PaimonField, ...] = ()
    key_columns: tuple[PaimonField, ...] = ()

    @property
    def partitioning(self) -> PartitionSpec:
        """The partition columns as a partitioning."""
        fields = tuple(
            PartitionField(c.name, c.id, c.name, "identity", result_type=describe_field(c).type)
            for c in self.partition_columns
        )
        return PartitionSpec(None, fields, list(self.partition_keys))

    def find_column(self, key: str | int) -> PaimonField | None:
        """Find the top-level column of a name or an id, system columns included; None when there is none."""
        for column in (*self.columns, *SYSTEM_FIELDS):
            if key in (column.name, column.id):
                return column
        return None

    def find_type(self, key: str | int) -> PaimonType | None:
        """Find the type of a top-level column; see `find_column`."""
        column = self.find_column(key)
        return None if column is None else column.type

    def find_stats_columns(self, file: Mapping[str, Any], path: str | None = None) -> tuple[PaimonField, ...]:
        """Find the columns that the value statistics of a `_FILE` record cover, in their order.

        Raises `LakeError`, naming the manifest at `path`, for a column that the schema does not have.

        >>> columns = tuple(PaimonField(i, name, PaimonType("INT")) for i, name in enumerate("abc"))
        >>> schema = PaimonSchema(0, (), columns=columns)
        >>> [column.name for column in schema.find_stats_columns({"_VALUE_STATS_COLS": ["c", "a"]})]
        ['c', 'a']
        """
        names = file.get("_VALUE_STATS_COLS")
        if names is None:
            names = file.get("_WRITE_COLS")
        if names is None:
            return self.columns
        found = [(name, self.find_column(name)) for name in names]
        unknown = [name for name, column in found if column is None]
        if unknown:
            message = f"statistics name column {unknown[0]!r}, which schema {self.id} does not have"
            raise LakeError(message, path=path)
        return tuple(column for _, column in found if column is not None)


def parse_schema(raw: Mapping[str, Any], path: str) -> tuple[PaimonSchema, list[str]]:
    """Parse a schema from its document, with notes on oddities. Raises `Corrupt` with the JSON path.

    Documents of version 1 and 2 get the defaults that held then (see "Schema" of the Paimon specification).

    >>> raw = {"id": 0, "fields": [{"id": 0, "name": "a", "type": "INT NOT NULL"}], "primaryKeys": ["a"]}
    >>> schema, notes = parse_schema(raw, "schema-0")
    >>> schema, schema.options, schema.key_columns[0].name
    (<Schema 0: a INT not null>, {'bucket': '1', 'file.format': 'orc'}, 'a')
    """
    document, notes = parse_document(SchemaDocument, raw, path)
    columns = tuple(_parse_columns(document, path))
    by_name = {column.name: column for column in columns}
    trimmed = [name for name in document.primary_keys if name not in document.partition_keys]
    number = parse_numbered(path.rsplit("/", 1)[-1], "schema")
    if number is not None and document.id is not None and number != document.id:
        notes.append(f"$.id is {document.id}, the file is named schema-{number}")
    options = {key: value for key, value in document.options.items() if value is not None}
    if document.version <= 1:
        options.setdefault("bucket", "1")
    if document.version <= 2:
        options.setdefault("file.format", "orc")
    schema = PaimonSchema(
        number if number is not None else document.id,
        tuple(describe_field(column) for column in columns),
        tuple(document.primary_keys),
        raw,
        version=document.version,
        columns=columns,
        partition_keys=tuple(document.partition_keys),
        primary_keys=tuple(document.primary_keys),
        options=options,
        comment=document.comment,
        highest_field_id=document.highest_field_id,
        created_at=parse_millis(document.time_millis) if document.time_millis else None,
        path=path,
        partition_columns=tuple(by_name[name] for name in document.partition_keys if name in by_name),
        key_columns=tuple(by_name[name] for name in trimmed if name in by_name),
    )
    for key in (*document.partition_keys, *document.primary_keys):
        if key not in by_name:
            notes.append(f"key column {key!r} is not among the fields")
    return schema, notes


def _parse_columns(document: SchemaDocument, path: str) -> list[PaimonField]:
    columns = []
    for position, json in enumerate(document.fields):
        try:
            columns.append(parse_field(json, position, f"$.fields[{position}]"))
        except LakeError as error:
            error.path = error.path or path
            raise
    return columns


class Schemas:
    """The schemas of one branch, by id; each is read when it is first asked for.

    A branch holds copies of the schemas it began with; what is missing there is read from the main table.
    """

    def __init__(self, access: TableAccess, layout: TableLayout, source: Source | None = None) -> None:
        self._access = access
        self._layout = layout
        self._source = source
        self._read: dict[int, PaimonSchema | None] = {}
        #: The id of the schema that the current snapshot names: for where schemas may not be listed.
        self.find_referred: Callable[[], int | None] = lambda: None

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The ids of the schema files that are there, ascending."""
        folder = self._layout.folder("schema")
        try:
            return tuple(list_numbers(list_names(self._access.store, folder), "schema"))
        except AccessDenied:
            if not self._access.store.is_far:
                raise
        message = "may not be listed: schemas are known up to the newest snapshot's, and what follows it"
        self._access.findings.add("warning", "not-listed", folder, message)
        return self._find_ids(self.find_referred() or 0)

    def _find_ids(self, newest: int) -> tuple[int, ...]:
        """The ids up to that of a schema, and of those after it that are there: a schema may be newer than any snapshot."""
        first = max(0, newest - _MOST_SUPPOSED + 1)
        paths = [self._layout.document("schema", number) for number in range(first, newest + 2)]
        fetch(self._access.store, documents=paths)
        while True:
            try:
                self._access.store.read(self._layout.document("schema", newest + 1))
            except LakeError:
                return tuple(range(first, newest + 1))
            newest += 1

    @cached_property
    def latest(self) -> PaimonSchema | None:
        """The readable schema of the highest id; None when there is none."""
        found = (self.find(number) for number in reversed(self.ids))
        return next((schema for schema in found if schema is not None), None)

    def all(self) -> tuple[PaimonSchema, ...]:
        """Every readable schema, by id."""
        return tuple(schema for number in self.ids if (schema := self.find(number)) is not None)

    def list_documents(self) -> list[tuple[str, Any]]:
        """List the path and the document of every schema that was read so far, and of every one that is listed."""
        found = {schema.path: schema for schema in (*self.all(), *self._read.values()) if schema is not None}
        return [(path, schema.raw) for path, schema in found.items() if path is not None]

    def restore(self, documents: Sequence[tuple[str, Any]]) -> None:
        """Use these documents as the only ones: nothing is listed, and none of them is read again."""
        for path, raw in documents:
            schema, _ = parse_schema(raw, path)
            self._read[schema.id or 0] = schema
        self.ids = tuple(sorted(self._read))

    def find(self, number: int) -> PaimonSchema | None:
        """Find the schema of an id; None, with a finding, when it is missing or unreadable."""
        if number not in self._read:
            self._read[number] = self._try_read(number)
        return self._read[number]

    def _try_read(self, number: int) -> PaimonSchema | None:
        path = self._layout.document("schema", number)
        if number not in self.ids:
            main = TableLayout(self._layout.root).document("schema", number)
            if main == path or parse_numbered(main.rsplit("/", 1)[-1], "schema") is None:
                self._note_missing(number, path)
                return None
            path = main
        try:
            schema, notes = parse_schema(parse_json(self._access.store.read(path), path), path)
        except FileNotFoundError:
            self._note_missing(number, path)
            return None
        except LakeError as error:
            self._access.findings.add_error(error, path)
            return None
        for note in notes:
            self._access.findings.add("warning", "schema-document", path, note)
        return replace(schema, _source=self._source, _others=Source(lambda schema, book: book.all(), self))

    def _note_missing(self, number: int, path: str) -> None:
        message = f"schema {number} is referred to and not there: what was written with it stays undecoded"
        self._access.findings.add("error", "schema-missing", path, message)


def require_schema(schema: PaimonSchema | None, number: int, path: str) -> PaimonSchema:
    """The schema, or `Corrupt` naming the file that needs it."""
    if schema is None:
        message = f"needs schema {number}, which cannot be read"
        raise Corrupt(message, path=path, expected=f"schema/schema-{number}")
    return schema
