"""The metadata document, compared with itself: ids that are referred to and known, logs in order, the rules of its version.

Follows "Table Metadata Fields", "Snapshot References" and appendix E ("Format version changes") of the Iceberg table
specification. What opening the table has found already is counted, not repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.contents import read_puffin_footer
from lakelens.model.check.ledger import LedgerLine, name_some
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.metadata.wire import WireStatistics
    from lakelens.formats.iceberg.table import IcebergTable


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
