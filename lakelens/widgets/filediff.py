"""The files of a diff as a widget: removed left and added right, in groups, to sort, to filter and to look into.

files      by side, with the figures of the diff's columns
groups     by partition, bucket and level; each is split when it is opened
rows       JSON for the browser: groups with sums and bars, files side by side, what is left out
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, TypeAlias, cast

import traitlets

from lakelens.analysis.diff.diff import Diff, Raised
from lakelens.errors import LakeError
from lakelens.model.comparison import sum_known
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.scan.arrow_files import pick
from lakelens.options import display
from lakelens.views.card import cells
from lakelens.views.card.model import Cell
from lakelens.views.card.wording import change, clean, count, format_failure, plural, split_ids, visible
from lakelens.views.cards.diff import format_counts, format_range
from lakelens.views.render.html import common_style, render_card
from lakelens.widgets.base import StillWidget, answer_open, read_module, read_style

Side: TypeAlias = Literal["removed", "added", "kept"]
Order: TypeAlias = Literal["size", "rows", "name"]
Place: TypeAlias = tuple[str | int | None, ...]
#: Contents whose rows are deletes: each takes a row away.
DELETE_ROWS = ("position_deletes", "deletion_vector")
# what is side by side: a removed file, an added one; or, alone in its line, one that was kept
Line: TypeAlias = tuple["Item | None", "Item | None", "Item | None"]


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a diff: on which side, at which position of that file set, in which group, and where a filter looks.

    Its facts are those of its row in the columns of the set; the file itself is made when it is chosen.
    """

    side: Side
    index: int
    content: str
    path: str
    rows: int | None
    size: int | None
    place: Place
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Sums:
    """How many files, their bytes, the rows of the data files, and those that delete files and vectors delete.

    None where a file does not record it. Values that rows are deleted by are no rows.
    """

    files: int = 0
    rows: int | None = 0
    bytes: int | None = 0
    deletes: int | None = 0

    @classmethod
    def of(cls, items: Sequence[Item]) -> Sums:
        """The sums over some files."""
        rows = [item.rows for item in items if item.content == "data"]
        deletes = [item.rows for item in items if item.content in DELETE_ROWS]
        size = sum_known(*(item.size for item in items))
        return cls(len(items), sum_known(*rows), size, sum_known(*deletes))


def list_items(sides: Mapping[Side, FileSet | Iterable[DataFile]]) -> tuple[tuple[str, ...], list[Item]]:
    """List the dimensions in which the files differ from "nothing said" (of partition, bucket, level), and every file."""
    names = ("content", "path", "record_count", "own_size_bytes", "partition", "bucket", "level")
    facts = [
        (side, index, *row) for side, files in sides.items() for index, row in enumerate(pick(files, *names))
    ]
    used = [place for place in range(3) if any(row[6 + place] not in (None, "") for row in facts)]
    dimensions = tuple(("partition", "bucket", "level")[place] for place in used)
    items = []
    for side, index, content, path, rows, size, *place in facts:
        name = (path or "").rstrip("/").rsplit("/", 1)[-1]
        partition, bucket, level = place
        words = content.replace("_", " ")
        text = f"{partition} bucket={bucket} level={level} {name} {words} {side}".lower()
        steps = tuple(place[position] for position in used)
        items.append(Item(side, index, content, path or "", rows, size, steps, name, text))
    return dimensions, items


def filter_items(items: Sequence[Item], wanted: str) -> Sequence[Item]:
    """The files that hold every word of `wanted` in their partition, name, content, `bucket=1`, `level=0` or side."""
    for word in wanted.lower().split():
        items = [item for item in items if word in item.text]
    return items


class DiffGroup:
    """Files of one place; `children` are the groups of the next dimension, `lines` the files of the last one."""

    def __init__(self, items: Sequence[Item], dimensions: tuple[str, ...], place: Place = ()) -> None:
        self.items, self.dimensions, self.place = items, dimensions, place
        self._sorted: dict[Order, list[Any]] = {}  # asked again for each page of a long fold

    @property
    def is_last(self) -> bool:
        """Whether its files are shown and no further groups."""
        return len(self.place) == len(self.dimensions)

    @cached_property
    def sums(self) -> dict[Side, Sums]:
        """Files, rows and bytes of each side."""
        sides: dict[Side, list[Item]] = {"removed": [], "added": [], "kept": []}
        for item in self.items:
            sides[item.side].append(item)
        return {side: Sums.of(items) for side, items in sides.items()}

    @cached_property
    def children(self) -> list[DiffGroup]:
        """The groups of the next dimension, in no order."""
        if self.is_last:
            return []
        depth = len(self.place)
        found: dict[Any, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.place[depth], []).append(item)
        return [DiffGroup(items, self.dimensions, (*self.place, step)) for step, items in found.items()]

    def sort_children(self, order: Order) -> list[DiffGroup]:
        """Sort the groups with the most bytes or rows added and removed first; or by their names."""
        if order not in self._sorted:
            self._sorted[order] = sorted(
                self.children, key=lambda group: (-_weigh(group, order), *_rank(group.place[-1]))
            )
        return self._sorted[order]

    def sort_lines(self, order: Order) -> list[Line]:
        """Its files, removed ones beside added ones, then those that were kept."""
        if order not in self._sorted:
            sides: dict[Side, list[Item]] = {"removed": [], "added": [], "kept": []}
            for item in self.items:
                sides[item.side].append(item)
            for items in sides.values():
                items.sort(key=_ORDERS[order])
            lines: list[Line] = [
                (gone, came, None) for gone, came in zip_longest(sides["removed"], sides["added"])
            ]
            self._sorted[order] = lines + [(None, None, item) for item in sides["kept"]]
        return self._sorted[order]


