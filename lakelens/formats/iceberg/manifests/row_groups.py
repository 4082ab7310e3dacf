"""The row groups of an Iceberg data file: its columns found by field id, as "Column Projection" says.

A file without ids is read by the name mapping of the table. Without one engines take columns by position, so nothing is
known of them here. A column that is not in the file is a constant of its partition, its initial default, or null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.metadata.columns import read_name_mapping
from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn, walk_structs

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.scan.row_groups import RowGroups


def open_row_groups(context: TableContext, file: IcebergDataFile) -> RowGroups | None:
    """The row groups of a data or delete file; None where its format has none. Raises `LakeError`."""
    footer = file.footer
    make = partial(_find_columns, context, file.spec_id)
    return open_groups(
        context.access.store, footer, make, lambda error: context.findings.add_error(error, file.path)
    )


def _find_columns(context: TableContext, spec_id: int | None, leaves: Sequence[FileLeaf]) -> FindColumn:
    """What finds a column of today's schema among the leaves of a file."""
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
