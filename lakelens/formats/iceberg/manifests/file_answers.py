"""What is asked of one Iceberg file: its bounds, its row groups, what its record keeps as bytes, what it says of itself.

Bounds are decoded by column id, and shown by today's names and types: fields 108 to 137 of "Manifests", and appendix D of
the Iceberg table specification. Those of a column that was promoted since are stored in the width of the old type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.value import decode_value
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.contents import read_footer, read_preview
from lakelens.formats.iceberg.metadata.columns import LeafColumn, read_name_mapping
from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn, walk_structs
from lakelens.model.datafile import FileAnswers
from lakelens.model.stats import Bounds, ColumnBounds, Encoded

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.bytes_view import BytesView
    from lakelens.model.scan.row_groups import RowGroups

DEFAULT_MODE = "truncate(16)"
_TRUNCATE = re.compile(r"truncate\((\d+)\)", re.IGNORECASE)
_SHORTENED_TYPES = ("string", "binary", "fixed")
_MAPS = (
    *("column_sizes", "value_counts", "null_value_counts", "nan_value_counts"),
    *("lower_bounds", "upper_bounds"),
)


def build_bounds(file: IcebergDataFile) -> Bounds:
    """Decode the bounds that the record of a file has; what cannot be decoded is a finding and left out."""
    context, path = file._context, file.path
    columns, properties, source = context.columns, context.properties, context.source(file)

    def report(error: LakeError) -> None:
        context.findings.add_error(error, path)

    maps = {name: file._fields.get(name) or {} for name in _MAPS}
    ids = sorted({column_id for values in maps.values() for column_id in values}, key=columns.rank)
    found = {}
    for column_id in ids:
        column = columns.find(column_id)
        lower_raw, upper_raw = maps["lower_bounds"].get(column_id), maps["upper_bounds"].get(column_id)
        lower, upper = _decode(lower_raw, column, report), _decode(upper_raw, column, report)
        found[column.name] = ColumnBounds(
            column.name,
            column.type,
            column_id,
            lower,
            upper,
            maps["null_value_counts"].get(column_id),
            maps["value_counts"].get(column_id),
            maps["nan_value_counts"].get(column_id),
            maps["column_sizes"].get(column_id),
            _is_truncated(column, lower, upper, properties),
            lower_raw,
            upper_raw,
            _source=source,
        )
    return Bounds(found)


def _decode(data: bytes | None, column: LeafColumn, report: Callable[[LakeError], None]) -> Any:
    if data is None:
        return None
    if column.iceberg_type.name == "fixed" and len(data) != column.iceberg_type.length:
        return bytes(data)  # shortened by the writer, as strings are
    try:
        return decode_value(data, column.iceberg_type)
    except LakeError as error:
        error.message = f"bound of column {column.name}: {error.message}"
        report(error)
        return None


def _is_truncated(column: LeafColumn, lower: Any, upper: Any, properties: Mapping[str, Any]) -> bool | None:
    """Check whether bounds may be shortened, by the metrics mode in force today: True when one has exactly its length."""
    if lower is None and upper is None:
        return None
    if column.iceberg_type.name not in _SHORTENED_TYPES:
        return False
    mode = properties.get(f"write.metadata.metrics.column.{column.name}") or properties.get(
        "write.metadata.metrics.default", DEFAULT_MODE
    )
    matched = _TRUNCATE.fullmatch(str(mode).strip())
    lengths = [len(bound) for bound in (lower, upper) if bound is not None]
    if matched:
        return int(matched[1]) in lengths
    return None if 16 in lengths else False


def iterate_encoded(file: IcebergDataFile) -> Iterator[Encoded]:
    """Yield the bounds as the record keeps them, one value of bytes each: the lower ones, then the upper, by column id."""
    known = {column.field_id: column for column in file.bounds.values()}
    for side, other in (("lower", "upper"), ("upper", "lower")):
        for number, column in known.items():
            if getattr(column, f"{side}_raw") is None:
                continue
            partner = "" if getattr(column, f"{other}_raw") is None else f"{other}_bounds.{number}"
            field = f"{side}_bounds.{number}"
            yield Encoded(field, partial(getattr, column, side), partial(_explain, column, side), partner)


def _explain(column: ColumnBounds, side: str) -> BytesView:
    """Explain the bytes of one bound alone."""
    both = column.bytes_view()
    part = next(part for part in both.iter_children() if part.label == f"{side}_bounds")
    found = both.focus(part)
    found.summary = f"{column.name} {column.type}, field id {column.field_id}"
    return found


def open_row_groups(file: IcebergDataFile) -> RowGroups | None:
    """Open the row groups of a data or delete file; None where its format has none. Raises `LakeError`.

    Columns are found by field id, as "Column Projection" says. A file without ids is read by the name mapping of the table;
    without one engines take columns by position, so nothing is known of them here. A column that is not in the file is a
    constant of its partition, its initial default, or null.
    """
    context, footer = file._context, file.footer
    make = partial(_find_columns, context, file.spec_id)
    return open_groups(
        context.access.store, footer, make, lambda error: context.findings.add_error(error, file.path)
    )


def _find_columns(context: TableContext, spec_id: int | None, leaves: Sequence[FileLeaf]) -> FindColumn:
    """Say what finds a column of today's schema among the leaves of a file."""
    ids = [leaf.field_id for leaf in leaves]
    has_ids = any(field_id is not None for field_id in ids)
    if not has_ids:
        mapping = read_name_mapping(context.properties) or {}
        ids = [mapping.get(leaf.names) for leaf in leaves]
    counted = Counter(ids)
    places = {
        field_id: leaf.place for field_id, leaf in zip(ids, leaves, strict=True) if field_id is not None
    }
    spec = context.specs.specs.get(spec_id) if spec_id is not None else None
    constant = {part.source_id for part in spec.fields if part.transform == "identity"} if spec else set()
    fields = {name: path[-1] for name, path in walk_structs(context.schemas.current.fields)}

    def find(name: str) -> TableColumn | None:
        field = fields.get(name)
        if field is None or counted[field.id] > 1:
            return None
        if field.id in places:
            return TableColumn(field.type, places[field.id])
        if not has_ids or spec is None or field.id in constant:
            return None
        if "." in name and field.initial_default is not None:
            return None  # null where the struct around it is
        return TableColumn(field.type, None, field.initial_default)

    return find


ANSWERS = FileAnswers(
    footer=lambda file: read_footer(file._context, file),
    keeps_footer=True,
    rows=lambda file, count: read_preview(file._context, file, count),
    bounds=build_bounds,
    row_groups=open_row_groups,
    encoded=iterate_encoded,
    note=lambda file, *words: file._context.findings.add(*words),
)
