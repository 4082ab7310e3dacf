"""What a check of a table would read, by one listing of its directory; no file is opened."""

from __future__ import annotations

from dataclasses import dataclass

from lakelens.explorer.answers import ask
from lakelens.model.table import Table
from lakelens.views.card import wording

# what the role of a file that holds rows, or deletes them, ends with
_ROWS = frozenset(("data", "delete", "vectors"))


@dataclass(frozen=True, slots=True)
class Price:
    """The files and bytes of the metadata and of what holds rows; `is_cut` where there are more than were listed."""

    metadata_files: int
    metadata: int
    data_files: int
    data: int
    is_cut: bool = False

    @property
    def whole(self) -> int:
        """The bytes of everything."""
        return self.metadata + self.data

    @property
    def metadata_words(self) -> str:
        """The documents, lists and manifests, with their bytes."""
        return self._format(self.metadata_files, self.metadata)

    @property
    def data_words(self) -> str:
        """The data and delete files, with their bytes."""
        return self._format(self.data_files, self.data)

    @property
    def footer_words(self) -> str:
        """How many files have a footer to read."""
        return f"the ends of {self._least}{wording.plural(min(self.data_files, 1_000), 'file')}"

    @property
    def _least(self) -> str:
        return "at least " if self.is_cut else ""

    def _format(self, files: int, size: int) -> str:
        return f"{self._least}{wording.plural(files, 'file')}, {wording.size(size)}"


def find_price(table: Table) -> Price:
    """What a check would read.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> price = find_price(table)
    >>> price.whole == sum(file.size_bytes for file in table.tree(references=False).files)
    True
    """
    return ask(table, "price", lambda: _measure(table))


def _measure(table: Table) -> Price:
    tree = table.tree(references=False)
    rows = [f.size_bytes for f in tree.files if f.role.removesuffix(" file").rpartition(" ")[2] in _ROWS]
    size = sum(file.size_bytes for file in tree.files)
    return Price(len(tree.files) - len(rows), size - sum(rows), len(rows), sum(rows), tree.truncated)
