"""Everything that is compared of an Iceberg table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.errors import LakeError
from lakelens.formats.iceberg.check.row_checks import list_row_checks
from lakelens.formats.iceberg.check.sequences import compare_lineage, compare_sequences
from lakelens.formats.iceberg.check.totals import COLUMNS, compare_counts, compare_totals, tally_manifests
from lakelens.formats.iceberg.check.vectors import compare_vectors
from lakelens.formats.iceberg.manifests.containers import Header, read_head
from lakelens.formats.iceberg.manifests.contents import read_puffin_footer
from lakelens.formats.iceberg.manifests.header import read_number, read_text
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.snapshot import IcebergSnapshot
from lakelens.model.check.checking import Checking, RowCheck, compare_ranges
from lakelens.model.check.ledger import LedgerLine, name_some
from lakelens.model.check.survey import Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.metadata.wire import WireStatistics
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.datafile import DataFile


class IcebergChecking(Checking):
    """What is compared of one Iceberg table."""

    columns = COLUMNS
    table: IcebergTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        table, context = self.table, self.table._context
        tallies = tally_manifests(survey)
        lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
        survey.run(
            lambda: compare_totals(table, survey, tallies),
            lambda: compare_counts(survey, tallies),
            lambda: compare_headers(table, context, survey),
            lambda: compare_ranges(survey, lists),
            lambda: compare_sequences(table, survey),
            lambda: compare_lineage(table, context, survey),
            lambda: compare_vectors(table, context, survey),
            lambda: compare_statistics(table, context, survey),
            lambda: compare_document(table, context, survey),
        )

    def list_row_checks(self, file: DataFile) -> Iterator[RowCheck]:
        """See `Checking.list_row_checks`."""
        return list_row_checks(self.table._context, file)  # type: ignore[arg-type]


# The metadata document, compared with itself: ids that are referred to and known, logs in order, the rules of its version.
#
# Follows "Table Metadata Fields", "Snapshot References" and appendix E ("Format version changes") of the Iceberg table
# specification. What opening the table has found already is counted, not repeated.

_MINUTE = 60_000  # clocks of writers may differ that much, as the reference implementation allows
_OPENED = ("missing-snapshot", "dangling-ref", "main-differs", "version-hint", "rounded-number")


def compare_document(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the ids, refs and logs of the metadata document with each other."""
    name = table.metadata_path.rpartition("/")[2]
    line = survey.ledger.line("chain, refs, hint, ids", name, "one another")
    _compare_ids(table, context, line)
    _compare_columns(table, context, line)
    _compare_snapshots(table, context, line)
    _compare_logs(table, context, line)
    _compare_version(table, context, line)
    wrong = sum(finding.code in _OPENED for finding in table.findings)
    line.agree(len(table.refs) + 2 - min(wrong, len(table.refs) + 2))
    line.compared += wrong
    line.differing += wrong


def _compare_ids(table: IcebergTable, context: TableContext, line: LedgerLine) -> None:
    """Current and default ids are among those that are listed; each id stands there once."""
    typed, path = context.typed, table.metadata_path
    schemas = [schema.get("schema-id", 0) for schema in typed.schemas or []]
    specs = [spec.spec_id for spec in typed.partition_specs or []]
    orders = [order.order_id for order in typed.sort_orders or []]
    for key, wanted, known in (
        ("current-schema-id", typed.current_schema_id, schemas),
        ("default-spec-id", typed.default_spec_id, specs),
        ("default-sort-order-id", typed.default_sort_order_id, orders),
    ):
        if wanted is not None and known:
            message = f"$.{key} is {wanted}, and there are {name_some(known)}"
            line.require(wanted in known, "unknown-id", path, message)
    for noun, numbers in (("schema", schemas), ("partition spec", specs), ("sort order", orders)):
        twice = [number for number, count in Counter(numbers).items() if count > 1]
        line.require(not twice, "repeated-id", path, f"{noun} {name_some(twice)} is there more than once")
    stored = Counter(wire.snapshot_id for wire in typed.snapshots)
    again = [number for number, count in stored.items() if count > 1]
    message = f"snapshot {name_some(again)} is there more than once"
    line.require(not again, "repeated-id", path, message, again)


