"""The first steps below a table's card: seconds of each in a cold process and again in a warm one, and the memory it takes.

Beside them stand `files.to_arrow()` of the same table, another checkout where one is given, and peers that answer the same.
Each step has processes of its own. It is run in a process that has only started (cold: from its start until the answer), and
again on the table opened anew (warm).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import ROOT, Grown, Measurement, measure, run_process
from tests.benchmarks.tables import Tables

CASE, BASE, OTHER = "steps", "files.to_arrow()", "other"
_WARM_RUNS = 3
_PATIENCE = 5  # seconds; what takes longer is not repeated as often
_SCRIPT = """
import json, sys, time
import lakelens as ll
path, most, patience = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
seconds, answer = [], None
while len(seconds) <= most and sum(seconds[1:]) <= patience:
    answer = None
    started = time.perf_counter()
    table = ll.open(path)
    answer = {statement}
    seconds.append(time.perf_counter() - started)
    if len(seconds) == 1:
        finished = time.time()
        peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
found = answer if type(answer) is int else None
print(json.dumps(dict(seconds=seconds, finished=finished, peak=int(peak.split()[1]) * 1024, found=found)), flush=True)
import os; os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What a person asks of `table`; `sums`: which sum of the table it gives; `peers`: runners that answer the same;
    `title`: what a long statement is called."""

    statement: str
    sums: str = ""
    peers: tuple[str, ...] = ()
    title: str = ""

    @property
    def name(self) -> str:
        """The statement without what every statement has, or its title."""
        return self.title or self.statement.replace("table.", "")


_LISTING = ("pyiceberg", "pypaimon", "duckdb", "fastavro")
#: Rewriting small files, as each format calls it.
_REWRITE = "table.dry_run('rewrite_data_files' if table.format == 'iceberg' else 'compact')._repr_html_()"
_EXPLAIN = "table.explain('int_5 > 5000 AND int_5 < 7000')._repr_html_()"
_ANSWERS = (
    "table.check()._repr_html_()",
    "table.health()._repr_html_()",
    "table.space()._repr_html_()",
    "table.dry_run('expire_snapshots')._repr_html_()",
    "table.dry_run('remove_orphan_files')._repr_html_()",
    "table.biography(table.files[0].path)._repr_html_()",
    "table.row('int_5 = 6000', most_files=50_000)._repr_html_()",
)
#: Ten and twenty predicates, of columns whose bounds are narrow and wide.
_TEN = "[f'long_3 > {n}000 AND long_3 < {n}500' for n in range(10)]"
_TWENTY = f"{_TEN} + [f'int_5 = {{n}}777 AND double_6 > {{n}}' for n in range(10)]"
_LAYOUTS = (
    Step(f"table.what_if('sort by long_3', {_TEN})._repr_html_()", title="what_if(…) of 10 predicates"),
    Step(f"table.advise({_TWENTY})._repr_html_()", title="advise(…) for 20 predicates"),
    Step("table.compare(table.location)._repr_html_()", title="compare(…) with itself"),
)
#: The peak has what each leaves behind for the next.
_ALL = Step(f"({', '.join((_EXPLAIN, *_ANSWERS, _REWRITE))})[0]", title="these answers, one after the other")
FILES = (
    Step(f"table.{BASE}", peers=("pyiceberg", "pypaimon", "duckdb_stats")),
    Step("len(table.files)", "files", _LISTING),
    Step("table.files._repr_html_()", peers=_LISTING),
    Step("table.files.record_count", "records", _LISTING),
    Step("len(table.files.where(content='data'))", "files", _LISTING),
    Step("len(table.files.where('record_count > 5'))", peers=_LISTING),
    Step("table.files[0]", peers=_LISTING),
    Step("len(table.files[5000:5020])", peers=_LISTING),
    Step("str(table.current.changes)"),
    Step("table.current.changes._repr_html_()"),
    Step("str(table.tree(references=False))"),
    Step("str(table.tree())"),
    Step(_EXPLAIN),
    *(Step(statement) for statement in _ANSWERS),
    Step(_REWRITE, title="dry_run(…)._repr_html_()"),
    *_LAYOUTS,
    _ALL,
)
#: Of a table of many files that has a hundred snapshots.
HUNDRED = (Step(f"table.{BASE}"), Step(_ANSWERS[-1]), Step(_ANSWERS[-2]))
WIDE = (
    Step(f"table.{BASE}", peers=("pyiceberg", "duckdb_stats")),
    Step("len(table.files)", "files", _LISTING),
    Step("table.files[0]", peers=_LISTING),
    Step("str(table.files[0].bounds)", peers=("pyiceberg", "duckdb_stats")),
)
SNAPSHOTS = (
    Step("table._repr_html_()"),
    Step("len([one.id for one in table.snapshots])", "files", ("pyiceberg_snapshots", "duckdb_snapshots")),
    Step("table.snapshots.to_arrow().num_rows", "files", ("pyiceberg_snapshots", "duckdb_snapshots")),
    Step("table.snapshots._repr_html_()"),
    Step("table.history._repr_html_()"),
    Step("str(table.tree())"),
)
COMMITS = (
    Step("table._repr_html_()"),
    Step("table.files._repr_html_()"),
    Step("table.history._repr_html_()"),
    Step("str(table.tree())"),
)
MOST = (
    Step("len(table.files)", "files"),
    Step("table.files._repr_html_()"),
    Step("table.current.changes._repr_html_()"),
    Step("len(table.files.where('record_count > 5'))"),
    Step(_EXPLAIN),
    *(Step(statement) for statement in _ANSWERS),
    Step(_REWRITE, title="dry_run(…)._repr_html_()"),
    _ALL,
)
#: Every step by its name, with the peers of the table that has most of them.
STEPS = {step.name: step for step in (*MOST, *WIDE, *SNAPSHOTS, *FILES)}


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the tables of the steps are grown to, and how often a process is started."""

    files: int
    wide: tuple[int, int]
    snapshots: int
    most: int
    runs: int


