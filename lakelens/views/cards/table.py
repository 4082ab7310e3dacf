"""The card of a table. It reads no manifest: what it says of files comes from the snapshot's own figures and its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakelens.analysis.figures import Range, count_known, find_ranges
from lakelens.analysis.shape import WriteJob, find_jobs
from lakelens.errors import LakeError
from lakelens.model.schema import PartitionSpec
from lakelens.model.table import Table
from lakelens.views.card import cells, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold, Grid, Make
from lakelens.views.cards.evidence import (
    fold_keys,
    format_evidence,
    format_relocation,
    is_moved,
    list_evidence,
    list_relocation,
)
from lakelens.views.cards.finding import fold_findings, format_alert
from lakelens.views.cards.ref import format_refs, grid_refs
from lakelens.views.cards.schema import format_evolution, format_schema, format_spec, grid_columns
from lakelens.views.cards.snapshot import format_snapshots, grid_snapshots, summarise
from lakelens.views.describe import describe, one

# of a catalog's facts: on the card already
_TOLD_ELSEWHERE = ("columns", "partition_columns", "properties")


@describe.register
def card_of_table(table: Table, detail: int = 1) -> Card:
    """What it is, where, why lakelens thinks so, and its state."""
    folds = [
        Fold(
            f"Why {wording.clean(table.traits.title)}",
            format_evidence(table.evidence),
            lambda: list_evidence(table.evidence, table.location),
        ),
        _fold_schema(table),
        _fold_partitioning(table),
        *_list_history(table),
        *_list_settings(table, detail),
    ]
    if is_moved(table.relocation):
        answer = format_relocation(table.relocation)
        folds.append(Fold("Moved", answer, lambda: list_relocation(table.relocation)))
    if len(table.encryption_keys):
        folds.append(fold_keys(table.encryption_keys))
    folds.append(fold_findings(table.findings, _format_read(table)))
    return Card(
        wording.clean(table.name),
        wording.clean(table.traits.kind),
        wording.clean(table.location),
        format_alert(table.findings),
        summarise(table),
        folds=tuple(folds),
        about=list_sections(table, "table", "snapshot"),
    )


def _format_read(table: Table) -> str:
    """That there is no problem, and in how much: what was read, of the files that are known by now."""
    read, known = table.reads.files, count_known(table)
    if known is None or read >= known:
        return f"no problems found in {wording.plural(read, 'file')}" if read else "no problems found so far"
    return f"no problems in what was read: {wording.count(read)} of at least {wording.plural(known, 'file')}"


def _fold_schema(table: Table) -> Fold:
    try:
        schema = table.schema
        grid = grid_columns(table)
    except LakeError as error:
        return Fold("Schema", wording.clean(str(error)), alert="ERROR")
    number = f", schema {schema.id}" if schema.id is not None else ""
    evolution = format_evolution(schema)
    answer = f"{format_schema(schema)}{number}" + (f"; {evolution}" if evolution else "")
    if table.traits.files_are_listed and not table.catalog:
        answer += "; put together from the files and directories"
    return Fold("Schema", answer, lambda: one(grid), opened=True)


def _fold_partitioning(table: Table) -> Fold:
    answer = format_spec(table.partitioning)
    current = table.current
    ranges = find_ranges(current) if current is not None and table.partitioning.fields else None
    if ranges is not None:
        answer += format_ranges(ranges, table.partitioning.id)
    elif current is not None and current.figures.partitions is not None and len(table.partitioning):
        answer += f": {wording.plural(current.figures.partitions, 'directory', 'directories')}"

    buckets = wording.clean(table.traits.buckets, 120)
    answer += f"; {buckets}" if buckets else ""

    def make() -> list[Body]:
        return [grid_specs(table.specs, ranges or []), cells.hint("files and rows of each", "table.files")]

    has_fields = any(len(spec) for spec in table.specs)
    return Fold("Partitioning", answer, make) if has_fields else Fold("Partitioning", answer)


def _list_history(table: Table) -> list[Fold]:
    """What happened to the table, and what its states are called."""
    if not table.traits.has_snapshots:
        return [fold_writes(table)]
    folds = []
    history = table.outline_history()
    if history.count:
        newest, total = history.newest, history.count
        hints = cells.hint("any two states", "table.diff(before, after)")
        make: Make = lambda: [grid_snapshots(newest, total=total), hints]  # noqa: E731 - made when it is opened
        folds.append(Fold("Changes", format_snapshots(newest, total=total), make))
    if len(table.refs):
        folds.append(Fold("Refs", format_refs(table.refs), lambda: one(grid_refs(table.refs, table))))
    return folds


def _list_settings(table: Table, detail: int) -> list[Fold]:
    """Settings of the table: properties, what a catalog adds, and, where it is opened, the document itself."""
    folds = []
    if table.properties:
        make = lambda: one(cells.mapping(table.properties, how="table.properties"))  # noqa: E731
        folds.append(Fold("Properties", wording.some(table.properties), make))
    if table.catalog:
        facts = _flatten(table.catalog)
        about = list_sections(table, "catalog")
        answer = _format_catalog(table.catalog) or ", ".join(wording.clean(name, 60) for name, _ in facts[:6])
        folds.append(Fold("Catalog", answer, lambda: one(cells.pairs(facts, about))))
    document = table.metadata if detail >= 2 else None  # a large one is only decoded where it is shown
    if isinstance(document, Mapping) and "format-version" in document:
        about = list_sections(table, "table_metadata")
        make_fields = lambda: cells.fields(document, about, how="table.metadata")  # noqa: E731
        folds.append(Fold("Metadata", f"{wording.plural(len(document), 'key')} of the document", make_fields))
    return folds


def _format_catalog(catalog: Mapping[str, Any]) -> str:
    """What the metastore calls the table, what it is to it, and who made it."""
    facts = catalog.get("table")
    if not isinstance(facts, Mapping):
        return ""
    name = ".".join(wording.clean(facts[key], 60) for key in ("Database", "Table") if key in facts)
    kind = " ".join(wording.clean(facts[key], 40) for key in ("Type", "Provider") if key in facts)
    maker = f"made by {wording.clean(facts['Created By'], 60)}" if "Created By" in facts else ""
    return ", ".join(filter(None, (name, kind, maker)))


def _flatten(catalog: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The catalog's facts, one level deep."""
    found: list[tuple[str, Any]] = []
    for name, held in catalog.items():
        if name in _TOLD_ELSEWHERE:
            continue
        if name in ("table", "storage") and isinstance(held, Mapping):
            found += [(str(key), cells.text(value)) for key, value in held.items()]
        else:
            found.append((str(name), cells.json_item(held)))
    return found[:60]