def _compare_columns(table: IcebergTable, context: TableContext, line: LedgerLine) -> None:
    """No column or partition field has a higher id than the last that was given; specs and orders know their columns."""
    typed, path = context.typed, table.metadata_path
    ids = {
        schema.id: [field.id for _, field in schema.walk() if field.id is not None]
        for schema in table.schemas
    }
    highest = max((number for numbers in ids.values() for number in numbers), default=0)
    if typed.last_column_id is not None:
        message = f"$.last-column-id is {typed.last_column_id}, a column has id {highest}"
        line.require(typed.last_column_id >= highest, "last-column-id", path, message)
    for schema in table.schemas:
        twice = [number for number, count in Counter(ids[schema.id]).items() if count > 1]
        message = f"schema {schema.id} gives id {name_some(twice)} to more than one column"
        line.require(not twice, "repeated-id", path, message)
    fields = [field.field_id for spec in table.specs for field in spec if field.field_id is not None]
    if typed.last_partition_id is not None and fields:
        message = f"$.last-partition-id is {typed.last_partition_id}, a partition field has id {max(fields)}"
        line.require(typed.last_partition_id >= max(fields), "last-partition-id", path, message)
    known = {number for numbers in ids.values() for number in numbers}
    sources = [
        ("partition spec", spec.spec_id, source)
        for spec in typed.partition_specs or []
        for spec_field in spec.fields
        for source in (spec_field.sources if spec_field.transform != "void" else ())
    ]
    sources += [
        ("sort order", order.order_id, source)
        for order in typed.sort_orders or []
        for order_field in order.fields
        for source in order_field.sources
    ]
    for key, number, source in sources:
        if source is not None:
            message = f"{key} {number} is made from column {source}, which no schema has"
            line.require(source in known, "unknown-column", path, message)


def _compare_snapshots(table: IcebergTable, context: TableContext, line: LedgerLine) -> None:
    """Compare the schema of each snapshot is known; no snapshot is its own ancestor; times do not run backwards."""
    path, known = table.metadata_path, {schema.id for schema in table.schemas}
    moments: dict[int, int] = {}
    for wire in context.typed.snapshots:
        own = (wire.snapshot_id,)
        moments[wire.snapshot_id] = wire.timestamp_ms
        if wire.schema_id is not None:
            message = f"snapshot {wire.snapshot_id} has schema {wire.schema_id}, and there are {name_some([*known])}"
            line.require(wire.schema_id in known, "unknown-id", path, message, own)
        if wire.parent_snapshot_id is not None:
            message = f"snapshot {wire.snapshot_id} is its own parent"
            line.require(wire.parent_snapshot_id != wire.snapshot_id, "snapshot-cycle", path, message, own)
    _find_cycles(table, line, moments)
    updated = context.typed.last_updated_ms
    if updated is not None and moments:
        latest = max(moments, key=moments.__getitem__)
        message = f"$.last-updated-ms is {updated}, snapshot {latest} was committed at {moments[latest]}"
        line.require(
            updated + _MINUTE >= moments[latest], "time-runs-backwards", path, message, (latest,), "warning"
        )


def _find_cycles(table: IcebergTable, line: LedgerLine, snapshots: Iterable[int]) -> None:
    """Find a chain of parents that comes back to itself: readers of history would never end."""
    done: set[int] = set()
    for start in snapshots:
        chain: list[int] = []
        number: int | None = start
        while number is not None and number not in done and number not in chain:
            chain.append(number)
            found = table.find_by_id(number)
            number = None if found is None else found.parent_id
        is_cycle = number is not None and number in chain and len(chain) > 1
        message = f"the parents of snapshot {start} lead back to {number}"
        line.require(not is_cycle, "snapshot-cycle", table.metadata_path, message, chain)
        done.update(chain)


def _compare_logs(table: IcebergTable, context: TableContext, line: LedgerLine) -> None:
    """The snapshot log names known snapshots, ends with the current one, and both logs are in the order of time."""
    typed, path = context.typed, table.metadata_path
    log = [(one.snapshot_id, one.timestamp_ms) for one in typed.snapshot_log]
    for number, _ in log:
        message = f"$.snapshot-log names snapshot {number}, which is not there"
        line.require(table.find_by_id(number) is not None, "snapshot-log", path, message, (), "warning")
    current = typed.current_snapshot_id
    if log and current not in (None, -1):
        message = f"$.snapshot-log ends with {log[-1][0]}, $.current-snapshot-id is {current}"
        line.require(log[-1][0] == current, "snapshot-log", path, message, (), "warning")
    for key, moments in (
        ("snapshot-log", [moment for _, moment in log]),
        ("metadata-log", [one.timestamp_ms for one in typed.metadata_log]),
    ):
        for place, (sooner, later) in enumerate(pairwise(moments)):
            message = f"$.{key}[{place + 1}] is older than the entry before it"
            line.require(later + _MINUTE >= sooner, "time-runs-backwards", path, message, (), "warning")
    for ref in table.refs:
        if ref.type == "tag":
            has_branch_keys = ref.min_snapshots_to_keep is not None or ref.max_snapshot_age_ms is not None
            message = f"tag {ref.name} has retention that only branches have"
            line.require(not has_branch_keys, "ref-retention", path, message, (), "warning")


