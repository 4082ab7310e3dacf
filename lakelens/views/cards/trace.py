"""The card of a trace: what a statement did to storage in one sentence, then object by object, commit by commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.diff_summary import format_deleted
from lakelens.analysis.trace import CommitTrace, FileChanges, TableTrace, Trace, TracedFile, TracedFiles
from lakelens.errors import LakeError
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Body, Card, Cell, Column, Fact, Fold, Grid, Note
from lakelens.views.cards.diff import grid_json
from lakelens.views.describe import describe, one

_WORDS = {"created": "CREATED", "removed": "REMOVED", "rewritten": "REWRITTEN"}
_ABOUT = ("common.trace", "common.tree")
_MOST_TABLES = 20


@describe.register
def card_of_trace(trace: Trace, detail: int = 1) -> Card:
    """What was written, removed and rewritten; where there is one table, its commits and its diff."""
    verb = _name_subject(trace)
    if not trace.is_finished:
        return Card("Trace", f"{verb} is still running", wording.clean(trace.root), about=_ABOUT)
    folds: list[Fold] = []
    if len(trace.tables) == 1:
        folds += _fold_table(trace.tables[0], detail)
    elif trace.tables:
        folds.append(_fold_tables(trace.tables))
    if trace.notes:
        listed = [Note(wording.clean(note, 400), "mute") for note in trace.notes[:20]]
        folds.append(
            Fold(
                "Notes",
                f"{wording.plural(len(trace.notes), 'thing')} could not be determined",
                lambda: listed,
            )
        )
    if trace.is_missing:
        return Card("Trace", format_sentence(trace), "", _format_error(trace.error), about=_ABOUT)
    sentence = f"{verb} {format_changes(trace)}"
    deleted = _format_deleted(trace)
    sentence += f": {deleted}" if deleted else ""
    kinds = [table for table in trace.tables if table.kind in ("created", "dropped", "replaced")]
    if kinds:
        named = ", ".join(f"{table.kind} {wording.clean(table.name, 80)}" for table in kinds[:3])
        sentence += f"; {named}" + (f" and {len(kinds) - 3} more tables" if len(kinds) > 3 else "")
    return Card(
        "Trace",
        sentence,
        wording.clean(trace.root),
        _format_error(trace.error),
        (*_list_facts(trace), Fact("as before", cells.number(trace.untouched_files))),
        _show_files(trace.files, "change.files"),
        tuple(folds),
        _ABOUT,
    )


@describe.register
def card_of_table_trace(table: TableTrace, detail: int = 1) -> Card:
    """What happened to one table."""
    place = wording.clean(table.location)
    sentence = f"{wording.clean(table.format)} table {table.kind}: {format_changes(table)}"
    body = _show_files(table.files, "change.tables[0].files")
    folds = tuple(_fold_table(table, detail))
    return Card(wording.clean(table.name), sentence, place, "", _list_facts(table), body, folds, _ABOUT)


@describe.register
def card_of_commit(commit: CommitTrace, detail: int = 1) -> Card:
    """One snapshot that was committed in between, with the objects that it brought."""
    operation = wording.clean(commit.snapshot.operation or "no operation recorded", 60)
    sentence = f"{operation}, {_format_amount(commit.created)}"
    fold = Fold("Diff", "what it changed, compared with its parent", lambda: one(describe(commit.changes)))
    body = _show_files(commit.created, "commit.created")
    return Card(wording.clean(commit.name, 80), sentence, body=body, folds=(fold,), about=_ABOUT)


@describe.register
def card_of_traced_files(files: TracedFiles, detail: int = 1) -> Card:
    """Objects as a tree, each with its role and its reason."""
    body = _show_files(files, ".paths")
    return Card("Objects", _format_amount(files), wording.clean(files.root), body=body, about=_ABOUT)


def format_changes(changes: FileChanges) -> str:
    """Say what happened to objects, in words."""
    words = []
    if changes.created:
        words.append(f"wrote {_format_amount(changes.created)}")
    if changes.rewritten:
        number = sum(file.role != "checksum" for file in changes.rewritten) or len(changes.rewritten)
        words.append(
            f"rewrote {wording.count(number)}" if words else f"rewrote {wording.plural(number, 'file')}"
        )
    if changes.removed:
        words.append(f"removed {_format_amount(changes.removed)}")
    if not words:
        return "touched no file"
    return ", and ".join(words) if len(words) < 3 else f"{words[0]}, {words[1]}, and {words[2]}"


def _format_amount(files: TracedFiles) -> str:
    """Files and bytes; what Hadoop's local file system writes for each, its checksum, is counted beside."""
    own = [file for file in files if file.role != "checksum"]
    beside = len(files) - len(own)
    if not own:
        return f"{wording.plural(beside, 'checksum file')}, {wording.size(files.size_bytes)}"
    words = f"{wording.plural(len(own), 'file')}, {wording.size(sum(file.size_bytes for file in own))}"
    return f"{words} (and {wording.plural(beside, 'checksum file')})" if beside else words


