"""Where Paimon puts rows: partitions of columns as they are, buckets by a hash, and rows of one key in several files.

What may be skipped follows Paimon's `KeyValueFileStoreScan` and `BucketSelectConverter`: of a table with a primary key a
file is skipped alone by its key only, for a newer version of a row may be in it; by its values with its whole bucket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.row_hash import find_bucket
from lakelens.model.scan.placement import Merging, Placement

if TYPE_CHECKING:
    from lakelens.formats.paimon.metadata.schemas import PaimonSchema
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.stats import Term

_COMBINING = ("partial-update", "aggregation")


class PaimonPlacement(Placement):
    """Where a schema's options put rows."""

    def __init__(self, schema: PaimonSchema) -> None:
        super().__init__((schema.partitioning,), _describe_merging(schema))
        self._options = schema.options
        keys = schema.options.get("bucket-key") or ""
        named = tuple(name.strip() for name in keys.split(",") if name.strip())
        names = named or tuple(column.name for column in schema.key_columns)
        found = [schema.find_column(name) for name in names]
        self._columns = [column for column in found if column is not None]
        if len(self._columns) == len(names):
            self.bucket_columns = names

    def find_bucket(self, values: Mapping[str, Any], total: int) -> int | None:
        """See `Placement.find_bucket`. `bucket-function.type` is `default`, or `mod` of one whole number."""
        function = self._options.get("bucket-function.type", "default").lower()
        wanted = [values[column.name] for column in self._columns]
        if function == "mod" and len(wanted) == 1 and isinstance(wanted[0], int):
            return int(wanted[0]) % total
        if function != "default":
            return None
        try:
            return find_bucket([column.type for column in self._columns], wanted, total)
        except (TypeError, ValueError, OverflowError, AttributeError):
            return None

    def explain_absence(self, term: Term, file_format: str | None) -> str | None:
        """Explain the option by which a column's statistics are left out; see `SimpleColStatsCollector`."""
        for name in (f"fields.{term.column}.stats-mode", "metadata.stats-mode"):
            mode = self._options.get(name)
            if mode is not None:
                return f"{name} = {mode}" if mode.lower() in ("none", "counts") else None
        for name in ("metadata.stats-mode.per.level", "metadata.stats-keep-first-n-columns"):
            if name in self._options:
                return f"{name} = {self._options[name]}"
        return None


def _describe_merging(schema: PaimonSchema) -> Merging | None:
    options = schema.options
    if not schema.primary_keys:
        evolves = options.get("data-evolution.enabled", "false").lower() == "true"
        return Merging(by_rows=True) if evolves else None
    if options.get("deletion-vectors.enabled", "false").lower() == "true":
        return None  # an older version of a row is marked as deleted: each file is read by itself
    engine = options.get("merge-engine", "deduplicate").lower()
    return Merging(tuple(schema.primary_keys), engine in _COMBINING)


def open_placement(table: PaimonTable) -> PaimonPlacement:
    """Open what partitions and buckets of a table say of the rows in them."""
    return PaimonPlacement(table.schema)
