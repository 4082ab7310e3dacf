"""Deletes made visible: what deletes rows of a file, which rows, and how many are left.

A card shows what the metadata records and what was read before. Opened further (detail 2) it reads small delete files and
vectors; a delete by value, which takes the data file's rows as well, only where the file is small too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.comparison import IndexChanges
from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.deletes import DanglingDelete, DeleteMatch, LiveRows
from lakelens.model.life.positions import Positions
from lakelens.model.snapshot import Snapshot
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import About, Body, Card, Cell, Fact, Fold, Grid, Note, Target
from lakelens.views.describe import card_of_path, describe, fold_document, one

_KINDS = {
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "deletion vector",
}
_MOST_READ = 1_000_000  # rows that a card decodes
_MOST_FILES = 2_000  # data files whose deletes a card looks up
_MOST_POSITIONS = 12
_ABOUT = ("common.deletes",)


def list_delete_folds(found: DataFile, detail: int) -> list[Fold]:
    """List the fold "Deletes" of a data file's card: how many rows are deleted and by what; none without deletes."""
    if found.content != "data":
        return []
    try:
        matches = found.deletes
    except LakeError as error:
        return [Fold("Deletes", wording.clean(error), alert="cannot be read")]
    if not matches:
        why = _format_merging(found)
        return [Fold("Deletes", why)] if why else []
    alert, answer = _format_deleted(found, matches, detail)

    def make() -> list[Body]:
        bodies: list[Body] = [grid_matches(matches)]
        if _knows_positions(matches):
            bodies.append(Note(f"rows {format_positions(found.deleted_positions)}"))
        why = _format_merging(found)
        return [*bodies, *([Note(why, "mute")] if why else []), cells.hint("the rows", ".deleted_positions")]

    return [Fold("Deletes", answer, make, alert=alert)]


def list_live_folds(snapshot: Snapshot, detail: int) -> list[Fold]:
    """List the fold "Live rows" of a snapshot's card, where they were counted or the metadata alone bounds them."""
    counted = _find_counted(snapshot, detail)
    if counted is None or (counted.count == counted.recorded and "live_rows" not in vars(snapshot)):
        return []
    dangling = vars(snapshot).get("dangling_deletes") or ()

    def make() -> list[Body]:
        bodies: list[Body] = [_list_counts(counted)]
        if dangling:
            bodies.append(grid_dangling(dangling))
        return [*bodies, cells.hint("exactly, and what reaches no file", ".live_rows, .dangling_deletes")]

    return [Fold("Live rows", format_live(counted), make)]


def format_live(rows: LiveRows) -> str:
    """Say how many rows are left, in a line."""
    if rows.count is not None:
        of = f" of {wording.count(rows.recorded)}" if rows.recorded is not None else ""
        return f"{wording.count(rows.count)}{of}: {wording.clean(rows.reason)}"
    bounds = ""
    if rows.at_least is not None and rows.at_most is not None:
        bounds = f"{wording.count(rows.at_least)} to {wording.count(rows.at_most)}: "
    return f"{bounds}{wording.clean(rows.reason)}"


def format_positions(positions: Iterable[int]) -> str:
    """Format the first positions, and how many more there are.

    >>> format_positions(range(3)), format_positions(range(14))
    ('0, 1, 2', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 2 more')
    """
    size = len(positions)  # type: ignore[arg-type]
    shown = ", ".join(f"{position}" for position in islice(positions, _MOST_POSITIONS))
    left = size - _MOST_POSITIONS
    return f"{shown}, … {wording.count(left)} more" if left > 0 else shown or "none"


@describe.register
def card_of_positions(positions: Positions, detail: int = 1) -> Card:
    """Rows by position: how many, in which ranges, and what the bitmap of them is made of."""
    if not len(positions):
        return Card("Positions", "no rows", about=_ABOUT)
    ranges = positions.count_ranges()
    rows = [
        (Cell(f"{first}", "exact"), Cell(f"{last}", "exact"), cells.number(last - first + 1))
        for first, last in islice(positions.ranges(), display.max_rows)
    ]
    grid = cells.grid(
        ("from#", "to#", "rows#"), rows, how=".ranges()", noun="range", total=ranges, about=_ABOUT
    )
    held = {kind: number for kind, number in positions.containers().items() if number}
    facts = (
        Fact("rows", cells.number(len(positions))),
        Fact("ranges", cells.number(ranges)),
        Fact("first", Cell(f"{positions.min()}")),
        Fact("last", Cell(f"{positions.max()}")),
        Fact(
            "containers",
            cells.number(sum(held.values())),
            ", ".join(f"{held[kind]:,} {kind}" for kind in held),
        ),
    )
    sentence = f"{wording.plural(len(positions), 'row')}, counted from 0: {format_positions(positions)}"
    return Card("Positions", sentence, facts=facts, body=(grid,), about=_ABOUT)


