"""What a format is: a driver, which recognises its tables in a directory, opens them, and has a part for each answer.

A package adds a format by an entry point in the group `lakelens.formats` that names a `Driver`, or any object with the
members of `Format`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from lakelens.errors import LakeError, Unsupported
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.tracing import TracingStore
from lakelens.lazy import dataclass
from lakelens.model.driver import Parts, load_named
from lakelens.model.storage import Evidence, OwnDirectory

if TYPE_CHECKING:
    from lakelens.codecs.kinds import Kind
    from lakelens.model.table import Table
    from lakelens.model.view import View


class ViewFound(Unsupported):
    """What detection raises for a view: no table, and as such not supported; `lakelens.open` opens it.

    `location` is the view's directory, `opener` makes the `View`; it takes a `version`.
    """

    def __init__(
        self,
        message: str,
        location: str,
        format: str,
        evidence: Evidence,
        opener: Callable[..., View],
        *,
        path: str | None = None,
    ) -> None:
        super().__init__(
            message, path=path, hint="lakelens.open, which opens views; or the tables that it selects from"
        )
        self.location, self.format, self.evidence, self.opener = location, format, evidence, opener

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.message, self.location, self.format, self.evidence, self.opener, self.path)


def _remake(*parts: Any) -> ViewFound:
    return ViewFound(*parts[:-1], path=parts[-1])


@dataclass(frozen=True, slots=True)
class Candidate:
    """What `detect` is given: the store, the path, and what is there (`children` by name; empty for a file).

    `forced` says that the user, or a catalog, named the format: a format without marks of its own then accepts the place.
    `refused` is why the directory could not be listed, though it may be there: its files can be asked for by their names.
    """

    store: Store
    path: str
    info: ObjectInfo
    children: Mapping[str, ObjectInfo]
    forced: bool = False
    refused: LakeError | None = None

    def child(self, *names: str) -> str:
        """The path of something below this place."""
        return "/".join([self.path.rstrip("/"), *names])


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What `open` is given.

    `path` is a directory, or one metadata file that detection accepted. `version` is a metadata version: a number, a file
    name or a path. `catalog` holds what a catalog or metastore said (`metadata_location`, Hive facts).
    """

    store: TracingStore
    path: str
    evidence: Evidence
    branch: str | None = None
    version: int | str | None = None
    name: str | None = None
    catalog: Mapping[str, Any] | None = None


class Format(Protocol):
    """One table format: `name`, and what its detection looks for, which the error of a directory without a table lists.

    A format may have `looks_at`: paths below a table's directory, of directories with a slash at their ends, that it asks
    for whatever else it finds. Where each request waits for a network they are asked for together with the listing. It
    may have `opens`: what is in the names of documents that are opened by their own paths; and `reads_early`: patterns
    of files, written once under a name of their own, that detection reads where they are few, before anything names them
    (`lakelens.io.ahead.list_few`).

    What may be kept for another session (`lakelens.options.cache_dir`) a format says by patterns of names, or of names after
    that of their directory (`manifest/*`): `never_changes` for files that are written once under a name of their own, and
    `is_numbered` for those that are written once too, but whose names come again when a table is made again or rolled back.
    Whatever is rewritten in place (hints, tags) is in neither.
    """

    name: str
    looked_for: str

    def detect(self, place: Candidate) -> Evidence | None:
        """Recognise a table of this format; reads at most a few small files.

        Parameters
        ----------
        place : Candidate
            The directory or file to judge, with its children.

        Returns
        -------
        Evidence or None
            The reasons, with a confidence from 0 to 1; None for anything else. Confidence 1 needs a file that no other
            format writes; Hive stays below 0.5.

        Raises
        ------
        Unsupported
            For something that is recognised and is no table: an Iceberg view, a Hudi table.
        """
        ...

    def open(self, request: OpenRequest) -> Table:
        """Open a table; reads what is needed to know the current version, and no manifest.

        Parameters
        ----------
        request : OpenRequest
            The place that detection accepted, with the branch or version that was asked for.

        Returns
        -------
        Table
            The open table.

        Raises
        ------
        LakeError
            When the metadata is missing, damaged or of an unknown version.
        """
        ...


class Driver(Parts):
    """A table format as data: what it is called, what its detection looks for, and where the code is that does the rest.

    `detection` and `opening` are functions, and `parts` what the answers ask, each as `module:name` and loaded when first
    needed; a small format defines `detect` and `open` instead. Its tables name it as their `driver`. The other members are
    those of `Format`.

    >>> from lakelens.formats.registry import get_format
    >>> sorted(get_format("iceberg").parts)[:3]
    ['check', 'conflict', 'defects']
    """

    name: str
    looked_for: str
    looks_at: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    reads_early: tuple[str, ...] = ()
    #: what is in the name of a table's place or of something in it: without it nothing is loaded to detect one
    marked_by: str = ""
    never_changes: tuple[str, ...] = ()
    is_numbered: tuple[str, ...] = ()
    detection: str
    opening: str
    #: kinds of bytes that `explain_bytes` knows by this format
    kinds: tuple[Kind, ...] = ()
    #: data files whose rows nothing here decodes, by the format that entries name, with what they are called
    known_formats: Mapping[str, str] = MappingProxyType({})
    #: directories beside its data files, by name: formats that would read the files alone ask for them
    own_directories: Mapping[str, OwnDirectory] = MappingProxyType({})
    #: the life of each kind of file, as `package:file.toml`
    lifetimes: str = ""
    #: where the facts of its nouns stand in its files, as `package:file.toml`: answers cite them
    places: str = ""

    def detect(self, place: Candidate) -> Evidence | None:
        """Recognise a table of this format: see `Format.detect`."""
        names = (posixpath.basename(place.path.rstrip("/")), *place.children)
        if place.refused is None and not any(self.marked_by in name for name in names):
            return None
        evidence: Evidence | None = load_named(self.detection)(place)
        return evidence

    def open(self, request: OpenRequest) -> Table:
        """Open a table: see `Format.open`."""
        table: Table = load_named(self.opening)(request)
        return table


def name_table(path: str) -> str:
    """Give the name of a directory, after the database's where the directory above is `NAME.db`.

    >>> name_table("/wh/shop.db/orders"), name_table("/wh/orders")
    ('shop.orders', 'orders')
    """
    above, name = posixpath.split(path.rstrip("/"))
    database = posixpath.basename(above)
    return f"{database.removesuffix('.db')}.{name}" if database.endswith(".db") else name
