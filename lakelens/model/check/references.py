"""What refers to the stored objects of a table, as far as documents say it: every state that keeps files, and further files.

`Referring` is the part of a format that gives it: each says which documents keep files alive, what an object is for by its
name alone, and where recorded files outside of the table's directory are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lakelens.errors import LakeError
from lakelens.model.driver import Part

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot

_MOST_STATES = 2_000


class Listed(Protocol):
    """One object of a listing: its path, its bytes, and when it was last written (UTC), where the store says so."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def modified(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object of a listing, for formats that list their tables in another way."""

    path: str
    size: int
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class Keeper:
    """A document that keeps files alive: a snapshot, a branch's or a tag's state, or one kept for its changelog.

    `name` says which ("snapshot 5", "tag v1"), `path` is the document. `snapshot` is None where it cannot be read: what it
    keeps is unknown. `roles` are those manifest lists of it that count (None: all of them). `kind` is what keeps it, and
    `ref` its name; of snapshots the branch whose own they are, None where branches share them. `branch` is the branch whose
    numbers it has, where each branch numbers its own (empty for the first).
    """

    name: str
    snapshot: Snapshot | None
    path: str | None = None
    roles: tuple[str, ...] | None = None
    kind: Literal["snapshot", "branch", "tag", "changelog"] = "snapshot"
    ref: str | None = None
    branch: str = ""

    @property
    def id(self) -> int | None:
        """The snapshot's id."""
        return None if self.snapshot is None else self.snapshot.id


@dataclass(frozen=True, slots=True)
class Reference:
    """A file that a document names: where it is, what it is for, its recorded size and place, and whether rows need it.

    `snapshot_id` is the snapshot that it is about, and with which it goes; None where it is the table's.
    """

    path: str
    role: str
    size_bytes: int | None = None
    recorded_path: str | None = None
    is_needed: bool = False
    snapshot_id: int | None = None


Standing = Literal["known", "hidden", "foreign", "loose"]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What an object is for by its place and name alone, when nothing refers to it.

    `standing` is "known" where readers find it by its name, "hidden" where engines' listings skip it, "foreign" where it is
    not of the table's format, "loose" where something should refer to it; then `reason` says what did not.
    """

    role: str
    standing: Standing
    reason: str = ""


class Referring(Part):
    """What refers to the objects of one table."""

    answer = "references"

    #: What names of states begin with.
    noun = "snapshot"

    #: Whether states before the current one keep their files. Else these are still followed, as far as they are there.
    history_keeps: bool = True

    #: Whether an entry that removes a file keeps the file from being an orphan, as Paimon's own cleaning has it.
    removed_are_kept: bool = False

    #: Whether where a file was recorded says where it is; else its name alone was recorded.
    records_locations: bool = True

    #: Whether entries record the bytes that each column takes in a file (`column_sizes`).
    records_column_sizes: bool = False

    #: What the names of files end with that name further files in their bytes.
    naming_suffix: str | None = None

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        #: what finds files of the table, below its directory and where they were recorded; None where nothing else does
        self.access: Any = None
        #: what keeps the files that entries remove and no state needs
        self.removed_kept_by = (
            f"entries that remove them; {table.traits.title}'s own cleaning passes them over"
        )

    def read_names(self, path: str) -> Iterator[Reference]:
        """Read the further files that a file of the `naming_suffix` names. Raises `LakeError`."""
        return iter(())

    def list_keepers(self) -> Iterator[Keeper]:
        """Every state that keeps files alive, each once: of all branches, of tags, and those kept for their changelog."""
        seen: set[str | None] = set()
        for snapshot in self.table.snapshots if self.history_keeps else self.table.snapshots[-1:]:
            seen.add(snapshot.path)
            yield Keeper(f"{self.noun} {snapshot.id}", snapshot, snapshot.path)
        for ref in self.table.refs:
            try:
                found = self.table.snapshot(ref.name)
            except LakeError:
                found = None
            if found is None and ref.snapshot_id is not None:
                yield Keeper(f"{ref.type} {ref.name}", None, ref.path, kind=ref.type, ref=ref.name)
            elif found is not None and found.path not in seen:
                seen.add(found.path)
                yield Keeper(f"{ref.type} {ref.name}", found, found.path, kind=ref.type, ref=ref.name)

    def list_states(self) -> Iterator[Keeper]:
        """List the states that rows and files are followed through: those that keep files, else the newest thousands."""
        if self.history_keeps:
            yield from self.list_keepers()
            return
        for snapshot in self.table.snapshots[-_MOST_STATES:]:
            yield Keeper(f"{self.noun} {snapshot.id}", snapshot, snapshot.path)

    def list_named(self, keeper: Keeper) -> Iterator[Reference]:
        """The files that a state names itself, beside manifest lists, manifests and their files. Raises `LakeError`."""
        return iter(())

    def list_documents(self) -> Iterator[Reference]:
        """List the files that no state refers to, but the table's own documents do."""
        return iter(())

    def list_consumers(self) -> Iterator[tuple[str, int]]:
        """Readers that go on from a snapshot, which does not expire before: their names, and its id."""
        return iter(())

    def list_doubts(self) -> Iterator[tuple[str, str]]:
        """Documents that may refer to files and were not followed: their paths, and why."""
        return iter(())

    def list_objects(self, refuse: Callable[[LakeError], None]) -> Iterator[Listed]:
        """List every object below the table's directory. What cannot be listed is given to `refuse`."""
        if self.access is not None:
            yield from self.access.list_objects(self.table.location, refuse)
            return
        try:
            for file in self.table.list_files():
                yield ListedObject(file.path, file.size_bytes, file.modified)
        except LakeError as error:
            refuse(error)

    def find_purpose(self, relative_path: str) -> Purpose:
        """Find what an object is for that nothing refers to."""
        return Purpose("unknown", "foreign")

    def find_sizes(self, recorded: Iterable[tuple[str, str | None]]) -> Iterator[int | None]:
        """Find the sizes of files that the listing does not have: each a path and, where it was recorded, that location.

        None for a file that is nowhere, -1 for one outside of the table that was not looked for.
        """
        if self.access is None:
            return (None for _ in recorded)
        if not self.records_locations:
            recorded = ((path, None) for path, _ in recorded)
        sizes: Iterator[int | None] = self.access.find_sizes(recorded)
        return sizes