@describe.register
def card_of_match(match: DeleteMatch, detail: int = 1) -> Card:
    """One delete file or vector with the data file that it reaches, the rule, and the rows where they are cheap to read."""
    facts = [
        Fact("kind", cells.text(_KINDS[match.kind])),
        Fact("rows deleted", _count_deleted(match)),
        Fact("data file", named.file(match.data_file)),
    ]
    folds = [
        Fold(
            "Rule",
            wording.clean(match.rule),
            lambda: one(cells.pairs(_list_match_fields(match), _ABOUT)),
            opened=True,
        )
    ]
    folds += _fold_values(match, detail) if match.kind == "equality_deletes" else []
    folds.append(_fold_positions(match, detail))
    about = (*list_sections(match.file, "deletes", "data_file", "index_file"), *_ABOUT)
    return card_of_path("Delete match", match.file.path, facts, folds, about)


@describe.register
def card_of_dangling(found: DanglingDelete, detail: int = 1) -> Card:
    """A delete that deletes nothing, and why."""
    facts = (
        Fact("deletes", cells.number(found.record_count)),
        Fact("reaches", Cell("live files too" if found.is_partial else "nothing", "warn")),
    )
    folds = []
    if found.data_files:
        rows = [(named.file(path, path),) for path in islice(found.data_files, display.max_rows)]
        total = len(found.data_files)
        grid = cells.grid(("data file",), rows, how=".data_files", noun="file", total=total, about=_ABOUT)
        folds.append(Fold("Not live", wording.plural(total, "data file"), lambda: one(grid), opened=True))
    return Card(
        "Dangling delete",
        wording.clean(found.reason),
        wording.clean(found.file.path),
        facts=facts,
        folds=tuple(folds),
        about=_ABOUT,
        target=named.target_of_file(found.file),
    )


@describe.register
def card_of_live(rows: LiveRows, detail: int = 1) -> Card:
    """How many rows are left, and how that is known."""
    return Card("Live rows", format_live(rows), body=(_list_counts(rows),), about=_ABOUT)


def _list_counts(rows: LiveRows) -> Body:
    items = [
        ("live rows", cells.number(rows.count)),
        ("recorded rows", cells.number(rows.recorded)),
        ("at least", cells.number(rows.at_least)),
        ("at most", cells.number(rows.at_most)),
        ("delete files read", cells.number(rows.delete_files_read)),
        ("data files read", cells.number(rows.data_files_read)),
        ("how it is known", cells.text(rows.reason)),
    ]
    return cells.pairs(items, _ABOUT)


def _format_merging(found: DataFile) -> str:
    """Say why the rows of a file cannot be counted: those of a primary-key table are merged by key."""
    try:
        rows = None if found.deletes else found.live_rows
    except LakeError:
        return ""
    unknown = rows is not None and rows.count is None and rows.recorded is not None
    return wording.clean(rows.reason) if unknown and rows is not None else ""


def _format_deleted(found: DataFile, matches: Sequence[DeleteMatch], detail: int) -> tuple[str, str]:
    """Format an alert, or how many rows are deleted by what: exactly where that is known or cheap to read."""
    kinds = Counter(match.kind for match in matches)
    by = " and ".join(wording.plural(number, _KINDS[kind]) for kind, number in kinds.items())
    of = f" of {wording.count(found.record_count)}" if found.record_count is not None else ""
    most = sum(match.at_most or 0 for match in matches)
    if found.record_count is not None:
        most = min(most, found.record_count)
    sure = len(matches) == 1 and matches[0].kind == "deletion_vector" and matches[0].cardinality is not None
    if sure and not _knows_positions(matches):
        return "", f"{wording.count(most)}{of} rows deleted by {by}"
    if _knows_positions(matches) or (detail >= 2 and all(_is_cheap(match, found) for match in matches)):
        try:
            return "", f"{wording.count(len(found.deleted_positions))}{of} rows deleted by {by}"
        except LakeError as error:
            return "cannot be read", wording.clean(error)
    return "", f"at most {wording.count(most)}{of} rows deleted by {by}"


