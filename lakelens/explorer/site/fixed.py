"""An explorer of what stays as it was when it was opened: of a folder in a browser, or of what is at an address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakelens.explorer.explorer import Explorer
from lakelens.options import display
from lakelens.warehouse import find_fixed

if TYPE_CHECKING:
    from lakelens.model.warehouse.catalog import Catalog, FoundTable


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