def _weigh(group: DiffGroup, order: Order) -> int:
    if order == "name":
        return 0
    changed = (group.sums["removed"], group.sums["added"])
    return sum((tally.bytes if order == "size" else tally.rows) or 0 for tally in changed)


def _rank(step: str | int | None) -> tuple[bool, int, str]:
    """Numbers by their size, texts by theirs, what is not said first."""
    return (step is not None, step if isinstance(step, int) else 0, step if isinstance(step, str) else "")


_ORDERS: dict[Order, Callable[[Item], tuple[int, str]]] = {
    "size": lambda item: (-(item.size or 0), item.name),
    "rows": lambda item: (-(item.rows or 0), item.name),
    "name": lambda item: (0, item.name),
}


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
        self._after = {file.path: file.level for file in raised.files}
        self._before = raised.levels
        self._ids: dict[Place, str] = {}
        self._sources: dict[str, tuple[DiffGroup, int]] = {}
        self._order: Order = "size"
        self._scale = 1

    def write(self, whole: DiffGroup, order: Order) -> list[Row]:
        """Write the first rows of a query; few files are shown at once, and so is what is alone."""
        self._sources.clear()
        self._order = order
        sizes = [one.bytes or 0 for group in whole.children for one in _changed(group)]
        self._scale = max(sizes, default=0) or 1
        return self._write_inside(whole, 0, is_open=len(whole.items) <= _FEW)

    def open(self, identifier: str) -> list[Row] | None:
        """Open the rows behind a fold, or the next of those that were left out; None for a row that has none."""
        source = self._sources.get(identifier)
        return None if source is None else self._write_inside(*source)

    def write_sums(self, group: DiffGroup) -> list[list[str]]:
        """Write the cells of a group: rows and bytes removed, bytes and rows added, then how many files in a few pieces."""
        removed, added, kept = (group.sums[side] for side in ("removed", "added", "kept"))
        changed = [
            _sign_rows("removed", removed.rows, removed.deletes),
            _unknown(removed.bytes) or _drop_unit(cells.removed_size(removed.bytes or 0)),
            _unknown(added.bytes) or _drop_unit(cells.added_size(added.bytes or 0)),
            _sign_rows("added", added.rows, added.deletes),
        ]
        return [_write(cell) for cell in [*changed, *_format_files(removed.files, added.files, kept.files)]]

    def _write_inside(self, group: DiffGroup, start: int, *, is_open: bool = False) -> list[Row]:
        depth = len(group.place)
        everything: list[Any] = (
            group.sort_lines(self._order) if group.is_last else group.sort_children(self._order)
        )
        shown = everything[start : start + _PAGE]
        rows: list[Row] = []
        for line in shown:
            if isinstance(line, DiffGroup):
                opened = is_open or len(everything) == 1
                rows.append(self._write_group(line, depth, opened))
                rows += self._write_inside(line, 0, is_open=is_open) if opened else []
            else:
                rows.append(self._write_line(line, depth))
        left = everything[start + len(shown) :]
        return [*rows, self._write_rest(group, left, start + len(shown))] if left else rows

    def _write_group(self, group: DiffGroup, depth: int, opened: bool) -> Row:
        identifier = self._ids.setdefault(group.place, f"g{len(self._ids)}")
        self._sources[identifier] = (group, 0)
        dimension, step = group.dimensions[len(group.place) - 1], group.place[-1]
        label = (
            (clean(step, 300) if step else "no partition")
            if dimension == "partition"
            else f"{dimension} {'not said' if step is None else step}"
        )
        return {
            "id": identifier,
            "kind": "group",
            "depth": depth,
            "label": split_ids(label),
            "cells": self.write_sums(group),
            "bar": [
                round(_BAR * (sums.bytes or 0) / self._scale) or (1 if sums.bytes else 0)
                for sums in _changed(group)
            ],
            "open": opened,
        }

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

    def _write_rest(self, group: DiffGroup, left: list[Any], start: int) -> Row:
        noun = "file" if group.is_last else group.dimensions[len(group.place)]
        number = sum(1 for line in left for one in line if one is not None) if group.is_last else len(left)
        base = {"depth": len(group.place), "text": f"… {plural(number, f'more {noun}', f'more {noun}s')}"}
        if start >= _MOST:
            return {**base, "id": "", "kind": "end", "text": f"{base['text']}: filter to find one"}
        identifier = f"m{start}{self._ids.get(group.place, '')}"
        self._sources[identifier] = (group, start)
        return {**base, "id": identifier, "kind": "more"}


