"""Plots of a table's health: sizes of files beside their limit, large partitions, deletes, how columns are clustered."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.analysis.health.clustering import ColumnDepth
from lakelens.analysis.health.health import Health
from lakelens.analysis.health.parts import PartRows
from lakelens.views.card import wording
from lakelens.views.render.plot import BLUE, ORANGE, TEXT, Plot
from lakelens.views.render.plots import draw_panels, escape, format_bytes, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 20


def plot_health(health: Health, figsize: tuple[float, float] | None = None) -> Plot:
    """What has something to show: sizes, partitions, deletes, clustering; a table without files is one line of words."""
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    if len(health.figures.data):
        panels.append((2.2, lambda axes: _draw_sizes(axes, health)))
        rows = health.parts.partitions
        if len(rows) > 1:
            panels.append(
                (_tall(len(rows)), lambda axes: _draw_parts(axes, rows, "size_bytes", "bytes by partition"))
            )
        if health.reach is not None and health.reach.files and len(rows) > 1:
            title = "delete files and vectors by partition"
            panels.append((_tall(len(rows)), lambda axes: _draw_parts(axes, rows, "delete_files", title)))
        columns = list(islice(health.parts.columns, _MOST))
        if columns:
            panels.append((_tall(len(columns)), lambda axes: _draw_clustering(axes, columns)))
    if not panels:
        panels.append((0.8, lambda axes: _draw_words(axes, health)))
    return draw_panels(panels, figsize)


def _tall(count: int) -> float:
    return 0.9 + 0.2 * min(count, _MOST)


def _draw_sizes(axes: Axes, health: Health) -> None:
    """How many data files are how large, with the limit as a line."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    sizes = np.maximum(health.figures.sizes[health.figures.data], 1)
    limit = health.rules.file_size.value
    lowest = int(np.log2(min(int(sizes.min()), limit)))
    highest = int(np.log2(max(int(sizes.max()), limit))) + 1
    axes.hist(sizes, bins=[2.0**power for power in range(lowest, highest + 1)], color=BLUE)
    axes.axvline(limit, color=ORANGE, linewidth=1.6)
    axes.annotate(
        f"limit {wording.size(round(limit))}",
        (limit, 1),
        xytext=(3, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        fontsize=8,
    )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(format_bytes)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("file size (binary units)", fontsize=8)
    axes.set_ylabel("data files", fontsize=8)
    set_title(axes, f"{wording.plural(len(sizes), 'data file')} by size")


def _draw_parts(axes: Axes, rows: PartRows, by: str, title: str) -> None:
    """The largest parts by a column."""
    from matplotlib.ticker import MaxNLocator

    shown = rows.list_largest(by, _MOST)
    held: list[Any] = [row[by] for row in shown]
    axes.barh(range(len(shown)), held, color=BLUE, height=0.7)
    names = [escape(str(row[rows.noun]) or "no partition") for row in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=8)
    axes.invert_yaxis()
    if by == "size_bytes":
        axes.xaxis.set_major_formatter(format_bytes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    more = f", the first {len(shown)} of {len(rows):,}" if len(rows) > len(shown) else ""
    axes.set_xlabel("bytes (binary units)" if by == "size_bytes" else "delete files and vectors", fontsize=8)
    set_title(axes, title + more)


def _draw_clustering(axes: Axes, columns: list[ColumnDepth]) -> None:
    """For each column the depths that a twentieth of its bounds do not exceed, with mean and worst."""
    from matplotlib.ticker import LogFormatter

    for place, column in enumerate(columns):
        axes.plot(column.quantiles, [place] * len(column.quantiles), "|", color=BLUE, markersize=8)
        axes.plot([column.worst], [place], "|", color=TEXT, markersize=14, markeredgewidth=2)
        axes.plot([column.mean], [place], "o", color=ORANGE, markersize=3)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(LogFormatter(labelOnlyBase=False))
    axes.xaxis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.4)))
    axes.tick_params(labelsize=8, which="both")
    axes.set_xlim(left=0.9)
    axes.set_yticks(range(len(columns)), [escape(column.name) for column in columns], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("files that hold a value (dot: mean, long stroke: worst)", fontsize=8)
    set_title(axes, "depth: how many files a look-up of one value must open")


def _draw_words(axes: Axes, health: Health) -> None:
    axes.axis("off")
    set_title(axes, f"{escape(health.name)}: no data files")
