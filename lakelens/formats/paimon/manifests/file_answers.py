"""What is asked of one Paimon file: its bounds, its row groups, what its record keeps as bytes, what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.formats.contents import read_footer, read_rows
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.metadata.logical_types import Promotion, describe_field, keep
from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn, walk_structs
from lakelens.model.bytes_view import Source
from lakelens.model.datafile import FileAnswers
from lakelens.model.schema import DataType, Field
from lakelens.model.stats import Bounds, ColumnBounds, Encoded, Term

if TYPE_CHECKING:
    from lakelens.model.scan.row_groups import RowGroups

_CUT = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_NOTHING = (b"", b"\x00\x00\x00\x00")  # rows of no fields begin so
_ROWS = (("_MIN_VALUES", "min_values", "_MAX_VALUES"), ("_MAX_VALUES", "max_values", "_MIN_VALUES"))


def build_bounds(file: PaimonDataFile) -> Bounds:
    """Show value statistics by today's names and types; empty, with a finding, when they do not decode.

    A column added after the file was written counts as null in every row; one dropped since is `name#id`.
    """
    context = file.context
    if context.schemas.find(file.schema_id or 0) is None:
        return Bounds({})  # the finding is there already
    return context.access.attempt(lambda: _decode_bounds(file), file.source_manifest.path, Bounds({}))


def _decode_bounds(file: PaimonDataFile) -> Bounds:
    stats, fields = file.value_stats, file.context.schema.fields
    positions = {column.id: position for position, column in enumerate(stats.columns)}
    written = {column.id for column in file.schema.columns}
    promotions = file.context.promotions(file.schema)
    source, rows = file.context.source(file), file.row_count
    built: dict[str, ColumnBounds | None] = {}
    for field in fields:
        if field.id in positions:
            built[field.name] = _make_bounds(
                file, positions[field.id], field.name, field.type, promotions.get(field.id), source
            )
        elif field.id not in written and file.write_cols is None:
            built[field.name] = ColumnBounds(
                field.name, field.type, field.id, nulls=rows, values=rows, truncated=False, _source=source
            )
    kept = {field.id for field in fields}
    for position, stored in enumerate(stats.columns):
        if stored.id not in kept and not stored.name.startswith("_"):
            name, kind = f"{stored.name}#{stored.id}", describe_field(stored).type
            built[name] = _make_bounds(file, position, name, kind, keep, source)
    return Bounds({name: bounds for name, bounds in built.items() if bounds is not None})


def _make_bounds(
    file: PaimonDataFile, position: int, name: str, kind: DataType, promote: Promotion | None, source: Source
) -> ColumnBounds | None:
    stats = file.value_stats
    low, high, nulls = stats.min_values[position], stats.max_values[position], stats.null_counts[position]
    if low is None and high is None and nulls is None:
        return None
    column = stats.columns[position]
    return ColumnBounds(
        name,
        kind,
        column.id,
        lower=_promote(low, promote),
        upper=_promote(high, promote),
        nulls=nulls,
        values=file.row_count,
        truncated=None if column.type.name in _CUT else False,
        _source=source,
    )


def _promote(value: Any, promote: Promotion | None) -> Any:
    return None if promote is None or value is None else promote(value)


def _find_key(file: PaimonDataFile, name: str) -> dict[str, Any] | None:
    """Find a key as values of today's columns; None where there is none or its schema is lost."""
    if file.context.schemas.find(file.schema_id or 0) is None:
        return None
    row = file.min_key if name == "min_key" else file.max_key
    if row is None:
        return None
    promotions = file.context.promotions(file.schema)
    today = {column.id: column.name for column in file.context.schema.columns}
    values = zip(file.schema.key_columns, row, strict=True)
    return {
        today[column.id]: _promote(value, promotions.get(column.id))
        for column, value in values
        if column.id in today
    }


def iterate_encoded(file: PaimonDataFile) -> Iterator[Encoded]:
    """Yield what the record keeps as bytes: rows of its partition, keys, statistics, and its file index."""
    record = file.raw["_FILE"]
    if _has_fields(file.partition_bytes):
        yield Encoded("_PARTITION", lambda: file.partition, lambda: file.partition.bytes_view())
    for field, name, partner in (("_MIN_KEY", "min_key", "_MAX_KEY"), ("_MAX_KEY", "max_key", "_MIN_KEY")):
        if _has_fields(record.get(field)):
            yield _make_row(file, field, (name,), partner if _has_fields(record.get(partner)) else "")
    for field, name in (("_KEY_STATS", "key_stats"), ("_VALUE_STATS", "value_stats")):
        stored = record.get(field) or {}
        if not (_has_fields(stored.get("_MIN_VALUES")) and _has_fields(stored.get("_MAX_VALUES"))):
            continue
        yield _make_row(file, field, (name,))
        for inner, attribute, partner in _ROWS:
            yield _make_row(file, f"{field}.{inner}", (name, attribute), f"{field}.{partner}")
    if record.get("_EMBEDDED_FILE_INDEX"):
        yield Encoded("_EMBEDDED_FILE_INDEX", lambda: file.embedded_file_index, file.file_index_view)


