"""Displayable: the one bridge from an object to its views.

Domain classes know nothing else of display; the views are loaded when something is first shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from lakelens.model.fileset import FileSet
    from lakelens.model.table import Table


class Displayable:
    """Gives an object its text tree, its HTML card and its page.

    Detail runs from 0 (one line) over 1 (the card: facts, folds with their answers, one of them open) and 2 (every fold
    open, the footers of data files read, what each name means) to 3 (everything: documents as stored, longer lists).
    """

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, detail: int = 1) -> str:
        """This object as a text tree, without any markup. `detail` runs from 0 to 3."""
        from lakelens.views.render.text import render_text

        return render_text(self, detail=detail)

    def _repr_html_(self) -> str:
        from lakelens.views.render.html import render_card

        return render_card(self, detail=1)

    def show(self, detail: int = 1) -> None:
        """Show this object: as an HTML card in a notebook, as text elsewhere. `detail` runs from 0 to 3."""
        from lakelens.views.render.show import show

        show(self, detail)

    def to_html(self, path: str | os.PathLike[str], detail: int = 2) -> None:
        """Write a self-contained page: light and dark, printable, no script."""
        from lakelens.views.render.html import write_page

        write_page(self, path, detail=detail)


class PlottableFiles:
    """Gives a set of files its plot."""

    def plot(self: FileSet, *, figsize: tuple[float, float] | None = None) -> Figure:  # type: ignore[misc]
        """Plot these files: how many are how large, and bytes, files and rows by partition, and by bucket and level.

        Gives a `matplotlib.figure.Figure`; sizes are bytes in binary units. More than 50 partitions or buckets are folded:
        the largest stay. `figsize` is inches. Raises `Unsupported` without matplotlib.

        >>> import lakelens as ll
        >>> [axes.get_xlabel() for axes in ll.sample("paimon").files.plot().axes]
        ['file size (binary units)', 'bytes (binary units)']
        """
        from lakelens.views.render.plots import plot_files

        return plot_files(self, figsize)


class PlottableTable:
    """Gives a table its plot."""

    def plot(self: Table, *, figsize: tuple[float, float] | None = None) -> Figure:  # type: ignore[misc]
        """Plot how the table grew: rows, files and bytes after each snapshot, as the snapshots record them.

        Gives a `matplotlib.figure.Figure`; no manifest is read. A table with fewer than two snapshots, and a Hive table,
        shows its files instead: see `FileSet.plot`. Raises `Unsupported` without matplotlib.

        >>> import lakelens as ll
        >>> [axes.get_ylabel() for axes in ll.sample("iceberg").plot().axes]
        ['rows', 'files', 'bytes (binary units)']
        """
        from lakelens.views.render.plots import plot_growth

        return plot_growth(self, figsize)


class Interactive(Displayable):
    """Gives an object a widget as well: the same picture, to look around in."""

    __slots__ = ()

    def widget(self) -> Any:
        """This object as a widget for a notebook; needs anywidget (`pip install 'lakelens[notebook]'`)."""
        from lakelens.widgets import make_widget

        return make_widget(self)
