"""The row groups of a data file: the parts that a reader may skip by what the file says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.errors import visible_line

if TYPE_CHECKING:
    from lakelens.model.scan.ranges import Ranges
    from lakelens.model.stats import Term


class RowGroups(ABC):
    """The row groups of a Parquet file, or the stripes of an ORC file, in file order: one entry each in every sequence.

    `record_counts` are rows, `size_bytes` the compressed bytes of all columns, `offsets` where each begins in the file.
    Nothing but the footer is read before something is asked for; damage behind it proves nothing and is reported as a
    finding of the table.
    """

    path: str
    #: What a part is called: "row group" or "stripe".
    noun: str
    record_counts: Sequence[int]
    size_bytes: Sequence[int]
    offsets: Sequence[int]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.record_counts)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return visible_line(f"<RowGroups of {self.path.rsplit('/', 1)[-1]}: {self.count}>")

    @abstractmethod
    def ranges(self, column: str) -> Ranges | None:
        """What the statistics in the file prove of a column, as values of its type of today.

        Parameters
        ----------
        column
            The full name of a leaf of today's schema (`st.x`).

        Returns
        -------
        Ranges or None
            One entry a row group. A column that was added after the file was written is null, or its initial default, in
            every row. None where nothing is known: no such column, or it is not clear which one of the file it is.
        """

    @abstractmethod
    def exclude(
        self, term: Term, among: Sequence[bool] | None = None
    ) -> Iterator[tuple[str, Sequence[bool]]]:
        """What dictionaries and bloom filters prove, which the statistics do not.

        Parameters
        ----------
        term
            A comparison with literals. Bloom filters are asked for "=" and "in" alone.
        among
            The row groups that are worth reading for; of the others nothing is read, and nothing is proved.

        Yields
        ------
        tuple
            "dictionary" or "bloom", and for each row group whether it provably holds no row for which the comparison is
            true. A proof that is not asked for (the caller stops iterating) is not read.
        """
