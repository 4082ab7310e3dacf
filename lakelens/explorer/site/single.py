"""An explorer of one table that is open already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.explorer.explorer import Explorer
from lakelens.model.warehouse.catalog import Catalog, FoundTable
from lakelens.options import display
from lakelens.warehouse import find_fixed, find_in_store

if TYPE_CHECKING:
    from lakelens.model.table import Table
    from lakelens.model.warehouse.catalog import Catalog, FoundTable


class TableExplorer(Explorer):
    """The pages of one table, however it was opened: at its root, which is the table's directory.

    A live one opens the table again, in the way it was opened, so that new commits are seen; else it stays as it is.

    >>> import lakelens as ll
    >>> explorer = TableExplorer(ll.sample("iceberg"))
    >>> [explorer.name(found) for found in explorer.catalog]
    [()]
    """

    def __init__(self, table: Table, *, is_live: bool = False) -> None:
        super().__init__(table.location)
        self._found = (_find_again(table) if is_live else None) or _Fixed(
            table.location, table.format, table.evidence, lambda **options: table
        )

    @property
    def catalog(self) -> Catalog:
        """The one table."""
        return self._look()[0]

    def _look(self, *, again: bool = False) -> tuple[Catalog, dict[str, FoundTable]]:
        found = self._found
        return Catalog(found.path, [found], [], []), {found.path.rstrip("/"): found}


class _Fixed(FoundTable):
    """A table that stays as it was opened, whatever is committed meanwhile."""

    def stamp(self, paths: Sequence[str], since: float | None = None) -> object:
        """Always the same."""
        return self.path


def _find_again(table: Table) -> FoundTable | None:
    """Find what opens a table again, as it was opened; None where that is not known."""
    if table.reopening is None:
        return None
    open_again, how = table.reopening
    store, path = how[:2]

    def reopen(**options: Any) -> Table:
        opened: Table = open_again(*how)
        return opened

    found = next(iter(find_in_store(store, path, depth=0)), None)
    if found is None:  # it was opened by its metadata file
        return FoundTable(table.location, table.format, table.evidence, reopen)
    return replace(found, opener=reopen)


# An explorer of what stays as it was when it was opened: of a folder in a browser, or of what is at an address.


class FixedExplorer(Explorer):
    """The pages of what is below a root that nobody changes: it is walked once, at the beginning.

    Parameters
    ----------
    root
        The directory, or the path that stands for an address.
    find
        What finds the tables; by default the directory is walked.

    Raises
    ------
    LakeError
        What is there cannot be asked or listed; the message says why.

    Examples
    --------
    >>> import lakelens as ll
    >>> explorer = FixedExplorer(ll.sample("hive").location)
    >>> [explorer.name(found) for found in explorer.catalog]
    [()]
    """

    def __init__(self, root: str, find: Callable[[str], Catalog] = find_fixed) -> None:
        super().__init__(root)
        with display.using(progress=False):
            self._found = find(root)
        self._tables = {table.path.rstrip("/"): table for table in self._found}

    def _look(self, *, again: bool = False) -> tuple[Catalog, dict[str, FoundTable]]:
        return self._found, self._tables
