"""The current state of an inventory: the newest row of each table, and the rows that count with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.spark.local.catalog import quote_name
from lakelens.spark.warehouse.columns import data_schema
from lakelens.spark.warehouse.store import Commit, InventoryStore
from lakelens.spark.warehouse.tables import TablePlace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Columns from the last look at a table that can no longer be opened; the others are from the last that opened it.
_OF_LAST = ("error_code", "error", "is_gone", "looked_at")


class InventoryState:
    """The committed rows of a store as DataFrames, lazily."""

    def __init__(self, spark: SparkSession, store: InventoryStore, log: Sequence[Commit]) -> None:
        self._spark = spark
        self._store = store
        self._commits = [commit for commit in log if commit.kind == "batch"]

    def read(self, name: str) -> DataFrame:
        """Read every committed row of a data set, with its `batch`."""
        return self._store.read(name, self._commits)

    @property
    def newest(self) -> DataFrame:
        """One row for each location: `last` is its newest row of `tables`, `good` the newest that has no error."""
        from pyspark.sql import functions as f

        rows = self.read("tables")
        row = f.struct(*map(quote_name, rows.columns))
        is_good = f.when(f.col("error").isNull() & ~f.col("is_gone"), f.col("batch"))
        return rows.groupBy("location").agg(
            f.max_by(row, "batch").alias("last"), f.max_by(row, is_good).alias("good")
        )

    @property
    def tables(self) -> DataFrame:
        """One row for each table: its facts from the last look without error, and the error of the last look."""
        from pyspark.sql import functions as f

        names = data_schema("tables").names
        columns = []
        for name in names:
            last = f.col(f"last.{quote_name(name)}")
            chosen = last if name in _OF_LAST else f.coalesce(f.col(f"good.{quote_name(name)}"), last)
            columns.append(chosen.alias(name))
        return self.newest.select(*columns)

    @property
    def states(self) -> DataFrame:
        """`location` with the batch of its last state (`last_batch`) and of the last readable one (`state_batch`)."""
        newest = self.newest.where("not last.is_gone")
        return newest.selectExpr(
            "location", "last.batch as last_batch", "coalesce(good.batch, last.batch) as state_batch"
        )

    def keep_current(self, rows: DataFrame, of_state: str | None = None) -> DataFrame:
        """Keep the rows of each table's current state; with `of_state` (SQL) also all rows for which that is false.

        Tables that are gone have none.
        """
        from pyspark.sql import functions as f

        states = f.broadcast(self.states.select("location", "state_batch"))
        joined = rows.join(states, "location")
        is_current = f.expr("batch <=> state_batch")
        chosen = joined.where(is_current | ~f.expr(of_state) if of_state else is_current)
        return chosen.select(*map(quote_name, rows.columns))

    @property
    def manifests(self) -> DataFrame:
        """Each manifest once; one that could not be read completely has the error of the last try."""
        return self.keep_current(self.read("manifests"), "error is not null")

    @property
    def snapshots(self) -> DataFrame:
        """Each snapshot once, also those that have expired since."""
        return self.keep_current(self.read("snapshots"), "partial")

    @property
    def entries(self) -> DataFrame:
        """Each entry of each manifest once."""
        return self.keep_current(self.read("entries"), "partial")

    def list_answers(self, name: str) -> DataFrame:
        """List the rows of a data set of answers that belong to the last readable state of each table."""
        return self.keep_current(self.read(name))

    @property
    def findings(self) -> DataFrame:
        """The findings of the last look at each table, and of everything that is read only once."""
        from pyspark.sql import functions as f

        rows = self.read("findings")
        states = f.broadcast(self.states.select("location", "last_batch", "state_batch"))
        joined = rows.join(states, "location", "inner")
        current = joined.where("not of_state or batch = last_batch or batch = state_batch")
        return current.select(*map(quote_name, rows.columns)).dropDuplicates(
            ["location", "severity", "code", "path", "message"]
        )


@dataclass(frozen=True)
class KnownTables:
    """What is known when a run begins, by location; `frame` is None when nothing is."""

    frame: DataFrame | None
    newest: DataFrame | None = None
    options: Mapping[str, Any] | None = None

    def remember_others(self, places: Sequence[TablePlace]) -> list[TablePlace]:
        """The known tables that are not among these: a run checks whether they still exist."""
        if self.newest is None:
            return []
        listed = {place.url for place in places}
        options = places[0].options if places else {}
        answers = places[0].answers if places else ()
        rows = self.newest.where("not last.is_gone").selectExpr("location", "last.format as format").collect()
        return [
            TablePlace(row["location"], row["format"], remembered=True, options=options, answers=answers)
            for row in sorted(rows, key=lambda row: str(row["location"]))
            if row["location"] not in listed
        ]


@contextmanager
def read_known(spark: SparkSession, store: InventoryStore, log: Sequence[Commit]) -> Iterator[KnownTables]:
    """What a store knows of every table, kept in the executors' memory (or on their disks) for as long as a run lasts."""
    from pyspark.sql import functions as f

    state = InventoryState(spark, store, log)
    if not any(commit.rows.get("tables") for commit in log):
        yield KnownTables(None)
        return
    newest = state.newest.persist()
    last = newest.selectExpr(
        "location",
        "last.batch as last_batch",
        "last.signature as signature",
        "last.is_incomplete as is_incomplete",
    )
    snapshots = (
        state.read("snapshots")
        .where("not partial")
        .groupBy("location")
        .agg(f.collect_set("key").alias("snapshots"))
    )
    manifests = (
        state.read("manifests")
        .where("error is null")
        .groupBy("location")
        .agg(f.collect_set(f.unhex(f.md5("manifest"))).alias("manifests"))
    )
    unread = state.manifests.where("error is not null").select("location").distinct()
    frame = (
        last.join(snapshots, "location", "left")
        .join(manifests, "location", "left")
        .join(unread.withColumn("unread", f.lit(True)), "location", "left")
        .selectExpr(
            "location",
            "signature",
            "is_incomplete or coalesce(unread, false) as is_incomplete",
            "snapshots",
            "manifests",
        )
        .persist()
    )
    try:
        yield KnownTables(_cut_plan(spark, frame), newest)
    finally:
        frame.unpersist()
        newest.unpersist()


def _cut_plan(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """Cut the same rows with a plan that begins here: it is part of each batch's plan, which is analysed many times."""
    from pyspark.sql import DataFrame

    rows = frame._jdf
    return DataFrame(spark._jsparkSession.createDataFrame(rows.rdd(), rows.schema()), spark)
