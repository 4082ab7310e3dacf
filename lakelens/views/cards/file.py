"""The card of a data file: the fields of its record under their specified names, bounds, deletes, and the footer beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lakelens.analysis.claims import Claim, compare_claims
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.stats import Bounds, ColumnBounds, ColumnCounts, KeyRow, Partition, RowStats
from lakelens.model.storage import KNOWN_FORMATS
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Grid, Note, Target, TargetKind
from lakelens.views.cards.delete import list_delete_folds
from lakelens.views.describe import card_of_path, describe, one

# Cards of statistics: bounds and counts, column by column.


def format_bounds(bounds: Bounds) -> str:
    """Say how many columns have statistics, and which of them have nulls."""
    if not bounds:
        return "no column has statistics"
    nulls = [column.name for column in bounds.values() if column.nulls]
    holed = f"; nulls in {', '.join(wording.clean(name, 40) for name in nulls[:4])}" if nulls else ""
    more = f" and {len(nulls) - 4} more" if len(nulls) > 4 else ""
    return f"{wording.plural(len(bounds), 'column')}{holed}{more}"


def grid_bounds(bounds: Bounds, how: str = "") -> Grid:
    """Bounds and counts, one column a row; bars for the share of nulls, and for bytes beside the largest column's."""
    shown = list(islice(bounds.values(), display.max_rows))
    largest = max((column.size or 0 for column in shown), default=0)
    nulls = cells.shares([c.nulls for c in shown], [c.values for c in shown])
    sizes = cells.shares([c.size for c in shown], [largest] * len(shown))
    rows = [
        (
            cells.optional(c.field_id),
            cells.code(c.name),
            cells.code(c.type),
            cells.value(c.lower),
            cells.value(c.upper),
            cells.optional_number(c.values),
            cells.optional_number(c.nulls),
            null,
            cells.optional_number(c.nans),
            cells.size(c.size) if c.size is not None else cells.ABSENT,
            size,
        )
        for c, null, size in zip(shown, nulls, sizes, strict=True)
    ]
    names = ("id#", "column", "type", "lower", "upper", "values#", "nulls#", "", "NaNs#", "bytes#", "")
    about = ("common.bounds",)
    return cells.prune(cells.grid(names, rows, how=how, noun="column", total=len(bounds), about=about))


@describe.register
def card_of_bounds(bounds: Bounds, detail: int = 1) -> Card:
    """The statistics of one file, column by column."""
    body = (grid_bounds(bounds, how=".to_pandas()"),) if bounds else ()
    return Card("Bounds", format_bounds(bounds), body=body, about=list_sections(bounds, "bounds"))


@describe.register
def card_of_column(column: ColumnBounds, detail: int = 1) -> Card:
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
        items = [(label, cells.value(held)) for label, held in stored]
        folds.append(Fold("Stored", answer, lambda: one(cells.pairs(items))))
    return Card(
        wording.clean(column.name),
        f"{wording.clean(column.type)} column{'; bounds may be cut short' if column.truncated else ''}",
        facts=tuple(facts),
        folds=tuple(folds),
        about=list_sections(column, "bounds"),
    )


def format_stats(stats: RowStats, *, columns_elsewhere: bool = False) -> Cell:
    """Format the statistics in a line: the range of each column; only their number where they are shown elsewhere."""
    if not stats.names:
        return Cell("none kept", "mute")
    if columns_elsewhere:
        return Cell(f"{wording.plural(len(stats.names), 'column')}: see Bounds", "mute")
    words = []
    for name, low, high, nulls in _walk(stats):
        span = wording.value(low) if low == high else f"{wording.value(low)} to {wording.value(high)}"
        words.append(f"{wording.clean(name, 40)} {span}{f', {nulls} nulls' if nulls else ''}")
    more = f"; {len(words) - 4} more" if len(words) > 4 else ""
    return Cell("; ".join(words[:4]) + more, "code")


def _walk(stats: RowStats) -> list[tuple[str, Any, Any, int | None]]:
    return list(zip(stats.names, stats.min_values, stats.max_values, stats.null_counts, strict=True))


