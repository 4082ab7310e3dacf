"""Spark's own metadata tables, and lakelens on Spark, on one local session of the package."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from tests.benchmarks.runners import Prepared, Sums, Target, Unavailable

_CATALOG = "grown"


def prepare_noop(target: Target) -> Prepared:
    """Spark's metadata table read in full inside the JVM: every column of every row, written nowhere."""
    spark, close = start(target)

    def run() -> Any:
        frame = select_files(spark, target)
        frame.write.format("noop").mode("overwrite").save()
        return frame

    return Prepared(run, lambda frame: sum_up(frame, target), close)


def prepare_pandas(target: Target) -> Prepared:
    """Spark's metadata table brought to Python."""
    spark, close = start(target)

    def total(frame: Any) -> Sums:
        return Sums(len(frame), int(frame["record_count"].sum()), int(frame["file_size_in_bytes"].sum()))

    return Prepared(lambda: select_files(spark, target).toPandas(), total, close)


def prepare_ours(target: Target) -> Prepared:
    """`lakelens.spark.files`: manifests decoded by column on the executors, every column of every row, written nowhere."""
    import lakelens

    try:
        from lakelens.spark import files
    except (ImportError, AttributeError) as error:
        raise Unavailable("not there yet") from error
    spark, close = start(target)

    def run() -> Any:
        frame = files(lakelens.open(target.path), spark)
        frame.write.format("noop").mode("overwrite").save()
        return frame

    def total(frame: Any) -> Sums:
        sums = ["count(*)", "sum(record_count)", "sum(size_bytes)"]
        if target.proof:
            sums.append(f"sum(lower_bounds.{target.proof})")
        return Sums(*(int(value) for value in frame.selectExpr(*sums).collect()[0]))

    return Prepared(run, total, close)


def start(target: Target) -> tuple[Any, Any]:
    """A session of as many threads as this process may use processors, and what ends it."""
    from lakelens.spark import session

    folder = tempfile.TemporaryDirectory()
    cores = len(os.sched_getaffinity(0))
    config = {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": "4g",
        f"spark.sql.catalog.{_CATALOG}": "org.apache.paimon.spark.SparkCatalog",
        f"spark.sql.catalog.{_CATALOG}.warehouse": str(target.path.parent.parent),
    }
    if target.format == "iceberg":
        config = {key: value for key, value in config.items() if _CATALOG not in key}
    spark = session(folder.name, [target.format], config)

    def close() -> None:
        spark.stop()
        folder.cleanup()

    return spark, close


def select_files(spark: Any, target: Target) -> Any:
    """Spark's own metadata table of the files."""
    if target.format == "iceberg":
        return spark.read.format("iceberg").load(f"{target.metadata_path}#files")
    name = f"{_CATALOG}.`{target.path.parent.stem}`.`{target.path.name}$files`"
    return spark.table(name)


def sum_up(frame: Any, target: Target) -> Sums:
    """The sums of a metadata table, by Spark."""
    sums = ["count(*)", "sum(record_count)", "sum(file_size_in_bytes)"]
    if target.proof and target.format == "iceberg":
        sums.append(f"sum(readable_metrics.{target.proof}.lower_bound)")
    return Sums(*(int(value) for value in frame.selectExpr(*sums).collect()[0]))
