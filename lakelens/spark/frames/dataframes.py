"""Files and entries of one table as Spark DataFrames: planned here, decoded on the executors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.model.scan.pruning import select_files
from lakelens.model.table import Table
from lakelens.opening import open_table
from lakelens.spark.frames.planning import ReadPlan, Wanted, find_parallelism, plan_entries, plan_files
from lakelens.spark.frames.scanning import IDENTITY, ORDER, make_reader
from lakelens.spark.frames.types import spark_schema
from lakelens.spark.local.session import check_running

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def files(
    table: Any,
    spark: SparkSession,
    snapshot: Any = None,
    *,
    stats: bool = True,
    columns: Iterable[str] | None = None,
    partition: Mapping[str, Any] | None = None,
    path: str | None = None,
    strict: bool = True,
    parallelism: int | None = None,
) -> DataFrame:
    """The live files of a snapshot as a DataFrame: the columns of `FileSet.to_arrow`, in Spark's types.

    The driver reads manifest lists alone; executors decode the manifests, each once, in bins of about the same size.
    Nothing is collected. Paimon's DELETE entries, where there are any, are taken away by a left-anti join. Hive tables have
    no manifests: the driver lists the files and ships their rows.

    Parameters
    ----------
    table
        A `Table`, or what `lakelens.open` takes.
    spark
        The session.
    snapshot
        An id, a branch, a tag or a time; None for the current snapshot.
    stats
        Whether to decode bounds and counts. Spark does not say what a query drops: False is faster.
    columns
        The names of the wanted columns; None for all.
    partition
        For a field of the partition the wanted value, a list of values, None for files without one, or `(low, high)`, both
        ends included. Manifests that can hold no such file by what their lists say are not read.
    path
        A whole path, a pattern with `*` and `?`, or a prefix that ends in `/`.
    strict
        Whether a damaged manifest fails the job; with False what can be read of it is there.
    parallelism
        How many tasks run at once; None for the cluster's own number.

    Returns
    -------
    pyspark.sql.DataFrame
        Rows in no order; all dropped columns are there. A file in two manifests at once comes twice, as in the engines' own
        metadata tables.

    Raises
    ------
    LakeError
        The table cannot be opened or planned.
    KeyError
        There is no such column.

    Examples
    --------
    >>> import lakelens as ll
    >>> frame = ll.spark.files("warehouse/db/t", spark)                                # doctest: +SKIP
    >>> frame.groupBy("partition").agg({"size_bytes": "sum"}).show()                   # doctest: +SKIP
    """
    opened = open_source(table, spark)
    wanted = _want(stats, columns, partition, path, strict)
    chosen = opened.current if snapshot is None else opened.snapshot(snapshot)
    return build_frame(spark, plan_files(opened, chosen, wanted, parallelism or find_parallelism(spark)))


def entries(
    table: Any,
    spark: SparkSession,
    all_snapshots: bool = False,
    *,
    stats: bool = True,
    columns: Iterable[str] | None = None,
    partition: Mapping[str, Any] | None = None,
    path: str | None = None,
    strict: bool = True,
    parallelism: int | None = None,
) -> DataFrame:
    """Every entry of the current snapshot's manifests as a DataFrame, deleted ones included. Nothing is merged.

    Parameters
    ----------
    table, spark
        As for `files`.
    all_snapshots
        Whether to read every manifest that some snapshot names, each once.
    stats, columns, partition, path, strict, parallelism
        As for `files`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of `files` after `status`, which is the format's own word; `snapshot_id` is the entry's.

    Raises
    ------
    Unsupported
        The format has no manifests.
    LakeError
        The table cannot be opened or planned.
    KeyError
        There is no such column.
    """
    opened = open_source(table, spark)
    wanted = _want(stats, columns, partition, path, strict)
    plan = plan_entries(opened, all_snapshots, wanted, parallelism or find_parallelism(spark))
    return build_frame(spark, plan)


def _want(
    stats: bool,
    columns: Iterable[str] | None,
    partition: Mapping[str, Any] | None,
    path: str | None,
    strict: bool,
) -> Wanted:
    select = partial(select_files, partition=partition, path=path)
    return Wanted(stats, None if columns is None else tuple(columns), select, strict)


def open_source(source: Any, spark: SparkSession | None) -> Table:
    """Give a table as it is, or opened; names are looked up in the session's catalogs. Raises what `check_running` does."""
    check_running(spark)
    return source if isinstance(source, Table) else open_table(source, spark=spark)


def build_frame(spark: SparkSession, plan: ReadPlan) -> DataFrame:
    """Build the DataFrame of a plan."""
    kinds = spark_schema(plan.layout.schema)
    if not plan.bins:
        return spark.createDataFrame([], kinds)
    head = plan.pickle_head()
    if not plan.removing:
        return _map_bins(spark, head, plan.bins, "read_files", kinds)
    added = _map_bins(spark, head, plan.bins, "read_files", _add_merge_fields(kinds))
    removed = _map_bins(spark, head, plan.removing, "read_removals", _add_merge_fields(None))
    later = (added[IDENTITY] == removed[IDENTITY]) & (added[ORDER] < removed[ORDER])
    return added.join(removed, later, "left_anti").drop(IDENTITY, ORDER)


def _map_bins(
    spark: SparkSession, head: bytes, bins: tuple[bytes, ...], part: str, schema: StructType
) -> DataFrame:
    """One task for each bin: the numbers of the bins are the rows that executors turn into files."""
    count = len(bins)
    return spark.range(0, count, 1, count).mapInArrow(make_reader(head, bins, part), schema)


def _add_merge_fields(schema: StructType | None) -> StructType:
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    merge = [StructField(IDENTITY, BinaryType()), StructField(ORDER, LongType())]
    return StructType([*(schema or StructType()), *merge])
