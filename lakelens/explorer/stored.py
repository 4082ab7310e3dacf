"""What a table is stored in, found by the path that its metadata records or by where it is now; nothing else is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from lakelens.errors import LakeError, Missing
from lakelens.explorer.explorer import Visit
from lakelens.model.bytes_view import BytesView
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.manifest import Entries, Entry, Manifest, ManifestList
from lakelens.model.snapshot import Snapshot

T = TypeVar("T")
_MOST_SNAPSHOTS = 100  # beside the pinned one, in which something is looked for
_FEW = 1_000  # entries of a manifest that are read together


class Stored:
    """What a page of a table is asked about. Whatever is not the table's, or not below the root, is `Missing`."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.table, self.snapshot = visit.table, visit.snapshot
        self.inside = visit.inside

    @property
    def files(self) -> FileSet:
        """The files of the pinned snapshot."""
        return self.table.files if self.snapshot is None else self.snapshot.files

    def ask_path(self, name: str = "path") -> str:
        """Give the path that is asked for. Raises `Missing` where there is none, or it may not be asked for."""
        path = self.visit.place.get(name)
        if not path:
            raise Missing(f"this page needs {name}=…", path=self.visit.place.url)
        if not self.inside.leads(path):
            raise Missing("no file of this table", path=path)
        return self.inside.expand(path)

    def _iterate_snapshots(self) -> Iterator[Snapshot]:
        """Iterate the pinned snapshot, then others, the newest first."""
        if self.snapshot is not None:
            yield self.snapshot
        others = self.table.snapshots
        for place in range(len(others) - 1, max(-1, len(others) - 1 - _MOST_SNAPSHOTS), -1):
            with suppress(LakeError):
                if self.snapshot is None or others[place].id != self.snapshot.id:
                    yield others[place]

    def _find(self, path: str, noun: str, list_things: Callable[[Snapshot], Iterable[T]]) -> T:
        for snapshot in self._iterate_snapshots():
            with suppress(LakeError):
                for thing in list_things(snapshot):
                    if is_named(thing, path):
                        return thing
        raise Missing(f"no {noun} of this table", path=path)

    def find_list(self, path: str) -> ManifestList:
        """Find the manifest list of a path. Raises `Missing`."""
        found: ManifestList = self._find(path, "manifest list", lambda snapshot: snapshot.manifest_lists)
        return found

    def find_manifest(self, path: str) -> Manifest:
        """Find the manifest of a path. Raises `Missing`."""
        found: Manifest = self._find(path, "manifest", lambda snapshot: snapshot.manifests)
        return found

    def find_index(self, path: str) -> Any:
        """Find the index file of a path. Raises `Missing`."""
        return self._find(path, "index file", lambda snapshot: snapshot.index_files)

    def find_statistics(self, path: str) -> Any:
        """Find the statistics file of a path. Raises `Missing`."""
        return self._find(path, "statistics file", lambda snapshot: snapshot.statistics)

    def find_file(self, path: str, offset: str = "") -> tuple[DataFile, bool]:
        """Find the file of a path, and whether the pinned snapshot has it; of several vectors in one the one at an offset.

        A file of another state is found by its entry there. Raises `Missing`.
        """
        found = self._find_pinned(path)
        if found is not None and offset and str(getattr(found, "content_offset", None)) != offset:
            now = found.path
            same = self.files.choose(lambda path: path == now, "path")
            at = (file for file in same if str(getattr(file, "content_offset", None)) == offset)
            found = next(at, found)
        if found is not None:
            return found, True
        past = self.table.biography(path).file
        if not is_named(past, path):
            raise Missing("no file of this table", path=path)
        return past, False

    def find_live(self, path: str) -> DataFile | None:
        """The file of a path as the pinned snapshot has it, with what deletes from it; None where it does not have it."""
        try:
            return self._find_pinned(path)
        except LakeError:
            return None

    def _find_pinned(self, path: str) -> DataFile | None:
        """Find the file of a path in the pinned snapshot; by its name alone where that is all that is recorded."""
        for spelled in (path, *_spell_bare(path)):
            with suppress(KeyError):
                return self.files[spelled]
        return None

    def ask_entry(self) -> tuple[Manifest, int, Entry]:
        """Give the entry that `manifest` and `entry` ask for. Raises `Missing`."""
        manifest = self.find_manifest(self.ask_path("manifest"))
        if not self.visit.place.get("entry"):
            raise Missing("this page needs entry=…", path=self.visit.place.url)
        number = self.visit.place.get_number("entry")
        return manifest, number, read_entry(manifest, number)

    # --- bytes -----------------------------------------------------------------------------------------------------------

    def explain(self, thing: Any) -> BytesView:
        """Explain the bytes of something that the metadata names. Raises `Missing` where they are not below the root."""
        path = getattr(thing, "path", None)
        if path is not None:
            self.inside.check(path)
        explanation: BytesView = thing.bytes_view()
        return explanation

    def explain_path(self, path: str) -> tuple[BytesView, Any]:
        """The bytes of a file, explained with the facts that the table has about it; and what has them, if anything does."""
        thing = self._find_thing(path)
        if thing is not None:
            return self.explain(thing), thing
        if self.table.storage is None or not self.inside.holds(path):
            raise Missing("no file of this table", path=path)
        return self.table.storage.explain_file(path), None

    def _find_thing(self, path: str) -> Any:
        """Find what the metadata names by a path: in the pinned snapshot, then in all; None for another file."""
        if path == self.table.metadata_path:
            return None  # it says itself what it is
        for snapshot in (self.snapshot,) if self.snapshot is not None else ():
            for name in ("manifest_lists", "manifests", "index_files", "statistics"):
                with suppress(LakeError):
                    found = next((thing for thing in getattr(snapshot, name) if is_named(thing, path)), None)
                    if found is not None:
                        return found
        found = self.find_live(path)
        if found is not None:
            return found
        log = next((entry for entry in self.table.metadata_log if is_named(entry, path)), None)
        return log or self._find_past(path)

    def _find_past(self, path: str) -> Any:
        """Find the list, the manifest or the file of another state."""
        for find in (self.find_list, self.find_manifest, self.find_index, self.find_statistics):
            with suppress(Missing):
                return find(path)
        if not self.inside.holds(path):  # a file in the directory needs no more to be explained
            with suppress(LakeError):
                return self.find_file(path)[0]
        return None


