"""The parts that the figures of a table's health are made of: by partition, by bucket, by column, by document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.analysis.health.clustering import Clustering
from lakelens.analysis.health.files import list_quantities
from lakelens.caching import cached_property
from lakelens.display import Named
from lakelens.model.arrow import text_array
from lakelens.model.collections import Rows
from lakelens.model.health.figures import sum_groups
from lakelens.model.health.measure import DocumentParts

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.reach import Reach
    from lakelens.model.health.rules import HealthRules


class PartRows(Rows):
    """What one part has a row of: a partition, a bucket."""

    def __init__(self, table: pa.Table, noun: str) -> None:
        super().__init__(table)
        self.noun = noun

    def __repr__(self) -> str:
        return f"<PartRows {len(self)} {self.noun}{'s' * (len(self) != 1)}>"

    def list_largest(self, name: str, most: int) -> list[dict[str, object]]:
        """The rows with the largest values of a column, the largest first."""
        import pyarrow.compute as pc

        order = pc.select_k_unstable(self._table, min(most, len(self)), [(name, "descending")])
        listed: list[dict[str, object]] = self._table.take(order).to_pylist()
        return sorted(listed, key=lambda row: -row[name])  # type: ignore[operator]

    def sum(self, name: str) -> int:
        """The sum of a column."""
        import pyarrow.compute as pc

        return int(pc.sum(self._table[name]).as_py() or 0)


class Parts(Named):
    """The parts of a table's health, each with its own `to_arrow`.

    `partitions` has a row for each partition: `partition`, `files`, `record_count`, `size_bytes`, `small_files`,
    `manifests`, and where the format has deletes `delete_files` and `deleted_rows`. `buckets` is None where rows are in no
    buckets; its `bucket` is over all partitions. `columns` says how well files separate values, `documents` what makes the
    metadata large.
    """

    def __init__(
        self,
        figures: FileFigures,
        rules: HealthRules,
        reach: Reach | None,
        columns: Clustering,
        documents: DocumentParts,
    ) -> None:
        self._figures, self._rules, self._reach = figures, rules, reach
        self.columns = columns
        self.documents = documents

    @cached_property
    def partitions(self) -> PartRows:
        """One row for each partition, in the order in which manifests name them."""
        import numpy as np
        import pyarrow as pa

        figures, count = self._figures, len(self._figures.partitions)
        files, sizes, rows = list_quantities(figures, figures.partition, count, figures.data)
        small = figures.data[figures.sizes[figures.data] < self._rules.file_size.value]
        columns = {
            "partition": text_array(figures.partition_names),
            "files": files,
            "record_count": rows,
            "size_bytes": sizes,
            "small_files": figures.sum_by_partition(small),
            "manifests": figures.manifests_by_partition,
        }
        if self._reach is not None:
            columns["delete_files"] = self._reach.by_partition
            columns["deleted_rows"] = self._reach.rows_by_partition
        if not self._rules.has_records:
            del columns["record_count"]
        made = {
            name: one if name == "partition" else pa.array(np.asarray(one), pa.int64())
            for name, one in columns.items()
        }
        return PartRows(pa.table(made), "partition")

    @cached_property
    def buckets(self) -> PartRows | None:
        """One row for each bucket, over all partitions; None where rows are in no buckets, or in one."""
        import pyarrow as pa

        figures, found = self._figures, self._rules.number_buckets(self._figures)
        if found is None:
            return None
        names, numbers = found
        chosen = figures.data[numbers[figures.data] >= 0]
        files, sizes, rows = list_quantities(figures, numbers, len(names), chosen)
        small = chosen[figures.sizes[chosen] < self._rules.file_size.value]
        columns = {
            "bucket": pa.array(names, pa.string()),
            "files": pa.array(files, pa.int64()),
            "record_count": pa.array(rows, pa.int64()),
            "size_bytes": pa.array(sizes, pa.int64()),
            "small_files": pa.array(sum_groups(numbers[small], len(names)), pa.int64()),
        }
        if not self._rules.has_records:
            del columns["record_count"]
        return PartRows(pa.table(columns), "bucket")

    def __repr__(self) -> str:
        words = [f"{len(self._figures.partitions):,} partitions"]
        words += [f"{len(self.buckets):,} buckets"] if self.buckets is not None else []
        words += [f"{len(self.columns):,} columns", f"{len(self.documents):,} parts of documents"]
        return f"<Parts {', '.join(words)}>"
