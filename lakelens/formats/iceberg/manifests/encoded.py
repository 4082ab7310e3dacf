"""The bounds of a file as its record keeps them: one value of bytes for each column and side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from lakelens.model.stats import ColumnBounds, Encoded

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.bytes_view import BytesView


def iterate_encoded(file: IcebergDataFile) -> Iterator[Encoded]:
    """See `DataFile.list_encoded`: the lower bounds, then the upper ones, by column id."""
    known = {column.field_id: column for column in file.bounds.values()}
    for side, other in (("lower", "upper"), ("upper", "lower")):
        for number, column in known.items():
            if getattr(column, f"{side}_raw") is None:
                continue
            partner = "" if getattr(column, f"{other}_raw") is None else f"{other}_bounds.{number}"
            field = f"{side}_bounds.{number}"
            yield Encoded(field, partial(getattr, column, side), partial(_explain, column, side), partner)


def _explain(column: ColumnBounds, side: str) -> BytesView:
    """The bytes of one bound alone."""
    both = column.bytes_view()
    part = next(part for part in both.iter_children() if part.label == f"{side}_bounds")
    found = both.focus(part)
    found.summary = f"{column.name} {column.type}, field id {column.field_id}"
    return found
