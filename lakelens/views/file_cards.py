"""Cards of data files, their bounds, sets of files, index files and statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile, IndexFile, StatisticsFile
from lakelens.model.fileset import FileSet
from lakelens.model.stats import Bounds, ColumnBounds
from lakelens.options import display
from lakelens.views import cells, wording
from lakelens.views.card import Card, Cell, Fact, Fold, Grid
from lakelens.views.present import describe, one

# told elsewhere on the card, or another file would be read to tell them
_NOT_FIELDS = frozenset(
    [
        "bounds",
        "footer",
        "raw",
        "deletes",
        "identity",
        "facts",
        "columns",
        "scope",
        "preview",
        "further",
        "context",
        "kv_reads",
    ]
)
_MOST_COUNTED = 200


def grid_files(files: Sequence[DataFile], how: str = "", noun: str = "file") -> Grid:
    """Files, one a row; a column that none of them has is left out. Only the rows shown are looked at."""
    rows = [
        (
            cells.text(f.content),
            cells.code(wording.name(f.path)),
            cells.code(f.partition or None),
            cells.optional(f.bucket),
            cells.optional(f.level),
            cells.number(f.record_count),
            cells.size(f.size_bytes),
            cells.optional(f.sequence_number),
        )
        for f in islice(files, display.max_rows)
    ]
    names = ("content!", "file", "partition", "bucket#", "level#", "rows#", "bytes#", "sequence#")
    return cells.prune(cells.grid(names, rows, how=how, noun=noun, total=len(files)))


@describe.register
def describe_file(found: DataFile, detail: int = 1) -> Card:
    """What the metadata says of one file: fields under their specified names, bounds for each column."""
    facts = [
        Fact("content", cells.text(found.content.replace("_", " ")), wording.clean(found.file_format)),
        Fact("rows", cells.number(found.record_count)),
        Fact("bytes", cells.size(found.size_bytes)),
    ]
    if found.partition:
        facts.append(Fact("partition", cells.code(found.partition)))
    if found.bucket is not None:
        level = f"level {found.level}" if found.level is not None else ""
        facts.append(Fact("bucket", cells.code(found.bucket), level))
    bounds = found.bounds
    folds = [
        Fold(
            "Bounds",
            word_bounds(bounds),
            lambda: one(grid_bounds(bounds, how=".bounds")) if bounds else (),
            opened=True,
        ),
        _fold_fields(found),
    ]
    if detail >= 2:
        folds.append(Fold("Footer", "what the file says of itself", lambda: one(describe(found.footer))))
    folds.append(Fold("Record", "as the metadata stores it", lambda: one(cells.document(found.raw))))
    return Card(
        _TITLES.get(found.content, "File"),
        wording.name(found.path),
        wording.clean(found.path),
        facts=tuple(facts),
        folds=tuple(folds),
    )


_TITLES = {
    "data": "Data file",
    "position_deletes": "Position delete file",
    "equality_deletes": "Equality delete file",
    "deletion_vector": "Deletion vector",
    "changelog": "Changelog file",
}


def _fold_fields(found: DataFile) -> Fold:
    items = [(name, cells.value(held)) for name, held in _walk_fields(found)]
    known = sum(cell is not cells.ABSENT for _, cell in items)
    answer = f"{known} of {wording.plural(len(items), 'field')} filled, under their specified names"
    return Fold("Fields", answer, lambda: one(cells.pairs(items)))


def _walk_fields(found: DataFile) -> Iterator[tuple[str, Any]]:
    """Every public field with its value: the neutral ones first, then the format's in the order of its class."""
    names = [*DataFile.__annotations__, *vars(found)]
    for kind in reversed(type(found).__mro__):
        names += [name for name, held in vars(kind).items() if _is_field(held)]
    for name in dict.fromkeys(names):
        if name.startswith("_") or name in _NOT_FIELDS:
            continue
        try:
            held = getattr(found, name)
        except (LakeError, AttributeError) as error:
            held = f"cannot be read: {error}"
        if not callable(held):
            yield name, str(held) if name == "partition" else held


def _is_field(held: object) -> bool:
    return isinstance(held, property) or type(held).__name__ == "cached_property"


def word_bounds(bounds: Bounds) -> str:
    """How many columns have statistics."""
    if not bounds:
        return "no column has statistics"
    nulls = [column.name for column in bounds.values() if column.nulls]
    holed = f"; nulls in {', '.join(wording.clean(name, 40) for name in nulls[:4])}" if nulls else ""
    more = f" and {len(nulls) - 4} more" if len(nulls) > 4 else ""
    return f"{wording.plural(len(bounds), 'column')}{holed}{more}"


def grid_bounds(bounds: Bounds, how: str = "") -> Grid:
    """Bounds and counts, one column a row."""
    rows = [
        (
            cells.optional(c.field_id),
            cells.code(c.name),
            cells.code(c.type),
            cells.value(c.lower),
            cells.value(c.upper),
            cells.optional_number(c.nulls),
            cells.optional_number(c.values),
            cells.optional_number(c.nans),
            cells.size(c.size) if c.size is not None else cells.ABSENT,
        )
        for c in bounds.values()
    ]
    names = ("id#", "column", "type", "lower", "upper", "nulls#", "values#", "NaNs#", "bytes#")
    return cells.prune(cells.grid(names, rows, how=how, noun="column"))


