"""The one bridge from an object of the model upwards: to its views, and to the analyses made of it.

Domain classes know nothing else of either; each function here loads what it needs when it is first called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os

    from lakelens.analysis.check.check import Check
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.dry_run import Plan
    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.analysis.health.health import Health
    from lakelens.analysis.life.biography import Biography
    from lakelens.analysis.life.rows import RowLife
    from lakelens.analysis.map import Map
    from lakelens.analysis.skeleton import Skeleton
    from lakelens.analysis.space.space import Space
    from lakelens.analysis.timeline.timeline import Timeline
    from lakelens.analysis.tree import StorageTree
    from lakelens.explorer.site.walk import Site
    from lakelens.jupyter.exploring import Explored
    from lakelens.model.bytes_view import BytesView
    from lakelens.model.charts import RowMap
    from lakelens.model.collections import QueryResult
    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileSet
    from lakelens.model.table import Table
    from lakelens.model.warehouse.found import FoundTable, Outline
    from lakelens.views.render.plot import Plot
    from lakelens.watching import Watch


class Documentation:
    """The documentation of a class with what its attributes hold, put together when somebody asks for it."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, thing: object, kind: type) -> str:
        home = sys.modules.get(kind.__module__)
        if home is None or getattr(home.__spec__, "_initializing", False):
            return self.text  # dataclasses look whether there is any
        from lakelens.views.names import document

        return document(kind, self.text)


