"""What a catalog is asked, and what it answers with: names, and where a table is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

from lakelens.errors import AccessDenied, LakeError, Missing, Unsupported, list_nearest
from lakelens.io.redaction import HIDDEN, redact
from lakelens.io.waves import Waves

#: The parts of a name, from the outermost namespace to the table.
Parts = tuple[str, ...]
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


@dataclass(frozen=True)
class CatalogEntry:
    """A table as a catalog knows it.

    `name` has the parts that the catalog knows it by, `format` is "hive", "iceberg", "paimon" or empty where the catalog
    does not say, `location` is the table's directory as recorded, `metadata_location` the catalog's current metadata file
    (Iceberg only), `facts` everything else as a nested dict. `storage_options` are the user's own, `answer` what the catalog
    says of the storage, which may hold credentials that it vends (see `combine_options`): a `repr` has none of them.
    """

    name: str
    format: str
    location: str
    metadata_location: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    is_view: bool = False
    answer: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """Which catalog said something: its `name`, what `kind` it is, and where (`uri`), never with its credentials."""

    name: str
    kind: str
    uri: str = ""

    def __str__(self) -> str:
        where = f" at {self.uri}" if self.uri else ""
        return f"{self.kind} {self.name}{where}" if self.name else f"{self.kind}{where}"

    def describe(self) -> dict[str, str]:
        """Describe the facts that a table keeps of the catalog that it was opened through."""
        return {"name": self.name, "kind": self.kind, "uri": self.uri}


def name_source(name: str, kind: str, uri: object) -> CatalogSource:
    """Name a source whose address is harmless.

    >>> print(name_source("prod", "SQL catalog", "postgresql://me:hunter2@host/db"))
    SQL catalog prod at postgresql://…@host/db
    """
    return CatalogSource(name, kind, redact(str(uri or "")))


class TableCatalog(Protocol):
    """Something that knows tables by their names. Whatever it raises is a `LakeError` that names it."""

    @property
    def source(self) -> CatalogSource:
        """Which catalog this is."""
        ...

    @property
    def connections(self) -> int:
        """How many questions may be under way together."""
        ...

    def locate(self, parts: Parts) -> CatalogEntry:
        """Locate where a table or a view is. Raises `Missing` with the nearest names."""
        ...

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """List the namespaces right in another one, as whole names; `()` is the catalog itself."""
        ...

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """List the names of the tables and views right in a namespace, as whole names."""
        ...


def split_name(name: str) -> Parts:
    """Split the parts of a name; a part with a point in it is written in backticks.

    >>> split_name("shop.orders"), split_name("eu.shop.`a.b`")
    (('shop', 'orders'), ('eu', 'shop', 'a.b'))
    """
    parts = tuple(first.replace("``", "`") or second for first, second in _PART.findall(name))
    if not parts or (name != join_name(parts) and "`" not in name):
        raise Unsupported(
            f"{name!r} is not the name of a table",
            hint="database.table; a part with a point in it stands in backticks",
        )
    return parts


def join_name(parts: Parts) -> str:
    """Parts as one name, as it can be given again.

    >>> join_name(("shop", "orders")), join_name(("shop", "a.b"))
    ('shop.orders', 'shop.`a.b`')
    """
    return ".".join(
        "`" + part.replace("`", "``") + "`" if "." in part or "`" in part or not part else part
        for part in parts
    )


# Every table and view that a catalog knows, namespace by namespace; as many questions at once as the catalog takes.

T = TypeVar("T")
# a catalog that answers without end is asked no longer
_MOST_NAMESPACES, _MOST_NAMES = 10_000, 1_000_000


def list_entries(
    catalog: TableCatalog, depth: int = 4, within: Parts = ()
) -> Iterator[CatalogEntry | LakeError]:
    """List what a catalog says of each of its tables and views, by name; an error is that of one namespace or one name.

    `depth` is how many levels of namespaces are searched, `within` the namespace to begin with.
    Raises `LakeError` where the catalog itself cannot be asked.
    """
    names: list[Parts] = []
    for name in _list_names(catalog, depth, within):
        if isinstance(name, LakeError):
            yield name
        else:
            names.append(name)
        if len(names) >= _MOST_NAMES:
            yield LakeError(
                f"{catalog.source} lists more than {_MOST_NAMES:,} names; the others are left out"
            )
            break
    yield from _ask_each(catalog, (partial(catalog.locate, parts) for parts in sorted(names)))


def _list_names(catalog: TableCatalog, depth: int, within: Parts) -> Iterator[Parts | LakeError]:
    seen: set[Parts] = set()
    level = [within] if within else catalog.list_namespaces(())
    for _ in range(max(depth, 1)):
        level = [namespace for namespace in dict.fromkeys(level) if namespace not in seen]
        if len(seen) + len(level) > _MOST_NAMESPACES:
            yield LakeError(
                f"{catalog.source} has more than {_MOST_NAMESPACES:,} namespaces; the others are left out"
            )
            level = level[: _MOST_NAMESPACES - len(seen)]
        seen.update(level)
        for names in _ask_each(catalog, (partial(_list_all, catalog, namespace) for namespace in level)):
            if isinstance(names, LakeError):
                yield names
            else:
                yield from names
        below = list(_ask_each(catalog, (partial(catalog.list_namespaces, namespace) for namespace in level)))
        yield from (answer for answer in below if isinstance(answer, LakeError))
        level = [namespace for answer in below if not isinstance(answer, LakeError) for namespace in answer]
        if not level:
            return
    message = f"{catalog.source} has namespaces deeper than this, {join_name(level[0])} is one; they were not searched"
    yield LakeError(message, hint=f"depth={depth + 1}")


def _list_all(catalog: TableCatalog, namespace: Parts) -> list[Parts]:
    return list(catalog.list_names(namespace))


def _ask_each(catalog: TableCatalog, jobs: Iterable[Callable[[], T]]) -> Iterator[T | LakeError]:
    """Give the answers in order; an error is an answer too."""
    for answer in Waves().run_together(jobs, catalog.connections):
        try:
            yield answer()
        except LakeError as error:
            yield error.without_frames()


# What goes wrong while a catalog is asked, as one error that names the catalog and says what would change it.
#
# Whatever a client library raises ends here, whichever library that is: its classes are known by their names, since none
# of these libraries need be installed.

INSTALL = "pip install 'lakelens[catalogs]'"
_ABSENT = re.compile(
    r"^NoSuch(Iceberg)?(Table|View|Namespace|Object|Identifier)|(Table|Database)NotExist|NoSuchResource"
)
_DENIED = re.compile(
    r"Unauthorized|Forbidden|AuthorizationExpired|OAuth|NotAuthorized|NoPermission|PermissionError"
)
_UNREACHABLE = re.compile(
    r"Connect|Timeout|Transport|OperationalError|SSLError|gaierror|InterfaceError|RetryError"
)
_BEARER = re.compile(r"\b(bearer|basic)\s+[^\s'\",;]+", re.IGNORECASE)
_MOST_SAID, _MOST_NAMED = 300, 2_000


@contextmanager
def refusing(source: CatalogSource, secrets: Collection[str] = (), name: str | None = None) -> Iterator[None]:
    """Around questions to a catalog: whatever its client raises becomes a `LakeError` without secrets."""
    try:
        yield
    except LakeError as error:
        error.path = error.path or name or source.uri or None
        raise
    except Exception as error:
        raise explain_failure(error, source, secrets, name or source.uri or None) from None


def explain_failure(
    error: Exception, source: CatalogSource, secrets: Collection[str] = (), name: str | None = None
) -> LakeError:
    """Explain what a client library raised.

    >>> source = CatalogSource("prod", "REST catalog", "http://host:8181")
    >>> print(explain_failure(ConnectionError("refused"), source, (), "db.t"))
    db.t: REST catalog prod at http://host:8181 cannot be reached (ConnectionError: refused); try: its address, and whether
    it is running
    """
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    said = _word(error, secrets)
    if any(_ABSENT.search(one) for one in names.split()):
        return Missing(f"{source} has no such table or view", path=name)
    if isinstance(error, ImportError) or "NotInstalled" in names:
        return Unsupported(
            f"{source} needs a library that is not installed ({said})", path=name, hint=INSTALL
        )
    if _DENIED.search(names) or "AccessDenied" in str(error):
        hint = "the credential, token or user that the catalog is asked with"
        return AccessDenied(f"{source} refuses to answer ({said})", path=name, hint=hint)
    if _UNREACHABLE.search(names) or isinstance(error, OSError):
        hint = "its address, and whether it is running"
        return LakeError(f"{source} cannot be reached ({said})", path=name, hint=hint)
    return LakeError(f"{source} cannot be asked ({said})", path=name, hint="the properties of the catalog")


def _word(error: Exception, secrets: Collection[str]) -> str:
    """The class of an error, and the first line of what it says; of Paimon's client, of what it wraps."""
    inner = error.__cause__ if str(error) == "rest exception" else None
    error = inner if isinstance(inner, Exception) else error
    lines = _BEARER.sub(rf"\1 {HIDDEN}", redact(str(error), secrets)).strip().splitlines()
    first = lines[0] if lines else ""
    first = first if len(first) <= _MOST_SAID else f"{first[:_MOST_SAID]}…"
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def find_missing(catalog: TableCatalog, parts: Parts) -> Missing:
    """That a catalog has no table of a name, with the names that are nearest to it."""
    name, namespace = join_name(parts), parts[:-1]
    message = f"{catalog.source} has no such table or view"
    if not namespace:
        first = ", ".join(_list_spaces(catalog, ())[:10])
        return Missing(message, path=name, hint=f"a namespace before it: {first or 'NAMESPACE.TABLE'}")
    names = _try(lambda: [join_name(one) for one in islice(catalog.list_names(namespace), _MOST_NAMED)])
    if names:
        return Missing(message, path=name, hint=list_nearest(name, names))
    spaces = _list_spaces(catalog, namespace[:-1]) or _list_spaces(catalog, ())
    if join_name(namespace) in spaces:
        return Missing(message, path=name, hint=f"there is no table in {join_name(namespace)}")
    message = f"{catalog.source} has no namespace {join_name(namespace)}"
    return Missing(message, path=name, hint=list_nearest(join_name(namespace), spaces))


def _list_spaces(catalog: TableCatalog, parent: Parts) -> list[str]:
    return _try(lambda: [join_name(namespace) for namespace in catalog.list_namespaces(parent)])


def _try(ask: Callable[[], list[str]]) -> list[str]:
    """Names that would only help: none where they cannot be given."""
    try:
        return ask()
    except LakeError:
        return []
