"""The rows of a diff's files as JSON for the browser: groups with sums and bars, files side by side, what is left out."""

from __future__ import annotations

from typing import Any, TypeAlias

from lakelens.analysis.diff.level_promotion import Raised
from lakelens.views.card import cells
from lakelens.views.card.model import Cell
from lakelens.views.card.wording import clean, count, plural, split_ids
from lakelens.widgets.filegroups import Group, Item, Line, Order, Place, Side, Sums

Row: TypeAlias = dict[str, Any]

_PAGE = 100  # rows that opening a fold, or asking for more, adds
_MOST = 3_000  # rows of one fold, so that a page stays smooth
_FEW = 40  # so few files are shown at once, every fold open
_BAR = 42  # pixels on each side of the zero line


class FileRows:
    """Writes the rows of one query (a filter, an order), and those behind a fold when one is opened.

    A row is plain JSON: `id`, `kind` (group, files, kept, more, end), `depth`, and the facts of its kind. A group keeps its
    id from query to query, so that what a reader opened stays open. A cell is [text, role, title].
    """

    def __init__(self, raised: Raised) -> None:
        self._after = {found.path: found.level for found in raised.files}
        self._before = raised.levels
        self._ids: dict[Place, str] = {}
        self._sources: dict[str, tuple[Group, int]] = {}
        self._order: Order = "size"
        self._scale = 1

    def write(self, whole: Group, order: Order) -> list[Row]:
        """The first rows of a query; few files are shown at once, and so is what is alone."""
        self._sources.clear()
        self._order = order
        sizes = [one.bytes or 0 for group in whole.children for one in _changed(group)]
        self._scale = max(sizes, default=0) or 1
        return self._write_inside(whole, 0, is_open=len(whole.items) <= _FEW)

    def open(self, identifier: str) -> list[Row] | None:
        """The rows behind a fold, or the next of those that were left out; None for a row that has none."""
        source = self._sources.get(identifier)
        return None if source is None else self._write_inside(*source)

    def write_sums(self, group: Group) -> list[list[str]]:
        """The cells of a group: rows and bytes removed, bytes and rows added, then how many files in a few pieces."""
        removed, added, kept = (group.sums[side] for side in ("removed", "added", "kept"))
        changed = [
            _unknown(removed.rows) or cells.removed(removed.rows or 0),
            _unknown(removed.bytes) or _drop_unit(cells.removed_size(removed.bytes or 0)),
            _unknown(added.bytes) or _drop_unit(cells.added_size(added.bytes or 0)),
            _unknown(added.rows) or cells.added(added.rows or 0),
        ]
        return [_write(cell) for cell in [*changed, *_format_files(removed.files, added.files, kept.files)]]

    def _write_inside(self, group: Group, start: int, *, is_open: bool = False) -> list[Row]:
        depth = len(group.place)
        everything: list[Any] = (
            group.sort_lines(self._order) if group.is_last else group.sort_children(self._order)
        )
        shown = everything[start : start + _PAGE]
        rows: list[Row] = []
        for one in shown:
            if isinstance(one, Group):
                opened = is_open or len(everything) == 1
                rows.append(self._write_group(one, depth, opened))
                rows += self._write_inside(one, 0, is_open=is_open) if opened else []
            else:
                rows.append(self._write_line(one, depth))
        left = everything[start + len(shown) :]
        return [*rows, self._write_rest(group, left, start + len(shown))] if left else rows

    def _write_group(self, group: Group, depth: int, opened: bool) -> Row:
        identifier = self._ids.setdefault(group.place, f"g{len(self._ids)}")
        self._sources[identifier] = (group, 0)
        label = _name_step(group)
        return {
            "id": identifier,
            "kind": "group",
            "depth": depth,
            "label": split_ids(label),
            "cells": self.write_sums(group),
            "bar": [self._measure(one) for one in _changed(group)],
            "open": opened,
        }

    def _measure(self, sums: Sums) -> int:
        return round(_BAR * (sums.bytes or 0) / self._scale) or (1 if sums.bytes else 0)

    def _write_line(self, line: Line, depth: int) -> Row:
        removed, added, kept = line
        found = kept or removed or added
        assert found is not None
        base = {"id": f"{found.side}/{found.index}", "depth": depth}
        if kept is not None:
            return {**base, "kind": "kept", "files": [self._write_file(kept)]}
        return {
            **base,
            "kind": "files",
            "files": [item and self._write_file(item) for item in (removed, added)],
        }

    def _write_file(self, item: Item) -> Row:
        rows, size = _format_amounts(item)
        notes = [item.content.replace("_", " ")] if item.content != "data" else []
        if item.side == "removed" and item.path in self._after:
            notes.append(f"now at level {self._after[item.path]}")
        if item.side == "added" and item.path in self._before:
            notes.append(f"was at level {self._before[item.path]}")
        return {
            "key": f"{item.side}/{item.index}",
            "side": item.side,
            "name": split_ids(clean(item.name, 300)),
            "path": clean(item.path, 500),
            "note": ", ".join(notes),
            "rows": _write(rows),
            "bytes": _write(size),
        }

    def _write_rest(self, group: Group, left: list[Any], start: int) -> Row:
        noun = "file" if group.is_last else group.dimensions[len(group.place)]
        number = sum(1 for line in left for one in line if one is not None) if group.is_last else len(left)
        base = {"depth": len(group.place), "text": f"… {plural(number, f'more {noun}', f'more {noun}s')}"}
        if start >= _MOST:
            return {**base, "id": "", "kind": "end", "text": f"{base['text']}: filter to find one"}
        identifier = f"m{start}{self._ids.get(group.place, '')}"
        self._sources[identifier] = (group, start)
        return {**base, "id": identifier, "kind": "more"}


def _changed(group: Group) -> tuple[Sums, Sums]:
    return group.sums["removed"], group.sums["added"]


def _name_step(group: Group) -> str:
    dimension, step = group.dimensions[len(group.place) - 1], group.place[-1]
    if dimension == "partition":
        return clean(step, 300) if step else "no partition"
    return f"{dimension} {'not said' if step is None else step}"


def _format_amounts(item: Item) -> tuple[Cell, Cell]:
    rows, size = item.rows, item.size
    words: dict[Side, tuple[Any, Any]] = {
        "removed": (cells.removed, cells.removed_size),
        "added": (cells.added, cells.added_size),
        "kept": (cells.number, cells.size),
    }
    format_rows, format_size = words[item.side]
    return _unknown(rows) or format_rows(rows), _unknown(size) or format_size(size)


def _format_files(removed: int, added: int, kept: int) -> list[Cell]:
    """How many files, without those that are none: `−1 +4 files, 2 kept`."""
    changed = [cells.removed(removed)] * (removed > 0) + [cells.added(added)] * (added > 0)
    kept_text = f"{count(kept)} kept" if kept else ""
    noun = "file" if removed + added == 1 else "files"
    rest = f"{noun}, {kept_text}" if changed and kept_text else noun if changed else kept_text
    return [*changed, Cell(rest, "mute")]


def _drop_unit(cell: Cell) -> Cell:
    """Nothing is nothing in any unit."""
    return Cell("0", cell.role) if cell.role == "mute" else cell


def _unknown(amount: int | None) -> Cell | None:
    return Cell("unknown", "mute") if amount is None else None


def _write(cell: Cell) -> list[str]:
    return [cell.text, cell.role, cell.title]