def is_named(thing: Any, path: str) -> bool:
    """Check whether a path is that of a thing: as it is recorded, which may be a name alone, or where it is now."""
    return path in (thing.recorded_path, thing.path) or thing.recorded_path in _spell_bare(path)


def _spell_bare(path: str) -> tuple[str, ...]:
    """Spell the name at the end of a path: a format that records names leaves out the directory."""
    return (path.rpartition("/")[2],) if "/" in path else ()


def read_entry(manifest: Manifest, number: int) -> Entry:
    """An entry of a manifest: of a small one with all that it inherits. Raises `Missing`, and `LakeError` on damage."""
    count = manifest.count_stored()
    if count <= _FEW:
        read, error = manifest.walk()
        if number < len(read):
            return read[number]
        if error is not None:
            raise error
    else:
        with suppress(IndexError):
            return manifest.read_entry(number)
    raise Missing(f"no entry {number}: there are {count:,}, counted from 0", path=manifest.path)


def count_entries(manifest: Manifest) -> int | None:
    """Count how many entries a manifest has, where it is a large one whose entries can all be read; None for any other."""
    try:
        count = manifest.count_stored()
        if count <= _FEW:
            return None
        manifest.read_entry(count)  # behind the last one: damage is found there
    except IndexError:
        return count
    except LakeError:
        pass
    return None


def read_entries(manifest: Manifest) -> tuple[Entries, LakeError | None]:
    """Give the entries that can be read, and what stopped the reading."""
    read, error = manifest.walk()
    return Entries(read, partial(manifest.answers.columns, manifest)), error
