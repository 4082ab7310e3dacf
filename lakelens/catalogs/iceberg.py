"""Catalogs that PyIceberg knows: REST, SQL, Glue, DynamoDB, BigQuery, and a class of the user's own.

PyIceberg finds the pointer, no more: the metadata file is not read by it, and no file system is opened. Where it would read
the file, in every catalog that is not REST, it is given a file system that stops it there.
"""

from __future__ import annotations

import copy
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.exceptions import ReadTimeout
from urllib3.util.retry import Retry

from lakelens import options
from lakelens.catalogs.entry import (
    INSTALL,
    CatalogEntry,
    CatalogSource,
    Parts,
    find_missing,
    join_name,
    name_source,
    refusing,
)
from lakelens.catalogs.trust import check_location, choose_storage_options, is_near, split_answer
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.io.redaction import find_secrets, redact
from lakelens.io.remote.failures import Failed
from lakelens.io.remote.requests import LARGEST_PAGE, ListingLimit

FORMAT = "iceberg"
_KINDS = {
    "RestCatalog": "REST catalog",
    "SqlCatalog": "SQL catalog",
    "InMemoryCatalog": "catalog in memory",
    "GlueCatalog": "Glue catalog",
    "DynamoDbCatalog": "DynamoDB catalog",
    "BigQueryMetastoreCatalog": "BigQuery catalog",
}
_ADDRESSES = {
    "GlueCatalog": "https://glue.amazonaws.com",
    "DynamoDbCatalog": "https://dynamodb.amazonaws.com",
    "BigQueryMetastoreCatalog": "https://bigquery.googleapis.com",
}
_TYPES = {"rest": "REST", "sql": "SQL", "glue": "Glue", "dynamodb": "DynamoDB", "bigquery": "BigQuery"}
# what a REST catalog's configuration may say beside how storage is reached: not whom to ask, with what, or by which class
_CONFIGURED = ("prefix", "warehouse", "namespace-separator", "view-endpoints-supported")


class PointerFound(Exception):
    """What stops PyIceberg before it reads a metadata file: where that is, and how its storage is reached."""

    def __init__(self, location: str, properties: Mapping[str, Any]) -> None:
        super().__init__(location)
        self.location, self.properties = location, properties


class PointerIO:
    """The file system that PyIceberg is given: it reads nothing."""

    def __init__(self, properties: Mapping[str, Any], location: str | None = None) -> None:
        self.properties = dict(properties)

    def new_input(self, location: str) -> Any:
        """Raises `PointerFound`."""
        raise PointerFound(location, self.properties)


class IcebergCatalog:
    """A catalog of PyIceberg. The object that the user gave stays as it is.

    `own` are the properties that the user gave; of an object they are those it has, whoever put them there.
    """

    def __init__(self, catalog: Any, own: Mapping[str, Any] | None = None) -> None:
        kind = next((k.__name__ for k in type(catalog).__mro__ if k.__name__ in _KINDS), "")
        properties = catalog.properties
        given = properties.get("uri") or properties.get("glue.endpoint") or _ADDRESSES.get(kind, "")
        self.source = name_source(catalog.name or "", _KINDS.get(kind, "catalog"), given)
        self._secrets, self._is_rest = find_secrets(properties), kind == "RestCatalog"
        self._properties, self._own = properties, properties if own is None else own
        self._catalog = _borrow(catalog, self.source)
        #: Questions that may be under way together: a database on this machine is asked one by one.
        self.connections = 1 if is_near(self.source.uri) and not self._is_rest else options.max_connections

    def locate(self, parts: Parts) -> CatalogEntry:
        """See `TableCatalog.locate`."""
        name = join_name(parts)
        if len(parts) < 2:
            raise find_missing(self, parts)
        try:
            with refusing(self.source, self._secrets, name):
                try:
                    table = self._catalog.load_table(parts)
                except PointerFound as found:
                    return self._describe(name, found.location, found.properties)
                return self._describe(name, table.metadata_location, getattr(table.io, "properties", {}))
        except Missing:
            view = self._load_view(parts, name)
            if view is None:
                raise find_missing(self, parts) from None
            return view

    def _load_view(self, parts: Parts, name: str) -> CatalogEntry | None:
        """Load the view of a name; None where there is none, or where the catalog knows no views."""
        try:
            with refusing(self.source, self._secrets, name):
                view = self._catalog.load_view(parts)
        except LakeError:
            return None
        pointer = getattr(view, "metadata_location", None)
        if pointer is None:
            return None
        return self._describe(name, pointer, {**self._properties, **view.config}, is_view=True)

    def _describe(
        self, name: str, pointer: Any, properties: Mapping[str, Any], *, is_view: bool = False
    ) -> CatalogEntry:
        pointer = check_location(pointer, self.source, name)
        folder, _, _ = pointer.rpartition("/")
        above, _, last = folder.rpartition("/")
        location = pointer if is_view or last != "metadata" else above
        facts = {"catalog": {**self.source.describe(), "table": name}}
        storage, answer = split_answer(properties, self._own)
        return CatalogEntry(name, FORMAT, location, pointer, facts, storage, is_view, answer)

    def list_namespaces(self, parent: Parts) -> list[Parts]:
        """See `TableCatalog.list_namespaces`."""
        with refusing(self.source, self._secrets, join_name(parent) or None):
            found = self._list(self._catalog.list_namespaces, parent)
            return sorted(
                {(*parent, str(one[-1])) for one in map(tuple, found) if len(one) == len(parent) + 1}
            )

    def list_names(self, namespace: Parts) -> Iterator[Parts]:
        """See `TableCatalog.list_names`."""
        with refusing(self.source, self._secrets, join_name(namespace)):
            found = [*self._list(self._catalog.list_tables, namespace)]
            with suppress(NotImplementedError, AttributeError):
                found += self._list(self._catalog.list_views, namespace)
        yield from sorted({(*namespace, str(parts[-1])) for parts in found if len(parts) > 0})

    def _list(self, ask: Callable[[Parts], Iterable[Any]], parent: Parts) -> list[Any]:
        if not self._is_rest:
            return list(ask(parent))

        with limit_listing():
            return list(ask(parent))


