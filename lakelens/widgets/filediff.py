"""The files of a diff as a widget: removed left and added right, in groups, to sort, to filter and to look into."""

from __future__ import annotations

from typing import Any, cast

import traitlets

from lakelens.analysis.diff.diff import Diff
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.options import display
from lakelens.views.card.wording import clean, count, format_failure, plural, split_ids, visible
from lakelens.views.cards.diff import format_counts, format_range
from lakelens.views.render.html import common_style, render_card
from lakelens.widgets.base import StillWidget, answer_open, read_module, read_style
from lakelens.widgets.filegroups import Group, Item, Order, filter_items, list_items
from lakelens.widgets.filerows import FileRows

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
        """Every file that can be shown; those that were kept only when they are asked for."""
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
        whole = Group(found, self._dimensions)
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
        """What is said of the chosen file: its card, and the code that leads to it."""
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