def _format_deleted(trace: Trace) -> str:
    """Say how many rows a DELETE took away, as far as it is known; nothing of anything else."""
    diff, words = trace.diff, [wording.name_statement(statement) for statement in trace.statements]
    if not words:
        words = [snapshot.snapshot.operation or "" for snapshot in trace.snapshots]
    if diff is None or diff.before is None or {word.upper() for word in words} != {"DELETE"}:
        return ""
    live = diff.before.known_live_rows.count, diff.after.known_live_rows.count
    if live[0] is None or live[1] is None:
        return format_deleted(diff)
    return f"{wording.plural(live[0] - live[1], 'row')} deleted"


def format_sentence(trace: Trace) -> str:
    """Say what a statement, or a block of code, did, in one sentence: `INSERT wrote 4 files, 13.7 KiB`."""
    if trace.is_missing:
        near = " or ".join(wording.clean(name, 120) for name in trace.near)
        words = f"nothing is at {wording.clean(trace.root, 200)}, before or after"
        said = f"{words}; did you mean {near}?" if near else words
    else:
        deleted = _format_deleted(trace)
        said = f"{_name_subject(trace)} {format_changes(trace)}{f': {deleted}' if deleted else ''}"
    return f"{said} ({_format_error(trace.error)})" if trace.error is not None else said


def _name_subject(trace: Trace) -> str:
    """Name the kinds of the statements; of a block of code there is none."""
    kinds = list(dict.fromkeys(filter(None, map(wording.name_statement, trace.statements))))
    if not kinds:
        return "the block"
    if len(kinds) > 3:
        return f"the {len(trace.statements):,} statements"
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"


def _format_error(error: BaseException | None) -> str:
    if error is None:
        return ""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"it raised {wording.clean(type(error).__name__, 60)}: {wording.clean(first, 200)}"


def _list_facts(changes: FileChanges) -> tuple[Fact, ...]:
    def fact(label: str, files: TracedFiles) -> Fact:
        own = sum(file.role != "checksum" for file in files)
        size = wording.size(files.size_bytes) if files else ""
        beside = wording.plural(len(files) - own, "checksum") if len(files) > own else ""
        return Fact(label, cells.number(own), ", and ".join(filter(None, (size, beside))))

    grown = sum(f.size_bytes - (f.previous_size_bytes or 0) for f in changes.rewritten)
    net = changes.created.size_bytes - changes.removed.size_bytes + grown
    return (
        fact("created", changes.created),
        fact("rewritten", changes.rewritten),
        fact("removed", changes.removed),
        Fact("bytes", cells.changed_size(net)),
    )


def _show_files(files: TracedFiles, how: str) -> tuple[Body, ...]:
    return (grid_traced(files, how),) if files else ()


def grid_traced(files: Sequence[TracedFile], how: str) -> Grid:
    """Directories as lines of their own, objects indented below them, each with what happened, role and reason."""
    most = display.max_rows * 3
    rows: list[tuple[Cell, ...]] = []
    above: list[str] = []
    for file in files[:most]:
        *folders, name = file.relative_path.split("/")
        same = 0
        while same < min(len(above), len(folders)) and above[same] == folders[same]:
            same += 1
        for depth in range(same, min(len(folders), 30)):
            label = "  " * depth + wording.clean(folders[depth], 120) + "/"
            rows.append((Cell(""), Cell(label, "tree"), Cell(""), Cell(""), Cell("")))
        above = folders
        reason = wording.clean(file.reason, 200)
        if file.previous_size_bytes is not None and file.previous_size_bytes != file.size_bytes:
            reason += f" (was {wording.size(file.previous_size_bytes)})"
        rows.append(
            (
                cells.state(_WORDS[file.state]) if file.state != "created" else Cell("CREATED", "add"),
                named.stored(file, Cell("  " * min(len(folders), 30) + wording.clean(name, 120), "tree")),
                cells.text(file.role),
                cells.size(file.size_bytes),
                Cell(reason, "warn" if reason.endswith("referred to by nothing") else "mute"),
            )
        )
    left = len(files) - most
    more = f"… {wording.plural(left, 'more object')}" if left > 0 else ""
    columns = (
        Column("", is_short=True),
        Column("object"),
        Column("role", is_short=True),
        Column("bytes", is_number=True),
        Column("reason"),
    )
    return Grid(columns, tuple(rows), more, how if more else "", _ABOUT)


