"""Taking an inventory of a warehouse, and opening an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.answers.survey import check_names
from lakelens.errors import Missing
from lakelens.spark.local.session import check_running
from lakelens.spark.warehouse.facts import ANSWERABLE
from lakelens.spark.warehouse.run import Run
from lakelens.spark.warehouse.store import Commit, open_store
from lakelens.spark.warehouse.tables import list_places
from lakelens.spark.warehouse.views import Inventory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
