"""Manifest lists, manifests and their entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.collections import Items, show_stored, stored, worked_out
from lakelens.model.datafile import DataFile
from lakelens.model.facts.facts import FIELD_SUMMARY, MANIFEST_LIST, list_entries, list_manifests
from lakelens.model.fileset import FileColumns

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.collections import Document

T = TypeVar("T")


@show_stored("entry")
@dataclass(frozen=True, slots=True, repr=False)
class Entry(Explainable, Displayable):
    """One line of a manifest: a file and what the commit did with it.

    `status` is spelled as the format spells it ("ADDED", "EXISTING", "DELETED"; Paimon "ADD", "DELETE"). `snapshot_id` and
    the sequence numbers have inheritance applied; `raw` is the record as stored.
    """

    status: str
    snapshot_id: int | None
    sequence_number: int | None
    file: DataFile
    file_sequence_number: int | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def is_live(self) -> bool:
        """Whether the entry says that the file is there."""
        return self.status in ("ADDED", "EXISTING", "ADD")

    def __repr__(self) -> str:
        return f"<Entry {self.status} {self.file.path.rsplit('/', 1)[-1]}>"


class Entries(Items[Entry]):
    """The entries of a manifest, in file order; `columns` says which columns their files have as a table."""

    __slots__ = ("_list_columns",)

    def __init__(
        self, entries: Iterable[Entry] = (), columns: Callable[[], FileColumns] | None = None
    ) -> None:
        super().__init__(entries)
        self._list_columns = columns

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held, self._list_columns)

    def to_arrow(self) -> pa.Table:
        """One row for each: `status`, and the columns of `FileSet.to_arrow`; `snapshot_id` is the entry's."""
        return list_entries(self, FileColumns() if self._list_columns is None else self._list_columns())


@dataclass(frozen=True, slots=True, repr=False)
class FieldSummary(Displayable):
    """What a manifest list says about one partition field over a manifest's files; `lower` and `upper` are values."""

    name: str
    lower: Any = None
    upper: Any = None
    contains_null: bool | None = None
    contains_nan: bool | None = None
    null_count: int | None = None

    def __repr__(self) -> str:
        return f"<FieldSummary {self.name}: {self.lower!r} to {self.upper!r}>"


class FieldSummaries(Items[FieldSummary]):
    """What a manifest list says about a manifest's partitions, one item per partition field."""

    __slots__ = ()
    facts = FIELD_SUMMARY


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestAnswers:
    """How a format decodes the entries of one of its manifests: functions of the manifest, which raise `LakeError`.

    All but the first are left out where entries are few enough to decode all of them whenever one is asked for.
    """

    #: all of them, in file order, for those that are kept
    entries: Callable[[Any], Iterator[Entry]]
    #: the same for those that are looked at once: each is decoded when it is asked for
    stream: Callable[[Any], Iterator[Entry]] = lambda manifest: iter(manifest.entries)
    #: one of them, decoded alone; raises IndexError where there is none
    entry: Callable[[Any, int], Entry] = lambda manifest, position: manifest.entries[position]
    #: how many the file holds, whatever its list counts
    count: Callable[[Any], int] = lambda manifest: len(manifest.entries)
    #: which columns their files have as a table
    columns: Callable[[Any], FileColumns] = lambda manifest: FileColumns()