def format_ranges(ranges: Sequence[Range], spec_id: int | None) -> str:
    """The ranges of today's partitioning in a line, and how many manifests still have another."""
    mine = [one for one in ranges if one.spec_id == spec_id]
    words = [
        _format_range(one) if len(mine) == 1 else f"{wording.clean(one.name, 40)} {_format_range(one)}"
        for one in mine[:3]
    ]
    older = {one.spec_id: one.manifests for one in ranges if one.spec_id not in (spec_id, None)}
    covered = f": {', '.join(words)}" if words else ""
    left = [f"{wording.plural(number, 'manifest')} still in spec {spec}" for spec, number in older.items()]
    return covered + (f"; {', '.join(left[:3])}" if left else "")


def _format_range(one: Range) -> str:
    null = " and null" if one.has_null else ""
    if one.lower is None or one.upper is None:
        return "null" if one.has_null else "unknown"
    if one.lower == one.upper:
        return f"{wording.value(one.lower)}{null}"
    return f"{wording.value(one.lower)} to {wording.value(one.upper)}{null}"


def grid_specs(specs: Sequence[PartitionSpec], ranges: Sequence[Range]) -> Grid:
    """Every partitioning field by field, with the range that the manifests cover."""
    known = {(one.spec_id, one.name): one for one in ranges}
    rows = [
        (
            *cells.codes(spec.id, field.name, field.transform, field.source_name, field.result_type),
            *_cells_of_range(known.get((spec.id, field.name))),
        )
        for spec in specs
        for field in spec
    ]
    names = ("spec#", "field", "transform", "column", "type", "lower", "upper", "has null!", "manifests#")
    return cells.prune(cells.grid(names, rows, how="table.specs", noun="field", about=("common.ranges",)))


def _cells_of_range(one: Range | None) -> tuple[Cell, Cell, Cell, Cell]:
    if one is None:
        return cells.ABSENT, cells.ABSENT, cells.ABSENT, cells.ABSENT
    has_null = cells.text("yes" if one.has_null else "")
    return cells.value(one.lower), cells.value(one.upper), has_null, cells.number(one.manifests)


def fold_writes(table: Table) -> Fold:
    """The files grouped by the job that wrote them, newest first: all that is known of what happened."""
    jobs = find_jobs(table.files)
    if not jobs:
        return Fold("Writes", "no snapshots are kept, and there is no visible file")
    named = sum(1 for job in jobs if job.id is not None)
    answer = (
        f"{wording.plural(named, 'job')} by the names of the files" if named else "file names identify no job"
    )
    return Fold("Writes", f"no snapshots are kept; {answer}", lambda: one(_grid_jobs(jobs)))


def _grid_jobs(jobs: Sequence[WriteJob]) -> Grid:
    rows = [
        (
            cells.code(job.id) if job.id is not None else cells.text("unknown", "mute"),
            cells.moment(job.newest),
            cells.number(len(job.files)),
            cells.number(job.partition_count),
            cells.size(sum(file.size_bytes or 0 for file in job.files)),
        )
        for job in jobs
    ]
    names = ("job", "newest file, UTC!", "files#", "partitions#", "bytes#")
    return cells.grid(names, rows, how="table.files", noun="job", about=("hive.writes",))
