"""Taking an inventory of a warehouse, and opening an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.answers.survey import check_names
from lakelens.errors import Missing
from lakelens.spark.local.catalog import quote_name
from lakelens.spark.local.session import check_running
from lakelens.spark.warehouse.columns import ANSWERED, data_schema
from lakelens.spark.warehouse.facts import ANSWERABLE
from lakelens.spark.warehouse.run import Run, RunSummary
from lakelens.spark.warehouse.state import InventoryState
from lakelens.spark.warehouse.store import Commit, InventoryStore, open_store
from lakelens.spark.warehouse.tables import list_places

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Tables in one batch: the most that is done again after a run is killed.
BATCH_SIZE = 50


def inventory(
    root_or_catalog: Any,
    spark: SparkSession,
    target: Any = None,
    *,
    depth: int = 4,
    batch_size: int = BATCH_SIZE,
    answers: Collection[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    progress: bool = True,
    on_batch: Callable[[Commit], None] | None = None,
) -> Inventory:
    """Tables, snapshots, manifests, files, entries and findings of a whole warehouse, gathered by Spark's executors.

    A run reads the manifest lists of new snapshots and the manifests that were never read, nothing else. It commits batch
    by batch: if it is killed, the next run continues where it stopped. A table that cannot be opened is a row of `tables`
    with its `error`; the next run tries it again, and manifests that could not be read too.

    Parameters
    ----------
    root_or_catalog
        A directory or URL (any mix of formats), the name of a catalog of the session, or a list of tables (paths, names,
        `Table`s).
    spark
        The session.
    target
        Where the inventory is kept and updated by later runs: a directory or URL for Parquet, `catalog.database` of the
        session for Iceberg tables. None keeps it as long as the session lasts.
    depth
        How many levels below a directory are walked.
    batch_size
        How many tables make one commit.
    answers
        Which of "check", "health" and "space" to work out for each new or changed table, for `worth_doing` and the
        DataFrames `answers`, `measures` and `slices`. They list its directory and read more of it.
    storage_options
        Options for fsspec.
    progress
        Whether to say after the first second how far it is, as `lakelens.options.display.progress` lets it.
    on_batch
        Called with each record of the log.

    Returns
    -------
    Inventory
        DataFrames of everything known; `summary` says what this run did.

    Raises
    ------
    Missing
        There is no such directory.
    LakeError
        Another run has taken over the same target, or there is no such answer.
    """
    asked = check_names(answers, ANSWERABLE)
    check_running(spark)
    places = list_places(root_or_catalog, spark, depth=depth, storage_options=storage_options)
    store = open_store(spark, target)
    # a target inside the warehouse is not part of it
    places = [replace(place, answers=asked) for place in places if not store.holds(place.url)]
    run = Run(spark, store, places, batch_size=batch_size, progress=progress, on_batch=on_batch)
    return Inventory(spark, store, target, run.take(str(root_or_catalog)[:200]))


def read_inventory(target: Any, spark: SparkSession) -> Inventory:
    """Open an inventory that was taken earlier; no table is read.

    Parameters
    ----------
    target
        The directory, URL or `catalog.database` that `inventory` wrote.
    spark
        The session.

    Raises
    ------
    Missing
        There is no inventory there.
    """
    opened = Inventory(spark, open_store(spark, target), target)
    if not opened.has_commits:
        raise Missing("no inventory was ever committed here", path=str(target))
    return opened


# The inventory for its reader: DataFrames of tables, snapshots, manifests, files and entries, and ready-made queries.

_VIEWS = ("tables", "snapshots", "manifests", "files", "entries", "findings", *ANSWERED, "runs")
_INTERNAL = {"present", "signature", "key", "partial", "file_key", "of_state", "is_gone"}
#: Files of fewer bytes are small by default.
SMALL_BYTES = 32 * 1024 * 1024


class Inventory:
    """What is known about the tables of a warehouse, as DataFrames; see `lakelens.spark.inventory`.

    Each property is a lazy DataFrame over everything that was committed when the inventory was made or opened. `summary`
    says what the run did; None for an inventory that was only opened.
    """

    def __init__(
        self,
        spark: SparkSession,
        store: InventoryStore,
        target: Any = None,
        summary: RunSummary | None = None,
    ) -> None:
        self._spark = spark
        self._log = store.read_log()
        self._state = InventoryState(spark, store, self._log)
        self.target = None if target is None else str(target)
        self.summary = summary

    def __repr__(self) -> str:
        kept = "kept in the session" if self.target is None else "kept in a target"
        return f"<Inventory {kept}: {self.summary.words if self.summary else f'{len(self._log)} records'}>"

    @property
    def has_commits(self) -> bool:
        """Whether there is anything in it."""
        return any(commit.kind == "batch" for commit in self._log)

    @cached_property
    def tables(self) -> DataFrame:
        """One row for each table that still exists: its state at the last look; `error` says why one cannot be opened."""
        return _show(self._state.tables.where("not is_gone"), "tables")

    @cached_property
    def snapshots(self) -> DataFrame:
        """One row for each snapshot that was ever seen: what it records, and whether it has `expired`, `is_current`,
        `is_ancestor` (of the current state).
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        tables = self._state.tables.where("not is_gone")
        present = tables.select("location", f.explode("present").alias("p")).selectExpr(
            "location", "p.key as key", "p.is_ancestor as found_ancestor", "true as found"
        )
        current = tables.selectExpr("location", "current_snapshot_id")
        joined = self._state.snapshots.join(present, ["location", "key"], "left").join(current, "location")
        found = f.coalesce("found", f.lit(False))
        # a missing snapshot was rolled back, unless it is older than all present ones: then it has expired
        earliest = f.min(f.when(found, f.col("committed_at"))).over(Window.partitionBy("location"))
        stemmed = f.col("is_ancestor") & (f.col("committed_at") < earliest)
        marked = joined.withColumns(
            {
                "is_ancestor": f.coalesce("found_ancestor", stemmed, f.lit(False)),
                "expired": ~found,
                "is_current": found & f.coalesce(f.expr("snapshot_id = current_snapshot_id"), f.lit(False)),
            }
        )
        return _show(marked, "snapshots", "expired", "is_current")

    @cached_property
    def manifests(self) -> DataFrame:
        """One row for each manifest: what its list says, how many entries were read, and the `error` if not all were."""
        return _show(self._state.manifests, "manifests")

    @cached_property
    def entries(self) -> DataFrame:
        """Every entry of every manifest once, with its `status` and the snapshot that committed it."""
        return _show(self._state.entries, "entries")

    @cached_property
    def files(self) -> DataFrame:
        """The live files of each table's current state: data files, delete files and deletion vectors.

        Iceberg: the entries of the current snapshot's manifests that are not DELETED. Paimon: the files whose last
        entry in base and delta is ADD. Hive: the listing. Each file comes once.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        state = self._state
        members = state.keep_current(state.read("members")).selectExpr(
            "location", "manifest", "position as manifest_position"
        )
        entries = state.entries.where("status <> 'DELETED'").join(members, ["location", "manifest"])
        last = Window.partitionBy("location", "file_key").orderBy(
            f.col("manifest_position").desc(), f.col("position").desc()
        )
        ranked = entries.withColumn("rank", f.row_number().over(last))
        live = ranked.where("rank = 1 and status <> 'DELETE'").withColumn(
            "modified", f.lit(None).cast("timestamp")
        )
        listed = state.keep_current(state.read("listings")).withColumns(
            {"manifest": f.lit(None).cast("string"), "snapshot_id": f.lit(None).cast("bigint")}
        )
        names = [*data_schema("listings").names[:-1], "snapshot_id", "manifest", "modified"]
        return live.select(*map(quote_name, names)).unionByName(listed.select(*map(quote_name, names)))

    @cached_property
    def findings(self) -> DataFrame:
        """What is wrong with tables, their manifest lists and manifests."""
        return _show(self._state.findings, "findings")

    @cached_property
    def answers(self) -> DataFrame:
        """One row for each table of which answers were asked: its verdict and counts, what to do first, its bytes."""
        return _show(self._state.list_answers("answers"), "answers")

    @cached_property
    def measures(self) -> DataFrame:
        """What the health of those tables is made of: each measure with its limit, verdict, advice and call."""
        return _show(self._state.list_answers("measures"), "measures")

    @cached_property
    def slices(self) -> DataFrame:
        """Where the bytes under the directories of those tables are; of each table they add up to `total_bytes`."""
        return _show(self._state.list_answers("slices"), "slices")

    @cached_property
    def runs(self) -> DataFrame:
        """The log of the inventory: the beginning, batches and end of each run, with the counts of what was read."""
        rows = [
            (c.number, c.kind, c.run, c.at, c.batch, c.rows, {k: float(v) for k, v in c.counts.items()})
            for c in self._log
        ]
        schema = (
            "number bigint, kind string, run string, at string, batch string, "
            "rows map<string,bigint>, counts map<string,double>"
        )
        frame = self._spark.createDataFrame(rows, schema)
        return frame.selectExpr(
            "number", "kind", "run", "cast(at as timestamp) as at", "batch", "rows", "counts"
        )

    def create_views(self, prefix: str = "") -> list[str]:
        """Create temporary views of all DataFrames, for SQL: `tables`, `snapshots`, …

        Parameters
        ----------
        prefix
            What each name begins with.

        Returns
        -------
        list of str
            The names.
        """
        names = []
        for name in _VIEWS:
            getattr(self, name).createOrReplaceTempView(f"{prefix}{name}")
            names.append(f"{prefix}{name}")
        return names

    def churn(self) -> DataFrame:
        """Say what commits added and removed, by table and day (UTC): `commits`, files and bytes, rows of data files.

        Counts the entries of snapshots whose time is known. For Hive tables only the write times of today's files are known,
        not what was removed.
        """
        return self._sum_changes(self.snapshots).orderBy("table", "location", "day")

    def growth(self) -> DataFrame:
        """How large each table was at the end of each day (UTC) on which something was committed: `files`, `bytes`, `rows`.

        Counted back from today's files by what commits added and removed since, so correct as far back as the known
        snapshots reach. Only ancestors of the current state count.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        sizes = self._sum_files()
        later = (
            Window.partitionBy("location")
            .orderBy(f.col("day").desc())
            .rowsBetween(Window.unboundedPreceding, -1)
        )
        changes = self._sum_changes(self.snapshots.where("is_ancestor"))

        def back(now: str, kind: str) -> Any:
            since = f.coalesce(f.sum(f.col(f"added_{kind}") - f.col(f"removed_{kind}")).over(later), f.lit(0))
            return (f.coalesce(f.col(now), f.lit(0)) - since).alias(kind)

        return (
            changes.join(sizes.drop("table", "format"), "location", "left")
            .select(
                "table",
                "location",
                "format",
                "day",
                "commits",
                back("file_count", "files"),
                back("size_bytes", "bytes"),
                back("record_count", "rows"),
            )
            .orderBy("table", "location", "day")
        )

    def small_files(self, limit: int = SMALL_BYTES) -> DataFrame:
        """Small data files by table and partition: how many, of how many, their bytes; the most first.

        Parameters
        ----------
        limit
            Files of fewer bytes are small.
        """
        from pyspark.sql import functions as f

        small = f.col("size_bytes") < limit
        return (
            self.files.where("content = 'data'")
            .groupBy("table", "location", "format", "partition")
            .agg(
                f.sum(small.cast("bigint")).alias("small_files"),
                f.count(f.lit(1)).alias("files"),
                f.coalesce(f.sum(f.when(small, f.col("size_bytes"))), f.lit(0)).alias("small_bytes"),
                f.sum("size_bytes").alias("bytes"),
                f.avg("size_bytes").cast("bigint").alias("average_bytes"),
            )
            .where("small_files > 0")
            .orderBy(f.desc("small_files"), "table", "location", "partition")
        )

    def sizes(self) -> DataFrame:
        """Each table with its live `files`, their `bytes` and `rows`, `delete_files`, and its `snapshots`; largest first."""
        from pyspark.sql import functions as f

        kept = self.tables.select("table", "location", "format", "snapshot_count", "error")
        return (
            kept.join(self._sum_files().drop("table", "format"), "location", "left")
            .selectExpr(
                "table",
                "location",
                "format",
                "coalesce(file_count, 0) as files",
                "coalesce(size_bytes, 0) as bytes",
                "record_count as rows",
                "coalesce(delete_count, 0) as delete_files",
                "snapshot_count as snapshots",
                "error",
            )
            .orderBy(f.desc("bytes"), "table", "location")
        )

    def worth_doing(self) -> DataFrame:
        """Tables by what is worth doing first: the damaged, then those that would give back most bytes, then most to act on.

        Of a run with `answers`; tables that nothing need be done about are left out.
        """
        from pyspark.sql import functions as f

        needs = (
            "coalesce(errors, 0) + coalesce(act, 0) + coalesce(reclaimable_bytes, 0) > 0 or error is not null"
        )
        ordered = (
            f.desc_nulls_last("errors"),
            f.desc_nulls_last("reclaimable_bytes"),
            f.desc_nulls_last("act"),
        )
        names = ("table", "format", "verdict", "errors", "act", "watch", "first", "call")
        return (
            self.answers.where(needs)
            .orderBy(*ordered, "table", "location")
            .select(*names, "reclaimable_bytes", "total_bytes", "location", "error")
        )

    def _sum_files(self) -> DataFrame:
        from pyspark.sql import functions as f

        return self.files.groupBy("table", "location", "format").agg(
            f.count(f.lit(1)).alias("file_count"),
            f.sum("own_size_bytes").alias("size_bytes"),
            f.expr("sum(case when content = 'data' then record_count end)").alias("record_count"),
            f.expr("count_if(content <> 'data')").alias("delete_count"),
        )

    def _sum_changes(self, snapshots: DataFrame) -> DataFrame:
        """Say what the commits of some snapshots added and removed, by table and day."""
        from pyspark.sql import functions as f

        times = snapshots.select("location", "snapshot_id", "committed_at")
        changes = self._state.entries.where(
            "status in ('ADDED', 'ADD', 'DELETED', 'DELETE') and content <> 'changelog'"
        )
        dated = changes.join(times, ["location", "snapshot_id"]).selectExpr(
            "*", "to_date(committed_at) as day", "status in ('ADDED', 'ADD') as is_added"
        )
        listed = self._state.keep_current(self._state.read("listings")).selectExpr(
            "*", "to_date(modified) as day", "true as is_added", "cast(null as bigint) as snapshot_id"
        )
        names = ["table", "location", "format", "day", "snapshot_id", "is_added", "content"]
        names += ["own_size_bytes", "record_count"]
        rows = dated.select(*map(quote_name, names)).unionByName(listed.select(*map(quote_name, names)))

        def total(value: str, added: bool) -> Any:
            return f.expr(f"coalesce(sum({value}) filter (where {'' if added else 'not '}is_added), 0)")

        in_data = "case when content = 'data' then record_count end"
        return rows.groupBy("table", "location", "format", "day").agg(
            f.countDistinct("snapshot_id").alias("commits"),
            total("1", True).alias("added_files"),
            total("1", False).alias("removed_files"),
            total("own_size_bytes", True).alias("added_bytes"),
            total("own_size_bytes", False).alias("removed_bytes"),
            total(in_data, True).alias("added_rows"),
            total(in_data, False).alias("removed_rows"),
        )


def _show(frame: DataFrame, name: str, *further: str) -> DataFrame:
    """Show the public columns of a data set."""
    names = [one for one in data_schema(name).names if one not in _INTERNAL]
    return frame.select(*map(quote_name, (*names, *further)))
