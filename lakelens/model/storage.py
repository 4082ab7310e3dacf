"""A table in storage: why its directory is recognised, how locations are mapped, its objects, and what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from lakelens.display import Displayable, Named
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.bitmaps import BitMap
    from lakelens.model.bytes_view import BytesView
    from lakelens.model.datafile import Footer
    from lakelens.model.stats import FileDivision

T = TypeVar("T")
#: Formats of data files that lakelens knows and whose rows it does not decode, with their names; table formats bring theirs.
KNOWN_FORMATS = {"lance": "the Lance format", "vortex": "the Vortex format"}


@dataclass(frozen=True, slots=True)
class OwnDirectory:
    """A directory that a format keeps beside a table's data files.

    `format` and `title` say whose it is, `role` is that of the files in it. Where it `decides` which files are live, a
    listing of the data files is not the table.
    """

    format: str
    title: str
    role: str
    decides: bool = True

    @property
    def warning(self) -> str:
        """Why a table that is read without this directory may be another one."""
        return f"a {self.role} is beside it: the same files may be a {self.title} table too"


#: Such directories by name: of formats that nothing here reads, and of those that are installed, whose drivers bring theirs.
OWN_DIRECTORIES = {".hoodie": OwnDirectory("hudi", "Hudi", "Hudi timeline")}


@dataclass(frozen=True, slots=True)
class StoredFile(Named):
    """One stored object: its path, also relative to the table, its size, and its `role` ("manifest list", "data").

    `referenced_by` names what refers to it ("snapshot 3, delta manifest list"); empty when nothing was found. `entries` are
    the entries that name it ("m0.avro (ADDED)"), where listing has read the manifests.
    """

    path: str
    relative_path: str
    size_bytes: int
    role: str
    referenced_by: Sequence[str] = ()
    modified: datetime | None = None
    entries: tuple[str, ...] = field(default=(), repr=False, kw_only=True)


class Referrers(Sequence[str]):
    """What refers to an object, where that is much: those of all `names` (each with its place) that have certain places.

    Equal to the tuple of those names, which is not made.

    >>> from pyroaring import BitMap
    >>> Referrers(["snapshot 1", "snapshot 2"], {"snapshot 1": 0, "snapshot 2": 1}, BitMap([1]))
    ('snapshot 2',)
    """

    __slots__ = ("names", "numbers", "places")

    def __init__(self, names: Sequence[str], numbers: Mapping[str, int], places: BitMap) -> None:
        self.names = names
        self.numbers = numbers
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[str, ...]: ...
    def __getitem__(self, key: int | slice) -> str | tuple[str, ...]:
        if isinstance(key, slice):
            return tuple(self.names[place] for place in self.places[key])
        return self.names[self.places[key]]

    def __contains__(self, name: object) -> bool:
        place = self.numbers.get(name) if isinstance(name, str) else None
        return place is not None and place in self.places

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Referrers) and self.names is other.names:
            return bool(self.places == other.places)
        return isinstance(other, tuple | Referrers) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Storage(Protocol):
    """Where a table's data files are stored, and what they say of themselves; `store` reads any file of it."""

    store: Any

    def read_footer(self, path: str, file_format: str) -> Footer:
        """Read the facts that a data file records about itself. Raises `LakeError`."""
        ...

    def follow(
        self, files: Iterable[T], place: Callable[[T], tuple[str, int | None]], *, whole: bool = False
    ) -> Iterator[T]:
        """The files in order, of which `place` gives the path and the recorded size: their footers are going to be read.

        Where each request waits for a network, those of many files are read together; with `whole` small files are.
        """
        ...

    def explain_file(self, path: str) -> BytesView:
        """Any file in the table's directory, where it is now, with a name for every byte.

        Raises `Missing` for whatever is elsewhere, is reached by a link or climbs, before any of it is read.
        """
        ...

    def read_document(self, path: str) -> Any:
        """Read what a JSON document in the table's directory holds, also a compressed one; of another text its text.

        Raises `Missing` as `explain_file` does, and `Corrupt` for what is no document.
        """
        ...

    def read_digest(self, path: str) -> bytes:
        """Read all bytes of a file in the table's directory, in pieces, for their digest: equal ones are of equal bytes.

        Raises `Missing` as `explain_file` does.
        """
        ...

    def read_columns(
        self, path: str, file_format: str, columns: Sequence[str] | None = None
    ) -> Iterator[pa.Table]:
        """Read all rows of a data file, of some columns, in pieces of bounded size. Raises `LakeError`."""
        ...

    def divide(self, path: str, file_format: str, size: int) -> FileDivision | None:
        """Divide the bytes of a data file of a size by column; None for a format that has no footer. Raises `LakeError`."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Displayable):
    """Why a directory is recognised as a table of a format.

    `reasons` are sentences; `files` those that made it certain; `version_choice` says how the current version was found,
    `candidates` which others exist. `others` names formats that were found in the same directory.
    """

    format: str
    reasons: tuple[str, ...]
    files: tuple[str, ...] = ()
    confidence: float = 1.0
    version_choice: str | None = None
    candidates: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Evidence {self.format}: {'; '.join(self.reasons)}>"


@dataclass(frozen=True, slots=True, repr=False)
class Relocation(Displayable):
    """How recorded locations were mapped: pairs of recorded and actual prefix, and what could not be mapped.

    `homes` are the directories in which the table has stood, as its metadata shows: its recorded location, and the parents
    of the folders of earlier metadata. A file that was recorded below one of them and is not here is missing here, also
    where it still is at the recorded place: `elsewhere` has such files as far as they were seen, each where it should be
    and where it is. What was recorded anywhere else was never in the table's directory, and is read there.
    """

    recorded_location: str | None
    location: str
    mapping: tuple[tuple[str, str], ...] = ()
    unmapped: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()

    @property
    def is_moved(self) -> bool:
        """Whether any recorded location is elsewhere now."""
        return bool(self.mapping)

    def __repr__(self) -> str:
        recorded = "no recorded location" if self.recorded_location is None else self.recorded_location
        return f"<Relocation {recorded} to {self.location}>"


@dataclass(frozen=True, slots=True, repr=False)
class Reads(Displayable):
    """What was read so far: requests to the store, files opened, bytes, seconds spent waiting; and which files.

    `waves` is how often one waited: requests that were under way together count once.
    """

    requests: int
    files: int
    bytes: int
    seconds: float = field(compare=False)
    paths: tuple[str, ...] = ()
    waves: int = 0

    def __sub__(self, before: Reads) -> Reads:
        """Say what was read since an earlier moment.

        >>> Reads(5, 3, 900, 0.5, ("a", "b", "c"), 2) - Reads(2, 1, 300, 0.25, ("a",), 1)
        <Reads 3 requests, 2 files, 600 bytes>
        """
        return Reads(
            self.requests - before.requests,
            self.files - before.files,
            self.bytes - before.bytes,
            self.seconds - before.seconds,
            self.paths[len(before.paths) :],
            self.waves - before.waves,
        )

    def __repr__(self) -> str:
        return f"<Reads {self.requests} requests, {self.files} files, {self.bytes} bytes>"


@dataclass(frozen=True, slots=True, repr=False)
class MetadataLogEntry(Explainable, Displayable):
    """One earlier version of the table's metadata: when, and the file as recorded and where it is now."""

    timestamp: datetime
    path: str
    recorded_path: str
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<MetadataLogEntry {self.timestamp:%Y-%m-%d %H:%M:%S} {self.path.rsplit('/', 1)[-1]}>"


class MetadataLog(Items[MetadataLogEntry]):
    """Earlier versions of a table's metadata, oldest first."""

    __slots__ = ()
    facts = (
        Fact("timestamp", "time"),
        Fact("path"),
        Fact("recorded_path"),
    )


@dataclass(frozen=True, slots=True, repr=False)
class EncryptionKey(Displayable):
    """A key that files of a table are encrypted with, as the table's metadata names it; itself it is encrypted.

    `encrypted_by` is the id of the key that encrypts it: one of the table's too, or one of a key management service.
    `snapshots` are those whose manifest lists it encrypts, `size_bytes` the bytes of the encrypted key.
    """

    id: str
    encrypted_by: str | None
    size_bytes: int | None
    snapshots: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"<EncryptionKey {self.id!r}>"


class EncryptionKeys(Items[EncryptionKey]):
    """The keys that the metadata of a table names; empty for a table that is not encrypted."""

    __slots__ = ()
    facts = (
        Fact("id"),
        Fact("encrypted_by"),
        Fact("size_bytes", "int64"),
        Fact("snapshots", "int64", lambda key: len(key.snapshots)),
    )
