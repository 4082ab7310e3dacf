"""Data files, delete files, index files: what the metadata says of one stored file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, TypeVar

from lakelens.caching import cached_property
from lakelens.display import Displayable
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Explainable, Source
from lakelens.model.collections import Items, Late, Preview, show_stored, stored
from lakelens.model.deletes import (
    DeleteMatches,
    LiveRows,
    count_live_rows,
    find_cheap_positions,
    raise_error,
    unite_positions,
)
from lakelens.model.driver import load_named
from lakelens.model.facts.facts import Fact
from lakelens.model.stats import Bounds, Encoded, Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.finding import Severity
    from lakelens.model.life.positions import Positions
    from lakelens.model.scan.file_table import FileRow
    from lakelens.model.scan.row_groups import RowGroups
    from lakelens.model.stats import Term


Content = Literal["data", "position_deletes", "equality_deletes", "deletion_vector", "changelog"]


def _refuse(file: DataFile, *asked: Any) -> NoReturn:
    raise Unsupported(f"nothing reads what a file of format {file.file_format} holds here", path=file.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswers:
    """What a format answers about one of its files when it is asked: functions of the file.

    Whatever a format leaves out is not known of its files.
    """

    #: the facts that the file says of itself; raises `LakeError` when it cannot be read
    footer: Callable[[Any], Footer] = _refuse
    #: whether the footer stays with the file, for row groups, deletes and cards; those of many wide files are a lot
    keeps_footer: bool = False
    #: its first rows as stored, system columns included; raises `LakeError`
    rows: Callable[[Any, int], pa.Table] = _refuse
    bounds: Callable[[Any], Bounds] = lambda file: Bounds({})
    #: its row groups or stripes; raises `LakeError` when the footer cannot be read
    row_groups: Callable[[Any], RowGroups | None] = lambda file: None
    #: the values that its record keeps as bytes, in the order of the record
    encoded: Callable[[Any], Iterable[Encoded]] = lambda file: ()
    #: the type of an index over its columns that proves that no row fits a comparison
    index_proof: Callable[[Any, Term], str | None] = lambda file, term: None
    #: why its rows cannot be counted without other files
    uncounted: Callable[[Any], str | None] = lambda file: None
    #: keeps a finding: the severity, the code, the path and the message
    note: Callable[[Any, Severity, str, str, str], None] = lambda file, *words: None
    #: columns of `FileSet.to_arrow` that show something else than the attribute of their name
    further: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


NO_ANSWERS = FileAnswers()


class Column(Late):
    """An attribute of a `DataFile` that is a column of the set it is from: read from there where the file is a row of one.

    Where that column was not read, the file's own record is. A file that is no row works it out by what its class has in
    `late`, else it has `default`.
    """

    def __init__(self, default: Any = None, of: str | None = None) -> None:
        super().__init__(default)
        self._of = of

    def __get__(self, found: DataFile | None, owner: type | None = None) -> Any:
        if found is None:
            return self
        kept, row = found.__dict__, found.__dict__.get("_row")
        if row is not None:
            try:
                return kept.setdefault(self._name, row.find(self._of or self._name))
            except KeyError:
                found.read_record()
                if self._name in kept:
                    return kept[self._name]
        return super().__get__(found, owner)


def column(default: Any = None, *, of: str | None = None) -> Any:
    """A `Column`, typed as what it holds; `of` is the column's name where the attribute has another."""
    return Column(default, of)