def _borrow(catalog: Any, source: CatalogSource) -> Any:
    """A copy that gives pointers and reads no file: the catalog's connections are shared, its settings are not."""
    borrowed = copy.copy(catalog)
    borrowed.properties = {**catalog.properties, "py-io-impl": f"{__name__}.PointerIO"}

    def load_file_io(properties: Mapping[str, Any] | None = None, location: str | None = None) -> PointerIO:
        return PointerIO({**catalog.properties, **(properties or {})}, location)

    session = getattr(catalog, "_session", None)
    if session is not None:
        borrowed._session = limit_session(copy.copy(session), source)
    # whatever class a server's answer names for reading files is not loaded
    borrowed._load_file_io = load_file_io
    borrowed._response_to_view = lambda name, response: (
        response
    )  # the pointer of a view is in the answer alone
    return borrowed


def load_configured(name: str) -> Mapping[str, Any] | None:
    """Load the properties of a catalog in `.pyiceberg.yaml` or the environment; None where there is none of that name."""
    found: Mapping[str, Any] | None = _load_config().get_catalog_config(name)
    return found


def list_configured() -> list[str]:
    """List the names of the catalogs in `.pyiceberg.yaml` and the environment."""
    return sorted(_load_config().get_known_catalogs())


def _load_config() -> Any:
    try:
        from pyiceberg.utils.config import Config
    except ImportError:
        raise Unsupported(
            "the names of catalogs are PyIceberg's, which is not installed", hint=INSTALL
        ) from None
    try:
        return Config()
    except Exception as error:
        message = f"PyIceberg's configuration cannot be read ({type(error).__name__})"
        raise LakeError(message, hint=".pyiceberg.yaml and variables PYICEBERG_CATALOG__NAME__URI") from None


def connect_iceberg(name: str, properties: Mapping[str, Any]) -> IcebergCatalog:
    """Connect the catalog that properties describe, as PyIceberg's `load_catalog` takes them.

    Raises `Unsupported` without PyIceberg, `Missing` for a database that is not there, `LakeError` for one that cannot be
    asked.
    """
    kind = str(properties.get("type") or "")
    source = name_source(name, f"{_TYPES.get(kind, kind)} catalog".strip(), properties.get("uri"))
    try:
        from pyiceberg.catalog import load_catalog
    except ImportError:
        raise Unsupported(f"{source} needs PyIceberg, which is not installed", hint=INSTALL) from None
    uri = str(properties.get("uri") or "")
    if is_rest := not properties.get("py-catalog-impl") and (
        kind == "rest" or (not kind and uri.startswith("http"))
    ):
        source = name_source(name, "REST catalog", uri)
    with refusing(source, find_secrets(properties)):
        if is_rest:
            return IcebergCatalog(_load_limited(source)(name or "default", **properties), properties)
        is_sql = kind == "sql" or (not kind and uri.startswith(("sqlite", "postgresql")))
        if not is_sql:
            return IcebergCatalog(load_catalog(name or None, **properties), properties)
        # SQLite would make the file that it does not find
        head, mark, path = uri.partition(":///")
        if head.startswith("sqlite") and mark and path not in ("", ":memory:"):
            place = path.removeprefix("file:").partition("?")[0]
            if not Path(place).exists():
                raise Missing(f"{source}: there is no such database", path=place)
        # nothing is written, so no table of a catalog is made where there is none
        loaded = load_catalog(name or "default", **{**properties, "init_catalog_tables": "false"})
        if not name:
            loaded.name = _choose_name(loaded, source)
        return IcebergCatalog(loaded, properties)


