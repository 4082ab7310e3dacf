"""Everything that is compared of a Paimon table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.formats.paimon.check.document import compare_document
from lakelens.formats.paimon.check.files import compare_files
from lakelens.formats.paimon.check.indexes import compare_indexes
from lakelens.formats.paimon.check.totals import compare_counts, compare_totals, tally_manifests
from lakelens.model.check.ranges import compare_ranges
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable


def compare_figures(table: PaimonTable, survey: Survey) -> None:
    """See `Checkable.compare_figures`."""
    tallies = tally_manifests(survey)
    lists = f"{len(survey.lists):,} manifest list{'s' * (len(survey.lists) != 1)}"
    survey.run(
        lambda: compare_totals(survey, tallies),
        lambda: compare_counts(survey, tallies),
        lambda: compare_ranges(survey, lists),
        lambda: compare_files(table, survey),
        lambda: compare_indexes(table, survey),
        lambda: compare_document(table, survey, tallies),
    )
