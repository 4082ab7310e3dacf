"""The limits of an Iceberg table and the procedures that help.

Sizes and counts follow `SizeBasedFileRewritePlanner` and `BinPackRewriteFilePlanner` of Iceberg 1.12: files below 75 % of
the target are rewritten where at least 5 of a partition are, or more than one that together are above the target. Defaults
are those of `TableProperties`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.codecs.iceberg.transforms import Transform
from lakelens.formats.iceberg.health.deletes import find_reach, measure_deletes
from lakelens.formats.iceberg.health.metadata import list_document_parts, measure_metadata
from lakelens.formats.iceberg.health.needs import list_needs
from lakelens.formats.iceberg.health.partitions import advise_coarser, name_buckets
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.health.measure import Call, DocumentPart, DocumentParts, Limit, Measure, Need
from lakelens.model.health.rules import HealthRules, name_source, quote, read_number
from lakelens.model.predicate import Term
from lakelens.model.scan.splits import SplitFigure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.discovery.versions import MetadataFolder
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.health.reach import Reach
    from lakelens.model.snapshot import Snapshot

    Numbers = NDArray[np.int64]

_MIN_INPUT_FILES = 5
_ORDERED = ("identity", "truncate", "year", "month", "day", "hour")


class IcebergHealth(HealthRules):
    """The rules of one state of an Iceberg table."""

    table: IcebergTable
    snapshot: IcebergSnapshot | None
    without_calls = "no rewrite takes them"

    def __init__(
        self,
        table: IcebergTable,
        snapshot: Snapshot | None,
        context: TableContext,
        folder: MetadataFolder,
    ) -> None:
        super().__init__(table, snapshot)
        self.context = context
        #: the metadata files as they were listed when the table was opened
        self.folder = folder

    @property
    def columns(self) -> Sequence[str]:  # type: ignore[override]
        """What decides which deletes reach a file, where there are any."""
        manifests = () if self.snapshot is None else self.snapshot.manifests
        if all(manifest.content == "data" for manifest in manifests):
            return ()
        return ("path", "recorded_path", "sequence_number", "referenced_data_path", "content_size_in_bytes")

    @property
    def delete_leaves(self) -> Sequence[str]:  # type: ignore[override]
        """The column of position deletes that names data files."""
        return (self.context.columns.find(DELETE_FILE_PATH).name,) if self.columns else ()

    def read(self, name: str, key: str, default: int) -> SplitFigure:
        """A whole number among the table's properties."""
        return read_number(name, key, default, self.table.properties)

    @cached_property
    def _target(self) -> SplitFigure:
        return self.read("target", "write.target-file-size-bytes", 512 << 20)

    @property
    def target_size(self) -> int:
        """How large writers make a file."""
        return self._target.value

    @property
    def file_size(self) -> Limit:
        """Three quarters of what writers aim at: below that a rewrite takes a file."""
        words = f"75 % of {self._target.property}"
        return Limit(int(0.75 * self.target_size), "≥", name_source(self._target), words)

    @property
    def small_files(self) -> Limit:
        """With that many a partition is rewritten."""
        return Limit(_MIN_INPUT_FILES, "<", "default", "min-input-files of rewrite_data_files")

    def group(self, figures: FileFigures) -> tuple[Numbers, int]:
        """Files of today's partitioning by partition; all others are rewritten together."""
        import numpy as np

        today = self.table.partitioning.id
        specs = figures.numbers("spec_id")
        others = (specs >= 0) & (specs != today)
        if not others.any():
            return figures.partition, len(figures.partitions)
        return np.where(others, len(figures.partitions), figures.partition), len(figures.partitions) + 1

    def name_group(self, figures: FileFigures, place: int) -> str:
        """The partition, or that of which partitioning the file is."""
        spec = int(figures.numbers("spec_id")[place])
        if spec in (-1, self.table.partitioning.id):
            return super().name_group(figures, place)
        return "files of older partitionings"

    def join_files(self, counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """See `HealthRules.join_files`: how `rewrite_data_files` with its defaults plans."""
        import numpy as np

        target = self.target_size
        takes = (counts >= _MIN_INPUT_FILES) | ((counts > 1) & (sizes > target))
        whole, rest = np.divmod(sizes, target)
        # a remainder is spread over the others where that makes them no more than a tenth larger
        spread = (whole > 0) & (rest <= 0.75 * target) & (sizes < np.maximum(whole, 1) * 1.1 * target)
        made = np.where(sizes < target, 1, np.where(spread | (rest == 0), whole, whole + 1))
        return np.where(takes, counts, 0), np.where(takes, np.maximum(made, 1), 0)

    def call_procedure(self, procedure: str, why: str, *arguments: str, tried: bool = True) -> Call:
        """A call of one of Iceberg's procedures."""
        listed = ", ".join((f"table => {quote(self.table.name)}", *arguments))
        statement = f"CALL <catalog>.system.{procedure}({listed})"
        return Call(statement, why, procedure if tried else "")

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """`rewrite_data_files`."""
        return (self.call_procedure("rewrite_data_files", "joins small files"),)

    def advise_coarser(self, figures: FileFigures) -> tuple[str, tuple[Call, ...]]:
        """See `HealthRules.advise_coarser`: months instead of days, days instead of hours."""
        return advise_coarser(self, figures)

    def name_buckets(self, figures: FileFigures) -> tuple[list[str], Numbers] | None:
        """The buckets of a partitioning by `bucket[N]`."""
        return name_buckets(self, figures)

    @cached_property
    def sort_column(self) -> tuple[str, str] | None:
        """The first column of today's sort order, where its transform keeps an order."""
        order = next(
            (one for one in self.table.sort_orders if one.id == self.context.typed.default_sort_order_id),
            None,
        )
        if order is None or not order.fields:
            return None
        first = order.fields[0]
        if Transform.parse(first.transform).name not in _ORDERED:
            return None
        return first.source_name, "sort order"

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """`rewrite_data_files` by the table's own order."""
        options = ("strategy => 'sort'", "options => map('rewrite-all', 'true')")
        return (self.call_procedure("rewrite_data_files", "sorts what is there", *options, tried=False),)

    def explain_absence(self, column: str, file_format: str) -> str:
        """The property that leaves a column's metrics out."""
        kinds = dict(self.table.schema.leaves())
        if column not in kinds:
            return ""
        term = Term("", column, kinds[column].type, "is not null")
        return self.table.placement.explain_absence(term, file_format) or ""

    def find_reach(self, figures: FileFigures) -> Reach | None:
        """Which deletes reach which files; version 1 has none."""
        return None if (self.table.format_version or 1) < 2 else find_reach(figures)

    def measure(
        self, figures: FileFigures, reach: Reach | None, documents: DocumentParts
    ) -> Iterator[Measure]:
        """Deletes, manifests, snapshots and the metadata document."""
        if reach is not None:
            yield from measure_deletes(self, figures, reach)
        yield from measure_metadata(self, figures, documents)

    def list_parts(self) -> Iterable[DocumentPart]:
        """The parts of the metadata document, and the manifests of the state."""
        return list_document_parts(self)

    def list_needs(self, figures: FileFigures) -> Iterable[Need]:
        """What a reader must know."""
        return list_needs(self, figures)
