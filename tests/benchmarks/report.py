"""The results as Markdown: tables of seconds, memory and ratios; the README keeps them between two markers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.cold_start import render_ratios
from tests.benchmarks.first_steps import BASE, CASE, STEPS
from tests.benchmarks.fits import fit_times
from tests.benchmarks.measure import Measurement
from tests.benchmarks.results import Results
from tests.benchmarks.runners import RUNNERS

BEGIN, END = "<!-- benchmarks:begin -->", "<!-- benchmarks:end -->"
_MB = 1_000_000
_STEPS = """# The first steps below a table's card

What a person asks next, on the same grown tables: seconds of a warm process (the median, and the least) and of a cold one
from its start, its peak of memory, and how much longer `to_arrow` of the same table, an older checkout of lakelens and peers
take that answer the same. `python -m tests.benchmarks --only steps --other ../older-checkout` makes these tables."""
_FORMATS = {"iceberg": "Iceberg", "paimon": "Paimon"}


def render_report(results: Results, pictures: str = "") -> str:
    """Everything that was measured, as Markdown; `pictures` is where the plots lie, seen from the document."""
    parts = [
        _render_main(results, "iceberg"),
        _render_main(results, "paimon"),
        _render_main(results, "wide"),
        _render_curves(results, pictures),
        _render_million(results),
        _render_spark(results),
        _render_cold_start(results),
        _render_machine(results),
    ]
    return "\n\n".join(part for part in parts if part)


def write_between_markers(document: Path, text: str) -> None:
    """Put a text between the markers of a document; nothing else of it changes. Raises ValueError without both markers."""
    before, after = find_markers(document.read_text("utf-8"))
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


def find_markers(text: str) -> tuple[str, str]:
    """What stands before and behind the markers. Raises ValueError without both."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no {BEGIN} and {END}")
    return before, after


def _render_main(results: Results, case: str) -> str:
    rows = results.select(case)
    if not rows:
        return ""
    table = rows[0].table
    ours = results.find(case, "to_arrow")
    head = f"**{table['files']:,} {_FORMATS[table['format']]} files × {table['columns']:,} columns**"
    head += f" ({table['manifest_bytes'] / _MB:.1f} MB of manifests)"
    titles = ("reader", "warm s", "lakelens faster", "cold s", "lakelens faster", "peak MB", "growth MB")
    lines = [head, "", f"| {' | '.join(titles)} |", "| --- |" + " ---: |" * (len(titles) - 1)]
    lines += [_render_row(one, ours) for one in rows]
    return "\n".join(lines)


def _render_row(one: Measurement, ours: Measurement | None) -> str:
    runner = RUNNERS[one.runner]
    title = f"{runner.title} ({runner.note})" if runner.note else runner.title
    if one.unavailable is not None:
        return f"| {title} | {one.unavailable} | | | | | |"
    cells = [title]
    if one is ours or ours is None:
        cells += [say_seconds(one.warm), "", say_seconds(one.cold), ""]
    else:
        cells += [say_seconds(one.warm), _say_ratio(one.warm_seconds, ours.warm_seconds)]
        cells += [say_seconds(one.cold), _say_ratio(one.cold_seconds, ours.cold_seconds)]
    if one.java_peak is not None:
        cells += [f"{_say_mb(one.java_peak)} (JVM)", ""]
    else:
        cells += [_say_mb(one.peak) if one.cold else "", _say_mb(one.growth)]
    return f"| {' | '.join(cells)} |"


def _render_curves(results: Results, pictures: str) -> str:
    lines = []
    for format, name in _FORMATS.items():
        points = results.select_curve("entries", "to_arrow", format=format)
        fit = fit_times([(one.table["files"], one.warm_seconds) for one in points])
        if fit is None:
            continue
        # imports and opening weigh on small tables; what is claimed is what the fit covers
        lines.append(
            f"* {name}, {fit.first:,.0f} to {fit.last:,.0f} files: seconds grow as files to the power of "
            f"{fit.slope:.2f} (R² {fit.r_squared:.4f}); {1e6 * fit.per_item:.1f} µs a file."
        )
    for case, title in (("entries", "files"), ("columns", "columns"), ("snapshots", "snapshots")):
        if results.select(case):
            lines += ["", f'<img src="{pictures}{case}.png" alt="Seconds by number of {title}">']
    return "\n".join(lines).strip()


def render_steps(results: Results) -> str:
    """The first steps as a document of their own: a table for each table that they were taken on."""
    groups: dict[str, list[Measurement]] = {}
    for one in results.select(CASE):
        groups.setdefault(str(one.table), []).append(one)
    tables = "\n\n".join(_render_steps_of_table(group) for group in groups.values())
    return f"{_STEPS}\n\n{tables}\n" if tables else ""