@describe.register
def card_of_stats(stats: RowStats, detail: int = 1) -> Card:
    """The statistics, one column a row."""
    rows = [
        (cells.code(name), cells.value(low), cells.value(high), cells.optional_number(nulls))
        for name, low, high, nulls in _walk(stats)
    ]
    grid = cells.grid(
        ("column", "min", "max", "nulls#"), rows, how=".names, .min_values, .max_values", noun="column"
    )
    sentence = f"of {wording.plural(len(rows), 'column')}" if rows else "none kept"
    return Card("Statistics", sentence, body=(grid,) if rows else (), about=("common.bounds",))


@describe.register
def card_of_partition(partition: Partition, detail: int = 1) -> Card:
    """The partition of a file: each value, and how a path spells it."""
    texts = partition.texts
    rows = [
        (cells.code(name), cells.value(held), cells.code(texts.get(name))) for name, held in partition.items()
    ]
    grid = cells.grid(
        ("field", "value", "in a path"), rows, how=".texts", noun="field", about=("common.partition",)
    )
    sentence = wording.clean(partition, 300) or "the table is not partitioned"
    return Card("Partition", sentence, body=(grid,) if rows else (), about=("common.partition",))


@describe.register
def card_of_row(row: KeyRow, detail: int = 1) -> Card:
    """A row that metadata keeps: its fields and their values."""
    rows = [
        (
            cells.code(name),
            cells.code(kind),
            cells.NULL if held is None else cells.value(held),
            cells.value(slot),
        )
        for name, kind, held, slot in row.list_rows()
    ]
    names = ("field", "type", "value", "slot")
    about = ("common.partition",)
    grid = cells.prune(cells.grid(names, rows, how=".to_dict()", noun="field", about=about))
    sentence = (
        f"{wording.plural(len(rows), 'field')}, {wording.plural(len(row.data), 'byte')}, kind {row.kind}"
    )
    body: tuple[Body, ...] = (grid, cells.hint("each byte with its name", ".bytes_view()"))
    return Card("Row", sentence, body=body if rows else (), about=about)


@describe.register
def card_of_counts(counts: ColumnCounts, detail: int = 1) -> Card:
    """One count of each column of a file; a bar beside the largest."""
    title = wording.clean(counts.noun, 80).replace("_", " ").capitalize().replace("Nan ", "NaN ")
    if not counts:
        return Card(title, "none recorded", about=("common.bounds",))
    shown = list(islice(counts.list_rows(), display.max_rows))
    amounts = [held for *_, held in shown]
    is_size = counts.noun == "column_sizes"
    count = cells.size if is_size else cells.number
    rows = [
        (cells.optional(key), cells.code(name), cells.code(kind), count(held), share)
        for (key, name, kind, held), share in zip(
            shown, cells.shares(amounts, [max(amounts)] * len(amounts)), strict=True
        )
    ]
    names = ("id#", "column", "type", f"{_COUNTED.get(counts.noun, 'count')}#", "")
    about = ("common.bounds",)
    grid = cells.grid(names, rows, how=".to_pandas()", noun="column", total=len(counts), about=about)
    total = sum(counts.values())
    whole = wording.size(total) if is_size else wording.count(total)
    return Card(
        title,
        f"{wording.plural(len(counts), 'column')}, {whole} together",
        body=(cells.prune(grid),),
        about=about,
    )


# what is counted, as the card of bounds calls it
_COUNTED = {
    "column_sizes": "bytes",
    "value_counts": "values",
    "null_value_counts": "nulls",
    "nan_value_counts": "NaNs",
    "distinct_counts": "distinct values",
}


_TITLES = {
    "data": "Data file",
    "position_deletes": "Position delete file",
    "equality_deletes": "Equality delete file",
    "deletion_vector": "Deletion vector",
    "changelog": "Changelog file",
}
# what a reader works out where the record leaves it out
_WORKED_OUT = (
    "recorded_path", "manifest", "snapshot_id", "sequence_number", "file_sequence_number", "first_row_id", "spec_id",
    "schema_id", "target", "referenced_data_path",
)  # fmt: skip
# those of them that name another object
_OTHERS: Mapping[str, TargetKind] = {
    "manifest": "manifest",
    "snapshot_id": "snapshot",
    "schema_id": "schema",
    "target": "file",
    "referenced_data_path": "file",
}
# what the entry says of the file, not the file's own record
_OF_THE_ENTRY = ("_KIND", "_VERSION")