def _fold_table(table: TableTrace, detail: int) -> Iterable[Fold]:
    """Commits, diff, columns, document and metastore of one table."""
    if table.snapshots:
        yield _fold_commits(table)
    if table.gone:
        shown = ", ".join(wording.clean(name, 60) for name in table.gone[:5])
        more = f" and {len(table.gone) - 5:,} more" if len(table.gone) > 5 else ""
        yield Fold("Gone", f"{shown}{more}: expired, rolled back or dropped")
    if table.diff is not None and table.snapshots:
        yield Fold("Diff", _format_diff(table.diff), lambda: one(describe(table.diff)))
    if table.schema:
        answer = ", ".join(f"{wording.clean(c.name, 40)} {c.kind}" for c in table.schema[:4])
        rows = [
            (cells.state(c.kind.upper()), cells.code(c.name), cells.code(c.before), cells.code(c.after))
            for c in table.schema
        ]
        grid = cells.grid(
            ("!", "column", "before", "after"), rows, how="change.tables[0].schema", noun="column"
        )
        yield Fold("Schema", answer, lambda: one(grid))
    if table.document:
        answer = f"{wording.plural(len(table.document), 'place')} of the table's own documents differ"
        yield Fold(
            "Document", answer, lambda: one(grid_json(table.document, how="change.tables[0].document"))
        )
    if table.metastore:
        answer = f"{wording.plural(len(table.metastore), 'place')} of what the catalog says differ"
        grid_facts = grid_json(table.metastore, how="change.metastore")
        yield Fold("Catalog", answer, lambda: one(grid_facts), opened=True)
    elif table.is_metastore_known:
        yield Fold("Catalog", "nothing that it says has changed")


def _format_diff(diff: Diff) -> str:
    old = "nothing" if diff.before is None else f"snapshot {diff.before.id}"
    span = f"from {old} to snapshot {diff.after.id}"
    try:
        added, removed = len(diff.added), len(diff.removed)
    except LakeError as error:
        return f"{span}; ERROR, cannot be read: {wording.clean(error, 200)}"
    return f"{span}: {wording.plural(added, 'file')} added, {wording.count(removed)} removed"


def _fold_commits(table: TableTrace) -> Fold:
    rows = [
        (
            named.snapshot(commit.snapshot.id, cells.code(commit.name)),
            cells.text(commit.snapshot.operation),
            cells.number(len(commit.created)),
            cells.size(commit.created.size_bytes),
        )
        for commit in table.snapshots
    ]
    names = ("snapshot", "operation", "files written#", "bytes#")
    grid = cells.grid(names, rows, how="change.snapshots", noun="snapshot")
    operations = ", ".join(wording.clean(c.snapshot.operation or "unknown", 30) for c in table.snapshots[:4])
    more = f" and {len(table.snapshots) - 4:,} more" if len(table.snapshots) > 4 else ""
    answer = f"{wording.count(len(table.snapshots))} committed: {operations}{more}"
    return Fold("Snapshots", answer, lambda: one(grid), opened=len(rows) > 1)


def _fold_tables(tables: Sequence[TableTrace]) -> Fold:
    rows = [
        (
            cells.code(table.name),
            cells.text(table.format),
            cells.state(table.kind.upper()),
            cells.added(len(table.created)),
            cells.removed(len(table.removed)),
            cells.number(len(table.rewritten)),
            cells.number(len(table.snapshots)),
        )
        for table in tables
    ]
    names = ("table", "format!", "!", "files +#", "files −#", "rewritten#", "snapshots#")
    grid = cells.grid(names, rows, how="change.tables", noun="table")

    def make() -> Sequence[Body]:
        return (grid, *(describe(table) for table in tables[:_MOST_TABLES]))

    return Fold("Tables", f"{wording.plural(len(tables), 'table')} changed", make)
