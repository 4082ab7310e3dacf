"""The parts of a full run: which runners meet which tables, how often, and about how long that takes on two cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.first_steps import Sizes, run_steps
from tests.benchmarks.measure import Grown, Measurement, measure
from tests.benchmarks.tables import Tables

RAW = ("fastavro", "polars", "datafusion", "floor")
#: Warm and cold runs of those that take so long that five would be too many.
SLOW = {
    "pyiceberg": (2, 2),
    "pypaimon": (1, 1),
    "duckdb": (3, 2),
    "duckdb_stats": (2, 1),
    "spark": (5, 0),
    "spark_pandas": (0, 1),
    "spark_files": (3, 0),
    "fastavro": (2, 1),
    "polars": (3, 2),
    "datafusion": (5, 2),
    "floor": (5, 1),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: files of the main tables, sizes of the curves, runs of what is quick."""

    runs: int = 5
    files: int = 100_000
    wide: tuple[int, int] = (2_000, 1_000)
    entries: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    peer_limit: int = 100_000
    columns: tuple[int, ...] = (10, 30, 100, 300, 1_000)
    columns_files: int = 2_000
    snapshots: tuple[int, ...] = (1, 10, 100, 1_000, 10_000)
    most: int = 1_000_000
    few: int = 10_000
    pandas: bool = True
    other: Path | None = None  # another checkout, measured beside this one where that is possible

    def count_runs(self, runner: str) -> tuple[int, int]:
        """Warm and cold runs of a runner."""
        warm, cold = SLOW.get(runner, (self.runs, self.runs))
        return min(warm, self.runs), min(cold, self.runs)


#: A run of a minute or so, to see that everything works.
QUICK = Plan(
    1, 2_000, (50, 100), (300, 1_000, 3_000), 3_000, (10, 30, 100), 50, (1, 10, 100), 3_000, 300, False
)

Measured = Iterator[Measurement]


def run_iceberg(tables: Tables, plan: Plan) -> Measured:
    """The main table of Iceberg: everyone, warm and cold."""
    return _run_main(
        tables, plan, "iceberg", ("pyiceberg", "spark", "spark_pandas", "duckdb", "duckdb_stats")
    )


def run_paimon(tables: Tables, plan: Plan) -> Measured:
    """The main table of Paimon: everyone, warm and cold."""
    return _run_main(tables, plan, "paimon", ("pypaimon", "spark"))


def _run_main(tables: Tables, plan: Plan, format: str, peers: Sequence[str]) -> Measured:
    grown = tables.grow(format, plan.files)
    for runner in ("to_arrow", "no_stats", "batches", *peers, *RAW):
        if runner != "spark_pandas" or plan.pandas:
            yield _measure(format, runner, grown, plan)


def run_wide(tables: Tables, plan: Plan) -> Measured:
    """Few files of a thousand columns."""
    files, columns = plan.wide
    grown = tables.grow("iceberg", files, columns)
    for runner in ("to_arrow", "no_stats", "batches", "pyiceberg", "duckdb", "duckdb_stats", "floor"):
        yield _measure("wide", runner, grown, plan)


def run_entries(tables: Tables, plan: Plan) -> Measured:
    """The curve over the number of files; its point at the main table's size is that of the main table."""
    peers = {
        "iceberg": ("pyiceberg", "spark", "duckdb", "fastavro"),
        "paimon": ("pypaimon", "spark", "fastavro"),
    }
    for format, slow in peers.items():
        for files in plan.entries:
            if files == plan.files:
                continue
            grown = tables.grow(format, files)
            yield measure("entries", "to_arrow", grown, warm=min(3, plan.runs), cold=1)
            yield measure("entries", "batches", grown, warm=min(2, plan.runs), cold=1)
            yield measure("entries", "floor", grown, warm=min(3, plan.runs))
            for runner in slow if files <= plan.peer_limit else ():
                yield measure("entries", runner, grown, warm=1 if files > plan.few else min(3, plan.runs))


def run_columns(tables: Tables, plan: Plan) -> Measured:
    """The curve over the number of columns; its point at the wide table's size is that of the wide table."""
    for columns in plan.columns:
        if (plan.columns_files, columns) == plan.wide:
            continue
        grown = tables.grow("iceberg", plan.columns_files, columns)
        yield measure("columns", "to_arrow", grown, warm=min(3, plan.runs), cold=1)
        yield measure("columns", "pyiceberg", grown, warm=1, cold=1)
        yield measure("columns", "floor", grown, warm=min(3, plan.runs))


def run_snapshots(tables: Tables, plan: Plan) -> Measured:
    """The curve over the number of snapshots: open, card and history."""
    for format in ("iceberg", "paimon"):
        for snapshots in plan.snapshots:
            grown = tables.grow(format, snapshots=snapshots)
            yield measure("snapshots", "history", grown, warm=min(3, plan.runs), cold=min(3, plan.runs))
            if format == "iceberg":
                for runner in ("pyiceberg_snapshots", "duckdb_snapshots"):
                    yield measure("snapshots", runner, grown, warm=min(3, plan.runs), cold=1)


def run_million(tables: Tables, plan: Plan) -> Measured:
    """A million files stream through batches: what a cold process holds at most."""
    for format in ("iceberg", "paimon"):
        yield measure("million", "batches", tables.grow(format, plan.most), cold=min(2, plan.runs))


def run_spark(tables: Tables, plan: Plan) -> Measured:
    """`lakelens.spark.files`: beside Spark's own, on one core and on two, and what the driver holds."""
    for format in ("iceberg", "paimon"):
        yield _measure("spark", "spark_files", tables.grow(format, plan.files), plan)
    most, few = tables.grow("iceberg", plan.most), tables.grow("iceberg", plan.few)
    for cpus in (1, 2):
        yield measure("spark", "spark_files", most, warm=min(2, plan.runs), cpus=cpus)
    yield measure("spark", "spark_files", few, warm=min(2, plan.runs), cpus=2)


def run_first_steps(tables: Tables, plan: Plan) -> Measured:
    """What a person asks first of a large table, of a wide one, and of one with a long history."""
    sizes = Sizes(plan.files, plan.wide, plan.snapshots[-1], plan.most, min(3, plan.runs))
    return run_steps(tables, sizes, plan.other)


def _measure(case: str, runner: str, grown: Grown, plan: Plan) -> Measurement:
    warm, cold = plan.count_runs(runner)
    return measure(case, runner, grown, warm=warm, cold=cold)


PARTS: dict[str, Callable[[Tables, Plan], Measured]] = {
    "iceberg": run_iceberg,
    "paimon": run_paimon,
    "wide": run_wide,
    "steps": run_first_steps,
    "million": run_million,
    "spark": run_spark,
    "entries": run_entries,
    "columns": run_columns,
    "snapshots": run_snapshots,
}
