"""The statistics that ANALYZE wrote: a document of its own, which later snapshots name too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.formats.paimon.metadata.wire import StatisticsDocument, parse_document, parse_json
from lakelens.model.datafile import StatisticsFile

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext


def read_statistics(context: TableContext, path: str, name: str) -> StatisticsFile:
    """The statistics of a snapshot. Raises `LakeError` when they cannot be read."""
    data = context.store.read(path)
    raw = parse_json(data, path)
    document, _ = parse_document(StatisticsDocument, raw, path)
    columns, source = document.col_stats or {}, context.source()
    return StatisticsFile("table", path, name, document.snapshot_id, len(data), columns, raw, _source=source)
