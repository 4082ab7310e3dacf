"""Every listed file in one row: live, kept by an older state, the table's own, or nobody's.

needed by the current state          live data, deletes, changelog, indexes, manifests
needed by older states alone         old snapshots, by who lets go of it last
named by the table's documents       metadata, statistics
only removed by entries              Paimon's own cleaning spares it
found by its name                    schemas, snapshots, tags, hints, consumers
named by nobody                      orphans, or too recent to be one; hidden; foreign
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from lakelens.analysis.kept import Kept
from lakelens.analysis.space.division import LiveFile
from lakelens.analysis.space.holders import Expiring, Holders
from lakelens.caching import cached_property
from lakelens.display import Named
from lakelens.model.check.references import Referring
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The rows of a space: each byte under the directory in exactly one of them.

LIVE, DELETES, CHANGELOG, INDEXES, MANIFESTS = (
    "live data",
    "live deletes",
    "live changelog",
    "live indexes",
    "live manifests",
)
OLD, NAMED, METADATA, STATISTICS = ("old snapshots", "removed, still named", "metadata", "statistics")
ORPHANS, YOUNG, HIDDEN, FOREIGN = ("orphans", "unreferenced, recent", "hidden files", "foreign files")
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
        """Find the slice of a name, or those of a group.

        Parameters
        ----------
        name
            `live data/payload`, or `live data`.
        """
        return Slices(one for one in self if name in (one.name, one.group))

    def iterate_groups(self) -> Iterator[tuple[str, Slices]]:
        """Iterate the groups in order, each with its slices."""
        for group, members in groupby(self, key=lambda one: one.group):
            yield group, Slices(members)


def order_slices(slices: Iterable[Slice]) -> Slices:
    """Slices by group; in a group as they come."""
    places = {name: place for place, name in enumerate(GROUPS)}
    return Slices(sorted(slices, key=lambda one: places[one.group]))


Label = tuple[str, str]
# what the entries of live files hold, as `FileEntries.contents` numbers it
_CONTENTS: tuple[Label, ...] = (
    (LIVE, ""),
    (DELETES, "position deletes"),
    (DELETES, "equality deletes"),
    (DELETES, "deletion vectors"),
    (CHANGELOG, ""),
    (LIVE, "sidecars"),
)
_METADATA = (
    "table metadata",
    "snapshot",
    "schema",
    "tag",
    "hint",
    "consumer",
    "marker",
    "changelog snapshot",
    "commit",
    "compacted commits",
    "checkpoint",
    "checksum",
)


class Census:
    """What each listed file is, and what each state keeps.

    `labels` are the rows (a group and a part of it; of old snapshots the part is the number of the state that lets go last),
    and `label` has for each listed file the number of its row, -1 for files outside of the directory.
    """

    def __init__(self, kept: Kept, holders: Holders, limit: datetime) -> None:
        import numpy as np

        self.kept, self.holders, self.limit = kept, holders, limit
        self.table = holders.table
        self.listing = kept.listing
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}
        self.label: NDArray[np.int64] = np.full(len(self.listing), -1, np.int64)
        self._place_entries()
        if self.table.traits.files_are_listed:
            self._place_listed()
        self._place_documents()
        self._place_loose()
        self.label[~self.is_inside] = -1

    @cached_property
    def is_inside(self) -> NDArray[np.bool_]:
        """For each listed file whether it is under the table's directory: a format may list directories elsewhere."""
        import numpy as np
        import pyarrow.compute as pc

        paths = self.listing.paths
        inside: NDArray[np.bool_] = (
            pc.starts_with(paths, self.listing.root).to_numpy(zero_copy_only=False).copy()
        )
        if pc.count_distinct(paths).as_py() < len(paths):  # a directory that is listed twice
            _, first = np.unique(np.array(paths.to_pylist(), object), return_index=True)
            once = np.zeros(len(paths), bool)
            once[first] = True
            inside &= once
        return inside

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Of each group of `Kept.groups` the state that lets go last."""
        return self._weighed[0]

    @cached_property
    def alone(self) -> NDArray[np.int64]:
        """Of each group the number of the one holder of all its states, -1 where there are several."""
        return self._weighed[1]

    @cached_property
    def only(self) -> NDArray[np.int64]:
        """Of each group its one state, -1 where there are several."""
        return self._weighed[2]

    @cached_property
    def _weighed(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        import numpy as np

        of, ranks = np.array(self.holders.of, np.int64), self.holders.ranks
        found = np.full((3, len(self.kept.groups)), -1, np.int64)
        for number, group in enumerate(self.kept.groups):
            states = np.frombuffer(group.to_array(), np.uint32)
            found[0, number] = states[ranks[states].argmax()]
            held = of[states]
            if (held == held[0]).all():
                found[1, number] = held[0]
            if len(states) == 1:
                found[2, number] = states[0]
        return found[0], found[1], found[2]

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """For each listed file the state that lets go of it last, -1 where no state names it."""
        import numpy as np

        return np.append(self.owners, -1)[self.kept.group]  # the group -1 takes the last

    @cached_property
    def _is_entry(self) -> NDArray[np.int8]:
        """For each listed file what its entries say that it holds, -1 where no entry names it."""
        import numpy as np

        entries = self.kept.entries
        content: NDArray[np.int8] = np.full(len(self.listing), -1, np.int8)
        rows = entries.files < len(self.listing)
        content[entries.files[rows]] = entries.contents[rows]
        return content

    def number(self, group: str, part: str = "") -> int:
        """The number of a row."""
        label = group, part
        number = self._numbers.setdefault(label, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
        return number

    def _place_entries(self) -> None:
        """Files that states name."""
        import numpy as np

        owner, content = self.owner, self._is_entry
        held = owner >= 0
        numbers = np.full(len(self.holders.keepers) + 1, -1, np.int64)
        for state in np.unique(owner[held]).tolist():
            if state != self.holders.current:
                numbers[state] = self.number(OLD, str(state))
        self.label = numbers[owner]
        live = held & (owner == self.holders.current)
        for number, label in enumerate(_CONTENTS):
            chosen = live & (content == number)
            if chosen.any():
                self.label[chosen] = self.number(*label)
        spared = held & (content >= 0) & ~self.kept.is_needed
        if spared.any():
            self.label[spared] = self.number(NAMED)

    def _place_listed(self) -> None:
        """Place the files of a listing, which is all that says which files there are."""
        import pyarrow.compute as pc

        if self.table.current is None:
            return
        found = self.table.current.files.to_arrow(stats=False, columns=["path", "content"])
        places = self.listing.find(found["path"].combine_chunks())
        is_data = pc.equal(found["content"], "data").to_numpy()
        for chosen, label in ((is_data, (LIVE, "")), (~is_data, (DELETES, ""))):
            numbers = places[chosen & (places >= 0)]
            if len(numbers):
                self.label[numbers] = self.number(*label)

    def _place_documents(self) -> None:
        """Live files of other roles, and the table's own."""
        import numpy as np

        is_live = (self.owner == self.holders.current) & (self.owner >= 0)
        rest = np.flatnonzero((self.kept.is_documented | is_live) & (self.label < 0))
        for place in rest.tolist():
            path = self.listing.paths[place].as_py()
            role = self._roles.get(path) or Referring.of(self.table).find_purpose(self._shorten(path)).role
            is_owned = bool(self.kept.is_documented[place])
            self.label[place] = self.number(*self._label_document(path, role, is_owned))

    def _label_document(self, path: str, role: str, is_owned: bool) -> Label:
        if role == "table metadata":
            return METADATA, "current document" if path in self._current else "documents in the log"
        if role.startswith("manifest list"):
            return MANIFESTS, "manifest lists"
        if role in ("manifest of data", "manifest of deletes", "manifest", "index manifest"):
            return MANIFESTS, form_plural(role)
        if "statistics" in role:
            return STATISTICS, role
        if role == "deletion vectors":
            return DELETES, role
        if role.startswith("removed "):
            return NAMED, ""
        if role.endswith("index") and role != "file index":
            return INDEXES, form_plural(role)
        group = METADATA if is_owned or role.endswith(_METADATA) else LIVE
        return group, form_plural(role)

    @cached_property
    def _current(self) -> set[str]:
        named = self.kept.holdings.named
        return {path for path, one in named.items() if one.reference.is_needed and not one.keepers}

    @cached_property
    def _roles(self) -> Mapping[str, str]:
        """What documents and manifests are for, by path."""
        holdings = self.kept.holdings
        roles = {path: one.reference.role for path, one in holdings.named.items()}
        for manifest in holdings.manifests:
            content = {"data": "manifest of data", "deletes": "manifest of deletes"}
            roles[manifest.path] = content.get(str(manifest.content), "manifest")
        return roles

    def _place_loose(self) -> None:
        """Files that nobody names: what they are for follows from their names."""
        import numpy as np

        loose = np.flatnonzero((self.label < 0) & self.is_inside)
        for place, path in zip(loose.tolist(), self.listing.paths.take(loose).to_pylist(), strict=True):
            purpose = Referring.of(self.table).find_purpose(self._shorten(path))
            if purpose.standing == "known" and purpose.role.endswith(_METADATA):
                label = METADATA, form_plural(purpose.role)
            elif purpose.standing == "known" and purpose.role == "change data":
                label = CHANGELOG, purpose.role
            elif purpose.standing in ("known", "hidden"):
                label = HIDDEN, form_plural(purpose.role)
            elif purpose.standing == "foreign":
                label = FOREIGN, ""
            else:
                modified = self.listing.modified[place]
                is_young = modified is None or modified > self.limit
                label = (YOUNG, "") if is_young else (ORPHANS, form_plural(purpose.role))
            self.label[place] = self.number(*label)

    def _shorten(self, path: str) -> str:
        return path.removeprefix(self.listing.root)

    @cached_property
    def totals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes and files of each row."""
        return self.add_up(self.label, len(self.labels))

    def add_up(self, numbers: NDArray[np.int64], many: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes and files under the directory by some number of each, from 0; those of -1 are left out."""
        import numpy as np

        chosen = np.flatnonzero((numbers >= 0) & self.is_inside)
        sizes = np.zeros(many, np.int64)
        np.add.at(sizes, numbers[chosen], self.listing.sizes[chosen])
        return sizes, np.bincount(numbers[chosen], minlength=many).astype(np.int64)

    @cached_property
    def expiring(self) -> Expiring:
        """What each state lets go of last, but for files that only removals name: expiry passes them over."""
        spared = self._numbers.get((NAMED, ""), -2)
        owner = self.owner.copy()
        owner[(self.label == spared) | self.kept.is_documented] = -1
        return Expiring(self.holders, *self.add_up(owner, len(self.holders.keepers)))

    def list_live(self) -> list[LiveFile]:
        """List the live data files."""
        import numpy as np

        number = self._numbers.get((LIVE, ""))
        if number is None:
            return []
        places = np.flatnonzero(self.label == number)
        paths = self.listing.paths.take(places).to_pylist()
        return [LiveFile(*pair) for pair in zip(paths, self.listing.sizes[places].tolist(), strict=True)]


def form_plural(role: str) -> str:
    """The role of an object as that of many.

    >>> form_plural("manifest of data"), form_plural("hash index"), form_plural("statistics"), form_plural("data")
    ('manifests of data', 'hash indexes', 'statistics', 'data')
    """
    first, divider, rest = role.partition(" of ")
    if first.endswith(("data", "metadata", "statistics", "vectors", "blobs", "references", "unknown")):
        return role
    return f"{first}{'es' if first.endswith('index') else 's'}{divider}{rest}"