def _compare_version(table: IcebergTable, context: TableContext, line: LedgerLine) -> None:
    """Compare what a format version must have, and what only later ones may."""
    outline, path = context.document.outline, table.metadata_path
    version = table.format_version or 1
    required: dict[int, tuple[str, ...]] = {
        1: ("location", "last-updated-ms", "last-column-id", "schema", "partition-spec"),
        2: ("table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "schemas"),
        3: ("next-row-id",),
    }
    needed = required[1] if version == 1 else required[2] + (required[3] if version > 2 else ())
    if version > 1:
        needed += ("current-schema-id", "partition-specs", "default-spec-id", "last-partition-id")
        needed += ("sort-orders", "default-sort-order-id")
    for key in needed:
        message = f"$.{key} is missing, which version {version} requires"
        line.require(outline.get(key) is not None, "required-key", path, message)
    for wire in context.typed.snapshots:
        own = (wire.snapshot_id,)
        has_list = bool(wire.manifest_list) or (version == 1 and wire.manifests is not None)
        message = f"snapshot {wire.snapshot_id} has no manifest list"
        line.require(has_list, "required-key", path, message, own)
        if version > 1 and wire.summary is not None:
            message = f"the summary of snapshot {wire.snapshot_id} does not say the operation"
            line.require("operation" in wire.summary, "required-key", path, message, own, "warning")


# Statistics files that the metadata document records, compared with the files and with the snapshots.
#
# Follows "Table Statistics" and "Partition Statistics" of the Iceberg table specification. No reader needs them for rows,
# so what is wrong with one is a warning.


def compare_statistics(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the recorded facts of statistics files with the files."""
    line = survey.ledger.line("statistics files", "the metadata document", "snapshots and Puffin footers")
    typed = context.typed
    for key, wires in (
        ("statistics", typed.statistics),
        ("partition-statistics", typed.partition_statistics),
    ):
        seen: set[int] = set()
        for place, wire in enumerate(wires):
            where = f"$.{key}[{place}]"
            is_known = table.find_by_id(wire.snapshot_id) is not None
            message = f"{where} is of snapshot {wire.snapshot_id}, which is not there"
            line.require(is_known, "statistics-snapshot", table.metadata_path, message, (), "warning")
            message = f"{where}: snapshot {wire.snapshot_id} has statistics twice"
            is_first = wire.snapshot_id not in seen
            line.require(is_first, "statistics-snapshot", table.metadata_path, message, (), "warning")
            seen.add(wire.snapshot_id)
            if key == "statistics":
                _compare_puffin(context, line, wire, where)


def _compare_puffin(context: TableContext, line: LedgerLine, wire: WireStatistics, where: str) -> None:
    path = context.access.locator.locate(wire.statistics_path)
    try:
        footer = read_puffin_footer(context, wire.statistics_path)
    except LakeError as error:
        if not isinstance(error, FileNotFoundError):  # a missing file is found by the listing
            code = type(error).__name__.lower()
            line.differ("warning", code, error.path or path, error.reason, (wire.snapshot_id,))
        return
    own = (wire.snapshot_id,)
    size = footer.footer_size
    what = f"{where}: file-footer-size-in-bytes"
    line.compare(wire.file_footer_size_in_bytes, size, "statistics-footer", path, what, own)
    line.compare(len(wire.blob_metadata), len(footer.blobs), "statistics-blobs", path, f"{where}: blobs", own)
    for number, (recorded, blob) in enumerate(zip(wire.blob_metadata, footer.blobs, strict=False)):
        for key, found in (
            ("type", blob.type),
            ("snapshot-id", blob.snapshot_id),
            ("sequence-number", blob.sequence_number),
            ("fields", list(blob.fields)),
        ):
            stored: Any = recorded.get(key)
            what = f"{where}.blob-metadata[{number}].{key}"
            line.compare(stored, found, "statistics-blobs", path, what, own)


# The heads of manifests and manifest lists, compared with the lines that name them and with the snapshots.
#
# Follows "Manifests" and "Manifest Lists" of the Iceberg table specification: the key/values `content`, `partition-spec-id`,
# `format-version` and `schema` of a manifest, `snapshot-id` and `sequence-number` of a list. A reader that trusts one of the
# two places and not the other decodes partitions by another spec, or takes deletes for data.

# The copies of schema and partition spec in the heads of manifests, compared with the table's metadata.
#
# Follows "Manifests" of the Iceberg table specification: `schema` is the JSON of the table schema when the manifest was
# written, `partition-spec` the fields of the spec of its tuples. A schema and a spec never change under their id, so a
# copy has to equal the table's of that id. A writer keeps the schema of its time: one with another id is no difference,
# nor is one that the table no longer keeps. Names of partition fields, docs and defaults are not compared.

_DEEPEST = 100  # levels of nested types that are looked into
_FIRST_FIELD = 1_000  # the ids of partition fields that version 1 does not store count from here


class TableCopies:
    """What the current metadata document says of each schema and spec, by id, in the form in which copies are compared."""

    def __init__(self, context: TableContext) -> None:
        raw = context.document.raw
        self._schemas = {
            one["schema-id"]: dict(_list_fields(one))
            for one in _list_objects(raw.get("schemas"))
            if isinstance(one.get("schema-id"), int)
        }
        self._specs = {
            one["spec-id"]: list(_list_spec(one.get("fields")))
            for one in _list_objects(raw.get("partition-specs"))
            if isinstance(one.get("spec-id"), int)
        }

    def compare(
        self, line: LedgerLine, header: Header, path: str, snapshots: Callable[[], tuple[int, ...]]
    ) -> None:
        """Compare the copies of one head."""
        schema, number = _read_json(header, "schema"), read_number(header, "schema-id")
        if isinstance(schema, dict):
            own = schema.get("schema-id")
            what = "schema-id by the head and by its schema"
            line.compare(number, own if isinstance(own, int) else None, "head-schema", path, what, snapshots)
            self._compare_schema(line, schema, own if isinstance(own, int) else number, path, snapshots)
        spec = _read_json(header, "partition-spec")
        known = self._specs.get(read_number(header, "partition-spec-id") or 0)
        if isinstance(spec, list) and known is not None:
            found = list(_list_spec(spec))
            message = f"partition-spec of the head is {_format(found)}, the table's is {_format(known)}"
            line.require(found == known, "head-spec", path, message, snapshots)

    def _compare_schema(
        self,
        line: LedgerLine,
        schema: Mapping[str, Any],
        number: int | None,
        path: str,
        snapshots: Callable[[], tuple[int, ...]],
    ) -> None:
        known = None if number is None else self._schemas.get(number)
        if known is None:
            return
        found = dict(_list_fields(schema))
        differing = sorted(one for one in {*known, *found} if known.get(one) != found.get(one))
        if not differing:
            line.agree()
            return
        first = differing[0]
        said = f"field {first} is {found.get(first, 'not there')}, the table's is {known.get(first, 'not there')}"
        more = f", and {len(differing) - 1:,} more" if len(differing) > 1 else ""
        line.differ("warning", "head-schema", path, f"schema {number} of the head: {said}{more}", snapshots)


def _read_json(header: Header, key: str) -> Any:
    try:
        return msgspec.json.decode(read_text(header, key) or "null")
    except (msgspec.DecodeError, RecursionError):
        return None


def _list_objects(raw: Any) -> Iterator[Mapping[str, Any]]:
    return (one for one in raw if isinstance(one, dict)) if isinstance(raw, list) else iter(())


def _list_fields(schema: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    """List every field of a schema by id, nested ones too: its name, its type, and whether it is required."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    for one in _list_objects(schema.get("fields")):
        kind, number = one.get("type"), one.get("id")
        name = kind.get("type") if isinstance(kind, dict) else kind
        if isinstance(number, int):
            needs = "required" if one.get("required") else "optional"
            yield number, f"{one.get('name')} {str(name).replace(' ', '')} {needs}"
        yield from _list_inner(kind, depth)


def _list_inner(kind: Any, depth: int) -> Iterator[tuple[int, str]]:
    """List the fields within a type: of a struct, of an element, a key and a value."""
    if not isinstance(kind, dict) or depth > _DEEPEST:
        return
    if kind.get("type") == "struct":
        yield from _list_fields(kind, depth + 1)
        return
    for part in ("element", "key", "value"):
        inner, number = kind.get(part), kind.get(f"{part}-id")
        if inner is None:
            continue
        name = inner.get("type") if isinstance(inner, dict) else inner
        if isinstance(number, int):
            needs = "required" if kind.get(f"{part}-required", True) else "optional"
            yield number, f"{part} {str(name).replace(' ', '')} {needs}"
        yield from _list_inner(inner, depth + 1)


def _list_spec(raw: Any) -> Iterator[tuple[int, tuple[Any, ...], str]]:
    """List the fields of a spec: id, source columns, transform."""
    for place, one in enumerate(_list_objects(raw)):
        sources = one.get("source-ids")
        source = one.get("source-id")
        columns = tuple(sources) if isinstance(sources, list) else (source,)
        number = one.get("field-id")
        transform = str(one.get("transform")).lower()
        yield number if isinstance(number, int) else _FIRST_FIELD + place, columns, transform


def _format(fields: list[tuple[int, tuple[Any, ...], str]]) -> str:
    """Format a spec in a message."""
    parts = (
        f"{number}: {transform}({', '.join(map(str, columns))})" for number, columns, transform in fields
    )
    return ", ".join(parts) or "empty"


#: Heads that are read; of more a part is.
MOST_HEADS = 5_000


def compare_headers(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the heads of manifests with their lines, and those of lists with their snapshots."""
    line = survey.ledger.line("manifests and their lists", "their headers", "lists and snapshots")
    chosen, copies = survey.manifests[:MOST_HEADS], TableCopies(context)
    for number, manifest in track(list(enumerate(chosen)), "headers of manifests", len(chosen)):
        header = _read(context, manifest.path)
        if header is not None:
            for known in survey.lines[number]:
                if isinstance(known, IcebergManifest):
                    _compare_manifest(table, survey, line, known, header, number)
            copies.compare(line, header, manifest.path, partial(survey.list_snapshots, (number,)))
    left = len(survey.manifests) - len(chosen)
    if left > 0:
        survey.ledger.leave(f"the headers of {left:,} manifests", f"the first {MOST_HEADS:,} were read")
    for state in survey.states[:MOST_HEADS]:
        snapshot = state.snapshot
        if not isinstance(snapshot, IcebergSnapshot):
            continue
        for listed in snapshot.manifest_lists:
            header = None if listed.path is None else _read(context, listed.path)
            if header is not None and listed.path is not None:
                newest = table.format_version or 1
                own = (snapshot.id,)
                version = read_number(header, "format-version")
                if version is not None:
                    message = f"format-version of the head is {version}, the table's is {newest}"
                    line.require(version <= newest, "version-rule", listed.path, message, own)
                for key, recorded in (
                    ("snapshot-id", snapshot.id),
                    ("sequence-number", snapshot.sequence_number or None),
                ):
                    found = read_number(header, key)
                    line.compare(
                        found, recorded, "list-of-snapshot", listed.path, f"{key} of the head", own, "warning"
                    )


def _read(context: TableContext, path: str) -> Header | None:
    """Read the head of a file; None where it cannot be read: that is found when all of it is read."""
    try:
        return read_head(context.access.store, path)
    except LakeError:
        return None


def _compare_manifest(
    table: IcebergTable,
    survey: Survey,
    line: LedgerLine,
    manifest: IcebergManifest,
    header: Header,
    number: int,
) -> None:
    path, snapshots = manifest.path, partial(survey.list_snapshots, (number,))
    content = read_text(header, "content")
    what = "content by the list and by the head"
    line.compare(manifest.content, content, "manifest-content", path, what, snapshots, "error")
    what = "partition-spec-id by the list and by the head"
    spec = read_number(header, "partition-spec-id")
    recorded = manifest.raw.get("partition_spec_id")
    line.compare(recorded, spec, "manifest-spec", path, what, snapshots, "error")
    known = {one.id for one in table.specs}
    if recorded is not None:
        message = f"partition spec {recorded} is not among those of the table"
        line.require(recorded in known, "unknown-spec", path, message, snapshots)
    version = read_number(header, "format-version")
    if version is not None:
        newest = table.format_version or 1
        message = f"format-version of the head is {version}, the table's is {newest}"
        line.require(version <= newest, "version-rule", path, message, snapshots)
    schema = _find_schema(header)
    if schema is not None:
        message = f"schema {schema} of the head is not among those of the table"
        is_kept = any(one.id == schema for one in table.schemas)
        line.require(is_kept, "unknown-schema", path, message, snapshots, "note")


def _find_schema(header: Header) -> int | None:
    text = read_text(header, "schema")
    try:
        schema: Any = msgspec.json.decode(text or "null")
    except (msgspec.DecodeError, RecursionError):
        return None
    found = schema.get("schema-id") if isinstance(schema, dict) else None
    return found if isinstance(found, int) else None
