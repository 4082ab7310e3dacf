"""What a format says of its tables so that they can be checked, and the check itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from lakelens import display
from lakelens.model.check.references import Referring

if TYPE_CHECKING:
    from lakelens.analysis.check.check import Check
    from lakelens.model.check.row_checks import RowCheck
    from lakelens.model.check.survey import Survey
    from lakelens.model.datafile import DataFile
    from lakelens.model.storage import Storage
    from lakelens.model.table import Table


class Checkable(Referring):
    """A table that can be checked. A format compares what only it records; files are looked for in any format."""

    #: the columns of entries that `compare_figures` looks at, beside those of every format
    checked_columns: tuple[str, ...] = ()

    @property
    def storage(self) -> Storage | None:
        """What the table's data files say; None where the format gives no access to them."""
        return None

    def compare_figures(self, survey: Survey) -> None:
        """Compare the figures that only this format records with what they are about; see `check`."""

    def list_row_checks(self, file: DataFile) -> Iterable[RowCheck]:
        """What this format records of a file's rows beside bounds and counts, ready to be compared with them."""
        return ()

    def check(self, *, data: bool = False, snapshots: Any = "all") -> Check:
        """Whether the table is sound: every figure that its metadata records, compared with what it is about.

        Totals of snapshots, counts and partition ranges of manifests, sequence numbers, row ids, refs and hints; every file
        that is referred to is looked for in one listing; the footers of data files are read (of more than a thousand a
        sample). Each manifest is read once, however many snapshots name it. Nothing is written.

        Parameters
        ----------
        data
            Whether to read the rows too, for bounds, counts of values and nulls, keys and their order.
        snapshots
            "all" (tags, branches and kept changelogs too), "current", or anything that `Table.snapshot` takes, or several.

        Raises
        ------
        Missing
            There is no such snapshot.

        Examples
        --------
        >>> import lakelens as ll
        >>> check = ll.sample("iceberg").check()
        >>> check.ok, len(check.findings)
        (True, 0)
        """
        return display.check_table(cast("Table", self), data, snapshots)