def _choose_name(catalog: Any, source: CatalogSource) -> str:
    """One database may keep several catalogs, each under its name: the only one, if no name was given."""
    from sqlalchemy import text

    with catalog.engine.connect() as connection:
        found = sorted(
            str(row[0])
            for row in connection.execute(text("SELECT DISTINCT catalog_name FROM iceberg_tables"))
        )
    if len(found) > 1:
        hint = f'{{"name": …}}, one of {", ".join(found[:10])}'
        raise Unsupported(f"{source} keeps {len(found)} catalogs, and none was named", hint=hint)
    return found[0] if found else "default"


def _load_limited(source: CatalogSource) -> Any:
    """PyIceberg's REST catalog, with limits, which the server's configuration sends nowhere else."""
    from pyiceberg.catalog.rest import RestCatalog

    class RestCatalogWithLimits(RestCatalog):
        """The same catalog."""

        def _create_session(self) -> Any:
            return limit_session(super()._create_session(), source)

        def _fetch_config(self) -> None:
            given = dict(self.properties)
            super()._fetch_config()
            answer = {name: value for name, value in self.properties.items() if given.get(name) != value}
            chosen = {name: value for name, value in answer.items() if name in _CONFIGURED}
            self.properties = {**given, **choose_storage_options(answer), **chosen}
            self.uri = stay_at(source, given["uri"], self.uri)

    RestCatalogWithLimits.__name__ = "RestCatalog"
    return RestCatalogWithLimits


# Limits of the HTTP client that PyIceberg asks a REST catalog with, whose own waits, reads and turns pages without end.
#
# An answer has at most 64 MiB once it is unpacked, and a deadline for the whole of it; a redirect stays at the catalog; a
# listing comes to an end. A server that is busy is asked again.

_BUSY = (429, 503)
_PART = 64 << 10  # bytes that are received at once
# what is asked for, and what zlib takes by itself of that
_ENCODINGS, _ANY_HEADER = ("gzip", "deflate"), 32 + 15
_SLOWEST = 16 << 10  # bytes in a second: an answer may take as much longer
_NAME = 64  # bytes of a page that stand for a name
_listing: ContextVar[ListingLimit | None] = ContextVar("_listing", default=None)


@contextmanager
def limit_listing() -> Iterator[None]:
    """Around the question for one list of names, whose pages have to come to an end."""
    before = _listing.set(ListingLimit())
    try:
        yield
    finally:
        _listing.reset(before)


def limit_session(session: Session, source: CatalogSource) -> Session:
    """Give the same session, with limits."""
    again = Retry(
        total=options.retries,
        connect=0,
        status_forcelist=_BUSY,
        backoff_factor=0.1,
        backoff_jitter=0.1,
        raise_on_status=False,
    )
    adapters: OrderedDict[str, BaseAdapter] = OrderedDict()
    for prefix, adapter in session.adapters.items():
        if type(adapter) is HTTPAdapter:  # one that signs is kept
            adapter = HTTPAdapter(max_retries=again, pool_maxsize=options.max_connections)
        inner = adapter.inner if isinstance(adapter, LimitedAdapter) else adapter
        adapters[prefix] = LimitedAdapter(inner, source)
    session.adapters = adapters
    ask, find_target = type(session).request, type(session).get_redirect_target

    def request(method: str, url: str, **named: Any) -> Response:
        limits = (options.connect_timeout, options.timeout)
        response = ask(session, method, url, **{"timeout": limits, **named})
        limit = _listing.get()
        if limit is not None:
            _turn_page(limit, response, source)
        return response

    def get_redirect_target(response: Response) -> str | None:
        target = find_target(session, response)
        if target is not None and _find_origin(urljoin(response.url, target)) != _find_origin(response.url):
            raise LakeError(
                f"{source} leads to {redact(target)}, and is not followed there", hint="its address"
            )
        return target

    session.request = request  # type: ignore[method-assign, assignment]
    session.get_redirect_target = get_redirect_target  # type: ignore[method-assign, assignment]
    return session


