"""The data sets of an inventory and their columns, as Arrow schemas.

    tables      one row each time a table has changed: its facts, or its error if it cannot be opened
    snapshots   one row for each snapshot, once
    manifests   one row for each manifest that was read, once; one that could not be read has an `error`
    entries     every entry of every manifest, once
    members     which manifests the current state of a table names, in order
    listings    the files of tables without manifests (Hive)
    findings    what was found wrong
    answers     one row for each table of which answers were asked: sound, healthy, what expiry would free
    measures    what its health is made of
    slices      where the bytes under its directory are

`location` is the key of a table. A table's `members`, `listings` and answers, its own findings, and all rows that are
`partial` or have an `error`, belong to one state of it: they count only in the `batch` of the table's newest row. Others
always count.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lakelens.analysis.space.census import Slices
from lakelens.answers.own import QUESTIONS
from lakelens.answers.survey import list_figures
from lakelens.model.facts.facts import (
    FIGURES,
    FINDING,
    MANIFEST,
    REF,
    SNAPSHOT,
    arrow_kind,
    choose_facts,
    list_kinds,
)
from lakelens.model.measures.measure import Measures

if TYPE_CHECKING:
    import pyarrow as pa

#: Filled where answers are asked for.
ANSWERED = ("answers", "measures", "slices")
DATA_SETS = ("tables", "snapshots", "manifests", "entries", "members", "listings", "findings", *ANSWERED)

# what a snapshot and a manifest record besides their key, before and after the inventory's own columns
SNAPSHOT_FACTS = choose_facts(
    SNAPSHOT,
    *["parent_id", "sequence_number", "committed_at", "operation", "schema_id", "record_count", "summary"],
)
REF_FACTS = choose_facts(REF, "name", "type", "snapshot_id")
MANIFEST_FACTS = choose_facts(
    MANIFEST,
    *["content", "role", "size_bytes", "spec_id", "schema_id", "sequence_number"],
    *["added_files_count", "existing_files_count", "deleted_files_count"],
)

_KEY = {"table": "string", "location": "string", "format": "string"}
_FILE = {
    "content": "string",
    "path": "string",
    "file_format": "string",
    "partition": "string",
    "partition_texts": "map",
    "bucket": "int32",
    "level": "int32",
    "record_count": "int64",
    "size_bytes": "int64",
    "own_size_bytes": "int64",
    "spec_id": "int32",
    "schema_id": "int64",
    "sequence_number": "int64",
}

_COLUMNS: dict[str, dict[str, str]] = {
    "tables": {
        **_KEY,
        "format_version": "int32",
        "uuid": "string",
        "metadata_location": "string",
        "current_snapshot_id": "int64",
        "committed_at": "time",
        "snapshot_count": "int64",
        "record_count": "int64",
        "schema_id": "int64",
        "column_count": "int32",
        "columns": "strings",
        "partitioning": "strings",
        "properties": "map",
        "refs": "refs",
        "error_code": "string",
        "error": "string",
        "is_gone": "bool",
        "is_incomplete": "bool",
        "looked_at": "time",
        "present": "present",
        "signature": "string",
    },
    "snapshots": {
        **_KEY,
        "snapshot_id": "int64",
        **list_kinds(SNAPSHOT_FACTS[:-1]),
        **list_kinds(FIGURES),
        "manifest_count": "int64",
        **list_kinds(SNAPSHOT_FACTS[-1:]),
        "is_ancestor": "bool",
        "key": "string",
        "partial": "bool",
    },
    "manifests": {
        **_KEY,
        "manifest": "string",
        **list_kinds(MANIFEST_FACTS[:6]),
        "spec_id": "int32",
        "snapshot_id": "int64",
        **list_kinds(MANIFEST_FACTS[6:]),
        "entry_count": "int64",
        "error": "string",
    },
    "entries": {
        **_KEY,
        "manifest": "string",
        "position": "int64",
        "status": "string",
        "snapshot_id": "int64",
        **_FILE,
        "file_key": "binary",
        "partial": "bool",
    },
    "members": {"location": "string", "manifest": "string", "position": "int64"},
    "listings": {**_KEY, **_FILE, "modified": "time"},
    "findings": {
        **_KEY,
        **list_kinds(FINDING),
        "of_state": "bool",
    },
    "answers": {
        **_KEY,
        **list_figures(QUESTIONS.values()),
        "error": "string",
    },
    "measures": {**_KEY, **list_kinds(Measures.facts)},
    "slices": {**_KEY, **list_kinds(Slices.facts)},
}

#: What executors report about their work: `portions` are manifests to read, pickled; `counts` go into the commit.
_WORK: dict[str, dict[str, str]] = {
    "portions": {"location": "string", "round": "int32", "size_bytes": "int64", "plan": "binary"},
    "counts": {
        "status": "string",
        "broken": "int64",
        "manifest_lists": "int64",
        "manifests": "int64",
        "unread": "int64",
        "entries": "int64",
        "bytes": "int64",
    },
}

#: The data sets that opening tables fills, and those that reading manifests fills.
DESCRIBED = ("tables", "snapshots", "members", "listings", "findings", *ANSWERED, "portions", "counts")
READ = ("entries", "manifests", "findings", "counts")


@cache
def data_schema(name: str) -> pa.Schema:
    """The Arrow schema of a data set.

    >>> data_schema("members").names
    ['location', 'manifest', 'position']
    """
    import pyarrow as pa

    columns = _COLUMNS[name] if name in _COLUMNS else _WORK[name]
    return pa.schema([pa.field(column, _type_column(kind)) for column, kind in columns.items()])


@cache
def wide_schema(names: tuple[str, ...]) -> pa.Schema:
    """One struct column for each data set: in each row one of them has a value, the others are null."""
    import pyarrow as pa

    return pa.schema([pa.field(name, pa.struct(list(data_schema(name)))) for name in names])


def widen_rows(name: str, rows: Any, names: tuple[str, ...]) -> pa.RecordBatch:
    """Rows of one data set (dicts, or a record batch of its schema) as a batch of the wide schema."""
    import pyarrow as pa

    schema = wide_schema(names)
    kind = schema.field(name).type
    if isinstance(rows, pa.RecordBatch):
        held: Any = pa.StructArray.from_arrays(rows.columns, fields=list(kind))
    else:
        held = pa.array(rows, kind)
    arrays = [held if field.name == name else pa.nulls(len(held), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _type_column(kind: str) -> pa.DataType:
    import pyarrow as pa

    structs = {
        "refs": list_kinds(REF_FACTS),
        "present": {"key": "string", "is_ancestor": "bool"},
    }
    if kind not in structs:
        return arrow_kind(kind)
    return pa.list_(pa.struct([pa.field(name, arrow_kind(of)) for name, of in structs[kind].items()]))