def _knows_positions(matches: Sequence[DeleteMatch]) -> bool:
    return all("positions" in vars(match) for match in matches)


def _is_cheap(match: DeleteMatch, data: DataFile | None = None) -> bool:
    """Check whether the rows of a match may be decoded for a card."""
    rows = [getattr(match.file, "record_count", None) if match.cardinality is None else match.cardinality]
    if match.kind == "equality_deletes":
        rows.append(match.at_most if data is None else data.record_count)
    return all(number is not None and number <= _MOST_READ for number in rows)


def grid_matches(matches: Sequence[DeleteMatch], how: str = ".deletes") -> Grid:
    """Deletes with how many rows each deletes and by which rule."""
    rows = [
        (
            cells.text(_KINDS[match.kind]),
            named.file(match.file),
            _count_deleted(match),
            cells.text(match.rule),
        )
        for match in islice(matches, display.max_rows)
    ]
    names = ("kind!", "file", "rows deleted#", "rule")
    return cells.grid(names, rows, how=how, noun="delete", total=len(matches), about=_ABOUT)


def grid_dangling(found: Sequence[DanglingDelete], how: str = ".dangling_deletes") -> Grid:
    """Deletes that reach no live file, each with the reason."""
    rows = [
        (
            named.file(dangling.file),
            cells.number(dangling.record_count),
            cells.text(dangling.reason),
        )
        for dangling in islice(found, display.max_rows)
    ]
    names = ("file", "deletes#", "why it reaches nothing")
    return cells.grid(names, rows, how=how, noun="delete", total=len(found), about=_ABOUT)


def _count_deleted(match: DeleteMatch) -> Cell:
    if "positions" in vars(match):
        return cells.number(len(match.positions))
    if match.cardinality is not None:
        return cells.number(match.cardinality)
    return Cell("unknown" if match.at_most is None else f"at most {wording.count(match.at_most)}", "mute")


def _list_match_fields(match: DeleteMatch) -> Iterator[tuple[str, Cell]]:
    yield "data file", named.file(match.data_file, match.data_file)
    for name in ("offset", "length", "cardinality"):
        number = getattr(match, name)
        if number is None:
            continue
        cell = cells.number(number)
        if name == "offset" and match.length is not None:  # leads to the bytes of the vector in its file
            asked = (("start", str(number)), ("length", str(match.length)))
            cell = named.lead(cell, Target("bytes", match.file.path, asked))
        yield name, cell
    if match.columns:
        yield "compares", cells.text(", ".join(match.columns))


def _fold_positions(match: DeleteMatch, detail: int) -> Fold:
    if "positions" not in vars(match) and not (
        _is_cheap(match) and (detail >= 2 or match.kind != "equality_deletes")
    ):
        return Fold("Rows", "not read yet: .positions reads them")
    try:
        positions: Any = match.positions
    except LakeError as error:
        return Fold("Rows", wording.clean(error), alert="cannot be read")
    answer = f"{wording.plural(len(positions), 'row')}: {format_positions(positions)}"
    return Fold("Rows", answer, lambda: one(cells.hint("all of them, counted from 0", ".positions")))


def _fold_values(match: DeleteMatch, detail: int) -> list[Fold]:
    """Fold the values that an equality delete removes, where the delete file is small."""
    rows = getattr(match.file, "record_count", None)
    if "values" not in vars(match) and (rows is None or rows > _MOST_READ):
        return []
    try:
        values = match.values
    except LakeError as error:
        return [Fold("Values", wording.clean(error), alert="cannot be read")]
    shown = [tuple(cells.value(item) for item in row) for row in islice(values, display.max_rows)]
    names = [wording.clean(name, 80) for name in match.columns]
    grid = cells.grid(names, shown, how=".values", noun="key", total=len(values), is_open=True)
    answer = f"rows whose {', '.join(names)} are one of {wording.plural(len(values), 'key')}"
    return [Fold("Values", answer, lambda: one(grid))]


