"""The card of a footer: what a data file says of itself, column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from lakelens.model.datafile import Footer
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.model import Card, Cell, Fact, Fold, Grid, Target
from lakelens.views.describe import describe, one

_NOUNS = {
    "parquet": "Parquet footer",
    "orc": "ORC footer",
    "avro": "Avro header and blocks",
    "puffin": "Puffin footer",
}
# a part of the file that holds rows: what the formats call it, and the fact that counts it
_PARTS = (
    ("row groups", "num_row_groups"),
    ("stripes", "num_stripes"),
    ("blocks", "num_blocks"),
    ("blobs", "blobs"),
)
# shown elsewhere on the card, or as stored
_NOT_FIELDS = frozenset(
    [
        "format",
        "num_rows",
        "num_columns",
        "columns",
        "key_values",
        "properties",
        "blobs",
        "created_by",
        "path",
        "leaves",
        "structure",
        "stored",
        "schema_arrow",
        "header",
        "num_row_groups",
        "num_stripes",
        "num_blocks",
        "format_version",
        "file_version",
        "serialized_size",
        "footer_size",
    ]
)


@describe.register
def card_of_footer(footer: Footer, detail: int = 1) -> Card:
    """Who wrote a file, how many rows it has in how many parts, and every column with its encodings and bounds."""
    version = _first(footer, "format_version", "file_version")
    facts = [
        Fact(
            "format",
            cells.text(_get(footer, "format")),
            "" if version is None else f"version {wording.clean(version, 40)}",
        )
    ]
    if _get(footer, "num_rows") is not None:
        facts.append(Fact("rows", cells.number(footer.num_rows)))
    for label, name in _PARTS:
        held = _get(footer, name)
        if held is not None:
            facts.append(Fact(label, cells.number(held if isinstance(held, int) else len(held))))
    size = _first(footer, "serialized_size", "footer_length", "footer_size", "header_size")
    if size is not None:
        label = "header" if _get(footer, "header_size") is not None else "footer"
        facts.append(Fact(label, cells.size(size)))
    writer = _get(footer, "created_by") or (_get(footer, "properties") or {}).get("created-by")
    return Card(
        _NOUNS.get(_get(footer, "format") or "", "Footer"),
        f"written by {wording.clean(writer, 120)}" if writer else "the writer is not recorded",
        wording.clean(footer.path or ""),
        facts=tuple(facts),
        folds=tuple(_list_folds(footer)),
        about=_find_sections(footer),
        target=Target("bytes", footer.path) if footer.path else None,
    )


def _find_sections(footer: Footer) -> tuple[str, ...]:
    kind = _get(footer, "format")
    return (f"footer.{kind}", "common.footer") if kind in _NOUNS else ("common.footer",)


def _list_folds(footer: Footer) -> list[Fold]:
    folds = []
    columns = _get(footer, "columns")
    if columns is not None:
        grid = lambda: one(_grid_columns(columns))  # noqa: E731 - made when the fold is opened
        counted = wording.plural(len(columns), "column")
        stored = sum(_get(column, "compressed_size") or 0 for column in columns)
        plain = sum(_get(column, "uncompressed_size") or 0 for column in columns)
        folds.append(
            Fold(
                "Columns",
                counted
                if not plain
                else f"{counted}, {wording.size(stored)} stored of {wording.size(plain)} encoded",
                grid,
                opened=True,
            )
        )
    groups = _get(footer, "num_row_groups")
    if groups:
        answer = wording.plural(groups, "row group")
        folds.append(Fold("Row groups", answer, lambda: one(_grid_groups(footer.row_groups, footer.path))))
    blobs = _get(footer, "blobs")
    if blobs:
        kinds = ", ".join(
            dict.fromkeys(wording.clean(blob.type, 60) for blob in islice(blobs, display.max_rows))
        )
        folds.append(Fold("Blobs", kinds, lambda: one(_grid_blobs(blobs, footer.path)), opened=True))
    for label, name in (("Key-values", "key_values"), ("Properties", "properties")):
        held: Mapping[str, Any] | None = _get(footer, name)
        if held:
            answer = ", ".join(wording.clean(key, 60) for key in islice(held, 4))
            answer += f", {wording.count(len(held) - 4)} more" if len(held) > 4 else ""
            folds.append(Fold(label, answer, _map(held, f".{name}", _find_sections(footer))))
    # what only this format records, and the card has no other place for
    names = getattr(type(footer.facts), "__dataclass_fields__", {})
    shown = (name for name in names if not name.startswith("_") and name not in _NOT_FIELDS)
    fields = [(name, cells.value(_get(footer, name))) for name in shown]
    if fields:
        answer = wording.plural(len(fields), "other fact")
        folds.append(Fold("Facts", answer, lambda: one(cells.pairs(fields))))
    return folds


def _map(held: Mapping[str, Any], how: str, about: tuple[str, ...]) -> Any:
    return lambda: one(cells.mapping(held, how=how, about=about))


def _grid_columns(columns: Sequence[Any]) -> Grid:
    """Columns, one a row, with what the format records about them; only the rows shown are looked at."""
    rows = [
        (
            cells.code(column.path),
            cells.code(_first(column, "physical_type", "type")),
            cells.code(_get(column, "logical_type")),
            cells.optional(_get(column, "field_id")),
            cells.text(_list_words(_get(column, "compression"))),
            # a set: parquet-mr writes it in another order each time
            cells.text(_list_words(sorted(_get(column, "encodings") or ()))),
            _size(_get(column, "compressed_size")),
            cells.optional_number(_get(column, "null_count")),
            cells.value(_get(column, "min")),
            cells.value(_get(column, "max")),
        )
        for column in islice(columns, display.max_rows)
    ]
    names = (
        "column", "type", "logical type", "id#", "compression!", "encodings", "stored#", "nulls#",
        "min", "max",
    )  # fmt: skip
    return cells.prune(cells.grid(names, rows, how=".columns", noun="column", total=len(columns)))


def _grid_groups(groups: Sequence[Any], path: str | None) -> Grid:
    rows = [
        (
            Cell(str(group.index)),
            cells.number(group.num_rows),
            _lead_to_part(path, group.start, group.compressed_size),
            _size(group.compressed_size),
            _size(group.uncompressed_size),
            _format_saved(group.compressed_size, group.uncompressed_size),
            cells.text(_list_words(group.sorting_columns)),
        )
        for group in islice(groups, display.max_rows)
    ]
    names = ("row group#", "rows#", "first byte#", "stored#", "encoded#", "saved#", "sorted by")
    return cells.prune(cells.grid(names, rows, how=".row_groups", noun="row group", total=len(groups)))


def _grid_blobs(blobs: Sequence[Any], path: str | None) -> Grid:
    rows = [
        (
            cells.code(blob.type),
            cells.text(_list_words(map(str, blob.fields))),
            named.snapshot(blob.snapshot_id, cells.optional(blob.snapshot_id)),
            _lead_to_part(path, blob.offset, blob.length),
            cells.size(blob.length),
            cells.text(blob.compression_codec),
            cells.value(blob.properties),
        )
        for blob in islice(blobs, display.max_rows)
    ]
    names = ("type", "fields", "snapshot", "first byte#", "bytes#", "compression!", "properties")
    return cells.prune(cells.grid(names, rows, how=".blobs", noun="blob", total=len(blobs)))


def _lead_to_part(path: str | None, start: int | None, length: int | None) -> Cell:
    """The first byte of a part of a file, which leads to its bytes."""
    shown = cells.optional(start)
    return (
        shown if path is None or start is None or length is None else named.span(path, start, length, shown)
    )


def _list_words(words: Any) -> str | None:
    return None if not words else ", ".join(wording.clean(word, 60) for word in islice(words, 12)) or None


def _size(amount: int | None) -> Cell:
    return cells.ABSENT if amount is None else cells.size(amount)


def _format_saved(stored: int | None, plain: int | None) -> Cell:
    """Format the part of the encoded bytes that compression saved; negative where it made more of them."""
    if stored is None or not plain:
        return cells.ABSENT
    percent = round(100 * (plain - stored) / plain)
    return Cell(f"{wording.count(percent)} %", "" if percent > 0 else "mute")


def _get(thing: Any, name: str) -> Any:
    return getattr(thing, name, None)


def _first(thing: Any, *names: str) -> Any:
    return next((held for name in names if (held := _get(thing, name)) is not None), None)