def _changed(group: DiffGroup) -> tuple[Sums, Sums]:
    return group.sums["removed"], group.sums["added"]


def _format_amounts(item: Item) -> tuple[Cell, Cell]:
    rows, size = item.rows, item.size
    words: dict[Side, tuple[Any, Any]] = {
        "removed": (cells.removed, cells.removed_size),
        "added": (cells.added, cells.added_size),
        "kept": (cells.number, cells.size),
    }
    format_rows, format_size = words[item.side]
    if item.content == "equality_deletes" and rows is not None:
        counted = Cell(
            plural(rows, "value"), "del" if item.side == "added" else "mute", "rows are deleted by them"
        )
    elif item.content in DELETE_ROWS and item.side != "kept":
        counted = _sign_rows(item.side, 0, rows)
    else:
        counted = _unknown(rows) or format_rows(rows)
    return counted, _unknown(size) or format_size(size)


def _sign_rows(side: Side, rows: int | None, deletes: int | None) -> Cell:
    """Rows that came and went on a side: a delete that was added takes rows away, one that was removed gives them back."""
    if rows is None or deletes is None:
        return Cell("unknown", "mute")
    came, gone = (rows, deletes) if side == "added" else (deletes, rows)
    if came and gone:
        return Cell(f"{change(came)} {change(-gone)}", "", f"{count(deletes)} by delete files")
    title = (
        f"{plural(deletes, 'row')} {'deleted' if side == 'added' else 'no longer deleted'}" if deletes else ""
    )
    return replace(cells.removed(gone) if gone else cells.added(came), title=title)


def _format_files(removed: int, added: int, kept: int) -> list[Cell]:
    """Say how many files, without those that are none: `−1 +4 files, 2 kept`."""
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


_LONGEST = 200  # characters of a filter
_SIDES = ("added", "removed", "kept")