def run_steps(tables: Tables, sizes: Sizes, other: Path | None) -> Iterator[Measurement]:
    """Every step on its table, here and in another checkout; then the peers of that table.

    Older checkouts take more than 18 GB for the tree of a Paimon table whose commits are merged: they are not asked for it.
    """
    for format in ("iceberg", "paimon"):
        yield from _measure_table(FILES, tables.grow(format, sizes.files), sizes.runs, other)
        hundred = tables.grow(format, sizes.files, commits=100)
        yield from _measure_table(HUNDRED, hundred, sizes.runs, other)
    yield from _measure_table(WIDE, tables.grow("iceberg", *sizes.wide), sizes.runs, other)
    for format in ("iceberg", "paimon"):
        grown = tables.grow(format, snapshots=sizes.snapshots)
        yield from _measure_table(SNAPSHOTS, grown, sizes.runs, other)
        commits = tables.grow(format, commits=sizes.snapshots)
        yield from _measure_table(COMMITS, commits, sizes.runs, other if format == "iceberg" else None)
    for format in ("iceberg", "paimon"):
        yield from _measure_table(MOST, tables.grow(format, sizes.most), 1, None, warm=0)


def _measure_table(
    steps: Sequence[Step], grown: Grown, runs: int, other: Path | None, warm: int = _WARM_RUNS
) -> Iterator[Measurement]:
    for step in steps:
        if other is not None:
            yield replace(_measure_step(step, grown, runs, other, warm), checkout=OTHER)
        yield _measure_step(step, grown, runs, ROOT, warm)
    for runner in dict.fromkeys(peer for step in steps for peer in step.peers):
        one = measure(CASE, runner, grown, warm=1)
        if one.unavailable is None or not one.unavailable.startswith("does not read"):
            yield one


def _measure_step(step: Step, grown: Grown, runs: int, checkout: Path, warm: int) -> Measurement:
    """A step in some processes, less of them where it takes long."""
    result = Measurement(CASE, step.name, grown.facts)
    for _ in range(runs):
        answer = _ask(step, grown.target.path, checkout, warm)
        if "unavailable" in answer:
            return replace(result, unavailable=answer["unavailable"])
        result = replace(
            result,
            cold=[*result.cold, answer["elapsed"]],
            warm=[*result.warm, *answer["seconds"][1:]],
            peak=max(result.peak or 0, answer["peak"]),
            found={step.sums: answer["found"]} if step.sums else {},
        )
        if answer["elapsed"] > _PATIENCE:
            break
    return result


def _ask(step: Step, path: Path, checkout: Path, warm: int) -> dict[str, Any]:
    """Run one process that imports lakelens from a checkout."""
    # -P: the working directory is no place to import from, the checkout is
    command = [sys.executable, "-P", "-c", _SCRIPT.replace("{statement}", step.statement)]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONWARNINGS": "ignore"}
    return run_process([*command, str(path), str(warm), str(_PATIENCE)], environment)
