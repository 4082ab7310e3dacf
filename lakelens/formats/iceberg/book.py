"""The defect book of Iceberg: the rules, and who wrote a table: library and engine as summaries name them, and footers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.footer_statistics import STATISTICS
from lakelens.formats.defects.writers import add_products, list_footer_writers
from lakelens.formats.iceberg.defects import delete_files, metrics, ranges, summaries, times
from lakelens.model.check.defect import DefectBook, Writer

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_WRITER_KEYS = (
    *("iceberg-version", "engine-name", "engine-version"),
    *("spark.app.id", "flink.job-id", "trino_query_id", "presto_query_id"),
)
_VERSION = re.compile(r"Apache Iceberg (\d[\w.-]*)")


def list_writers(table: IcebergTable) -> tuple[Writer, ...]:
    """See `DefectBook.list_writers`: keys of summaries, then the libraries that wrote data files."""
    texts = dict.fromkeys(
        tuple(snapshot.summary.get(key) for key in _WRITER_KEYS) for snapshot in table.walk_snapshots()
    )
    named = [writer for values in texts for writer in _name_writers(*values)]
    return add_products((*named, *list_footer_writers(table)), "iceberg")


def _name_writers(
    version: str | None, engine: str | None, engine_version: str | None, *ids: str | None
) -> Iterator[Writer]:
    """The writers that a summary names: the library, its engine, and engines that leave an id alone."""
    found = _VERSION.search(version or "")
    if found:
        yield Writer("iceberg", found[1], "iceberg-version of summaries")
    elif version:
        yield Writer(version.split()[0].lower(), "", "iceberg-version of summaries")
    if engine:
        yield Writer(engine.lower(), engine_version or "", "engine-name of summaries")
    for product, value in zip(("spark", "flink", "trino", "presto"), ids, strict=True):
        if value and product != (engine or "").lower():
            yield Writer(product, "", "ids in summaries")


BOOK = DefectBook(
    (
        metrics.split_offsets,
        metrics.file_sizes,
        summaries.insert_figures,
        summaries.totals_of_commit,
        summaries.totals_of_nothing,
        ranges.ranges_without_bounds,
        ranges.ranges_of_source,
        ranges.ranges_with_nan,
        metrics.nan_bounds,
        metrics.cut_bounds,
        metrics.null_counts,
        times.epoch_partitions,
        times.hour_overflow,
        times.local_time_partitions,
        ranges.unknown_spec,
        ranges.dropped_source,
        delete_files.dangling_deletes,
        delete_files.two_vectors,
        summaries.list_attempt,
        summaries.checkpoint_twice,
        *STATISTICS,
    ),
    list_writers,
)
