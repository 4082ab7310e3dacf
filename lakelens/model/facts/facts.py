"""The facts about each noun of the model, each spelled once.

They are the columns of its Arrow tables, of the SQL views and of Spark's, the keys of `--json`, the columns of an inventory.
In Arrow times are UTC with microseconds; an integer that does not fit 64 bits is null, and text that is not
Unicode has its bytes spelled out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.errors import LakeError
from lakelens.model.arrow import to_array

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.manifest import Entry, Manifest
    from lakelens.model.snapshot import Snapshot


class Fact(NamedTuple):
    """One fact: its name, its kind (see `arrow_kind`), and how it is read where no attribute has that name."""

    name: str
    kind: str = "string"
    get: Callable[[Any], Any] | None = None

    def read(self, thing: Any) -> Any:
        """Read the fact about one thing."""
        return getattr(thing, self.name) if self.get is None else self.get(thing)


Facts = tuple[Fact, ...]
_CHUNK = 1_000

TABLE: Facts = (
    Fact("name"),
    Fact("format"),
    Fact("format_version", "int32"),
    Fact("location"),
    Fact("uuid"),
)
SNAPSHOT: Facts = (
    Fact("id", "int64"),
    Fact("parent_id", "int64"),
    Fact("sequence_number", "int64"),
    Fact("committed_at", "time"),
    Fact("operation"),
    Fact("schema_id", "int64"),
    Fact("record_count", "int64"),
    Fact("refs", "strings"),
    Fact("summary", "map"),
    Fact("path"),
)
REF: Facts = (
    Fact("name"),
    Fact("type"),
    Fact("snapshot_id", "int64"),
    Fact("max_ref_age_ms", "int64"),
    Fact("max_snapshot_age_ms", "int64"),
    Fact("min_snapshots_to_keep", "int64"),
    Fact("created_at", "time"),
    Fact("path"),
)
MANIFEST_LIST: Facts = (Fact("role"), Fact("path"), Fact("recorded_path"), Fact("size_bytes", "int64"))
MANIFEST: Facts = (
    Fact("path"),
    Fact("recorded_path"),
    Fact("size_bytes", "int64"),
    Fact("content"),
    Fact("role"),  # of the list that names it
    Fact("spec_id", "int64"),
    # where lists record specs, as in Iceberg, the schema's id is in the manifest alone, which is not read for it
    Fact("schema_id", "int64", lambda manifest: manifest.schema_id if manifest.spec_id is None else None),
    Fact("sequence_number", "int64"),
    Fact("added_snapshot_id", "int64"),
    Fact("added_files_count", "int64"),
    Fact("existing_files_count", "int64"),
    Fact("deleted_files_count", "int64"),
    Fact("partition_summary", "summaries"),
)
FIELD_SUMMARY: Facts = (
    Fact("name"),
    Fact("lower", "text"),
    Fact("upper", "text"),
    Fact("contains_null", "bool"),
    Fact("contains_nan", "bool"),
    Fact("null_count", "int64"),
)
# of `Snapshot.figures`, as an inventory names them
FIGURES: Facts = (
    Fact("added_files", "int64"),
    Fact("removed_files", "int64"),
    Fact("added_rows", "int64"),
    Fact("removed_rows", "int64"),
    Fact("added_bytes", "int64"),
    Fact("removed_bytes", "int64"),
    Fact("total_files", "int64", lambda figures: figures.files),
    Fact("total_bytes", "int64", lambda figures: figures.size_bytes),
)
FINDING: Facts = (
    Fact("severity"),
    Fact("code"),
    Fact("path"),
    Fact("message"),
    Fact("snapshots", "ids"),
)


def list_facts(facts: Facts, thing: Any, **known: Any) -> dict[str, Any]:
    """List the facts about one thing by name; `known` are those that it does not know about itself.

    >>> from lakelens.model.finding import Finding
    >>> list_facts(FINDING, Finding("note", "odd-name", "/t/a", "an odd name"))["code"]
    'odd-name'
    """
    return {fact.name: known[fact.name] if fact.name in known else fact.read(thing) for fact in facts}


def list_kinds(facts: Facts) -> dict[str, str]:
    """List the names of facts with their kinds."""
    return {fact.name: fact.kind for fact in facts}


def choose_facts(facts: Facts, *names: str) -> Facts:
    """Choose some facts by name, in the order of the names."""
    known = {fact.name: fact for fact in facts}
    return tuple(known[name] for name in names)


def arrow_kind(kind: str) -> pa.DataType:
    """The Arrow type of a kind.

    >>> arrow_kind("time")
    TimestampType(timestamp[us, tz=UTC])
    """
    import pyarrow as pa

    if kind == "summaries":
        return pa.list_(pa.struct([pa.field(fact.name, arrow_kind(fact.kind)) for fact in FIELD_SUMMARY]))
    text, number = pa.string(), pa.int64()
    kinds = {
        "string": text,
        "text": text,  # a value of any type, formatted
        "bool": pa.bool_(),
        "int32": pa.int32(),
        "int64": number,
        "float64": pa.float64(),
        "binary": pa.binary(),
        "time": pa.timestamp("us", "UTC"),
        "ids": pa.list_(number),
        "strings": pa.list_(text),
        "map": pa.map_(text, text),
    }
    return kinds[kind]


def build_rows(things: Iterable[Any], facts: Facts, **reads: Callable[[Any], Any]) -> pa.Table:
    """Build one row per thing, one column per fact; a value that its column cannot hold is null.

    `reads` are functions for facts that a thing does not know about itself.
    """
    import pyarrow as pa

    kinds = [arrow_kind(fact.kind) for fact in facts]
    schema = pa.schema([(fact.name, kind) for fact, kind in zip(facts, kinds, strict=True)])
    remaining, batches = iter(things), []
    while chunk := list(islice(remaining, _CHUNK)):  # a long history is never in memory as objects
        arrays = []
        for fact, kind in zip(facts, kinds, strict=True):
            read, form = reads.get(fact.name, fact.read), _FORMS.get(fact.kind)
            values = [read(thing) for thing in chunk]
            if form is not None:
                values = [None if value is None else form(value) for value in values]
            arrays.append(to_array(values, kind))
        batches.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema).combine_chunks()


def _format_value(value: Any) -> str | None:
    """Format a value as text: ISO for dates and times, hex for bytes."""
    if value is None:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _format_map(held: Mapping[Any, Any]) -> list[tuple[str, str]]:
    return [(str(key), str(value)) for key, value in held.items()]


# what values of a kind are made to before Arrow takes them
_FORMS: dict[str, Callable[[Any], Any]] = {
    "text": _format_value,
    "map": _format_map,
    "strings": list,
    "ids": list,
    "summaries": lambda summaries: [
        list_facts(FIELD_SUMMARY, summary)
        | {"lower": _format_value(summary.lower), "upper": _format_value(summary.upper)}
        for summary in summaries
    ],
}


# The manifests of a snapshot, and their entries, as Arrow tables: one row each.


def build_manifests(snapshot: Snapshot | None) -> pa.Table:
    """One row per manifest of a snapshot, in order, with the `role` of the list that names it. No manifest is read."""
    if snapshot is None:
        return list_manifests((), {})
    roles: dict[str, str] = {}
    for found in snapshot.manifest_lists:
        # a damaged list is a finding of `snapshot.manifests`
        with suppress(LakeError):
            roles |= {manifest.recorded_path: found.role for manifest in found.manifests}
    return list_manifests(snapshot.manifests, roles)


def list_manifests(manifests: Iterable[Manifest], roles: Mapping[str, str]) -> pa.Table:
    """List one row per manifest, in order: what the manifest lists say about it. No manifest is read.

    `role` is the list's ("all" in Iceberg, "base", "delta" or "changelog" in Paimon). `partition_summary` has the bounds
    of each partition field as text; `schema_id` is null for Iceberg, whose lists do not record it.
    """
    return build_rows(manifests, MANIFEST, role=lambda manifest: roles.get(manifest.recorded_path))


def build_entries(
    snapshot: Snapshot | None, columns: FileColumns, wanted: Sequence[str] | None = None
) -> pa.Table:
    """Build one row per entry of a snapshot's manifests, deleted ones included; `wanted` columns (None: all).

    The columns are `status` and those of `FileSet.to_arrow`; `snapshot_id` is the entry's. Entries are read by column
    where the format can: then a manifest that cannot be read is a finding; else it raises its `LakeError`.
    Raises KeyError for an unknown column.
    """
    from lakelens.model.scan.files_to_arrow import assemble_table, make_request

    scan = None if snapshot is None else snapshot.scan_entries()
    if scan is not None:
        from lakelens.model.scan.scan_to_arrow import iterate_batches

        request = make_request(scan.columns, wanted=wanted, entries=True)
        return assemble_table(list(iterate_batches(scan, request)), scan.columns, request)
    manifests = () if snapshot is None else snapshot.manifests
    return list_entries((entry for manifest in manifests for entry in manifest.entries), columns, wanted)


def list_entries(
    entries: Iterable[Entry], columns: FileColumns, wanted: Sequence[str] | None = None
) -> pa.Table:
    """List one row per entry that was read; `columns` are those of the files. Raises KeyError for an unknown column."""
    from lakelens.model.scan.files_to_arrow import assemble_table, batch_entries, make_request

    request = make_request(columns, wanted=wanted, entries=True)
    return assemble_table(
        [batch_entries([(0, entry) for entry in entries], columns, request)], columns, request
    )
