"""Statistics files that the metadata document records, compared with the files and with the snapshots.

Follows "Table Statistics" and "Partition Statistics" of the Iceberg table specification. No reader needs them for rows, so
what is wrong with one is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.contents import read_puffin_footer
from lakelens.model.check.ledger import Line
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.metadata.wire import WireStatistics
    from lakelens.formats.iceberg.table import IcebergTable


def compare_statistics(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare the recorded facts of statistics files with the files."""
    line = survey.ledger.line("statistics files", "the metadata document", "snapshots and Puffin footers")
    typed = context.typed
    for key, wires in (
        ("statistics", typed.statistics),
        ("partition-statistics", typed.partition_statistics),
    ):
        seen: set[int] = set()
        for place, wire in enumerate(wires):
            where = f"$.{key}[{place}]"
            is_known = table.find_by_id(wire.snapshot_id) is not None
            message = f"{where} is of snapshot {wire.snapshot_id}, which is not there"
            line.require(is_known, "statistics-snapshot", table.metadata_path, message, (), "warning")
            message = f"{where}: snapshot {wire.snapshot_id} has statistics twice"
            is_first = wire.snapshot_id not in seen
            line.require(is_first, "statistics-snapshot", table.metadata_path, message, (), "warning")
            seen.add(wire.snapshot_id)
            if key == "statistics":
                _compare_puffin(context, line, wire, where)


def _compare_puffin(context: TableContext, line: Line, wire: WireStatistics, where: str) -> None:
    path = context.access.locator.locate(wire.statistics_path)
    try:
        footer = read_puffin_footer(context, wire.statistics_path)
    except LakeError as error:
        if not isinstance(error, FileNotFoundError):  # a missing file is found by the listing
            code = type(error).__name__.lower()
            line.differ("warning", code, error.path or path, error.reason, (wire.snapshot_id,))
        return
    own = (wire.snapshot_id,)
    size = footer.footer_size
    what = f"{where}: file-footer-size-in-bytes"
    line.compare(wire.file_footer_size_in_bytes, size, "statistics-footer", path, what, own)
    line.compare(len(wire.blob_metadata), len(footer.blobs), "statistics-blobs", path, f"{where}: blobs", own)
    for number, (recorded, blob) in enumerate(zip(wire.blob_metadata, footer.blobs, strict=False)):
        for key, found in (
            ("type", blob.type),
            ("snapshot-id", blob.snapshot_id),
            ("sequence-number", blob.sequence_number),
            ("fields", list(blob.fields)),
        ):
            stored: Any = recorded.get(key)
            what = f"{where}.blob-metadata[{number}].{key}"
            line.compare(stored, found, "statistics-blobs", path, what, own)
