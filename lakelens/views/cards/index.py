"""Cards of index files and of statistics files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.comparison import IndexChanges
from lakelens.model.datafile import IndexFile, StatisticsFile
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import About, Card, Cell, Fact, Fold, Grid, Target
from lakelens.views.describe import card_of_path, describe, fold_document, one

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
    rows = [
        (
            _name_data(held),
            _lead_to_vector(path, held),
            cells.optional(held.get("length")),
            cells.optional(held.get("cardinality")),
        )
        for held in islice(ranges, display.max_rows)
    ]
    names = ("data_file", "offset#", "length#", "cardinality#")
    return cells.grid(names, rows, how=".ranges", noun="vector", total=len(ranges))


def _name_data(held: Mapping[str, Any]) -> Cell:
    name = str(held.get("data_file") or "")
    return named.lead(cells.code(wording.name(name)), Target("file", str(held.get("data_path") or name)))


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
    """A blob by its own properties."""
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
    rows = [(cells.code(held),) for held in islice(hashes, display.max_rows)]
    grid = cells.grid(("hash",), rows, how=".hashes", noun=("hash", "hashes"), total=len(hashes))
    return Fold("Hashes", wording.plural(len(hashes), "key hash", "key hashes"), lambda: one(grid))


def _fold_record(found: IndexFile) -> Fold:
    """The record, field by field; one that stands for several files (a Puffin file's vectors) is shown as it is."""
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
