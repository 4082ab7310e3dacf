"""Everything that is compared of an Iceberg table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.check.document import compare_document, compare_statistics
from lakelens.formats.iceberg.check.headers import compare_headers
from lakelens.formats.iceberg.check.row_checks import list_row_checks
from lakelens.formats.iceberg.check.sequences import compare_lineage, compare_sequences
from lakelens.formats.iceberg.check.totals import COLUMNS, compare_counts, compare_totals, tally_manifests
from lakelens.formats.iceberg.check.vectors import compare_vectors
from lakelens.model.check.checking import Checking, RowCheck, compare_ranges
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.datafile import DataFile


class IcebergChecking(Checking):
    """What is compared of one Iceberg table."""

    columns = COLUMNS
    table: IcebergTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        table, context = self.table, self.table._context
        tallies = tally_manifests(survey)
        lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
        survey.run(
            lambda: compare_totals(table, survey, tallies),
            lambda: compare_counts(survey, tallies),
            lambda: compare_headers(table, context, survey),
            lambda: compare_ranges(survey, lists),
            lambda: compare_sequences(table, survey),
            lambda: compare_lineage(table, context, survey),
            lambda: compare_vectors(table, context, survey),
            lambda: compare_statistics(table, context, survey),
            lambda: compare_document(table, context, survey),
        )

    def list_row_checks(self, file: DataFile) -> Iterator[RowCheck]:
        """See `Checking.list_row_checks`."""
        return list_row_checks(self.table._context, file)  # type: ignore[arg-type]
