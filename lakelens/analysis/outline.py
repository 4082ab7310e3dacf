"""Tables at a glance: what each is today, by its own newest metadata alone. No manifest and no data file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakelens import options
from lakelens.analysis.figures import count_by_lists
from lakelens.errors import LakeError
from lakelens.model.deletes import LiveRows
from lakelens.model.table import Table
from lakelens.model.warehouse.catalog import FoundTable, Outline
from lakelens.options import display
from lakelens.progress import read_each


def read_outlines(tables: Sequence[FoundTable]) -> list[Outline]:
    """Read the outline of each table; several threads read, and after a second a line says how far it is."""
    unread = [table for table in tables if not table.is_outlined]
    readers = options.max_connections if any(table.is_far for table in unread) else None
    for _ in read_each(unread, lambda table: table.outline, "tables", readers=readers):
        pass
    return [table.outline for table in tables]


def outline_table(found: FoundTable) -> Outline:
    """Say what a table is today; one that cannot be opened says why."""
    try:
        table = found.look()
        outline = Outline(table.traits.title, table.traits.variant, table.traits.has_snapshots)
        is_counted = found.is_measured or not found.is_far
        outline = _add_figures(outline, table, is_counted=is_counted)
        if found.is_measured and outline.size_bytes is None and table.current is not None:
            outline = replace(
                outline, files=len(table.current.files), size_bytes=table.current.files.size_bytes
            )
    except LakeError as error:
        return Outline(found.format.title(), error=error)
    except Exception as error:  # whatever one table does, the others are shown
        if display.strict_views:
            raise
        return Outline(
            found.format.title(), error=LakeError(f"{type(error).__name__}: {error}", path=found.path)
        )
    return replace(outline, findings=tuple(table.findings), reads=table.reads)


def _add_figures(outline: Outline, table: Table, *, is_counted: bool) -> Outline:
    """Sums of the current snapshot, as it records them, or as its lists and listings count files where they are read."""
    if not outline.has_snapshots and not is_counted:
        return replace(outline, rows=LiveRows(None, "its files were not listed", None, None, None))
    current = table.current
    count = table.snapshot_count if outline.has_snapshots else None
    if current is None:
        nothing = LiveRows(0, "nothing has been committed yet", 0, 0, 0)
        return replace(outline, rows=nothing, files=0, size_bytes=0, snapshot_count=count)
    listed = count_by_lists(current) if is_counted else None
    figures = current.known_figures
    files = listed if figures.files is None else figures.files
    if files is not None:
        files += figures.delete_files or 0
    return replace(
        outline,
        rows=current.known_live_rows if is_counted else current.recorded_live_rows,
        files=files,
        size_bytes=figures.size_bytes,
        snapshot_count=count,
        committed_at=current.committed_at,
        operation=current.operation,
    )
