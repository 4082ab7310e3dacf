"""From the footer of a file to its row groups, whichever format of files it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.formats.row_groups.columns import FindColumn
from lakelens.io.store import Store
from lakelens.model.datafile import Footer
from lakelens.model.scan.row_groups import RowGroups

if TYPE_CHECKING:
    from lakelens.codecs.orc.statistics import OrcType


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
    kind = getattr(facts, "format", None)
    if kind == "orc":
        from lakelens.formats.row_groups.orc import open_stripes

        return open_stripes(store, path, lambda leaves: make_find(_place(leaves)), report)
    if kind != "parquet":
        return None
    from lakelens.formats.row_groups.parquet import ParquetRowGroups

    leaves = [
        FileLeaf(tuple(leaf.path.split(".")), leaf.field_id, place) for place, leaf in enumerate(facts.leaves)
    ]
    return ParquetRowGroups(store, path, facts, make_find(leaves), report)


def _place(leaves: Sequence[OrcType]) -> list[FileLeaf]:
    return [FileLeaf(leaf.names, leaf.field_id, place) for place, leaf in enumerate(leaves)]
