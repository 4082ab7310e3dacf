"""Tasks of scans, against the partitions of Spark's own DataFrames over the same tables."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.explain.tasks import Tasks, plan_tasks

# a minute of them altogether: `make test-all`
pytestmark = [pytest.mark.spark, pytest.mark.exhaustive]

MIB = 1 << 20


def find_parallelism(spark: Any) -> int:
    """The count of Iceberg's `SparkReadConf.parallelism`."""
    return max(spark.sparkContext.defaultParallelism, int(spark.conf.get("spark.sql.shuffle.partitions")))


def list_partitions(frame: Any) -> list[frozenset[str]]:
    """The names of the files that each partition reads."""
    from pyspark.sql import functions

    number, file = functions.spark_partition_id().alias("number"), functions.input_file_name().alias("file")
    found: dict[int, set[str]] = defaultdict(set)
    for row in frame.select(number, file).distinct().collect():
        found[row["number"]].add(row["file"].rpartition("/")[2])
    return sorted(map(frozenset, found.values()), key=sorted)


def list_planned(frame: Any) -> list[frozenset[str]]:
    """The names of the files of each input partition that Paimon's scan plans, whose rows do not say where they are from."""
    (leaf,) = list_sequence(frame._jdf.queryExecution().optimizedPlan().collectLeaves())
    found = []
    for partition in leaf.scan().toBatch().planInputPartitions():
        splits = list_sequence(partition.splits())
        found.append(frozenset(file.fileName() for split in splits for file in split.dataFiles()))
    return sorted(found, key=sorted)


def list_sequence(sequence: Any) -> list[Any]:
    """The items of a sequence of Scala's."""
    return [sequence.apply(i) for i in range(sequence.size())]


def list_tasks(tasks: Tasks) -> list[frozenset[str]]:
    names = (frozenset(file.path.rpartition("/")[2] for file in task.files) for task in tasks)
    return sorted(names, key=sorted)


def fill(frame: Any, sizes: list[int], first: int = 0) -> Any:
    """Rows in as many files as there are sizes, each with a part of its own, counted from the first."""
    from pyspark.sql import functions

    parts = [
        frame.sparkSession.range(size * 300).select(
            functions.lit(first + i).alias("part"),
            functions.col("id"),
            functions.expr("uuid()").alias("text"),
        )
        for i, size in enumerate(sizes)
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole.coalesce(len(sizes)) if len(sizes) == 1 else whole.repartitionByRange(len(sizes), "part")


SIZES = [3, 40, 17, 90, 5, 66, 21, 8, 120, 30, 44, 2]


@pytest.fixture(scope="module")
def iceberg_table(spark: Any) -> str:
    """One commit of a dozen files, so that one manifest says their order."""
    spark.sql("CREATE DATABASE IF NOT EXISTS iceberg.tasks")
    name = "iceberg.tasks.many"
    spark.sql(
        f"CREATE TABLE {name} (part INT, id BIGINT, text STRING) USING iceberg TBLPROPERTIES "
        "('format-version'='2', 'write.distribution-mode'='none', 'write.parquet.row-group-size-bytes'='400000',"
        " 'write.delete.mode'='merge-on-read', 'write.parquet.page-row-limit'='500',"
        " 'write.parquet.row-group-check-min-record-count'='100', 'write.parquet.row-group-check-max-record-count'='500')"
    )
    fill(spark.range(1), SIZES).writeTo(name).append()
    return name


def set_properties(spark: Any, name: str, properties: dict[str, Any]) -> None:
    pairs = ", ".join(f"'{key}'='{value}'" for key, value in properties.items())
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ({pairs})")


@pytest.mark.parametrize(
    ("target", "cost", "lookback"),
    [
        (128 * MIB, 4 * MIB, 10),
        (1 * MIB, 1, 10),
        (1 * MIB, 1, 1),
        (3 * MIB, 100_000, 3),
        (2 * MIB, 700_000, 2),
        (600_000, 1, 2),
        (100_000, 1, 10),
    ],
)
@pytest.mark.parametrize("is_adaptive", [False, True])
def test_iceberg(
    spark: Any, iceberg_table: str, target: int, cost: int, lookback: int, is_adaptive: bool
) -> None:
    properties = {
        "read.split.target-size": target,
        "read.split.open-file-cost": cost,
        "read.split.planning-lookback": lookback,
        "read.split.adaptive-size.enabled": str(is_adaptive).lower(),
    }
    set_properties(spark, iceberg_table, properties)
    table = ll.open(iceberg_table, spark=spark)
    tasks = plan_tasks(table.current.files, table, parallelism=find_parallelism(spark))
    frame = spark.table(iceberg_table)
    assert len(tasks) == frame.rdd.getNumPartitions()
    assert list_tasks(tasks) == list_partitions(frame)
    assert sum(task.size_bytes for task in tasks) > 0


def test_iceberg_with_a_size_of_the_reader(spark: Any, iceberg_table: str) -> None:
    table = ll.open(iceberg_table, spark=spark)
    for size in (300_000, 2 * MIB, 64 * MIB):
        frame = spark.read.option("split-size", size).table(iceberg_table)
        tasks = plan_tasks(table.current.files, table, size)
        assert list_tasks(tasks) == list_partitions(frame) and len(tasks) == frame.rdd.getNumPartitions()
        assert tasks.target_size == size


def test_iceberg_with_deletes(spark: Any, iceberg_table: str) -> None:
    """Deletes weigh: they are files that are opened, and bytes that are read."""
    spark.sql(f"DELETE FROM {iceberg_table} WHERE part IN (1, 3, 8) AND id % 7 = 0")
    for target, cost in ((1 * MIB, 300_000), (2 * MIB, 500_000), (500_000, 1)):
        properties = {"read.split.target-size": target, "read.split.open-file-cost": cost}
        set_properties(spark, iceberg_table, {**properties, "read.split.adaptive-size.enabled": "false"})
        table = ll.open(iceberg_table, spark=spark)
        assert any(file.deletes for file in table.current.files)
        tasks = plan_tasks(table.current.files, table)
        frame = spark.table(iceberg_table)
        assert list_tasks(tasks) == list_partitions(frame) and len(tasks) == frame.rdd.getNumPartitions()


def write_paimon(spark: Any, name: str, options: str, commits: list[list[int]]) -> str:
    spark.sql("CREATE DATABASE IF NOT EXISTS paimon.tasks")
    spark.sql(
        f"CREATE TABLE paimon.tasks.{name} (part INT, id BIGINT, text STRING) TBLPROPERTIES ({options})"
    )
    for number, sizes in enumerate(commits):
        fill(spark.range(1), sizes, 100 * number).createOrReplaceTempView("rows_to_write")
        spark.sql(f"INSERT INTO paimon.tasks.{name} SELECT * FROM rows_to_write")
    return f"paimon.tasks.{name}"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("append", "'bucket'='-1', 'write-only'='true'"),
        ("keyed", "'primary-key'='part,id', 'bucket'='2', 'write-only'='true'"),
        ("overlapping", "'primary-key'='id', 'bucket'='2', 'write-only'='true'"),
        ("compacted", "'primary-key'='part,id', 'bucket'='2', 'target-file-size'='500kb'"),
        ("vectors", "'primary-key'='part,id', 'bucket'='2', 'deletion-vectors.enabled'='true'"),
    ],
)
def test_paimon(spark: Any, name: str, options: str) -> None:
    table_name = write_paimon(spark, name, options, [[9, 40, 25], [3, 60, 12, 70], [30, 5]])
    counts = set()
    try:
        for target, cost, cores in SETTINGS:
            properties = {"source.split.target-size": target, "source.split.open-file-cost": cost}
            set_properties(spark, table_name, properties)
            spark.conf.set("spark.sql.leafNodeDefaultParallelism", str(cores))
            table = ll.open(table_name, spark=spark)
            tasks = plan_tasks(table.current.files, table, parallelism=cores)
            frame = spark.table(table_name)
            assert list_tasks(tasks) == list_planned(frame), (target, cost, cores)
            assert len(tasks) == frame.rdd.getNumPartitions()
            counts.add(len(tasks))
    finally:
        spark.conf.unset("spark.sql.leafNodeDefaultParallelism")
    assert len(counts) > 1 or name == "overlapping"  # nothing can be divided where all keys overlap


