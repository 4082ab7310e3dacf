"""Everything that is compared of a Paimon table, in the order in which a reader of the ledger wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.formats.paimon.check.document import (
    COLUMNS,
    compare_counts,
    compare_document,
    compare_totals,
    tally_manifests,
)
from lakelens.formats.paimon.check.files import compare_files, list_row_checks
from lakelens.formats.paimon.check.indexes import HashIndexes, compare_indexes
from lakelens.model.check.checking import Checking, RowCheck, compare_ranges
from lakelens.model.check.survey import Survey

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.datafile import DataFile


class PaimonChecking(Checking):
    """What is compared of one Paimon table."""

    columns = COLUMNS
    table: PaimonTable

    def compare_figures(self, survey: Survey) -> None:
        """See `Checking.compare_figures`."""
        table = self.table
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

    def list_row_checks(self, file: DataFile) -> tuple[RowCheck, ...]:
        """See `Checking.list_row_checks`."""
        return (*list_row_checks(file), *self._hash_indexes.list_checks(file))  # type: ignore[arg-type]

    @cached_property
    def _hash_indexes(self) -> HashIndexes:
        return HashIndexes(self.table)