class FileDiffWidget(StillWidget):
    """The files of a `Diff` to look around in.

    Attributes
    ----------
    selected : str
        The chosen file: its side and its position in that file set (`"added/3"`); "" for none. Synced with the browser, as
        are the next three.
    order : str
        "size", "rows" or "name".
    filter : str
        Keeps the files that hold all its words in their partition, name, content, `bucket=1`, `level=0` or side.
    kept : bool
        Whether the files that were kept are shown as well; that reads every manifest.
    file : DataFile or None
        The chosen file.

    Raises
    ------
    traitlets.TraitError
        What is set as `selected` is no file of the diff, `order` is none of the three, or `filter` is too long.

    Notes
    -----
    Keys: arrows move and open, PgUp and PgDn (ten lines), Home and End. Enter chooses a file or opens a group, Escape goes
    back. S sorts by the next order, K shows what was kept, / goes to the filter, ? lists the keys.

    Examples
    --------
    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> widget = table.diff(table.snapshots[0], table.snapshots[-1]).widget()
    >>> widget.selected = "added/0"
    >>> widget.file.content, widget.file.record_count
    ('data', 1)
    """

    _esm = read_module("filediff.js")
    _keys = (
        ("↓ ↑", "line by line; PgDn and PgUp ten of them"),
        ("Home End", "the first line, the last"),
        ("→ ←", "opens and closes a group; crosses to the other side"),
        ("Enter", "chooses a file, opens a group"),
        ("Escape", "chooses nothing; back to the group"),
        ("/", "to the filter; ↓ leads back"),
        ("S", "sorts by size, rows or name"),
        ("K", "shows what was kept, or hides it"),
        ("?", "these keys, or no more"),
    )

    selected = traitlets.Unicode("").tag(sync=True)
    order = traitlets.Enum(("size", "rows", "name"), "size").tag(sync=True)
    filter = traitlets.Unicode("").tag(sync=True)
    kept = traitlets.Bool(False).tag(sync=True)

    def __init__(self, diff: Diff) -> None:
        self._diff = diff
        self._rows = FileRows(diff.raised)
        self._query = 0  # how often the files were listed: an answer to an older question is not taken
        self._dimensions: tuple[str, ...] = ()
        self._items: list[Item] = []
        self._message = ""
        self._sentence = split_ids(visible(f"{format_range(diff)}: {format_counts(diff)}"))
        self._list_items()
        style = read_style(str(common_style()), "filediff.css")
        super().__init__(diff, style, view=self._write_view(), detail=self._describe_choice())
        self.observe(self._follow_query, ["order", "filter", "kept"])
        self.observe(self._follow, "selected")

    @property
    def file(self) -> DataFile | None:
        """The chosen file, None when none is chosen."""
        return self._find(self.selected)

    def select(self, wanted: DataFile | str | None) -> None:
        """Choose a file, or the one at a path; None chooses nothing. Raises `KeyError` when the diff does not show it."""
        if wanted is None:
            self.selected = ""
            return
        shown = [getattr(self._diff, side) for side in (_SIDES if self.kept else _SIDES[:2])]
        at = (
            next((files[wanted] for files in shown if wanted in files), None)
            if isinstance(wanted, str)
            else wanted
        )
        for item in self._items:
            if at is not None and item.path == at.path:
                found: DataFile = getattr(self._diff, item.side)[item.index]
                if found is at or found.identity == at.identity:
                    self.selected = f"{item.side}/{item.index}"
                    return
        raise KeyError(wanted)

    def _list_items(self) -> None:
        """List every file that can be shown; those that were kept only when they are asked for."""
        sides: dict[Any, FileSet] = {"removed": self._diff.removed, "added": self._diff.added}
        self._message = ""
        if "kept" in self._trait_values and self.kept:
            try:
                len(self._diff.kept)
            except LakeError as error:
                self._message = f"kept files cannot be listed: {clean(error, 300)}"
            else:
                sides["kept"] = self._diff.kept
        self._dimensions, self._items = list_items(sides)

    def _write_view(self) -> dict[str, Any]:
        found = filter_items(self._items, self.filter)
        whole = DiffGroup(found, self._dimensions)
        self._query += 1
        if not self._items:
            said = "no file was added or removed"
        elif len(found) == len(self._items):
            said = plural(len(found), "file")
        else:
            said = f"{count(len(found))} of {plural(len(self._items), 'file')}"
        return {
            "version": self._query,
            "noun": "Files",
            "sentence": self._sentence,
            "said": said,
            "message": self._message,
            "groups": ", ".join(self._dimensions),
            "total": self._rows.write_sums(whole),
            "rows": self._rows.write(whole, cast("Order", self.order)),
        }

    def _follow_query(self, change: Any) -> None:
        if change["name"] == "kept":
            self._list_items()
        self._draw(view=self._write_view())

    def _follow(self, _: Any) -> None:
        self._draw(detail=self._describe_choice())

    def _find(self, key: str) -> DataFile | None:
        side, _, position = key.partition("/")
        if side not in _SIDES or not position.isascii() or not position.isdecimal() or len(position) > 12:
            return None
        found: FileSet = getattr(self._diff, side)
        return found[int(position)] if int(position) < len(found) else None

    @traitlets.validate("selected")
    def _check_selected(self, proposal: Any) -> str:
        key: str = proposal["value"]
        if key and self._find(key) is None:
            raise traitlets.TraitError(f"no file {clean(key, 60)!r} in {self._diff!r}")
        return key

    @traitlets.validate("filter")
    def _check_filter(self, proposal: Any) -> str:
        wanted: str = proposal["value"]
        if len(wanted) > _LONGEST:
            raise traitlets.TraitError(f"a filter has at most {_LONGEST} characters")
        return wanted

    def _describe_choice(self) -> dict[str, str]:
        """Describe what is said of the chosen file: its card, and the code that leads to it."""
        found = self.file
        if found is None:
            return {"of": "", "html": "", "code": "", "words": ""}
        side, _, position = self.selected.partition("/")
        choice = {
            "of": self.selected,
            "html": "",
            "code": f"diff.{side}[{int(position)}]",
            "words": side.upper(),
        }
        try:
            return choice | {"html": render_card(found, style=False)}
        except Exception as error:  # the reader sees why, and can go on
            if display.strict_views:
                raise
            return choice | {"words": format_failure(found, error)}

    def _answer(self, content: dict[str, Any]) -> None:
        """A browser asks for the rows behind a fold."""
        version = content.get("version")
        is_current = version == self._query
        answer = answer_open(self._rows, content, "this fold is no longer shown", is_current=is_current)
        if answer is not None:
            self.send({**answer, "version": version})

    def _render_still(self) -> str:
        return render_card(self._diff, 1)

    def __repr__(self) -> str:
        return f"<FileDiffWidget +{len(self._diff.added):,} -{len(self._diff.removed):,} files>"