def _make_harmless(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """A `__repr__` as one line without active characters: what it quotes comes from a lake, and goes to a terminal."""

    @wraps(show)
    def show_visible(self: Any) -> str:
        from lakelens.errors import visible_line

        return visible_line(show(self))

    show_visible.is_harmless = True  # type: ignore[attr-defined]
    return show_visible


class Named:
    """Gives an object's reader its public names in `dir()`, and their meanings in the documentation of its class.

    Whatever a class says of its objects in its `__repr__` is shown without active characters.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__dict__.get("__repr__")
        if own is not None and not hasattr(own, "is_harmless"):
            cls.__repr__ = _make_harmless(own)  # type: ignore[method-assign]
        text = cls.__dict__.get("__doc__")
        if isinstance(text, str):
            cls.__doc__ = Documentation(text)  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        from lakelens.views.names import list_hidden

        kind: type = type(self)
        hidden = list_hidden(kind)
        return [name for name in super().__dir__() if not name.startswith("_") and name not in hidden]


class Displayable(Named):
    """Gives an object its text tree, its HTML card and its page.

    Detail runs from 0 (one line) over 1 (the card: facts, folds with their answers, one of them open) and 2 (every fold
    open, the footers of data files read, what each name means) to 3 (everything: documents as stored, longer lists).
    """

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, detail: int = 1) -> str:
        """This object as a text tree, without any markup.

        Parameters
        ----------
        detail
            From 0 (one line) to 3 (everything).
        """
        from lakelens.views.render.text import render_text

        return render_text(self, detail=detail)

    def _repr_html_(self) -> str:
        from lakelens.views.render.html import render_card

        return render_card(self, detail=1)

    def show(self, detail: int = 1, *, meanings: bool | None = None) -> None:
        """Show this object: as an HTML card in a notebook, as text elsewhere.

        Parameters
        ----------
        detail
            From 0 (one line) to 3 (everything).
        meanings
            Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
        """
        from lakelens.views.render.text import show

        show(self, detail, meanings)

    def to_html(self, path: str | os.PathLike[str], detail: int = 2, *, meanings: bool | None = None) -> None:
        """Write a self-contained page: light and dark, printable, no script.

        Parameters
        ----------
        path
            The file to write; one that is there is overwritten.
        detail
            From 0 (one line) to 3 (everything).
        meanings
            Whether what each name stands for is a column of the tables; None for `options.display.meanings`.
        """
        from lakelens.views.render.html import write_page

        write_page(self, path, detail=detail, meanings=meanings)


class Interactive(Displayable):
    """Gives an object a widget as well: the same picture, to explore."""

    __slots__ = ()

    def widget(self) -> Any:
        """This object as a widget for a notebook; needs anywidget (`pip install 'lakelens[notebook]'`)."""
        from lakelens.widgets import make_widget

        return make_widget(self)


def edit_bytes(view: BytesView) -> Any:
    """The bytes of a view as a widget to change them in."""
    from lakelens.widgets import make_bench

    return make_bench(view)


def render_raised(error: BaseException, *, is_brief: bool = False) -> list[str]:
    """What IPython shows of an error that was raised: all that it says, or one line of it."""
    from lakelens.views.render import raised

    return raised.render_raised(error, is_brief=is_brief)


def plot_files(files: FileSet, figsize: tuple[float, float] | None) -> Plot:
    """The plot of a set of files."""
    from lakelens.views.render import plots

    return plots.plot_files(files, figsize)


def plot_growth(table: Table, figsize: tuple[float, float] | None) -> Plot:
    """The plot of a table's growth."""
    from lakelens.views.render import plots

    return plots.plot_growth(table, figsize)


def plot_health(health: Health, figsize: tuple[float, float] | None) -> Plot:
    """The plot of a table's health."""
    from lakelens.views.render import plots

    return plots.plot_health(health, figsize)


def diff_table(table: Table, before: Any, after: Any) -> Diff:
    """The diff of two states of a table, or of two tables."""
    from lakelens.analysis.diff.diff import Diff, pick_snapshot
    from lakelens.model.revision import Default, find_parent

    new = pick_snapshot(table, after)
    if before is Default.PARENT:
        return Diff(find_parent(table, new), new)
    return Diff(None if before is None else pick_snapshot(table, before), new)


def outline_table(found: FoundTable) -> Outline:
    """What a table that was found is today."""
    from lakelens.analysis import figures

    return figures.outline_table(found)


def read_outlines(tables: Sequence[FoundTable]) -> list[Outline]:
    """What tables that were found are today."""
    from lakelens.analysis import figures

    return figures.read_outlines(tables)


def write_skeleton(
    table: Table, target: str | os.PathLike[str], keep: Collection[str], seed: int | str | None
) -> Skeleton:
    """The skeleton of a table, written elsewhere."""
    from lakelens.analysis.skeleton import write_skeleton

    return write_skeleton(table, target, keep, seed)


def check_table(table: Table, data: bool, snapshots: Any) -> Check:
    """The check of a table."""
    from lakelens.analysis.check.check import check_table

    return check_table(table, data=data, snapshots=snapshots)


def measure_health(table: Table, snapshot: Any) -> Health:
    """The health of a table."""
    from lakelens.analysis.health.health import measure_health

    return measure_health(table, snapshot)


def explain_predicate(table: Table, where: str, snapshot: Any, row_groups: bool) -> Explanation:
    """Why a predicate reads some files of a table and skips the others."""
    from lakelens.analysis.explain import explanation

    return explanation.explain_predicate(table, where, snapshot, row_groups)


def measure_space(table: Table, before: Any) -> Space:
    """Where a table's bytes are."""
    from lakelens.analysis.space import space

    return space.measure_space(table, before=before)


def map_table(table: Table, change: Any, snapshot: Any) -> Map:
    """The map of a table."""
    from lakelens.analysis.map import map_table

    return map_table(table, change, snapshot)


def draw_map(drawn: Map) -> str:
    """The drawing of a map, as SVG."""
    from lakelens.views.map.drawing import render_map

    return render_map(drawn)


def draw_row(drawn: RowMap) -> str:
    """The drawing of the map of a row, as SVG."""
    from lakelens.views.map.row import render_row

    return render_row(drawn)


def write_biography(table: Table, file: str | DataFile) -> Biography:
    """The life of a file of a table."""
    from lakelens.analysis.life import biography

    return biography.write_biography(table, file)


def dry_run_procedure(table: Table, procedure: str, options: Mapping[str, Any]) -> Plan:
    """What a maintenance procedure would do to a table."""
    from lakelens.analysis.dry_run import plan_procedure

    return plan_procedure(table, procedure, options)


def trace_rows(table: Table, where: str, most_files: int) -> RowLife:
    """The lives of the rows that a predicate is about."""
    from lakelens.analysis.life import tracing

    return tracing.trace_rows(table, where, most_files)


def list_tree(table: Table, references: bool) -> StorageTree:
    """Every object in a table's directory."""
    from lakelens.analysis.tree import build_tree

    return build_tree(table, references=references)


def trace_history(table: Table) -> Timeline:
    """The history of a table."""
    from lakelens.analysis.timeline import marks

    return marks.trace_history(table)


def query_table(
    table: Table, query: str, snapshot: Any, engine: Literal["duckdb", "datafusion"] | None
) -> QueryResult:
    """The result of a query over a table's metadata."""
    from lakelens import querying

    return querying.query_table(table, query, snapshot=snapshot, engine=engine)


def watch_table(table: Table, spark: Any, storage_options: Mapping[str, Any] | None) -> Watch:
    """The context manager that watches a table's storage."""
    from lakelens.watching import watch

    return watch(table, spark=spark, storage_options=storage_options)


def explore_table(table: Table, frame: bool, height: int) -> Explored:
    """The explorer at a table."""
    from lakelens.jupyter import exploring

    return exploring.explore_table(table, frame, height)


def write_site(table: Table, target: str | os.PathLike[str], most_pages: int, most_bytes: int) -> Site:
    """The pages of a table as a folder."""
    from lakelens.explorer.site import folder

    return folder.write_site(table, target, most_pages=most_pages, most_bytes=most_bytes)
