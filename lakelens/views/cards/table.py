"""The card of a table, and that of a view.

A table's reads no manifest: what it says of files comes from the snapshot's own figures and its lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lakelens.analysis.figures import Range, count_known, find_ranges
from lakelens.analysis.shape import WriteJob, find_jobs
from lakelens.errors import LakeError
from lakelens.model.schema import PartitionSpec
from lakelens.model.snapshot import History
from lakelens.model.table import Table
from lakelens.model.view import View, ViewVersion
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Block, Body, Card, Cell, Fact, Fold, Grid, Make, Note
from lakelens.views.cards.finding import (
    fold_findings,
    fold_keys,
    format_alert,
    format_evidence,
    format_relocation,
    is_moved,
    list_evidence,
    list_relocation,
)
from lakelens.views.cards.schema import (
    format_evolution,
    format_refs,
    format_schema,
    format_spec,
    grid_columns,
    grid_refs,
)
from lakelens.views.cards.snapshot import HINT_DIFF, format_snapshots, grid_snapshots, summarise
from lakelens.views.describe import describe, one

# of a catalog's facts: on the card already
_TOLD_ELSEWHERE = ("columns", "partition_columns", "properties")
ABOUT_VIEW = ("common.view",)
_HINT = replace(HINT_DIFF, code=f"{HINT_DIFF.code}, table.map()")
_DOCUMENT = 3  # the level of detail at which whole documents are shown
_MOST_SQL, _MOST_QUERIES = 4_000, 8  # characters of a query, versions whose queries are shown


@describe.register
def card_of_table(table: Table, detail: int = 1) -> Card:
    """What it is, where, why lakelens thinks so, and its state."""
    history = table.outline_history()  # first: what the card shows is then read together
    folds = [
        Fold(
            f"Why {wording.clean(table.traits.title)}",
            format_evidence(table.evidence),
            lambda: list_evidence(table.evidence, table.location),
        ),
        _fold_schema(table),
        _fold_partitioning(table),
        *_list_history(table, history),
        *_list_settings(table, detail),
    ]
    if is_moved(table.relocation):
        answer = format_relocation(table.relocation)
        folds.append(Fold("Moved", answer, lambda: list_relocation(table.relocation)))
    if len(table.encryption_keys):
        folds.append(fold_keys(table.encryption_keys))
    facts = summarise(table, history)
    # some folds read: before it is said how much was read, so that the second card says the same as the first
    folds = [_make_now(fold) for fold in folds]
    folds.append(fold_findings(table.findings, _format_read(table)))
    return Card(
        wording.clean(table.name),
        wording.clean(table.traits.kind),
        wording.clean(table.location),
        format_alert(table.findings),
        facts,
        folds=tuple(folds),
        about=list_sections(table, "table", "snapshot"),
    )


def _make_now(fold: Fold) -> Fold:
    """Make a fold with what is in it, which is made once; a whole document is left until it is shown."""
    if fold.make is tuple or fold.level >= _DOCUMENT:
        return fold
    made = fold.body()
    return replace(fold, make=lambda: made)


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
        hint = cells.hint("files and rows of each", "table.files", named.page("files"), "All files")
        return [grid_specs(table.specs, ranges or []), hint]

    has_fields = any(len(spec) for spec in table.specs)
    return Fold("Partitioning", answer, make) if has_fields else Fold("Partitioning", answer)


def _list_history(table: Table, history: History) -> list[Fold]:
    """List what happened to the table, and what its states are called."""
    if not table.traits.has_snapshots:
        return [fold_writes(table)]
    folds = []
    if history.count:
        newest, total = history.newest, history.count
        make: Make = lambda: [grid_snapshots(newest, total=total), _HINT]  # noqa: E731 - made when it is opened
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
    """Say which catalog knows the table; what a metastore calls it, what it is to it, and who made it."""
    facts, source = catalog.get("table"), catalog.get("catalog")
    if isinstance(source, Mapping):
        said = [wording.clean(source.get(key), 120) for key in ("kind", "name", "uri")]
        pointer = wording.clean(str(catalog.get("metadata_location") or "").rsplit("/", 1)[-1], 120)
        which = f"{' '.join(filter(None, said[:2]))}{f' at {said[2]}' if said[2] else ''}"
        return f"{which}, which points to {pointer}" if pointer else which
    if not isinstance(facts, Mapping):
        return ""
    name = ".".join(wording.clean(facts[key], 60) for key in ("Database", "Table") if key in facts)
    kind = " ".join(wording.clean(facts[key], 40) for key in ("Type", "Provider") if key in facts)
    maker = f"made by {wording.clean(facts['Created By'], 60)}" if "Created By" in facts else ""
    return ", ".join(filter(None, (name, kind, maker)))


def _flatten(catalog: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Flatten the catalog's facts, one level deep."""
    found: list[tuple[str, Any]] = []
    for name, held in catalog.items():
        if name in _TOLD_ELSEWHERE:
            continue
        if name in ("catalog", "table", "storage") and isinstance(held, Mapping):
            found += [(str(key), cells.text(value)) for key, value in held.items()]
        else:
            found.append((str(name), cells.json_item(held)))
    return found[:60]


