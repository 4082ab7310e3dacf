"""The scaling curves as pictures: seconds over files, columns and snapshots, peers as lines beside lakelens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.fits import fit_times
from tests.benchmarks.measure import Measurement
from tests.benchmarks.results import Results

_STYLE: Any = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.8,
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "figure.facecolor": "white",
}
#: Colours that the colour-blind tell apart (Okabe and Ito), and another mark for each.
_LINES = {
    "to_arrow": ("lakelens, typed", "#0072B2", "o"),
    "history": ("lakelens: open, card, history", "#0072B2", "o"),
    "pyiceberg": ("pyiceberg", "#D55E00", "s"),
    "pyiceberg_snapshots": ("pyiceberg: open, snapshots", "#D55E00", "s"),
    "pypaimon": ("pypaimon", "#D55E00", "s"),
    "spark": ("Spark, in the JVM", "#CC79A7", "^"),
    "duckdb": ("DuckDB, no stats", "#009E73", "P"),
    "duckdb_snapshots": ("DuckDB: snapshots", "#009E73", "P"),
    "fastavro": ("fastavro, raw dicts", "#E69F00", "D"),
    "floor": ("only decompressed", "#777777", "v"),
}
_FORMATS = {"iceberg": "Iceberg", "paimon": "Paimon"}

Size = Callable[[Measurement], float]


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw what was measured; the pictures that were written."""
    drawn = []
    for case, draw in (
        ("entries", _draw_entries),
        ("columns", _draw_columns),
        ("snapshots", _draw_snapshots),
    ):
        if results.select(case):
            folder.mkdir(parents=True, exist_ok=True)
            drawn.append(_save(draw, results, folder / f"{case}.png"))
    return drawn


def _save(draw: Callable[[Results, Any, Any], None], results: Results, path: Path) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(_STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
        draw(results, axes[0], axes[1])
        figure.savefig(path, dpi=150)
        plt.close(figure)
    return path


def _draw_entries(results: Results, left: Any, right: Any) -> None:
    for axes, format in ((left, "iceberg"), (right, "paimon")):
        points = results.select_curve("entries", format=format)
        points = [one for one in points if one.runner != "batches"]
        _draw_lines(axes, points, lambda one: one.table["files"], _tell_warm)
        ours = [one for one in points if one.runner == "to_arrow"]
        fit = fit_times([(one.table["files"], one.warm_seconds) for one in ours])
        if fit is not None:
            ends = [fit.first, fit.last]
            label = f"fit: slope {fit.slope:.2f}, R² {fit.r_squared:.3f}"
            axes.plot(
                ends, [fit.estimate(end) for end in ends], "--", color="#222222", linewidth=1, label=label
            )
        _label(axes, _FORMATS[format], "live files, 25 columns each", "seconds, warm")


def _draw_columns(results: Results, left: Any, right: Any) -> None:
    points = results.select_curve("columns")
    files = points[0].table["files"]
    _draw_lines(left, points, lambda one: one.table["columns"], _tell_warm)
    _label(left, f"Time, {files:,} Iceberg files", "columns with statistics", "seconds, warm")
    memory = [one for one in points if one.growth]
    _draw_lines(right, memory, lambda one: one.table["columns"], lambda one: (one.growth or 0) / 1e6)
    _label(
        right, f"Memory, {files:,} Iceberg files", "columns with statistics", "MB beyond the imports, cold"
    )


def _draw_snapshots(results: Results, left: Any, right: Any) -> None:
    for axes, format in ((left, "iceberg"), (right, "paimon")):
        points = results.select("snapshots", format=format)
        _draw_lines(axes, points, lambda one: one.found["files"] or 0, _tell_warm)
        _label(axes, _FORMATS[format], "snapshots", "seconds, warm")


def _tell_warm(one: Measurement) -> float | None:
    return one.warm_seconds


def _draw_lines(
    axes: Any, points: Sequence[Measurement], size: Size, value: Callable[[Measurement], float | None]
) -> None:
    for runner, (label, color, mark) in _LINES.items():
        line = [(size(one), value(one)) for one in points if one.runner == runner and value(one)]
        if line:
            xs, ys = zip(*sorted(line), strict=True)
            axes.plot(xs, ys, marker=mark, color=color, label=label)


def _label(axes: Any, title: str, x: str, y: str) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    plain = FuncFormatter(lambda number, _: f"{number:,.10g}")
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.yaxis.set_minor_formatter(plain if _spans_little(axes) else NullFormatter())
    axes.legend(frameon=False, fontsize=9)


def _spans_little(axes: Any) -> bool:
    low, high = axes.get_ylim()
    return bool(high < 10 * low)