class DataFile(Explainable, Displayable):
    """One file of a table, as its metadata describes it.

    The neutral facts are attributes here; each format adds every field of its specification under its specified name in
    snake case. `path` is where the file is now, `recorded_path` what the metadata says. Counts and sizes are None where
    the format does not record them.

    A file of a large set is a row of its columns (`FileRow`) until something is asked for that they do not have: then its
    manifest's entry is read again, and it has what a file that was decoded alone has.

    A format's own class adds facts and overrides nothing: it says which attributes identify a file, which are worked out
    late, and where its `FileAnswers` are.
    """

    #: the attributes that identify a file in a set, and those that a copy of it in a table elsewhere has in common with it
    identified_by: ClassVar[tuple[str, ...]] = ("recorded_path",)
    copied_by: ClassVar[tuple[str, ...]] = ()
    #: the attributes that say how many bytes are the file's own: the first that is recorded
    sized_by: ClassVar[tuple[str, ...]] = ("size_bytes",)
    #: attributes that are worked out when they are first asked for
    late: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})
    #: where the `FileAnswers` are, as `module:name`
    answers: ClassVar[str] = "lakelens.model.datafile:NO_ANSWERS"

    content: Content = column("data")
    path: str = column()
    recorded_path: str = column()
    file_format: str = column()
    partition: Partition = column()
    bucket: int | None = column()
    level: int | None = column()
    record_count: int | None = column()
    size_bytes: int | None = column()
    spec_id: int | None = column()
    schema_id: int | None = column()
    sequence_number: int | None = column()
    snapshot_id: int | None = column()
    manifest: str | None = column()
    raw: Mapping[str, Any] = stored("data file")
    #: Bytes at which a reader may begin, where they are recorded.
    split_offsets: Any = None
    # of a row: which, and the manifest that holds its entry
    _row: FileRow | None = None
    _home: Any = None
    # finds what deletes rows of the file, as the snapshot sees it that it was taken from
    _find_deletes: Callable[[Any], Sequence[DeleteMatch]] | None = None

    @classmethod
    def of_row(cls, row: FileRow, home: Any, **shared: Any) -> Self:
        """The file of a row, whose entry the manifest `home` holds; `shared` is what all files of the set have in common."""
        made = cls.__new__(cls)
        made.__dict__.update(shared, _row=row, _home=home)
        return made

    def with_deletes(self, find_deletes: Callable[[Any], Sequence[DeleteMatch]] | None) -> Self:
        """The same file as a snapshot sees it, whose deletes a function finds."""
        seen = copy(self)
        seen.__dict__.pop("_matches", None)
        seen._find_deletes = find_deletes
        return seen

    def read_record(self) -> bool:
        """Take over what the file's own record says, if the file is a row whose record was not read yet.

        Raises `LakeError` when the manifest cannot be read any more.
        """
        row = self.__dict__.get("_row")
        if row is None:
            return False
        read = self._home.read_entry(row.entry).file
        for name in self._home.folded:
            self.__dict__.setdefault(name, row.load(name))
        del self.__dict__["_row"]
        for name, value in vars(read).items():
            # what deletes rows of an entry's own file: nothing, as no snapshot sees it
            if name != "_matches":
                self.__dict__.setdefault(name, value)
        return True

    def __getattr__(self, name: str) -> Any:
        # what every file has that was decoded alone: asked for of a row, it is read
        if not name.startswith("__") and "_row" in self.__dict__ and self.read_record():
            return getattr(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def identity(self) -> Hashable:
        """What identifies this file in a set: its path, with the offset for a vector inside a Puffin file."""
        return self._join(self.identified_by)

    @property
    def copy_identity(self) -> Hashable:
        """What this file has in common with its copy in a table elsewhere: its place below the table."""
        return self._join(self.copied_by or self.identified_by)

    def _join(self, names: tuple[str, ...]) -> Hashable:
        joined: Hashable = attrgetter(*names)(self)
        return joined

    @property
    def own_size_bytes(self) -> int | None:
        """The bytes that are this file's own: of a vector its blob, not the Puffin file that holds others too."""
        for name in self.sized_by:
            size: int | None = getattr(self, name)
            if size:
                return size
        return self.size_bytes

    @property
    def _answers(self) -> FileAnswers:
        answers: FileAnswers = load_named(self.answers)
        return answers

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds and counts per leaf column, by today's names and types; empty, with a finding, where they are damaged."""
        return self._answers.bounds(self)

    @property
    def footer(self) -> Footer:
        """What the file says of itself: Parquet, ORC, Avro or Puffin facts. Raises `LakeError` when it cannot be read."""
        kept: Footer | None = self.__dict__.get("footer")
        if kept is None:
            kept = self._answers.footer(self)
            if self._answers.keeps_footer:
                self.__dict__["footer"] = kept
        return kept

    def list_encoded(self) -> Sequence[Encoded]:
        """List the values that its record keeps as bytes, in the order of the record; nothing is decoded yet."""
        return tuple(self._answers.encoded(self))

    @cached_property
    def row_groups(self) -> RowGroups | None:
        """The row groups of a Parquet file or the stripes of an ORC file, None for others. Reads the footer.

        Raises `LakeError` when the footer cannot be read.
        """
        return self._answers.row_groups(self)

    def find_index_proof(self, term: Term) -> str | None:
        """Find the type of an index over the file's columns that proves that no row fits a comparison; None without proof.

        Reads the index. Damage is a finding, and no proof.
        """
        return self._answers.index_proof(self, term)

    def preview(self, n: int = 10) -> Preview:
        """The first `n` rows as stored, system columns included; of a deletion vector its first positions.

        Parameters
        ----------
        n : int
            How many rows at most.

        Returns
        -------
        Preview
            The rows: what a `pyarrow.Table` has, and a view.

        Raises
        ------
        LakeError
            When the file cannot be read.
        """
        return Preview(self._answers.rows(self, n), partial(find_cheap_positions, self))

    @property
    def deletes(self) -> DeleteMatches:
        """The delete files and deletion vectors that reach this file in its snapshot, each with its rule and its rows.

        Empty for delete files, and for a file that was taken from a manifest instead of a snapshot's `files`.
        """
        matches: DeleteMatches | None = self.__dict__.get("_matches")
        if matches is None:
            matches = DeleteMatches(() if self._find_deletes is None else self._find_deletes(self))
            self.__dict__["_matches"] = matches
        return matches

    @property
    def deleted_positions(self) -> Positions:
        """The rows of this file that `deletes` delete, counted from 0: a `pyroaring.FrozenBitMap64` with a view.

        Reads the delete files and, where they delete by value, this file. A position past the end is a finding and is
        left out. Raises `LakeError` when a delete cannot be read.
        """

        def note_beyond(match: DeleteMatch, last: int) -> None:
            message = f"it deletes row {last} of {self.path}, which has {self.record_count} rows"
            self._answers.note(self, "warning", "delete-past-the-end", match.file.path, message)

        return unite_positions(self.deletes, self.record_count, note_beyond)

    @property
    def live_rows(self) -> LiveRows:
        """How many rows are left, what the metadata says about it, and what was read to count.

        Read from the metadata where one deletion vector with a recorded number of rows is all; else `deleted_positions`
        are. Unknown, with the reason, where rows of several files are merged by key. Raises `LakeError` when a delete
        cannot be read.
        """
        if self.content != "data":
            return LiveRows(None, "it holds no rows of the table", None, None, None)
        counted, reason = count_live_rows([self], raise_error), self._answers.uncounted(self)
        return counted if reason is None else replace(counted, count=None, reason=reason, at_least=0)

    @property
    def live_record_count(self) -> int | None:
        """The rows of this file that are not deleted; None where that is not known: `live_rows.reason` says why."""
        return self.live_rows.count

    def further(self, name: str) -> Any:
        """The value of one of the format's own columns in `FileSet.to_arrow`."""
        show = self._answers.further.get(name)
        return getattr(self, name) if show is None else show(self)

    def __repr__(self) -> str:
        # a count that takes reading the file is not asked for
        rows = (
            ""
            if "record_count" in self.late and "record_count" not in vars(self)
            else f"{self.record_count} rows, "
        )
        return f"<DataFile {self.content} {self.path.rsplit('/', 1)[-1]}: {rows}{self.size_bytes} bytes>"


@show_stored("index file")
@dataclass(frozen=True, slots=True, repr=False)
class IndexFile(Explainable, Displayable):
    """A file that indexes others: Paimon `HASH`, `DELETION_VECTORS` and global indexes, Iceberg Puffin files.

    `row_count` is the number of entries in it as recorded, `partition` and `bucket` are Paimon's, `ranges` names the
    data files that a deletion-vector index speaks of, with offset, length and cardinality. `raw` is the record as read.
    """

    index_type: str
    path: str
    recorded_path: str
    size_bytes: int | None
    row_count: int | None = None
    partition: Partition | None = None
    bucket: int | None = None
    ranges: tuple[Mapping[str, Any], ...] = ()
    blobs: tuple[Any, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)
    _vectors: Source | None = field(default=None, compare=False, repr=False, kw_only=True)
    _contents: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def read_contents(self) -> Any:
        """Read what the file holds, decoded by those who know its type. Raises `LakeError`."""
        if self._contents is None:
            raise LakeError("an index file that belongs to no open table cannot be read", path=self.path)
        return self._contents(self)

    def vector_view(self, data_file: str) -> BytesView:
        """The bytes of the deletion vector of one data file inside this file, each with its name.

        Parameters
        ----------
        data_file
            The data file, as `ranges` names it.

        Raises
        ------
        Missing
            There is no vector of it here.
        LakeError
            This is no file of deletion vectors.
        """
        if self._vectors is None:
            message = f"an index file of type {self.index_type} holds no deletion vectors"
            raise LakeError(message, path=self.path)
        found = (one for one in self.ranges if data_file in (one["data_file"], one.get("data_path")))
        vector = next(found, None)
        if vector is None:
            names = ", ".join(str(one["data_file"]) for one in self.ranges[:5])
            hint = f"there are {names or 'none'}"
            raise Missing(f"no deletion vector of {data_file}", path=self.path, hint=hint)
        return self._vectors(self, vector)

    def __repr__(self) -> str:
        return f"<IndexFile {self.index_type} {self.path.rsplit('/', 1)[-1]}: {self.row_count} rows>"


_Index = TypeVar("_Index", bound=IndexFile, covariant=True)


class IndexFiles(Items[_Index]):
    """The index files of a snapshot."""

    __slots__ = ()
    facts = (
        Fact("index_type"),
        Fact("path"),
        Fact("recorded_path"),
        Fact("size_bytes", "int64"),
        Fact("row_count", "int64"),
        Fact("partition", "string", lambda found: None if found.partition is None else str(found.partition)),
        Fact("bucket", "int64"),
    )


@show_stored("statistics")
@dataclass(frozen=True, slots=True, repr=False)
class StatisticsFile(Explainable, Displayable):
    """Table or partition statistics of a snapshot: `kind` ("table", "partition"), where, and what the document says."""

    kind: str
    path: str
    recorded_path: str
    snapshot_id: int | None
    size_bytes: int | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<StatisticsFile {self.kind} of snapshot {self.snapshot_id}>"


class StatisticsFiles(Items[StatisticsFile]):
    """The statistics files of a snapshot."""

    __slots__ = ()
    facts = (
        Fact("kind"),
        Fact("path"),
        Fact("recorded_path"),
        Fact("snapshot_id", "int64"),
        Fact("size_bytes", "int64"),
    )


class Footer(Explainable, Displayable):
    """The facts that one file records about itself; every fact is an attribute here.

    `facts` is what was decoded (Parquet, ORC, Avro or Puffin facts) and `path` the file. All attributes of `facts` are
    attributes of the footer: `format`, `num_rows`, `columns`, `created_by`, `key_values`, and what only one format has,
    as `row_groups` and `serialized_size` of Parquet. Sizes are bytes.

    >>> from types import SimpleNamespace
    >>> footer = Footer(SimpleNamespace(format="parquet", num_rows=2, columns=("id", "name")))
    >>> footer, footer.num_rows
    (<Footer parquet: 2 rows, 2 columns>, 2)
    """

    __slots__ = ("_source", "facts", "path")

    def __init__(self, facts: Any, path: str | None = None, source: Source | None = None) -> None:
        self.facts = facts
        self.path = path
        self._source = source

    def __getattr__(self, name: str) -> Any:
        # private and special names are not facts: a copy in the making, whose `facts` is not set yet, asks for some
        if name.startswith("_") or name in Footer.__slots__:
            raise AttributeError(f"a footer has no {name!r}")
        try:
            return getattr(self.facts, name)
        except AttributeError:
            kind = getattr(self.facts, "format", None) or "this"
            raise AttributeError(f"the footer of a {kind} file has no {name!r}") from None

    def __dir__(self) -> list[str]:
        facts = (name for name in dir(self.facts) if not name.startswith("_"))
        return sorted({*super().__dir__(), *facts})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Footer) and self.facts == other.facts

    def __hash__(self) -> int:
        return hash((type(self.facts).__name__, self.path))

    def __repr__(self) -> str:
        counts = []
        for name, noun in (("num_rows", "row"), ("columns", "column"), ("blobs", "blob")):
            held = getattr(self.facts, name, None)
            if held is not None:
                number = held if isinstance(held, int) else len(held)
                counts.append(f"{number:,} {noun}{'' if number == 1 else 's'}")
        return f"<Footer {getattr(self.facts, 'format', 'of a file')}: {', '.join(counts) or 'nothing recorded'}>"
