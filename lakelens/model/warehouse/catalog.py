"""What was found: a table, a view, a directory, what a table is at a glance; and listings of them.

A listing is what `find` found below a directory, or the samples that ship with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self, cast

from lakelens.caching import cached_property
from lakelens.display import Displayable, Named, call
from lakelens.errors import LakeError, list_nearest
from lakelens.lazy import dataclass
from lakelens.model.collections import NamedItems
from lakelens.model.facts.facts import Fact, build_rows, choose_facts
from lakelens.model.storage import Evidence, Reads
from lakelens.model.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.deletes import LiveRows
    from lakelens.model.finding import Finding
    from lakelens.model.view import View


@dataclass(frozen=True, slots=True)
class Outline:
    """What a table is today, by its own newest metadata alone; `error` says why it could not be opened.

    `rows` are the live ones, within bounds where files must be read to know. `title` and `variant` are the format's. Without
    `has_snapshots` the time is that of the newest file, and there is no `snapshot_count`. `reads` is what it took.
    """

    title: str
    variant: str = ""
    has_snapshots: bool = True
    rows: LiveRows | None = None
    files: int | None = None
    size_bytes: int | None = None
    snapshot_count: int | None = None
    committed_at: datetime | None = None
    operation: str | None = None
    findings: tuple[Finding, ...] = ()
    reads: Reads | None = None
    error: LakeError | None = None

    def count_findings(self, severity: str) -> int:
        """Count how many findings of a severity there are; that it cannot be opened is an error."""
        found = sum(finding.severity == severity for finding in self.findings)
        return found + (severity == "error" and self.error is not None)


@dataclass(frozen=True, repr=False)
class FoundTable(Displayable):
    """One table that `find` found: its path, its format, and the evidence for it.

    Of one that `is_far`, behind a network, the outline counts no files that its newest metadata does not, unless it
    `is_measured`.
    """

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., Table] = field(compare=False)
    _stamper: Callable[[Sequence[str], float | None], object] | None = field(default=None, compare=False)
    is_far: bool = field(default=False, compare=False, kw_only=True)
    is_measured: bool = field(default=False, compare=False, kw_only=True)
    known_as: str = field(default="", kw_only=True)
    _looker: Callable[[], Table] | None = field(default=None, compare=False, kw_only=True)

    def stamp(self, paths: Sequence[str], since: float | None = None) -> object:
        """Equal to what it was before as long as nothing was written beside the files at these paths, or in their place.

        `paths` are the documents that were read to open the table. Changes since a moment, else of this one, are never equal
        to anything: they may not be all.
        """
        return object() if self._stamper is None else self._stamper(paths, since)

    def again(self) -> FoundTable:
        """The same table, not outlined yet."""
        return replace(self, _looker=None)

    def measure(self) -> FoundTable:
        """Measure the same table; its outline counts files and bytes of the newest state, where its metadata does not."""
        return replace(self, is_measured=True)

    def look(self) -> Table:
        """The table, opened for its outline: what was read to find it is not read again."""
        return self.opener() if self._looker is None else self._looker()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_looker": None}

    @cached_property
    def outline(self) -> Outline:
        """What the table is today: it is opened for it, and no manifest is read. An error is kept in it, not raised.

        Behind a network it is what it was when it was found.
        """
        try:
            return cast("Outline", call("analysis.outline:outline_table", self))
        finally:
            object.__setattr__(self, "_looker", None)

    @cached_property
    def declared(self) -> tuple[str | None, str | None]:
        """The paths of its columns, and its properties as `NAME=VALUE`, each joined by commas.

        None where it cannot be opened. Of a table without metadata a file is read for its columns.
        """
        try:
            table = self.open()
            columns = ", ".join(path for path, _ in table.schema.walk())
            return columns, ", ".join(f"{name}={value}" for name, value in table.properties.items())
        except LakeError:
            return None, None

    @property
    def is_outlined(self) -> bool:
        """Whether the table was opened for its outline already."""
        return "outline" in vars(self)

    def open(self, **options: Any) -> Table:
        """Open this table; the options are `branch` and `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """What a catalog calls it; else the last component of the path, after the database where that is in `NAME.db`."""
        return self.known_as or _name_place(self.path)

    def __repr__(self) -> str:
        return f"<FoundTable {self.format} {self.name}>"


def _name_place(path: str) -> str:
    parts = PurePath(path).parts
    if len(parts) > 1 and parts[-2].endswith(".db"):
        return f"{parts[-2][:-3]}.{parts[-1]}"
    return parts[-1] if parts else path


@dataclass(frozen=True, repr=False)
class FoundView(Displayable):
    """One view that `find` found: its path, its format, and why it is one. It holds no rows: it is a query over tables."""

    path: str
    format: str
    evidence: Evidence
    opener: Callable[..., View] = field(compare=False)
    known_as: str = field(default="", kw_only=True)

    @cached_property
    def view(self) -> View | LakeError:
        """The view, opened; an error that keeps it from being opened is returned, not raised."""
        try:
            return self.open()
        except LakeError as error:
            return error.without_frames()

    def open(self, **options: Any) -> View:
        """Open this view; the option is `version`, as for `lakelens.open`."""
        return self.opener(**options)

    @property
    def name(self) -> str:
        """What a catalog calls it; else the last component of the path, after the database where that is in `NAME.db`."""
        return self.known_as or _name_place(self.path)

    def __repr__(self) -> str:
        return f"<FoundView {self.format} {self.name}>"


@dataclass(frozen=True, slots=True)
class Folder(Named):
    """A directory that is no table: how many files are right in it, and whether what is below was not walked any more."""

    path: str
    files: int
    is_deepest: bool = False


def _ask_view(name: str, kind: str = "string") -> Fact:
    return Fact(name, kind, lambda found: getattr(found.view, name, None))


class FoundViews(NamedItems[FoundView]):
    """The views found below a directory, in path order; also by name."""

    __slots__ = ()
    _noun = "view"
    facts = (
        Fact("name"),
        Fact("format"),
        Fact("path"),
        _ask_view("version_id", "int64"),
        _ask_view("dialects", "strings"),
        Fact("versions", "int64", lambda found: len(getattr(found.view, "versions", ()))),
        Fact("error", "string", lambda found: getattr(found.view, "reason", None)),
    )

    def _list_names(self, item: Any) -> tuple[str, ...]:
        return item.name, item.path, PurePath(item.path).name


class Catalog(NamedItems[FoundTable]):
    """The tables found below a directory, in path order; also by name. None is opened before it is shown or listed.

    A table has several names: `orders`, `shop.orders`, its path below the root, its whole path.
    `views` are the views that were found, which hold no rows. `empty_folders` are the directories without any table or view
    in them, the highest of each.
    """

    _noun = "table"

    facts = (
        Fact("name"),
        Fact("format"),
        Fact("path"),
        Fact("live_rows", "int64", lambda found: getattr(found.outline.rows, "count", None)),
        Fact("at_most_rows", "int64", lambda found: getattr(found.outline.rows, "at_most", None)),
        Fact("files", "int64", lambda found: found.outline.files),
        Fact("size_bytes", "int64", lambda found: found.outline.size_bytes),
        Fact("snapshots", "int64", lambda found: found.outline.snapshot_count),
        Fact("committed_at", "time", lambda found: found.outline.committed_at),
        Fact("operation", "string", lambda found: found.outline.operation),
        Fact("errors", "int64", lambda found: found.outline.count_findings("error")),
        Fact("warnings", "int64", lambda found: found.outline.count_findings("warning")),
        Fact("error", "string", lambda found: found.outline.error and found.outline.error.reason),
    )

    def __init__(
        self,
        root: str,
        tables: Iterable[FoundTable],
        problems: Sequence[LakeError] = (),
        views: Iterable[FoundView] = (),
        folders: Iterable[Folder] = (),
    ) -> None:
        super().__init__(tables)
        self.root = root
        self.problems = tuple(problems)
        self.views = FoundViews(views)
        self._folders = tuple(folders)

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(self.root, held, self.problems, self.views, self._folders)

    @cached_property
    def empty_folders(self) -> tuple[Folder, ...]:
        """The directories without any table or view in them, the highest of each; the root itself is none of them."""
        used = {self.root.rstrip("/")}
        for found in (*self, *self.views, *self.problems):
            path = (found.path or "").rstrip("/")
            while path and path not in used:
                used.add(path)
                path = path.rpartition("/")[0]
        unused = {
            folder.path.rstrip("/"): folder for folder in self._folders if folder.path.rstrip("/") not in used
        }
        return tuple(one for path, one in unused.items() if path.rpartition("/")[0] not in unused)

    def _list_names(self, item: Any) -> tuple[str, ...]:
        place = self.place(item.path)
        return item.name, item.path, PurePath(item.path).name, place, _dot(place)

    def _list_known(self) -> list[str]:
        return list(dict.fromkeys(name for item in self for name in (item.name, _dot(self.place(item.path)))))

    def where(self, predicate: str | Callable[[FoundTable], bool] | None = None, **equal: str) -> Self:
        """The tables for which `predicate` holds and whose facts equal the given ones.

        Parameters
        ----------
        predicate
            A condition in SQL over the columns of `to_arrow` (`"live_rows > 1e6 AND committed_at < '2024-01-01'"`) and over
            two texts, `columns` and `properties`, in which LIKE finds a column or `NAME=VALUE`; or a function of a
            `FoundTable`; None chooses by the facts alone. No table is opened to know `name`, `format` and `path`; for any
            other column all are.
        equal
            Values of text columns, in which `*` stands for any text. A `name` may be any of a table's names.

        Returns
        -------
        Catalog
            The chosen tables in the same order.

        Raises
        ------
        LakeError
            There is no such column, the nearest names are in it; or the SQL cannot be understood.

        Examples
        --------
        >>> from lakelens import find, sample
        >>> catalog = find(sample("iceberg").location)
        >>> catalog.where("live_rows > 1", format="iceberg", name="ice*")
        <Catalog 1 tables>
        """
        from lakelens.model.scan.choosing import judge_rows, parse_condition

        chosen: list[FoundTable] = list(self)
        for column, wanted in equal.items():
            _check_column(column)
            chosen = [found for found in chosen if self._is_called(found, column, str(wanted))]
        if callable(predicate):
            chosen = [found for found in chosen if predicate(found)]
        elif predicate is not None:
            if not isinstance(predicate, str):
                expected = "a condition in SQL or a function of a table"
                raise TypeError(f"where takes {expected}, not {type(predicate).__name__}")
            names = parse_condition(predicate, _check_column)
            rows = self._like(chosen)._build_columns(names or ["path"])
            chosen = [
                found for found, holds in zip(chosen, judge_rows(predicate, rows), strict=True) if holds
            ]
        return self._like(chosen)

    def _is_called(self, found: FoundTable, column: str, wanted: str) -> bool:
        names = (
            self._list_names(found) if column == "name" else (choose_facts(_SEARCHED, column)[0].read(found),)
        )
        return any(fnmatchcase("" if name is None else str(name), wanted) for name in names)

    def sort_by(self, name: str, *, descending: bool = False) -> Self:
        """Sort the tables by the values of a column of `to_arrow`, least first; those without a value last.

        Parameters
        ----------
        name
            The column; equal values keep their order. No table is opened to know `name`, `format` and `path`.
        descending
            Whether the greatest comes first.

        Raises
        ------
        LakeError
            There is no such column; the nearest names are in it.

        Examples
        --------
        >>> from lakelens import find, sample
        >>> find(sample("iceberg").location).sort_by("committed_at", descending=True)[0].name
        'iceberg'
        """
        from lakelens.model.scan.choosing import sort_numbers

        _check_column(name)
        values = self._build_columns([name]).column(0).to_pylist()
        order = sort_numbers(range(len(self)), values, descending=descending)
        return self._like([self[place] for place in order])

    def _build_columns(self, names: Sequence[str]) -> pa.Table:
        if not set(names) <= _KNOWN_UNOPENED:
            self.read_outlines()
        return build_rows(self, choose_facts(_SEARCHED, *names))

    def below(self, path: str) -> Self:
        """The tables, views, problems and empty directories below a directory, which is the root of this listing.

        Parameters
        ----------
        path
            The directory, relative to the root.

        Examples
        --------
        >>> from lakelens import find, sample
        >>> warehouse = find(sample("iceberg").location + "/..")
        >>> warehouse.below("nothing/here")
        <Catalog 0 tables>
        """
        root = f"{self.root.rstrip('/')}/{path.strip('/')}"

        def is_below(found: Any) -> bool:
            place = (found.path or "").rstrip("/")
            return bool(place == root or place.startswith(f"{root}/"))

        return type(self)(
            root,
            filter(is_below, self),
            tuple(filter(is_below, self.problems)),
            filter(is_below, self.views),
            filter(is_below, self._folders),
        )

    def measure(self) -> Self:
        """Measure the same tables, each with the files and bytes of its newest state, as its card and `to_arrow` say them.

        Without it a size is what the newest metadata records. Where it records none manifests are read for it, and the
        directories of tables without metadata are listed, also behind a network.

        >>> from lakelens import find, sample
        >>> find(sample("paimon").location).measure().to_arrow().select(["files", "size_bytes"]).to_pylist()
        [{'files': 2, 'size_bytes': 2395}]
        """
        return self._like([found.measure() for found in self])

    def place(self, path: str | None) -> str:
        """Place a path relative to the root; the root itself is `.`, and a path elsewhere stays whole."""
        return place_below(self.root, path)

    def ask(self, *names: str, processes: int | None = None) -> Any:
        """Ask each table some questions, in several processes of this machine; one broken table stops nothing.

        Parameters
        ----------
        names
            `check`, `health`, `space`, or questions with figures that other packages add.
        processes
            How many processes read; None for one of each processor, and fewer for few tables.

        Returns
        -------
        TableSurvey
            One row for each table, with its figures or its error; `worst` are those to do something about, the worst
            first. An interrupt ends it, and what was answered until then is the result.

        Raises
        ------
        LakeError
            There is no such question; the nearest names are in it.

        Examples
        --------
        >>> from lakelens import find, sample
        >>> survey = find(sample("iceberg").location).ask("check", "health")
        >>> survey
        <TableSurvey check, health of 1 tables>
        >>> survey[0].figures["errors"], survey[0].error
        (0, None)
        """
        return call("answers.survey:survey_tables", self, names, processes)

    def read_outlines(self) -> list[Outline]:
        """Read the outline of each table, in order: every table is opened, by several threads; no manifest is read."""
        return cast("list[Outline]", call("analysis.outline:read_outlines", self))

    def to_arrow(self) -> pa.Table:
        """One row for each, in order; every table is opened, and no manifest is read unless tables are to `measure`.

        `name`, `format` and `path` are as found. `live_rows` is exact or null; then `at_most_rows` may say how many there
        are at most. `files` and `size_bytes` are those of the newest state, null where they were not counted; `snapshots`
        is how many are kept, null for a format that keeps none. `committed_at` (UTC) and `operation` are of the newest
        snapshot. `errors` and `warnings` count findings; `error` says why a table cannot be opened.

        >>> from lakelens import find, sample
        >>> find(sample("iceberg-basic").location).to_arrow().select(["live_rows", "snapshots", "error"]).to_pylist()
        [{'live_rows': 4, 'snapshots': 3, 'error': None}]
        """
        self.read_outlines()
        return super().to_arrow()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.root, tuple(self), self.problems, tuple(self.views), self._folders)

    def __repr__(self) -> str:
        return f"<Catalog {len(self)} tables>"


_KNOWN_UNOPENED = {"name", "format", "path", "columns", "properties"}
# what tables are searched by: the last two are in no table of tables
_SEARCHED = (
    *Catalog.facts,
    Fact("columns", "string", lambda found: found.declared[0]),
    Fact("properties", "string", lambda found: found.declared[1]),
)


def place_below(root: str, path: str | None) -> str:
    """Place a path relative to a root; the root itself is `.`, and a path elsewhere stays whole.

    >>> place_below("/lake/", "/lake/shop/orders"), place_below("/lake", "/lake")
    ('shop/orders', '.')
    """
    root = root.rstrip("/")
    if path is None or path.rstrip("/") == root:
        return "."
    return path.removeprefix(f"{root}/")


def _check_column(name: str) -> None:
    known = [fact.name for fact in _SEARCHED]
    if name not in known:
        raise LakeError(f"there is no column {name}", hint=list_nearest(name, known))


def _dot(place: str) -> str:
    """A path below a root as SQL names a table: `shop.db/orders` is `shop.orders`."""
    *above, name = place.split("/")
    return ".".join([*(part.removesuffix(".db") for part in above), name])
