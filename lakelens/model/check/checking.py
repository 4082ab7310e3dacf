"""What a format says of its tables so that they can be checked: it compares what only it records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.model.check.ledger import Ledger
from lakelens.model.driver import Part

if TYPE_CHECKING:
    import pyarrow as pa

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


# What is compared with the rows of one file, while they are read in pieces: each check sees every piece once, in order.


class RowCheck:
    """One claim about the rows of a file. `add` sees a piece of them, `finish` compares."""

    def add(self, rows: pa.Table) -> None:
        """Look at the next rows."""
        raise NotImplementedError

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """Compare what was seen with what is recorded."""
        raise NotImplementedError


class OrderCheck(RowCheck):
    """Whether rows are in the order of some columns: ascending, nulls first where `nulls_first`, descending where asked.

    Texts and bytes compare by their bytes. `columns` are names with whether they descend and whether their nulls come first.
    """

    def __init__(
        self, path: str, columns: Sequence[tuple[str, bool, bool]], what: str, severity: Any
    ) -> None:
        self._path, self._columns, self._what, self._severity = path, columns, what, severity
        self._last: pa.Table | None = None
        self._seen = 0
        self._wrong: int | None = None
        self._is_comparable = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        import pyarrow as pa

        names = [name for name, _, _ in self._columns]
        if not self._is_comparable or any(rows.column_names.count(name) != 1 for name in names):
            self._is_comparable = False
            return
        chosen = pa.table({name: _plain(rows[name]) for name in names})
        joined = chosen if self._last is None else pa.concat_tables([self._last, chosen])
        if self._wrong is None and joined.num_rows > 1:
            try:
                place = find_disorder(joined, self._columns)
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
                self._is_comparable = False
                return
            if place is not None:
                self._wrong = self._seen - (self._last is not None) + place
        self._seen += rows.num_rows
        self._last = chosen.slice(max(chosen.num_rows - 1, 0), 1) if chosen.num_rows else self._last

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        if not self._is_comparable:
            return
        line = ledger.line("order of rows", "entries", "rows")
        names = ", ".join(name for name, _, _ in self._columns)
        message = f"{self._what} by {names}: row {self._wrong} comes before the row in front of it"
        line.require(self._wrong is None, "row-order", self._path, message, snapshots, self._severity)


def find_disorder(rows: pa.Table, columns: Sequence[tuple[str, bool, bool]]) -> int | None:
    """The number of the first row that belongs before the one in front of it; None where all are in order.

    >>> import pyarrow as pa
    >>> find_disorder(pa.table({"a": [1, 1, 2], "b": ["x", "w", "a"]}), [("a", False, True), ("b", False, True)])
    1
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    count = rows.num_rows - 1
    decided = np.zeros(count, np.bool_)
    for name, is_descending, nulls_first in columns:
        column = rows[name].combine_chunks()
        one, other = column.slice(0, count), column.slice(1)
        none, later = one.is_null().to_numpy(False), other.is_null().to_numpy(False)
        first, second = (other, one) if is_descending else (one, other)
        after = pc.fill_null(pc.greater(first, second), False).to_numpy(False)
        before = pc.fill_null(pc.less(first, second), False).to_numpy(False)
        wrong = after | ((later & ~none) if nulls_first else (none & ~later))
        right = before | ((none & ~later) if nulls_first else (later & ~none))
        if pa.types.is_floating(column.type):  # NaN comes after every number, whichever way
            nan, next_nan = (pc.fill_null(pc.is_nan(part), False).to_numpy(False) for part in (one, other))
            wrong, right = wrong & ~nan & ~next_nan, right | nan | next_nan
        found = np.flatnonzero(wrong & ~decided)
        if len(found):
            return int(found[0]) + 1
        decided |= right
    return None


def _plain(column: Any) -> Any:
    """A column as it is, or decoded where it comes as a dictionary; texts as bytes, which is how engines order them."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    return column.cast(pa.binary()) if pa.types.is_string(kind) else column
