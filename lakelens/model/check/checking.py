"""What a format says of its tables so that they can be checked: it compares what only it records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lakelens.model.driver import Part

if TYPE_CHECKING:
    from lakelens.model.check.row_checks import RowCheck
    from lakelens.model.check.survey import Survey
    from lakelens.model.datafile import DataFile


class Checking(Part):
    """What a format compares beside what every format has; files are looked for in any format."""

    answer = "check"
    #: the columns of entries that `compare_figures` looks at, beside those of every format
    columns: tuple[str, ...] = ()

    def compare_figures(self, survey: Survey) -> None:
        """Compare the figures that only this format records with what they are about; see `Table.check`."""

    def list_row_checks(self, file: DataFile) -> Iterable[RowCheck]:
        """List what this format records of a file's rows beside bounds and counts, ready to be compared with them."""
        return ()
