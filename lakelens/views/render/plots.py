"""Plots of a set of files and of a table's growth, with matplotlib.

Each gives a `Plot` of a figure of its own: nothing global is touched, a notebook shows it once. Axes carry their units;
what has more than 50 categories is folded before it comes here. Colours are of `plot.py`, which knows both grounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.analysis.health.clustering import ColumnDepth
from lakelens.analysis.health.health import Health, PartRows
from lakelens.analysis.shape import FileGroup, FileShape, Moment, measure_files, measure_growth
from lakelens.errors import Unsupported
from lakelens.views.card import wording
from lakelens.views.render.plot import (
    BLUE,
    LEVELS,
    LINE,
    MUTED,
    ORANGE,
    PALE_BLUE,
    RED,
    ROSE,
    TEXT,
    Plot,
    draw_in_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lakelens.model.fileset import FileSet
    from lakelens.model.table import Table


# distinguished by lightness too, and by the legend's words
COLOURS = {
    "data": BLUE,
    "changelog": PALE_BLUE,
    "position_deletes": RED,
    "equality_deletes": ORANGE,
    "deletion_vector": ROSE,
}
_WIDTH = 8.6


def plot_files(files: FileSet, figsize: tuple[float, float] | None = None) -> Plot:
    """The sizes of files, their rows and bytes by partition, and by bucket with levels; what has no groups is left out."""
    shape = measure_files(files)
    panels: list[tuple[float, Callable[[Axes], None]]] = [(2.4, lambda axes: _draw_sizes(axes, shape))]
    for noun, groups in (("partition", shape.partitions), ("bucket", shape.buckets)):
        if groups:
            height = 0.9 + 0.2 * len(groups)
            panels.append((height, lambda axes, noun=noun, groups=groups: _draw_groups(axes, noun, groups)))  # type: ignore[misc]
    return draw_panels(panels, figsize)


def plot_growth(table: Table, figsize: tuple[float, float] | None = None) -> Plot:
    """Rows, files and bytes after each snapshot, as the snapshots record them; where none does so: the files.

    Rows are the live ones where the snapshots prove how many these are, with those that are stored above them.
    """
    moments = measure_growth(table.snapshots)
    if len(moments) < 2:
        return plot_files(table.files, figsize)
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    for name in ("rows", "files", "bytes"):
        if any(getattr(moment, name) is not None for moment in moments):
            panels.append((1.7, lambda axes, name=name: _draw_growth(axes, name, moments)))  # type: ignore[misc]
    return draw_panels(panels, figsize) if panels else plot_files(table.files, figsize)


def draw_panels(
    panels: Sequence[tuple[float, Callable[[Axes], None]]], figsize: tuple[float, float] | None
) -> Plot:
    """Axes below each other, each drawn by its own function."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Unsupported("plots need matplotlib", hint="pip install 'lakelens[notebook]'") from None
    heights = [height for height, _ in panels]
    with draw_in_style():
        figure = Figure(figsize=figsize or (_WIDTH, sum(heights)), layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for panel, (_, draw) in zip(axes, panels, strict=True):
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
            panel.tick_params(labelsize=8, color=LINE, labelcolor=MUTED, which="both")
            draw(panel)
        for _ in range(
            2
        ):  # then nothing moves any more: the same figure gives the same picture, at every sharpness
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return Plot(figure)


def _draw_sizes(axes: Axes, shape: FileShape) -> None:
    """Draw how many files are how large, in steps of a factor of two."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    sizes = [size for held in shape.sizes.values() for size in held if size > 0]
    lowest = int(np.log2(min(sizes, default=1)))
    highest = int(np.log2(max(sizes, default=1))) + 1
    while highest - lowest < 5:  # a few equal files are one bar, not a wall
        lowest, highest = max(lowest - 1, 0), highest + 1
    edges = [2.0**power for power in range(lowest, highest + 1)]
    contents = sorted(shape.sizes, key=lambda content: (content != "data", content))
    if contents:
        axes.hist(
            [shape.sizes[content] for content in contents],
            bins=edges,
            stacked=True,
            color=[COLOURS.get(content, LINE) for content in contents],
            label=[
                f"{wording.clean(content).replace('_', ' ')} ({len(shape.sizes[content]):,})"
                for content in contents
            ],
        )
        _draw_legend(axes)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(format_bytes)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    set_title(axes, f"{wording.plural(sum(map(len, shape.sizes.values())), 'file')} by size")
    axes.set_xlabel("file size (binary units)", fontsize=8)
    axes.set_ylabel("files", fontsize=8)


def _draw_groups(axes: Axes, noun: str, groups: Sequence[FileGroup]) -> None:
    """Bytes of each group, a colour for each level, with files and rows in words."""
    names = [escape(group.name) for group in groups]
    levels = sorted(
        {level for group in groups for level in group.levels},
        key=lambda level: -1 if level is None else level,
    )
    left = [0] * len(groups)
    for index, level in enumerate(levels):
        held = [group.levels.get(level, 0) for group in groups]
        label = None if level is None else f"level {level}"
        colours: dict[str, Any] = {"color": COLOURS["data"]}
        if level is not None:  # the lightest and the darkest are seen on every ground by their edge
            colours = {"color": LEVELS[min(index, len(LEVELS) - 1)], "edgecolor": LINE, "linewidth": 0.6}
        bars = axes.barh(range(len(groups)), held, left=left, label=label, height=0.7, **colours)
        left = [before + size for before, size in zip(left, held, strict=True)]
    words = [f"{wording.plural(g.files, 'file')}, {wording.plural(g.rows, 'row')}" for g in groups]
    axes.bar_label(bars, words, fontsize=7, color=MUTED, padding=3)
    axes.set_yticks(range(len(groups)), names, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.25, y=0.02)
    axes.xaxis.set_major_formatter(format_bytes)
    axes.set_xlabel("bytes (binary units)", fontsize=8)
    set_title(axes, f"by {noun}")
    if any(level is not None for level in levels):
        _draw_legend(axes)


def _draw_growth(axes: Axes, name: str, moments: Sequence[Moment]) -> None:
    """One total after each snapshot, as steps: it holds until the next commit. Of rows the live ones, as far as known."""
    from matplotlib.dates import ConciseDateFormatter, date2num

    # matplotlib leaves their arguments untyped
    make_formatter: Callable[..., Any] = ConciseDateFormatter
    to_places: Callable[..., Any] = date2num
    known = [moment for moment in moments if getattr(moment, name) is not None]
    times = [moment.committed_at for moment in known]
    totals = [getattr(moment, name) for moment in known]
    lines = [(name, COLOURS["data"], times, totals)]
    if name == "rows":
        counted = [moment for moment in known if moment.live_rows is not None]
        live = [moment.live_rows for moment in counted]
        if live and live != totals:
            lines = [
                ("stored", LINE, times, totals),
                ("live", COLOURS["data"], [moment.committed_at for moment in counted], live),
            ]
        name = "live rows" if live == totals or len(lines) > 1 else "rows stored"
    axes.xaxis_date()
    for label, colour, committed, amounts in lines:
        places = to_places(committed)
        axes.step(places, amounts, where="post", color=colour, linewidth=1.4, label=label)
        if len(places) <= 200:
            axes.plot(places, amounts, ".", color=colour, markersize=5)
    if len(lines) > 1:
        _draw_legend(axes)
    axes.set_ylim(0, max(totals) * 1.1 or 1)
    if name == "bytes":
        axes.yaxis.set_major_formatter(format_bytes)
    else:
        axes.yaxis.set_major_formatter(lambda amount, _: f"{amount:,.0f}")
    axes.set_ylabel(f"{name} (binary units)" if name == "bytes" else name, fontsize=8)
    # a second alone, "23.5", is no time
    clock = ["%Y", "%b", "%d", "%H:%M", "%H:%M", "%H:%M:%S.%f"]
    axes.xaxis.set_major_formatter(
        make_formatter(
            axes.xaxis.get_major_locator(),
            formats=clock,
            zero_formats=["", "%Y", "%b", "%b-%d", "%H:%M", "%H:%M:%S"],
            show_offset=False,
        )
    )
    axes.set_xlabel(
        f"committed, UTC, from {times[0]:%Y-%m-%d %H:%M:%S} to {times[-1]:%Y-%m-%d %H:%M:%S}", fontsize=8
    )
    set_title(axes, f"{name} after each of {wording.plural(len(known), 'snapshot')}")


def format_bytes(amount: float, _: Any) -> str:
    """Bytes as a tick."""
    return wording.size(round(amount))


def _draw_legend(axes: Axes) -> None:
    """Above the drawing, on the right of the title: it hides nothing."""
    axes.legend(fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0)


def set_title(axes: Axes, text: str) -> None:
    """The title of axes, on their left."""
    axes.set_title(text, fontsize=9, loc="left", fontweight="bold")


def escape(name: str) -> str:
    """Escape a name of the lake as words: no mathematical text, nothing active, not longer than a label should be."""
    words = wording.clean(name)
    short = words if len(words) <= 40 else f"{words[:24]}…{words[-15:]}"
    return short.replace("$", r"\$")


# Plots of a table's health: sizes of files beside their limit, large partitions, deletes, how columns are clustered.

_MOST = 20


def plot_health(health: Health, figsize: tuple[float, float] | None = None) -> Plot:
    """What has something to show: sizes, partitions, deletes, clustering; a table without files is one line of words."""
    panels: list[tuple[float, Callable[[Axes], None]]] = []
    if len(health.figures.data):
        panels.append((2.2, lambda axes: _draw_health_sizes(axes, health)))
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


def _draw_health_sizes(axes: Axes, health: Health) -> None:
    """Say how many data files are how large, with the limit as a line."""
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
    """Draw the largest parts by a column."""
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
