"""The rows of a space: each byte under the directory in exactly one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from lakelens.display import Named
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

LIVE, DELETES, CHANGELOG, INDEXES, MANIFESTS = (
    "live data",
    "live deletes",
    "live changelog",
    "live indexes",
    "live manifests",
)
OLD, NAMED, METADATA, STATISTICS = ("old snapshots", "removed, still named", "metadata", "statistics")
ORPHANS, YOUNG, HIDDEN, FOREIGN = ("orphans", "too young to say", "hidden files", "foreign files")
#: The groups in the order in which they are shown.
GROUPS = (
    *(LIVE, DELETES, CHANGELOG, INDEXES, MANIFESTS),
    *(OLD, NAMED, METADATA, STATISTICS),
    *(ORPHANS, YOUNG, HIDDEN, FOREIGN),
)


@dataclass(frozen=True, slots=True)
class Slice(Named):
    """Some bytes of the directory: what they are (`group`, and `part` of it), how many, and who keeps them.

    `files` is None where only parts of files are counted: the pages of a column. `about` says more: a column's type.
    """

    group: str
    part: str
    size_bytes: int
    files: int | None
    kept_by: str = ""
    about: str = ""

    @property
    def name(self) -> str:
        """The slice as a path: `live data/payload`."""
        return f"{self.group}/{self.part}" if self.part else self.group


class Slices(Items[Slice]):
    """Slices that together are the bytes of a directory.

    >>> Slices([Slice("orphans", "data", 7, 1, "nobody")]).to_arrow().to_pylist()[0]["name"]
    'orphans/data'
    """

    __slots__ = ()
    facts = (
        Fact("name"),
        Fact("size_bytes", "int64"),
        Fact("files", "int64"),
        Fact("kept_by"),
        Fact("about"),
    )

    @property
    def size_bytes(self) -> int:
        """The bytes of all of them."""
        return sum(one.size_bytes for one in self)

    def find(self, name: str) -> Slices:
        """The slice of a name, or those of a group.

        Parameters
        ----------
        name
            `live data/payload`, or `live data`.
        """
        return Slices(one for one in self if name in (one.name, one.group))

    def iterate_groups(self) -> Iterator[tuple[str, Slices]]:
        """The groups in order, each with its slices."""
        for group, members in groupby(self, key=lambda one: one.group):
            yield group, Slices(members)


def order_slices(slices: Iterable[Slice]) -> Slices:
    """Slices by group; in a group as they come."""
    places = {name: place for place, name in enumerate(GROUPS)}
    return Slices(sorted(slices, key=lambda one: places[one.group]))