@describe.register
def card_of_file(found: DataFile, detail: int = 1) -> Card:
    """What the metadata says of one file: fields under their specified names, bounds for each column."""
    bounds = found.bounds
    make = lambda: one(grid_bounds(bounds, how=".bounds")) if bounds else ()  # noqa: E731
    folds = [Fold("Bounds", format_bounds(bounds), make, opened=True), _fold_fields(found)]
    folds += list_delete_folds(found, detail)
    if detail >= 2 or "footer" in vars(found):
        folds.append(_fold_footer(found))
    if detail >= 2:
        make_raw = lambda: one(cells.document(found.raw, how=".raw"))  # noqa: E731
        folds.append(Fold("JSON", "the complete record", make_raw, level=3))
    noun, about = _TITLES.get(found.content, "File"), list_sections(found, "data_file")
    return card_of_path(noun, found.path, _list_facts(found), folds, about)


def _list_facts(found: DataFile) -> Iterator[Fact]:
    known = " (known, not decoded)" if found.file_format in KNOWN_FORMATS else ""
    yield Fact(
        "content", cells.text(found.content.replace("_", " ")), f"{wording.clean(found.file_format)}{known}"
    )
    rows, size = found.record_count, found.size_bytes
    yield Fact("rows", cells.number(rows))
    is_many = rows is not None and rows >= 10 and found.content == "data"
    each = f"{wording.size(size // rows)} a row" if is_many and rows and size is not None else ""
    yield Fact("bytes", cells.size(size), each)
    if found.partition:
        yield Fact("partition", cells.code(found.partition))
    if found.bucket is not None:
        yield Fact(
            "bucket", cells.code(found.bucket), f"level {found.level}" if found.level is not None else ""
        )
    if found.sequence_number is not None:
        adder = found.snapshot_id
        added = f"added by {adder}" if adder is not None else ""
        linked = named.sentence("added by ", named.snapshot(adder)) if adder is not None else ()
        yield Fact("sequence", cells.code(found.sequence_number), added, linked=linked)


def _fold_fields(found: DataFile) -> Fold:
    """Show the record, field by field under its specified names, then what a reader works out from elsewhere."""
    record = dict(_flatten(found.raw))
    filled = {name: held for name, held in record.items() if held is not None}
    absent = [name for name, held in record.items() if held is None]

    def make() -> list[Body]:
        items = [(name, _format_field(found, name, held)) for name, held in filled.items()]
        bodies: list[Body] = [cells.pairs(items)]
        if absent:
            bodies.append(Note(f"null: {', '.join(wording.clean(name, 60) for name in absent[:60])}", "mute"))
        extra = []
        for name in _WORKED_OUT:
            value = getattr(found, name, None)
            if value is not None and value not in (record.get(name), record.get("file_path"), found.path):
                cell, noun = _format_plain(name, value), _OTHERS.get(name)
                extra.append((name, named.lead(cell, Target(noun, str(value))) if noun else cell))
        if extra:
            bodies += [Note("Not in this record, or inherited:"), cells.pairs(extra)]
        return bodies

    answer = f"{wording.count(len(filled))} of {wording.plural(len(record), 'field')} have a value"
    return Fold("Fields", answer, make)


