"""The defect book of Iceberg: the rules, and who wrote a table: library and engine as summaries name them, and footers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects import STATISTICS, add_products, list_footer_writers
from lakelens.formats.iceberg.defects import commit_rules, entry_rules
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
        tuple(snapshot.summary.get(key) for key in _WRITER_KEYS) for snapshot in table._known
    )
    named = [writer for values in texts for writer in _name_writers(*values)]
    return add_products((*named, *list_footer_writers(table)), "iceberg")


def _name_writers(
    version: str | None, engine: str | None, engine_version: str | None, *ids: str | None
) -> Iterator[Writer]:
    """Give the writers that a summary names: the library, its engine, and engines that leave an id alone."""
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
        entry_rules.split_offsets,
        entry_rules.file_sizes,
        commit_rules.insert_figures,
        commit_rules.totals_of_commit,
        commit_rules.totals_of_nothing,
        commit_rules.ranges_without_bounds,
        commit_rules.ranges_of_source,
        commit_rules.ranges_with_nan,
        entry_rules.nan_bounds,
        entry_rules.cut_bounds,
        entry_rules.null_counts,
        entry_rules.epoch_partitions,
        entry_rules.hour_overflow,
        entry_rules.local_time_partitions,
        commit_rules.unknown_spec,
        commit_rules.dropped_source,
        entry_rules.dangling_deletes,
        entry_rules.two_vectors,
        commit_rules.list_attempt,
        commit_rules.checkpoint_twice,
        *STATISTICS,
    ),
    list_writers,
)