def format_ranges(ranges: Sequence[Range], spec_id: int | None) -> str:
    """Format the ranges of today's partitioning in a line, and how many manifests still have another."""
    mine = [known for known in ranges if known.spec_id == spec_id]
    words = [
        _format_range(known) if len(mine) == 1 else f"{wording.clean(known.name, 40)} {_format_range(known)}"
        for known in mine[:3]
    ]
    older = {known.spec_id: known.manifests for known in ranges if known.spec_id not in (spec_id, None)}
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
    """Show every partitioning field by field, with the range that the manifests cover."""
    known = {(covered.spec_id, covered.name): covered for covered in ranges}
    rows: list[tuple[Cell, ...]] = []
    for spec in specs:
        for field in spec:
            bounds = [cells.ABSENT] * 4
            if covered := known.get((spec.id, field.name)):
                has_null = cells.text("yes" if covered.has_null else "")
                bounds = [
                    cells.value(covered.lower),
                    cells.value(covered.upper),
                    has_null,
                    cells.number(covered.manifests),
                ]
            number = named.lead(cells.code(spec.id), named.page("schema"))
            words = cells.codes(field.name, field.transform, field.source_name, field.result_type)
            rows.append((number, *words, *bounds))
    names = ("spec#", "field", "transform", "column", "type", "lower", "upper", "has null!", "manifests#")
    about, more = ("common.ranges",), named.page("schema", part="specs")
    return cells.prune(cells.grid(names, rows, how="table.specs", noun="field", about=about, target=more))


def fold_writes(table: Table) -> Fold:
    """Fold the files grouped by the job that wrote them, newest first: all that is known of what happened."""
    jobs = find_jobs(table.files)
    if not jobs:
        return Fold("Writes", "no snapshots are kept, and there is no visible file")
    named = sum(1 for job in jobs if job.id is not None)
    answer = (
        f"{wording.plural(named, 'job')} by the names of the files" if named else "file names identify no job"
    )
    return Fold("Writes", f"no snapshots are kept; {answer}", lambda: one(_grid_jobs(jobs, table.format)))


def _grid_jobs(jobs: Sequence[WriteJob], format: str) -> Grid:
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
    return cells.grid(names, rows, how="table.files", noun="job", about=(f"{format}.writes",))


