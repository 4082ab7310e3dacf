"""One statement of SQL on a session: a line while it runs, an interrupt that stops it, the first rows of its result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lakelens.model.collections import QueryResult
from lakelens.options import display
from lakelens.progress import Running

if TYPE_CHECKING:
    import pyarrow as pa


def run_statement(spark: Any, sql: str, noun: str) -> QueryResult | None:
    """Run a statement; gives the first rows of its result, None where it has none.

    Parameters
    ----------
    spark
        The session.
    sql
        One statement.
    noun
        What the line calls it while it runs.

    Raises
    ------
    Interrupted
        It was interrupted; the jobs of the session are cancelled.
    Exception
        What Spark raises.
    """

    def work() -> QueryResult | None:
        frame = spark.sql(sql)
        return fetch_rows(frame, sql) if frame.columns else None

    def cancel() -> None:
        with suppress(Exception):  # a session may have ended meanwhile
            spark.sparkContext.cancelAllJobs()

    running = Running(noun, lambda: _count_tasks(spark))
    return running.wait(_inherit(spark, work), cancel)


def fetch_rows(frame: Any, sql: str = "") -> QueryResult:
    """The first rows of a DataFrame, at most `display.max_rows`, in Arrow's types for Spark's; no other row is computed."""
    table = _collect(frame.limit(display.max_rows + 1))
    is_cut = table.num_rows > display.max_rows
    return QueryResult(table.slice(0, display.max_rows), "spark", statement=sql, is_cut=is_cut)


def _collect(frame: Any) -> pa.Table:
    import pyarrow as pa
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type

    names = list(frame.columns)
    foreign = []
    for place, field in enumerate(frame.schema.fields):
        try:
            to_arrow_type(field.dataType)
        except Exception:  # an interval, a variant: Spark's own text of it
            foreign.append(place)
    if foreign:
        plain = [f"c{place}" for place in range(len(names))]  # names may be there twice
        chosen = [
            col(name).cast("string") if place in foreign else col(name) for place, name in enumerate(plain)
        ]
        frame = frame.toDF(*plain).select(*chosen)
    if hasattr(frame, "toArrow"):  # PySpark 4
        return frame.toArrow().rename_columns(names)
    batches = frame._collect_as_arrow()
    table = pa.Table.from_batches(batches) if batches else to_arrow_schema(frame.schema).empty_table()
    return table.rename_columns(names)


def _inherit(spark: Any, work: Callable[[], QueryResult | None]) -> Callable[[], QueryResult | None]:
    """Inherit the work with the local properties of the caller's thread: its pool, its job group."""
    if getattr(spark, "_sc", None) is None:  # Spark Connect has none
        return work
    from pyspark import inheritable_thread_target

    inherited: Callable[[], QueryResult | None] = inheritable_thread_target(work)
    return inherited


def _count_tasks(spark: Any) -> str:
    """Count how far the jobs of a session are; empty where that is not known."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    except Exception:  # as above
        return ""
    known = [stage for stage in stages if stage is not None]
    done, total = sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)
    return f"{done:,} of {total:,} tasks" if total else ""