@describe.register
def describe_bounds(bounds: Bounds, detail: int = 1) -> Card:
    """The statistics of one file, column by column."""
    return Card(
        "Bounds",
        word_bounds(bounds),
        body=(grid_bounds(bounds, how="a mapping by column"),) if bounds else (),
    )


@describe.register
def describe_column(column: ColumnBounds, detail: int = 1) -> Card:
    """The statistics of one column of one file, with the stored bytes."""
    facts = [Fact("lower", cells.value(column.lower)), Fact("upper", cells.value(column.upper))]
    for label in ("nulls", "values", "nans"):
        if getattr(column, label) is not None:
            facts.append(Fact(label, cells.number(getattr(column, label))))
    if column.size is not None:
        facts.append(Fact("bytes", cells.size(column.size)))
    stored = [
        (label, held)
        for label, held in (("lower", column.lower_raw), ("upper", column.upper_raw))
        if held is not None
    ]
    folds = []
    if stored:
        answer = ", ".join(f"{label} {wording.octets(held, 12)}" for label, held in stored)
        folds.append(
            Fold(
                "Stored",
                answer,
                lambda: one(cells.pairs([(label, cells.value(held)) for label, held in stored])),
            )
        )
    cut = "; bounds may be cut short" if column.truncated else ""
    return Card(
        wording.clean(column.name),
        f"{wording.clean(column.type)} column{cut}",
        facts=tuple(facts),
        folds=tuple(folds),
    )


@describe.register
def describe_set(files: FileSet, detail: int = 1) -> Card:
    """Files together: how many, how large, and the first of them."""
    contents = Counter(f.content for f in files)
    sentence = ", ".join(
        f"{wording.count(number)} {name.replace('_', ' ')}" for name, number in contents.items()
    )
    facts = [Fact("files", cells.number(len(files))), Fact("bytes", cells.size(files.size_bytes))]
    if _tells_rows(files):
        facts.insert(1, Fact("rows", cells.number(files.record_count), "in data files"))
    folds = []
    counts = Counter(str(f.partition) for f in files)
    if len(counts) > 1 or "" not in counts:
        rows = [(cells.code(name), cells.number(number)) for name, number in sorted(counts.items())]
        grid = cells.grid(("partition", "files#"), rows, how=".to_pandas()", noun="partition")
        folds.append(Fold("Partitions", wording.plural(len(counts), "partition"), lambda: one(grid)))
    body = (grid_files(list(files), how=".to_pandas()"),) if len(files) else ()
    return Card("Files", sentence or "none", facts=tuple(facts), body=body, folds=tuple(folds))


def _tells_rows(files: FileSet) -> bool:
    """Whether rows are known without opening the files: where a file itself must be asked, few enough are."""
    first = next(iter(files), None)
    return not isinstance(getattr(type(first), "record_count", None), property) or len(files) <= _MOST_COUNTED


@describe.register
def describe_index(found: IndexFile, detail: int = 1) -> Card:
    """A file that indexes others."""
    facts = [
        Fact("type", cells.text(found.index_type)),
        Fact("entries", cells.number(found.row_count)),
        Fact("bytes", cells.size(found.size_bytes)),
    ]
    if found.partition:
        facts.append(Fact("partition", cells.code(found.partition)))
    folds = []
    if found.ranges:
        answer = f"{wording.plural(len(found.ranges), 'data file')} named"
        folds.append(
            Fold("Ranges", answer, lambda: one(_grid_mappings(found.ranges, how=".ranges")), opened=True)
        )
    blobs = found.blobs
    if len(blobs):
        answer = ", ".join(
            dict.fromkeys(wording.clean(getattr(b, "type", type(b).__name__), 60) for b in blobs)
        )
        rows = [(Cell(str(position)), cells.value(blob)) for position, blob in enumerate(blobs)]
        folds.append(
            Fold("Blobs", answer, lambda: one(cells.grid(("#", "blob"), rows, how=".blobs", noun="blob")))
        )
    if found.raw:
        folds.append(Fold("Record", "as the metadata stores it", lambda: one(cells.document(found.raw))))
    return Card(
        "Index file",
        wording.name(found.path),
        wording.clean(found.path),
        facts=tuple(facts),
        folds=tuple(folds),
    )


def _grid_mappings(records: Sequence[Any], how: str) -> Grid:
    names = list(dict.fromkeys(name for record in records[: display.max_rows] for name in record))[:12]
    rows = [tuple(cells.value(record.get(name)) for name in names) for record in records]
    return cells.grid(tuple(wording.clean(name, 60) for name in names), rows, how=how)


@describe.register
def describe_statistics(found: StatisticsFile, detail: int = 1) -> Card:
    """Statistics that an engine kept beside a snapshot."""
    facts = (
        Fact("kind", cells.text(found.kind)),
        Fact("snapshot", cells.code(found.snapshot_id)),
        Fact("bytes", cells.size(found.size_bytes)),
    )
    folds = []
    if found.columns:
        rows = [(cells.code(name), cells.value(held)) for name, held in found.columns.items()]
        grid = cells.grid(("column", "statistics"), rows, how=".columns", noun="column")
        folds.append(Fold("Columns", wording.plural(len(rows), "column"), lambda: one(grid), opened=True))
    folds.append(Fold("Document", "as it is stored", lambda: one(cells.document(found.raw))))
    return Card(
        "Statistics", wording.name(found.path), wording.clean(found.path), facts=facts, folds=tuple(folds)
    )
