"""Everything that is compared of an Iceberg table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.formats.iceberg.check.document import compare_document
from lakelens.formats.iceberg.check.headers import compare_headers
from lakelens.formats.iceberg.check.lineage import compare_lineage
from lakelens.formats.iceberg.check.manifests import compare_counts
from lakelens.formats.iceberg.check.sequences import compare_sequences
from lakelens.formats.iceberg.check.statistics import compare_statistics
from lakelens.formats.iceberg.check.tallies import tally_manifests
from lakelens.formats.iceberg.check.totals import compare_totals
from lakelens.formats.iceberg.check.vectors import compare_vectors
from lakelens.model.check.ranges import compare_ranges
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.table import IcebergTable


def compare_figures(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """See `Checkable.compare_figures`."""
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