def _flatten(raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Flatten the record's fields; those of a record inside it (Paimon's `_FILE`) in its place."""
    for name, value in raw.items():
        if name == "_FILE" and isinstance(value, Mapping):
            yield from value.items()
        elif name not in _OF_THE_ENTRY:
            yield str(name), value


def _format_field(found: DataFile, name: str, held: Any) -> Cell:
    """Format a field as the object gives it decoded under the same name; as stored where it has none."""
    if isinstance(held, Mapping) and held and all(isinstance(key, int) for key in held):
        return Cell(f"{wording.plural(len(held), 'column')}: see Bounds", "mute")
    try:
        decoded = getattr(found, name.lstrip("_").lower(), held)
    except LakeError as error:
        return Cell(f"cannot be read: {wording.clean(error)}", "warn")
    if isinstance(decoded, RowStats):
        return format_stats(decoded, columns_elsewhere=name == "_VALUE_STATS")
    if name in ("partition", "_PARTITION"):
        return cells.code(str(found.partition) or "()")
    return _format_plain(name, held if callable(decoded) or decoded is None else decoded)


def _format_plain(name: str, held: Any) -> Cell:
    """Format a value as Python would print it; a path and a name of a file as they are."""
    is_place = isinstance(held, str) and name.lower().endswith(("path", "file", "_file_name", "manifest"))
    return cells.code(held) if is_place else cells.value(held)


def _fold_footer(found: DataFile) -> Fold:
    """Fold what the file says of itself, beside what the metadata claims of it."""
    try:
        footer = found.footer
        claims = compare_claims(found, footer)
    except LakeError as error:
        return Fold("Footer", wording.clean(error), alert="cannot be read")
    alert, answer = format_claims(claims)
    if found.manifest is None:
        answer = "what the file says of itself; no manifest claims anything of it"

    def make() -> list[Body]:
        return [*([grid_claims(claims)] if claims else []), describe(footer)]

    return Fold("Footer", answer, make, alert=alert)


def format_claims(claims: Sequence[Claim]) -> tuple[str, str]:
    """Format the alert and the answer: how many facts agree, and what differs."""
    counts = Counter(claim.verdict for claim in claims)
    if not claims:
        return "", "records nothing that the metadata records too"
    wider = f", {counts['wider']} wider" if counts["wider"] else ""
    agreed = f"{wording.count(counts['agree'])} of {wording.plural(len(claims), 'fact')} agree{wider}"
    if not counts["DIFFER"]:
        return "", f"{agreed} with what the metadata claims"
    first = next(claim for claim in claims if claim.verdict == "DIFFER")
    place = f" of {wording.clean(first.column, 60)}" if first.column else ""
    return f"{wording.count(counts['DIFFER'])} DIFFER", f"{first.fact}{place}; {agreed}"


def grid_claims(claims: Sequence[Claim]) -> Grid:
    """List the facts of the file, those of columns summed up; each column whose fact differs has a row of its own."""
    rows: list[tuple[Cell, ...]] = []
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(claim.fact, []).append(claim)
    for fact, members in grouped.items():
        for claim in members:
            if not claim.column or claim.verdict == "DIFFER":
                name = f"{fact} of {wording.clean(claim.column, 60)}" if claim.column else fact
                verdict = Cell(claim.verdict, "warn" if claim.verdict == "DIFFER" else "")
                rows.append(
                    (cells.text(name), cells.value(claim.claimed), cells.value(claim.actual), verdict)
                )
        together = [claim for claim in members if claim.column and claim.verdict != "DIFFER"]
        if together:
            rows.append(_row_together(fact, together))
    names = ("fact", "metadata", "footer", "verdict!")
    return cells.grid(names, rows, how=".footer", noun="fact", about=("common.data_file",))


def _row_together(fact: str, claims: Sequence[Claim]) -> tuple[Cell, ...]:
    counts = Counter(claim.verdict for claim in claims)
    verdict = (
        ", ".join(f"{number} {one}" for one, number in counts.items())
        if len(counts) > 1
        else claims[0].verdict
    )
    columns = wording.plural(len(claims), "column")
    if fact in ("nulls", "bytes"):
        sums = [sum(amounts) for amounts in zip(*((c.claimed, c.actual) for c in claims), strict=True)]
        shown = [f"{wording.count(amount)} in {columns}" for amount in sums]
    else:
        shown = [columns, columns]
    return cells.text(f"{fact} of columns"), Cell(shown[0]), Cell(shown[1]), Cell(verdict)