SETTINGS = [
    ("128mb", "4mb", 2),
    ("1mb", "1b", 1),
    ("500kb", "300kb", 2),
    ("200kb", "1kb", 3),
    ("200kb", "1kb", 9),
]


def list_scanned(frame: Any) -> list[frozenset[tuple[str, int, int]]]:
    """The parts of files of each partition of a scan by Spark's own readers."""
    found = []
    for partition in frame._jdf.queryExecution().toRdd().partitions():
        files = ((one.toPath().getName(), one.start(), one.length()) for one in partition.files())
        found.append(frozenset(files))
    return sorted(found, key=sorted)


def test_hive(spark: Any) -> None:
    """Files of Spark's own formats, divided by the session's settings."""
    name = "spark_catalog.default.tasks_of_files"
    fill(spark.range(1), SIZES).write.mode("overwrite").format("parquet").saveAsTable(name)
    cores = spark.sparkContext.defaultParallelism
    old = spark.conf.get("spark.sql.files.maxPartitionBytes")
    try:
        for size in (128 * MIB, 3 * MIB, 1 * MIB, 300_000):
            spark.conf.set("spark.sql.files.maxPartitionBytes", str(size))
            table = ll.open(name, spark=spark)
            tasks = plan_tasks(table.current.files, table, size, cores)
            frame = spark.table(name)
            assert len(tasks) == frame.rdd.getNumPartitions(), size
            ours = [split for task in tasks for split in cut_again(task)]
            assert sum(length for _, _, length in ours) == sum(
                file.size_bytes for file in table.current.files
            )
            assert list_joined(tasks) == sorted(map(join, list_scanned(frame)), key=sorted), size
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", old)
        spark.sql(f"DROP TABLE {name}")


def cut_again(task: Any) -> list[tuple[str, int, int]]:
    return [(split.file.path.rpartition("/")[2], split.start, split.length) for split in task.splits]


def list_joined(tasks: Tasks) -> list[frozenset[tuple[str, int, int]]]:
    return sorted((join(frozenset(cut_again(task))) for task in tasks), key=sorted)


def join(splits: frozenset[tuple[str, int, int]]) -> frozenset[tuple[str, int, int]]:
    """Parts that follow each other as one."""
    joined: list[tuple[str, int, int]] = []
    for name, start, length in sorted(splits):
        last = joined[-1] if joined else ("", 0, 0)
        if last[0] == name and last[1] + last[2] == start:
            joined[-1] = (name, last[1], last[2] + length)
        else:
            joined.append((name, start, length))
    return frozenset(joined)
