"""The bytes behind the objects of a Hive-style table: its data files, and the bounds in their footers."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from lakelens.codecs.span.span import Span
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.hive.datafile import HiveFile
from lakelens.formats.stored import (
    Caption,
    count_bytes,
    explain_octets,
    join_clauses,
    kind_of_format,
    make_explanation,
    name_file,
    read_octets,
)
from lakelens.model.bytes_view import BytesView
from lakelens.model.stats import ColumnBounds

_SEPARATOR = b"\x01"  # between the fields of a line, unless the table says otherwise
_HEAD = 1 << 16


@singledispatch
def explain_object(thing: Any, *needs: Any) -> BytesView:
    """The bytes of an object of a table, by its class; `needs` is what finding them takes beside the object."""
    raise LakeError(f"no bytes belong to this {type(thing).__name__}")


@explain_object.register(HiveFile)
def _explain_data_file(file: HiveFile, access: TableAccess) -> BytesView:
    """The stored file; lines of text with their fields where they are separated as Hive does by default."""
    data = read_octets(access.store, file.path)
    kind, context = kind_of_format(file.file_format), dict[str, Any]()
    if kind == "text" and _SEPARATOR in bytes(data[:_HEAD]):
        context["separator"] = _SEPARATOR
    caption = Caption(place=file.relative_path, details=join_clauses(str(file.partition), file.role))
    return explain_octets(data, file.path, kind, caption, **context)


@explain_object.register(ColumnBounds)
def _explain_bounds(bounds: ColumnBounds, path: str) -> BytesView:
    """The smallest and the largest value as stored in the statistics of a Parquet footer.

    Where a file has several row groups each is the extreme of all, taken from the group that has it.
    """
    stored = (("min_value", bounds.lower_raw, bounds.lower), ("max_value", bounds.upper_raw, bounds.upper))
    spans: list[Span] = []
    data = b""
    for label, raw, value in stored:
        if raw is not None:
            note = f"{bounds.type}, as Parquet stores it: {count_bytes(len(raw))}"
            spans.append(Span(len(data), len(data) + len(raw), label, value, note))
            data += raw
    if not spans:
        raise LakeError(f"the footer keeps no bounds of column {bounds.name}", path=path)
    values = {span.label: span.value for span in spans}
    caption = Caption(
        "Bounds", f"{bounds.name} {bounds.type}", f"statistics in the footer of {name_file(path)}"
    )
    return make_explanation(
        data, Span(0, len(data), "bounds", values, children=tuple(spans)), caption, path=path, base=None
    )