def _find_counted(snapshot: Snapshot, detail: int) -> LiveRows | None:
    """What is known of the live rows: counted before, or bounded by metadata that a card of this detail reads anyway."""
    known: LiveRows | None = vars(snapshot).get("live_rows")
    if known is not None or detail < 2 or snapshot.id is None:
        return known
    try:
        files = list(islice(snapshot.files, _MOST_FILES + 1))
        return None if len(files) > _MOST_FILES else snapshot.count_live_rows(read=False)
    except LakeError:
        return None


__all__ = ["list_delete_folds", "list_live_folds", "format_live", "format_positions"]


# Cards of index files and of statistics files.

_MOST_NAMES = 12


def grid_index_files(files: Sequence[IndexFile], how: str = ".index_files") -> Grid:
    """Index files, one a row; a column that none of them has is left out."""
    rows = [
        (
            cells.text(f.index_type),
            named.file(f),
            cells.code(f.partition or None),
            cells.optional(f.bucket),
            cells.number(f.row_count),
            cells.size(f.size_bytes),
        )
        for f in islice(files, display.max_rows)
    ]
    names = ("type!", "file", "partition", "bucket#", "entries#", "bytes#")
    about = _list_sections(files)
    return cells.prune(cells.grid(names, rows, how=how, noun="file", total=len(files), about=about))


def grid_statistics(files: Sequence[StatisticsFile], how: str = ".statistics") -> Grid:
    """Statistics files, one a row."""
    rows = [
        (
            cells.text(f.kind),
            named.file(f),
            cells.number(len(f.columns)),
            cells.size(f.size_bytes),
        )
        for f in islice(files, display.max_rows)
    ]
    names = ("kind!", "file", "columns#", "bytes#")
    return cells.grid(names, rows, how=how, noun="file", total=len(files), about=_list_sections(files))


def _list_sections(files: Sequence[Any]) -> About:
    return list_sections(next(iter(files), None), "index_file", "statistics")


@describe.register
def card_of_index(found: IndexFile, detail: int = 1) -> Card:
    """A file that indexes others: what kind, of which part of the table, and what is in it."""
    facts = [
        Fact("type", cells.text(found.index_type)),
        Fact("entries", cells.number(found.row_count)),
        Fact("bytes", cells.size(found.size_bytes)),
    ]
    if found.partition:
        facts.append(Fact("partition", cells.code(found.partition)))
    if found.bucket is not None:
        facts.append(Fact("bucket", cells.code(found.bucket)))
    folds = []
    if found.ranges:
        marked = sum(held for r in found.ranges if isinstance(held := r.get("cardinality"), int))
        rows = f", {wording.plural(marked, 'row')} marked" if marked else ""
        answer = f"of {wording.plural(len(found.ranges), 'data file')}{rows}"
        folds.append(
            Fold("Vectors", answer, lambda: one(_grid_vectors(found.path, found.ranges)), opened=True)
        )
    folds += _list_contents(found, detail)
    if found.raw:
        folds.append(_fold_record(found))
    return card_of_path("Index file", found.path, facts, folds, list_sections(found, "index_file"))


def _grid_vectors(path: str, ranges: Sequence[Mapping[str, Any]]) -> Grid:
    rows = []
    for vector in islice(ranges, display.max_rows):
        name = str(vector.get("data_file") or "")
        target = Target("file", str(vector.get("data_path") or name))
        rows.append(
            (
                named.lead(cells.code(wording.name(name)), target),
                _lead_to_vector(path, vector),
                cells.optional(vector.get("length")),
                cells.optional(vector.get("cardinality")),
            )
        )
    names = ("data_file", "offset#", "length#", "cardinality#")
    return cells.grid(names, rows, how=".ranges", noun="vector", total=len(ranges))


def _lead_to_vector(path: str, held: Mapping[str, Any]) -> Cell:
    offset, length = held.get("offset"), held.get("length")
    shown = cells.optional(offset)
    is_span = isinstance(offset, int) and isinstance(length, int)
    return named.span(path, int(offset or 0), int(length or 0), shown) if is_span else shown


