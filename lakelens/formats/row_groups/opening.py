"""From the footer of a file to its row groups, whichever format of files it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakelens.errors import LakeError
from lakelens.formats.row_groups.columns import FindColumn
from lakelens.io.store import Store
from lakelens.model.datafile import Footer
from lakelens.model.scan.row_groups import RowGroups


@dataclass(frozen=True, slots=True)
class FileLeaf:
    """One leaf column of a file: its names from the top down, its field id, and its place among the leaves."""

    names: tuple[str, ...]
    field_id: int | None
    place: int


def open_row_groups(
    store: Store,
    footer: Footer,
    make_find: Callable[[Sequence[FileLeaf]], FindColumn],
    report: Callable[[LakeError], None],
) -> RowGroups | None:
    """The row groups of a file by its footer; None for a file that has none.

    `make_find` is called with the leaves of the file, and gives what finds a column of the table among them; `report`
    hears of damage behind the footer. Raises `LakeError` for a footer that is damaged.
    """
    facts, path = footer.facts, footer.path or ""
    if getattr(facts, "format", None) != "parquet":
        return None
    from lakelens.formats.row_groups.parquet import ParquetRowGroups

    leaves = [
        FileLeaf(tuple(leaf.path.split(".")), leaf.field_id, place) for place, leaf in enumerate(facts.leaves)
    ]
    return ParquetRowGroups(store, path, facts, make_find(leaves), report)