def stay_at(source: CatalogSource, given: str, named: str) -> str:
    """The address that a catalog's configuration names for itself, where that is the same server.

    >>> stay_at(CatalogSource("prod", "REST catalog"), "http://h:8181", "http://h:8181/catalog")
    'http://h:8181/catalog'
    """
    if _find_origin(given) != _find_origin(named):
        raise LakeError(
            f"{source} leads to {redact(named)}: what you gave for it is not sent there",
            hint="uri, if that is meant",
        )
    return named


def _find_origin(address: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port


def _turn_page(limit: ListingLimit, response: Response, source: CatalogSource) -> None:
    """Look whether a page is one too many. What it is beside a page PyIceberg finds out."""
    if not response.ok or b"next-page-token" not in response.content:
        return
    try:
        page = response.json()
        token = page.get("next-page-token") if isinstance(page, dict) else None
        if token:
            limit.turn(len(response.content) // _NAME, str(token))
    except ValueError:
        return
    except Failed as failed:
        raise LakeError(f"{source} lists names without an end ({failed.said})") from None


class LimitedAdapter(BaseAdapter):
    """Another adapter, whose answers are whole when they are given, and within the limits."""

    def __init__(self, inner: BaseAdapter, source: CatalogSource) -> None:
        super().__init__()
        self.inner, self._source = inner, source

    def send(self, request: PreparedRequest, *given: Any, **named: Any) -> Response:
        """See `requests`. Raises `LakeError` for too much, `ReadTimeout` for what does not come to an end."""
        request.headers["Accept-Encoding"] = ", ".join(_ENCODINGS)
        reading = _Reading(self.inner, request, given, {**named, "stream": True}, self._source)
        return reading.wait()

    def close(self) -> None:
        self.inner.close()


class _Reading:
    """One answer on its way. A thread receives it, and is left alone where the answer takes too long."""

    def __init__(self, inner: BaseAdapter, *asked: Any) -> None:
        self._inner = inner
        self._request, self._given, self._named, self._source = asked
        self._done = threading.Event()
        self._response: Response | None = None
        self._error: BaseException | None = None
        self._size = self._received = 0

    def wait(self) -> Response:
        begun = time.monotonic()
        # a busy server is asked again within the first answer
        first = (options.connect_timeout + options.timeout) * (options.retries + 1)
        threading.Thread(target=self._run, name="lakelens-catalog", daemon=True).start()
        while not self._done.is_set():
            limit = first if self._response is None else options.timeout + self._received / _SLOWEST
            begun = begun if self._response is None else self._answered
            if not self._done.wait(max(0.0, min(1.0, begun + limit - time.monotonic()))) and (
                time.monotonic() >= begun + limit
            ):
                if self._response is not None:
                    with suppress(Exception):  # closing would wait for the thread that reads
                        self._response.raw.shutdown()
                raise ReadTimeout(f"no whole answer within {options.timeout:g} s", request=self._request)
        if self._error is not None:
            raise self._error
        assert self._response is not None
        return self._response

    def _run(self) -> None:
        try:
            response = self._inner.send(self._request, *self._given, **self._named)
            self._answered = time.monotonic()
            self._response = response
            response._content = self._receive(response)
            response._content_consumed = True
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def _receive(self, response: Response) -> bytes:
        """The body, unpacked. What unpacks whole bodies makes gigabytes of a few megabytes before anybody can look."""
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", "", *_ENCODINGS):
            raise LakeError(f"{self._source} answers in an encoding that was not asked for", seen=encoding)
        unpacker = zlib.decompressobj(_ANY_HEADER) if encoding in _ENCODINGS else None
        parts: list[bytes] = []
        while packed := response.raw.read(_PART, decode_content=False):
            self._received += len(packed)
            part = packed if unpacker is None else unpacker.decompress(packed, LARGEST_PAGE + 1)
            parts.append(part)
            self._size += len(part)
            if self._size > LARGEST_PAGE:
                most = f"{LARGEST_PAGE >> 20} MiB"
                raise LakeError(f"{self._source} answers with more than {most}, which is not read")
        return b"".join(parts)