def _list_contents(found: IndexFile, detail: int) -> list[Fold]:
    """Blobs of a Puffin file, hashes of a hash index, the global index's own words."""
    folds = []
    blobs = found.blobs
    if len(blobs):
        kinds = dict.fromkeys(wording.clean(getattr(blob, "type", type(blob).__name__), 60) for blob in blobs)
        rows = [
            (Cell(str(place)), _format_blob(blob))
            for place, blob in enumerate(islice(blobs, display.max_rows))
        ]
        total = len(blobs)
        grid = cells.grid(("number#", "blob"), rows, how=".blobs", noun="blob", total=total)
        folds.append(Fold("Blobs", ", ".join(kinds), lambda: one(grid)))
    whole = getattr(found, "global_index", None)
    if isinstance(whole, Mapping):
        answer = f"rows {whole.get('row_range_start')} to {whole.get('row_range_end')}"
        folds.append(
            Fold("Global index", wording.clean(answer), lambda: cells.fields(whole, how=".global_index"))
        )
    if detail >= 2 and hasattr(type(found), "hashes"):
        folds.append(_fold_hashes(found))
    return folds


def _format_blob(blob: Any) -> Cell:
    """Format a blob by its own properties."""
    if isinstance(blob, Mapping):
        return cells.value(blob)
    properties = getattr(blob, "properties", None) or {}
    details = ", ".join(
        f"{wording.clean(k, 60)} {wording.clean(v, 120)}" for k, v in islice(properties.items(), 6)
    )
    kind = wording.clean(getattr(blob, "type", type(blob).__name__), 60)
    return Cell(f"{kind}: {details}" if details else kind)


def _fold_hashes(found: Any) -> Fold:
    try:
        hashes = found.hashes
    except LakeError as error:
        return Fold("Hashes", wording.clean(error), alert="cannot be read")
    if hashes is None or not len(hashes):
        return Fold("Hashes", "none")
    rows = [(cells.code(value),) for value in islice(hashes, display.max_rows)]
    grid = cells.grid(("hash",), rows, how=".hashes", noun=("hash", "hashes"), total=len(hashes))
    return Fold("Hashes", wording.plural(len(hashes), "key hash", "key hashes"), lambda: one(grid))


def _fold_record(found: IndexFile) -> Fold:
    """Fold the record, field by field; one that stands for several files (a Puffin file's vectors) is shown as it is."""
    record = {str(key): held for key, held in found.raw.items() if key != "files"}
    about = list_sections(found, "index_file", "statistics")
    if not record:
        return Fold("Record", "as the metadata stores it", lambda: one(cells.document(found.raw)), level=3)
    answer = f"{wording.plural(len(record), 'field')}, as the metadata stores it"
    return Fold("Record", answer, lambda: cells.fields(record, about, how=".raw"))


@describe.register
def card_of_statistics(found: StatisticsFile, detail: int = 1) -> Card:
    """Statistics that an engine kept beside a snapshot."""
    facts = (
        Fact("kind", cells.text(found.kind)),
        Fact("snapshot", named.snapshot(found.snapshot_id)),
        Fact("bytes", cells.size(found.size_bytes)),
    )
    folds = []
    if found.columns:
        columns = found.columns
        answer = wording.plural(len(columns), "column")
        folds.append(Fold("Columns", answer, lambda: one(_grid_columns(columns)), opened=True))
    if found.raw:
        folds += fold_document(found.raw, detail)
    return card_of_path("Statistics", found.path, facts, folds, list_sections(found, "statistics", "puffin"))


def _grid_columns(columns: Mapping[str, Mapping[str, Any]]) -> Grid:
    """One column of the table a row, one statistic a column."""
    shown = list(islice(columns.items(), display.max_rows))
    names = list(dict.fromkeys(str(name) for _, held in shown for name in held))[:_MOST_NAMES]
    rows = [(cells.code(name), *(cells.value(held.get(key)) for key in names)) for name, held in shown]
    heads = ("column", *(wording.clean(key, 60) for key in names))
    return cells.grid(heads, rows, how=".columns", noun="column", total=len(columns))


@describe.register
def card_of_index_changes(changes: IndexChanges, detail: int = 1) -> Card:
    """Index files that came and went."""
    folds = []
    for label, files, how in (("Added", changes.added, ".added"), ("Removed", changes.removed, ".removed")):
        if files:
            grid = grid_index_files(files, how=how)
            answer = wording.plural(len(files), "index file")
            folds.append(Fold(label, answer, lambda grid=grid: one(grid), True))  # type: ignore[misc]
    sentence = f"{wording.count(len(changes.added))} added, {wording.count(len(changes.removed))} removed"
    return Card("Index files", sentence, folds=tuple(folds), about=("common.diff",))