def _render_steps_of_table(group: Sequence[Measurement]) -> str:
    facts = group[0].table
    head = f"**First steps: {facts['files']:,} {_FORMATS[facts['format']]} files × {facts['columns']:,} columns**"
    if facts["snapshots"]:
        head = f"**First steps: {facts['snapshots']:,} {_FORMATS[facts['format']]} snapshots**"
    if facts.get("commits") and facts["files"]:
        head = head[:-2] + f", {facts['commits']:,} commits**"
    elif facts.get("commits"):
        head = f"**First steps: {facts['commits']:,} {_FORMATS[facts['format']]} commits with lists of their own**"
    ours = {one.runner: one for one in group if one.checkout is None}
    others = {one.runner: one for one in group if one.checkout is not None}
    base = ours.get(BASE)
    titles = ["warm s", "`to_arrow` takes", "cold s", "peak MB", "older checkout takes", "peers take"]
    lines = [
        head,
        "",
        f"| step | {' | '.join(titles)} |",
        "| --- |" + " ---: |" * (len(titles) - 1) + " --- |",
    ]
    for name, one in ours.items():
        if name in STEPS:
            peers = [
                f"{RUNNERS[peer].title.split()[0].strip(',:')} {_say_ratio(ours[peer].warm_seconds, one.warm_seconds)}"
                for peer in STEPS[name].peers
                if one.warm and peer in ours and ours[peer].warm
            ]
            cells = [
                say_seconds(one.warm) or one.unavailable or "",
                _say_ratio(base.warm_seconds, one.warm_seconds) if base and base is not one else "",
                say_seconds(one.cold),
                _say_mb(one.peak),
                _say_ratio(others[name].warm_seconds, one.warm_seconds) if name in others else "",
                ", ".join(peers),
            ]
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _render_million(results: Results) -> str:
    lines = []
    for one in results.select("million", "batches"):
        if one.cold:
            files = f"{one.table['files']:,} {_FORMATS[one.table['format']]} files"
            lines.append(
                f"* {files} through `batches()`, cold: {say_seconds(one.cold)} s, {_say_mb(one.peak)} MB at most."
            )
    return "\n".join(lines)


def _render_spark(results: Results) -> str:
    rows = results.select("spark", "spark_files")
    lines = []
    for one in rows:
        if one.unavailable is not None:
            lines.append(f"* `spark.files`: {one.unavailable}")
            continue
        cores = f", {one.cpus} core{'s' if one.cpus != 1 else ''}" if one.cpus else ""
        lines.append(
            f"* `spark.files`, {one.table['files']:,} {_FORMATS[one.table['format']]} files{cores}: "
            f"{say_seconds(one.warm)} s warm, Python driver {_say_mb(one.peak)} MB, JVM {_say_mb(one.java_peak)} MB."
        )
    by_cpus = {one.cpus: one.warm_seconds for one in rows if one.table["files"] == _most_files(rows)}
    one_core, two_cores = by_cpus.get(1), by_cpus.get(2)
    if one_core and two_cores:
        lines.append(f"* Two cores do {one_core / two_cores:.2f} times the work of one.")
    return "\n".join(lines)


def _render_cold_start(results: Results) -> str:
    if not results.cold_start:
        return ""
    lines = ["| cold process | median s | min s |", "| --- | ---: | ---: |"]
    for name, seconds in results.cold_start.items():
        lines.append(f"| {name} | {statistics.median(seconds):.2f} | {min(seconds):.2f} |")
    if results.cold_cpu:
        lines += ["", render_ratios(results.cold_cpu, results.modules)]
    return "\n".join(lines)


def _render_machine(results: Results) -> str:
    facts = results.machine
    if not facts:
        return ""
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    return (
        f"Each table is one run on {facts['cores']} cores with {facts['memory_gib']} GiB, Python {facts['python']}, "
        f"{packages}. "
        "Every reader has processes of its own and finds the same files, rows and bytes. Seconds are the median "
        "(and the least) of several runs: warm after a first run in the same process, cold from the start of a process. "
        "Growth is the peak of a cold process beyond what its imports take."
    )


def _most_files(rows: Sequence[Measurement]) -> int:
    return max((int(one.table["files"]) for one in rows), default=0)


def say_seconds(seconds: Sequence[float]) -> str:
    """The median of some runs, and the least where there are several.

    >>> say_seconds([1.5, 1.25, 2.0])
    '1.50 (1.25)'
    """
    if not seconds:
        return ""
    digits = 3 if statistics.median(seconds) < 0.1 else 2
    least = f" ({min(seconds):.{digits}f})" if len(seconds) > 1 else ""
    return f"{statistics.median(seconds):.{digits}f}{least}"


def _say_ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.1f}×" if theirs is not None and ours else ""


def _say_mb(size: int | None) -> str:
    return "" if size is None else f"{size / _MB:,.0f}"
