"""The limits of a Paimon table and the procedures that help.

Files below 70 % of the target take part in a compaction (`CoreOptions.compactionFileSize`); of an append table those of a
partition are joined where there are `compaction.min.file-num` of them or where they fill two files
(`AppendCompactCoordinator.SubCoordinator.pack`); of a table with keys those of a bucket, by a full compaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.formats.paimon.health.indexes import list_index_columns, measure_indexes
from lakelens.formats.paimon.health.levels import measure_levels
from lakelens.formats.paimon.health.metadata import list_document_parts, measure_metadata
from lakelens.formats.paimon.health.needs import list_needs
from lakelens.formats.paimon.health.vectors import find_reach, measure_vectors
from lakelens.formats.paimon.maintenance.states import is_new_engine
from lakelens.formats.paimon.splits import parse_size
from lakelens.model.health.measure import Call, Limit
from lakelens.model.health.rules import Groups, HealthRules, group_partitions, name_source, quote, read_number
from lakelens.model.scan.splits import SplitFigure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.health.figures import FileFigures

    Numbers = NDArray[np.int64]


_FEWEST_OF_BUCKET = 3
_RESCALED = "files were written for another number of buckets: INSERT OVERWRITE first"


class PaimonHealth:
    """What the rules of one state of a Paimon table are made of."""

    def __init__(self, table: PaimonTable, snapshot: PaimonSnapshot | None) -> None:
        self.table, self.snapshot = table, snapshot

    @property
    def has_keys(self) -> bool:
        """Whether rows are merged by key."""
        return bool(self.table.primary_keys)

    @property
    def group_noun(self) -> str:
        """Files are joined within a bucket, where there are buckets."""
        return "bucket" if self.has_keys or self.table.bucket > 0 else "partition"

    @cached_property
    def columns(self) -> Sequence[str]:
        """What deletion vectors and indexes are matched by, where there are any."""
        has_vectors = self.snapshot is not None and any(
            one.index_type == "DELETION_VECTORS" for one in self.snapshot.index_files
        )
        scaled = ("total_buckets",) if self.table.bucket > 0 else ()
        return tuple(dict.fromkeys((*scaled, *(("path",) if has_vectors else ()), *list_index_columns(self))))

    def read(self, name: str, key: str, default: int, parse: object = int) -> SplitFigure:
        """A number among the table's options."""
        return read_number(name, key, default, self.table.options, parse)

    @cached_property
    def _target(self) -> SplitFigure:
        return self.read("target", "target-file-size", (128 if self.has_keys else 256) << 20, parse_size)

    @property
    def target_size(self) -> int:
        """How large writers make a file."""
        return self._target.value

    @property
    def file_size(self) -> Limit:
        """Seven tenths of what writers aim at: below that a compaction takes a file."""
        value = self.target_size // 10 * 7
        return Limit(value, "≥", name_source(self._target), f"70 % of {self._target.property}")

    @cached_property
    def _fewest(self) -> SplitFigure:
        return self.read("fewest", "compaction.min.file-num", 5)

    @property
    def small_files(self) -> Limit:
        """With that many a partition is compacted; of tables with keys nothing says it."""
        if self.has_keys:
            return Limit(5, "<", "lakelens")
        return Limit(self._fewest.value, "<", name_source(self._fewest), self._fewest.property)

    def group(self, figures: FileFigures) -> Groups:
        """Group files of one bucket of one partition; of append tables without buckets those of one partition."""
        import numpy as np

        groups = group_partitions(figures)
        if self.group_noun == "partition":
            return groups
        buckets = figures.numbers("bucket")
        least = int(buckets.min(initial=0))
        width = int(buckets.max(initial=0)) - least + 1
        found, numbers = np.unique(figures.partition * width + buckets - least, return_inverse=True)

        def name(place: int) -> str:
            return "/".join(filter(None, (groups.name(place), f"bucket-{buckets[place]}")))

        return Groups(numbers.astype(np.int64), len(found), name)

    def join_files(self, counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Paimon 0.9 takes only what fills a file, or 50 files, of a table without buckets."""
        import numpy as np

        target, fewest = self.target_size, self._fewest.value
        if self.has_keys:
            takes = counts >= 2
        elif self.table.bucket > 0:
            takes = counts >= _FEWEST_OF_BUCKET
        elif is_new_engine(self.table, {}):
            takes = (counts >= fewest) | ((counts > 1) & (sizes >= 2 * target))
        else:
            most = self.read("most", "compaction.max.file-num", 50).value
            takes = ((counts >= fewest) & (sizes >= target)) | (counts >= most)
        made = np.maximum(-(-sizes // target), 1)
        return np.where(takes, counts, 0), np.where(takes, np.minimum(made, counts), 0)

    def call_procedure(self, procedure: str, why: str, *arguments: str, tried: bool = True) -> Call:
        """A call of one of Paimon's procedures."""
        listed = ", ".join((f"table => {quote(self.table.name)}", *arguments))
        return Call(f"CALL sys.{procedure}({listed})", why, procedure if tried else "")

    def call_compact(self, figures: FileFigures, why: str) -> tuple[Call, ...]:
        """`compact`; none where the engine refuses it, because files were written for another number of buckets."""
        return () if self.is_rescaled(figures) else (self.call_procedure("compact", why),)

    def is_rescaled(self, figures: FileFigures) -> bool:
        """Whether files were written for another number of buckets than the option has."""
        numbers = figures.numbers("total_buckets")[figures.data]
        return self.table.bucket > 0 and bool(((numbers > 0) & (numbers != self.table.bucket)).any())

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """`compact`."""
        return self.call_compact(figures, "joins small files")

    def explain_no_call(self, figures: FileFigures) -> str:
        """Why no compaction helps."""
        return _RESCALED if self.is_rescaled(figures) else "no compaction takes them"

    @cached_property
    def sort_column(self) -> tuple[str, str] | None:
        """The first column of the key, by which the rows of a bucket are in order, or of `clustering.columns`."""
        if self.has_keys:
            names = [column.name for column in self.table.schema.key_columns]
            return (names[0], "primary key") if names else None
        named = self.table.options.get("clustering.columns", "").split(",")[0].strip()
        return (named, "clustering columns") if named else None

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """`compact`, which merges the files of a bucket, or sorts an append table."""
        if self.has_keys:
            return (self.call_procedure("compact", "merges the files of each bucket"),)
        order = ("order_strategy => 'order'", f"order_by => {quote(column)}")
        return (self.call_procedure("compact", "sorts what is there", *order, tried=False),)


def make_rules(table: PaimonTable, snapshot: PaimonSnapshot | None) -> HealthRules:
    """Make the rules of one state of a table: see `HealthRules`."""
    own = PaimonHealth(table, snapshot)
    return HealthRules(
        table,
        snapshot,
        file_size=own.file_size,
        small_files=own.small_files,
        columns=own.columns,
        group=own.group,
        group_noun=own.group_noun,
        join_files=own.join_files,
        joins_exactly=False,
        call_join=own.call_join,
        explain_no_call=own.explain_no_call,
        sort_column=own.sort_column,
        call_sort=own.call_sort,
        find_reach=partial(find_reach, own),
        measures=tuple(
            partial(measure, own)
            for measure in (measure_vectors, measure_levels, measure_metadata, measure_indexes)
        ),
        list_parts=partial(list_document_parts, own),
        list_needs=partial(list_needs, own),
    )
