"""What goes wrong while a catalog is asked, as one error that names the catalog and says what would change it.

Whatever a client library raises ends here, whichever library that is: its classes are known by their names, since none of
these libraries need be installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import islice

from lakelens.catalogs.entry import CatalogSource, Parts, TableCatalog, join_name
from lakelens.errors import AccessDenied, LakeError, Missing, Unsupported, list_nearest
from lakelens.io.redaction import HIDDEN, redact

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
_MOST_SAID, _MOST_NAMES = 300, 2_000


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
    """What a client library raised.

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
    names = _try(lambda: [join_name(one) for one in islice(catalog.list_names(namespace), _MOST_NAMES)])
    if names:
        return Missing(message, path=name, hint=list_nearest(name, names))
    spaces = _list_spaces(catalog, namespace[:-1]) or _list_spaces(catalog, ())
    if join_name(namespace) in spaces:
        return Missing(message, path=name, hint=f"there is no table in {join_name(namespace)}")
    message = f"{catalog.source} has no namespace {join_name(namespace)}"
    return Missing(message, path=name, hint=list_nearest(join_name(namespace), spaces))


def _list_spaces(catalog: TableCatalog, parent: Parts) -> list[str]:
    return _try(lambda: [join_name(one) for one in catalog.list_namespaces(parent)])


def _try(ask: Callable[[], list[str]]) -> list[str]:
    """Names that would only help: none where they cannot be given."""
    try:
        return ask()
    except LakeError:
        return []