def _make_row(file: PaimonDataFile, field: str, names: tuple[str, ...], partner: str = "") -> Encoded:
    def read() -> Any:
        found: Any = file
        for name in names:
            found = getattr(found, name)
        return found

    return Encoded(field, read, lambda: read().bytes_view(), partner)


def _has_fields(data: Any) -> bool:
    return isinstance(data, bytes) and data[:4] not in _NOTHING


def open_row_groups(file: PaimonDataFile) -> RowGroups | None:
    """Open the row groups or stripes of a data file; None where its format has none. Raises `LakeError`.

    Today's columns are found by field id in the file's schema, then by name. A column that was added after the file was
    written is null in every row. Nothing is known of the columns that a partial file does not hold, and of those whose nulls
    older versions replace when they are read (`fields.NAME.default-value`).
    """
    context = file.context
    if file.file_format not in ("parquet", "orc"):
        return None
    make = partial(_find_columns, context, file)
    return open_groups(
        context.store, file.footer, make, lambda error: context.findings.add_error(error, file.path)
    )


def _find_columns(context: TableContext, file: PaimonDataFile, leaves: Sequence[FileLeaf]) -> FindColumn:
    """Say what finds a column of today's schema among the leaves of a file."""
    places = {leaf.names: leaf.place for leaf in leaves}
    today, written = dict(walk_structs(context.schema.fields)), file.schema.fields

    def find(name: str) -> TableColumn | None:
        path = today.get(name)
        if path is None or f"fields.{path[0].name}.default-value" in context.options:
            return None
        found = find_by_ids(path, written)
        if not found:  # added since; a partial file has it elsewhere
            return TableColumn(path[-1].type) if file.write_cols is None else None
        names = tuple(field.name for field in found)
        place = places.get(names)
        if place is None or any("." in part for part in names) or is_cut(found[-1].type, path[-1].type):
            return None
        return TableColumn(path[-1].type, place)

    return find


def find_by_ids(path: Sequence[Field], fields: Sequence[Field]) -> list[Field]:
    """Find the fields that those of a path are in another schema, from the top down; none where one is not in it."""
    found: list[Field] = []
    for wanted in path:
        field = next((field for field in fields if field.id == wanted.id), None)
        if field is None:
            return []
        found.append(field)
        fields = field.type.children
    return found


def is_cut(written: DataType, today: DataType) -> bool:
    """Check whether values are cut to a length when they are read: what is stored is then not what is compared.

    >>> from lakelens.codecs.paimon.types import parse_type
    >>> from lakelens.formats.paimon.metadata.logical_types import describe_type
    >>> longer, shorter = describe_type(parse_type("STRING")), describe_type(parse_type("VARCHAR(2)"))
    >>> is_cut(longer, shorter), is_cut(shorter, longer)
    (True, False)
    """
    return today.logical in ("string", "binary") and today.length < written.length


def find_index_proof(file: PaimonDataFile, term: Term) -> str | None:
    """Find the index over the columns of a file that proves a comparison false; the index is read once."""
    from lakelens.formats.paimon.manifests.index_proofs import IndexProofs

    proofs: IndexProofs | None = file.__dict__.get("_index_proofs")
    if proofs is None:
        proofs = file.__dict__.setdefault("_index_proofs", IndexProofs(file))
    return proofs.find(term)


def explain_merge(file: PaimonDataFile) -> str | None:
    """Say why the rows of a file cannot be counted alone: those of a primary-key table are merged by key."""
    context = file.context
    is_merged = context.schema.primary_keys and not (context.skips_level_0 and file.level)
    return file.merge_reason if is_merged else None


def _show_key(name: str) -> Callable[[PaimonDataFile], dict[str, Any] | None]:
    """Show a key as a dict under today's names, None where it does not decode."""

    def show(file: PaimonDataFile) -> dict[str, Any] | None:
        return file.context.access.attempt(lambda: _find_key(file, name), file.source_manifest.path, None)

    return show


ANSWERS = FileAnswers(
    footer=lambda file: read_footer(file.context.store, file.path, file.file_format, file.size_bytes),
    rows=lambda file, count: read_rows(
        file.context.store, file.path, file.file_format, count, file.size_bytes
    ),
    bounds=build_bounds,
    row_groups=open_row_groups,
    encoded=iterate_encoded,
    index_proof=find_index_proof,
    uncounted=explain_merge,
    note=lambda file, *words: file.context.findings.add(*words),
    further={name: _show_key(name) for name in ("min_key", "max_key")},
)