class Manifest(Explainable, Displayable):
    """One manifest, as its line in the manifest list describes it; `entries` reads the file.

    `content` is "data" or "deletes" (Paimon: "data", "changelog"). Counts are None where the list records none. `raw` is
    the line of the list; every field of it is there under its specified name.

    A format's own class adds the fields of the line and overrides nothing: it says which attributes are worked out late, and
    how entries are decoded.
    """

    #: attributes that are worked out when they are first asked for
    late: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    answers: ClassVar[ManifestAnswers]

    path: str = worked_out()
    recorded_path: str
    size_bytes: int | None
    content: str = "data"
    spec_id: int | None = worked_out()
    schema_id: int | None = worked_out()
    sequence_number: int | None = None
    added_snapshot_id: int | None = None
    added_files_count: int | None = None
    existing_files_count: int | None = None
    deleted_files_count: int | None = None
    partition_summary: FieldSummaries = worked_out(FieldSummaries())
    header: Document = worked_out()
    raw: Mapping[str, Any] = stored("manifest list")
    #: attributes of its files that depend on the entries before theirs: an entry that is decoded alone does not have them
    folded: tuple[str, ...] = ()

    @cached_property
    def _read_entries(self) -> tuple[Sequence[Entry], LakeError | None]:
        return collect(self.answers.entries(self))

    @property
    def is_read(self) -> bool:
        """Whether its entries are known, so that asking for them reads nothing."""
        return "_read_entries" in vars(self)

    @cached_property
    def entries(self) -> Entries:
        """Every entry, deleted ones included, in file order. Raises `LakeError` when the file cannot be read."""
        return Entries(raise_error(self._read_entries), partial(self.answers.columns, self))

    def count_entries(self) -> int | None:
        """Count how many entries there are, as the line of the list counts them; None where it does not."""
        counts = (self.added_files_count, self.existing_files_count, self.deleted_files_count)
        known = [count for count in counts if isinstance(count, int)]
        return sum(known) if known else None

    def iterate_entries(self) -> Iterator[Entry]:
        """The entries, each decoded when it is asked for, and not kept. Raises `LakeError` where that cannot be done."""
        return iter(self._read_entries[0]) if self.is_read else self.answers.stream(self)

    def count_stored(self) -> int:
        """How many entries the file itself holds, whatever its list counts. Raises `LakeError` where it cannot be read."""
        return self.answers.count(self)

    def read_entry(self, position: int) -> Entry:
        """One entry, decoded alone where the others were not. Raises `LakeError`, and IndexError where there is none."""
        return self._read_entries[0][position] if self.is_read else self.answers.entry(self, position)

    def walk(self) -> tuple[Sequence[Entry], LakeError | None]:
        """Walk the entries that can be read, and what stopped the reading (None: nothing did)."""
        return self._read_entries

    def __repr__(self) -> str:
        counts = (
            ("+", self.added_files_count), ("=", self.existing_files_count), ("-", self.deleted_files_count)
        )  # fmt: skip
        said = " ".join(f"{sign}{count}" for sign, count in counts if count is not None)
        return f"<Manifest {self.content} {self.path.rsplit('/', 1)[-1]}: {said or 'files not counted'}>"


_Manifest = TypeVar("_Manifest", bound=Manifest, covariant=True)


class Manifests(Items[_Manifest]):
    """Manifests, in the order of their lists."""

    __slots__ = ()

    def to_arrow(self) -> pa.Table:
        """One row for each, as its manifest list describes it; no manifest is read. `role` is null: a list has it."""
        return list_manifests(self, {})


class ManifestList(Explainable, Displayable):
    """One manifest list: `role` is "all" in Iceberg, "base", "delta" or "changelog" in Paimon.

    An Iceberg v1 snapshot with inline manifests has a list without a file: `path` is None. A format's own class says in
    `late` what is worked out when it is first asked for, `_read_manifests` among it.
    """

    late: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})

    path: str | None = worked_out()
    recorded_path: str | None
    role: str
    size_bytes: int | None = worked_out()
    header: Document = worked_out()
    _read_manifests: tuple[Sequence[Any], LakeError | None] = worked_out(((), None))

    @property
    def is_read(self) -> bool:
        """Whether its manifests are known, so that asking for them reads nothing."""
        return "_read_manifests" in vars(self)

    @cached_property
    def manifests(self) -> Manifests[Any]:
        """The manifests it names, in order. Raises `LakeError` when the file cannot be read."""
        return Manifests(raise_error(self._read_manifests))

    def walk(self) -> tuple[Sequence[Any], LakeError | None]:
        """Walk the manifests that can be read of, and what stopped the reading (None: nothing did)."""
        return self._read_manifests

    def __repr__(self) -> str:
        return f"<ManifestList {self.role} {(self.path or 'inline').rsplit('/', 1)[-1]}>"


_List = TypeVar("_List", bound=ManifestList, covariant=True)


class ManifestLists(Items[_List]):
    """The manifest lists of a snapshot."""

    __slots__ = ()
    facts = MANIFEST_LIST


def collect(items: Iterator[T]) -> tuple[Sequence[T], LakeError | None]:
    """Take the items that can be read, and the error that stopped the reading."""
    read: list[T] = []
    try:
        for item in items:
            read.append(item)
    except LakeError as error:
        return tuple(read), error.without_frames()
    return tuple(read), None


def raise_error(read: tuple[Sequence[T], LakeError | None]) -> Sequence[T]:
    """Give the items of `collect`. Raises the error that stopped the reading."""
    items, error = read
    if error is not None:
        raise error
    return items