@describe.register
def card_of_view(view: View, detail: int = 1) -> Card:
    """Show a view: its query in each dialect, its columns, its versions and which one was the current one when."""
    current = view.current
    versions = wording.plural(len(view.versions), "version")
    number = "none that is there" if current is None else str(current.id)
    facts = [Fact("version", cells.code(number), f"{versions} kept")]
    folds: list[Fold] = []
    if current is not None:
        facts += _list_view_facts(current)
        for place, (dialect, sql) in enumerate(current.sql.items()):
            make = partial(_show_query, sql)
            folds.append(
                Fold(f"SQL: {wording.clean(dialect, 40)}", wording.clean(sql, 160), make, opened=place == 0)
            )
    folds += _list_view_folds(view, detail)
    return Card(
        wording.clean(view.name),
        f"{wording.clean(view.format).title()} view, format version {view.format_version}: a query, and no rows",
        wording.clean(view.location),
        format_alert(view.findings),
        tuple(facts),
        folds=tuple(folds),
        about=ABOUT_VIEW,
    )


def _list_view_facts(version: ViewVersion) -> Iterator[Fact]:
    yield Fact("created, UTC", cells.moment(version.created_at), wording.clean(version.engine or ""))
    namespace = wording.clean(".".join(version.default_namespace), 120) or "none"
    catalog = wording.clean(version.default_catalog or "", 60)
    yield Fact("namespace", cells.code(namespace), f"of catalog {catalog}" if catalog else "")
    if version.storage_table is not None:
        yield Fact("storage table", cells.code(version.storage_table))


def _list_view_folds(view: View, detail: int) -> Iterator[Fold]:
    if view.schema is not None:
        schema = view.schema
        yield Fold("Schema", f"{format_schema(schema)}, schema {schema.id}", lambda: one(describe(schema)))
    named = ", ".join(str(version.id) for version in view.versions[:8])
    yield Fold("Versions", named or "none", lambda: _list_versions(view))
    if len(view.log):
        rows = [
            (cells.code(line.version_id), cells.moment(line.at)) for line in view.log[-display.max_rows :]
        ]
        names = ("version", "current since, UTC")
        grid = cells.grid(names, rows, how=".log", noun="change", total=len(view.log), about=ABOUT_VIEW)
        yield Fold(
            "Log", f"{wording.plural(len(view.log), 'change')} of the current version", lambda: one(grid)
        )
    if view.properties:
        listed = lambda: one(cells.mapping(view.properties, how="view.properties"))  # noqa: E731
        yield Fold("Properties", wording.some(view.properties), listed)
    if detail >= 2:
        yield Fold("JSON", "the complete document", lambda: one(cells.document(view.metadata)), level=3)
    worst = next(iter(view.findings), None)
    answer = "no problems found in its metadata file" if worst is None else wording.clean(worst.message, 160)
    yield Fold("Findings", answer, lambda: one(describe(view.findings)), alert=format_alert(view.findings))


def _list_versions(view: View) -> list[Body]:
    """List the versions in a grid, then the queries of those that are not the current one."""
    shown = view.versions[-display.max_rows :]
    rows = [
        (
            cells.code(version.id),
            cells.moment(version.created_at),
            cells.text(join_dialects(version.dialects)),
            cells.number(version.schema_id),
            cells.number(None if version.schema is None else len(version.schema.fields)),
            cells.text(wording.clean(version.engine or "", 60)),
        )
        for version in shown
    ]
    names = ("version", "created, UTC", "SQL", "schema#", "columns#", "engine")
    grid = cells.grid(
        names, rows, how=".versions", noun="version", total=len(view.versions), about=ABOUT_VIEW
    )
    queries: list[Body] = [grid]
    for version in shown[-_MOST_QUERIES:]:
        for dialect, sql in version.sql.items():
            queries += [Note(f"version {version.id}, {wording.clean(dialect, 40)}:"), *_show_query(sql)]
    return queries


def _show_query(sql: str) -> list[Body]:
    """Show a query as a block: every character is shown, none obeyed."""
    block = Block("\n".join(map(wording.visible, sql[:_MOST_SQL].split("\n"))))
    more = Note(f"{len(sql) - _MOST_SQL:,} more characters", "mute")
    return [block, more] if len(sql) > _MOST_SQL else [block]


def join_dialects(dialects: Sequence[str]) -> str:
    """Join the names of SQL dialects in a line."""
    return ", ".join(wording.clean(name, 40) for name in dialects[:8]) or "none"
