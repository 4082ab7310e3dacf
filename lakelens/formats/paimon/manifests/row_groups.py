"""The row groups and stripes of a Paimon data file: today's columns found by field id in the file's schema, then by name.

A column that was added after the file was written is null in every row. Nothing is known of the columns that a partial file
does not hold, and of those whose nulls older versions replace when they are read (`fields.NAME.default-value`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lakelens.formats.paimon.context import TableContext
from lakelens.formats.row_groups.opening import FileLeaf
from lakelens.formats.row_groups.opening import open_row_groups as open_groups
from lakelens.formats.row_groups.values import FindColumn, TableColumn, walk_structs
from lakelens.model.schema import DataType, Field

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.model.scan.row_groups import RowGroups


def open_row_groups(context: TableContext, file: PaimonDataFile) -> RowGroups | None:
    """The row groups of a data file; None where its format has none. Raises `LakeError`."""
    if file.file_format not in ("parquet", "orc"):
        return None
    make = partial(_find_columns, context, file)
    return open_groups(
        context.store, file.footer, make, lambda error: context.findings.add_error(error, file.path)
    )


def _find_columns(context: TableContext, file: PaimonDataFile, leaves: Sequence[FileLeaf]) -> FindColumn:
    """What finds a column of today's schema among the leaves of a file."""
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
    """The fields that those of a path are in another schema, from the top down; none where one is not in it."""
    found: list[Field] = []
    for wanted in path:
        field = next((field for field in fields if field.id == wanted.id), None)
        if field is None:
            return []
        found.append(field)
        fields = field.type.children
    return found


def is_cut(written: DataType, today: DataType) -> bool:
    """Whether values are cut to a length when they are read: what is stored is then not what is compared.

    >>> from lakelens.codecs.paimon.types import parse_type
    >>> from lakelens.formats.paimon.metadata.types import describe_type
    >>> longer, shorter = describe_type(parse_type("STRING")), describe_type(parse_type("VARCHAR(2)"))
    >>> is_cut(longer, shorter), is_cut(shorter, longer)
    (True, False)
    """
    return today.logical in ("string", "binary") and today.length < written.length
