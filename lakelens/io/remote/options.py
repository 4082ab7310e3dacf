"""Options of a store as users and catalogs spell them, in the words of the fsspec file systems."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from inspect import signature
from typing import Any
from urllib.parse import unquote

from aiobotocore.httpsession import AIOHTTPSession

from lakelens import options
from lakelens.errors import Unsupported
from lakelens.io.remote.requests import LARGEST_PAGE, receive_whole

#: Addresses that the same file system reads.
_ALIASES = {"s3a": "s3", "s3n": "s3"}


def _read_bool(value: object) -> bool:
    return str(value).strip().lower() in ("true", "1", "yes", "t", "y")


def _read_style(value: object) -> str:
    return "path" if _read_bool(value) else "auto"


def _read_virtual(value: object) -> str:
    return "virtual" if _read_bool(value) else "auto"


def _read_json(value: object) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _read_anonymous(value: object) -> bool:
    return "anonymous" in str(value).lower()


_KEY, _SECRET, _TOKEN = ("key",), ("secret",), ("token",)
_ENDPOINT, _REGION = ("client_kwargs", "endpoint_url"), ("client_kwargs", "region_name")
_STYLE = ("config_kwargs", "s3", "addressing_style")
_Row = tuple[tuple[str, ...], Callable[[Any], Any]]
# property: where fsspec's file system has it, and as what. The first of several names for one place wins.
_S3: Mapping[str, _Row] = {
    "s3.endpoint": (_ENDPOINT, str),
    "s3.access-key-id": (_KEY, str),
    "s3.secret-access-key": (_SECRET, str),
    "s3.session-token": (_TOKEN, str),
    "s3.region": (_REGION, str),
    "s3.profile-name": (("profile",), str),
    "s3.anonymous": (("anon",), _read_bool),
    "s3.path-style-access": (_STYLE, _read_style),
    "s3.force-virtual-addressing": (_STYLE, _read_virtual),
    "s3.connect-timeout": (("config_kwargs", "connect_timeout"), float),
    "s3.request-timeout": (("config_kwargs", "read_timeout"), float),
    "client.access-key-id": (_KEY, str),
    "client.secret-access-key": (_SECRET, str),
    "client.session-token": (_TOKEN, str),
    "client.region": (_REGION, str),
    "client.profile-name": (("profile",), str),
    # Paimon's
    "s3.access-key": (_KEY, str),
    "s3.secret-key": (_SECRET, str),
    "s3.path.style.access": (_STYLE, _read_style),
    # Hadoop's
    "fs.s3a.endpoint": (_ENDPOINT, str),
    "fs.s3a.access.key": (_KEY, str),
    "fs.s3a.secret.key": (_SECRET, str),
    "fs.s3a.session.token": (_TOKEN, str),
    "fs.s3a.endpoint.region": (_REGION, str),
    "fs.s3a.path.style.access": (_STYLE, _read_style),
    "fs.s3a.connection.ssl.enabled": (("use_ssl",), _read_bool),
    "fs.s3a.aws.credentials.provider": (("anon",), _read_anonymous),
}
_GS: Mapping[str, _Row] = {
    "gcs.project-id": (("project",), str),
    "gcs.access": (("access",), str),
    "gcs.oauth2.token": (_TOKEN, lambda value: value),
    "gcs.consistency": (("consistency",), str),
    "gcs.cache-timeout": (("cache_timeout",), float),
    "gcs.requester-pays": (("requester_pays",), _read_bool),
    "gcs.session-kwargs": (("session_kwargs",), _read_json),
    "gcs.service.host": (("endpoint_url",), str),
    "gcs.default-bucket-location": (("default_location",), str),
    "gcs.version-aware": (("version_aware",), _read_bool),
}
_ABFS: Mapping[str, _Row] = {
    "adls.connection-string": (("connection_string",), str),
    "adls.credential": (("credential",), lambda value: value),
    "adls.account-name": (("account_name",), str),
    "adls.account-key": (("account_key",), str),
    "adls.sas-token": (("sas_token",), str),
    "adls.tenant-id": (("tenant_id",), str),
    "adls.client-id": (("client_id",), str),
    "adls.client-secret": (("client_secret",), str),
    "adls.account-host": (("account_host",), str),
    "adls.anon": (("anon",), _read_bool),
}
_HDFS: Mapping[str, _Row] = {
    "hdfs.host": (("host",), str),
    "hdfs.port": (("port",), int),
    "hdfs.user": (("user",), str),
    "hdfs.kerberos_ticket": (("kerb_ticket",), str),
}
_HF: Mapping[str, _Row] = {"hf.endpoint": (("endpoint",), str), "hf.token": (_TOKEN, str)}
_TABLES = {
    "s3": _S3,
    **dict.fromkeys(("gs", "gcs"), _GS),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs", "az", "adl"), _ABFS),
    **dict.fromkeys(("hdfs", "viewfs"), _HDFS),
    "hf": _HF,
}
# what a catalog's properties have beside: these are the catalog's own, whatever a file system means by the word
_CATALOGS = frozenset(
    (
        "uri",
        "warehouse",
        "type",
        "token",
        "credential",
        "scope",
        "prefix",
        "name",
        "echo",
        "audience",
        "resource",
    )
)
_SWITCHES = frozenset(("anon", "use_ssl", "requester_pays", "version_aware", "cache_regions"))
_MARKS = frozenset(("uri", "warehouse", "type"))


def prepare_options(url: str, storage_options: Mapping[str, Any] | None) -> tuple[str, dict[str, Any], str]:
    """Prepare an address and options as fsspec takes them, and the scheme that says which file system reads it.

    >>> prepare_options("hdfs://h/t", {"hdfs.user": "me", "s3.region": "eu-west-1", "uri": "http://catalog"})
    ('hdfs://h/t', {'user': 'me'}, 'hdfs')
    """
    spelled, mark, rest = url.partition(":")
    scheme = _ALIASES.get(spelled.lower(), spelled.lower())
    given = dict(storage_options or {})
    if "::" in url:  # each file system of a chain has options of its own, by its name
        for name, own in given.items():
            if name in _TABLES and isinstance(own, Mapping):
                given[name] = _fill(name, translate(name, own, url))
        return url, given, scheme
    address = f"{scheme}{mark}{rest}"
    if scheme == "s3":
        address, user = _split_key(address)
        given = {**user, **given}
    return address, _fill(scheme, translate(scheme, given, url)), scheme


def translate(scheme: str, given: Mapping[str, Any], url: str = "") -> dict[str, Any]:
    """Options with the properties of PyIceberg, Hadoop and Paimon put where the file system for a scheme has them.

    What it has under its own name stays, and wins; properties of other file systems and of catalogs are left out.

    >>> translate("s3", {"s3.endpoint": "http://h:9000", "fs.s3a.access.key": "k", "anon": False})
    {'anon': False, 'client_kwargs': {'endpoint_url': 'http://h:9000'}, 'key': 'k'}
    """
    table = _TABLES.get(scheme, {})
    properties = {_strip(name, scheme, url): value for name, value in given.items() if _is_property(name)}
    plain = {name: value for name, value in given.items() if not _is_property(name)}
    if _MARKS & plain.keys():
        plain = {name: value for name, value in plain.items() if name not in _CATALOGS}
    _refuse_signing(properties, plain)
    held: dict[str, Any] = _copy(plain)
    for name in _SWITCHES & held.keys():
        held[name] = _read_bool(held[name])  # the command line has text
    for name, (place, convert) in table.items():
        value = properties.get(name)
        if value not in (None, ""):
            _put(held, place, convert(value))
    if scheme == "s3":
        _complete_s3(held, properties)
    if scheme in ("abfs", "abfss", "wasb", "wasbs", "az", "adl"):
        _complete_abfs(held, properties, url)
    return held


def _is_property(name: str) -> bool:
    return "." in name or "-" in name


def _strip(name: str, scheme: str, url: str) -> str:
    """Strip a property without what Spark and Hadoop put before it: `spark.hadoop.`, and the bucket that it is for."""
    name = name.removeprefix("spark.hadoop.")
    if scheme == "s3" and name.startswith("fs.s3a.bucket."):
        bucket = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        name = name.replace(f"fs.s3a.bucket.{bucket}.", "fs.s3a.", 1)
    return name


def _put(held: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    """A value at its place, if nothing is there."""
    for name in place[:-1]:
        inner = held.get(name)
        held[name] = dict(inner) if isinstance(inner, Mapping) else {}
        held = held[name]
    held.setdefault(place[-1], value)


def _copy(held: Any) -> Any:
    return {name: _copy(value) for name, value in held.items()} if isinstance(held, dict) else held


def _complete_s3(held: dict[str, Any], properties: Mapping[str, Any]) -> None:
    proxy = properties.get("s3.proxy-uri")
    if proxy:
        _put(held, ("config_kwargs", "proxies"), {"http": proxy, "https": proxy})
    endpoint = (held.get("client_kwargs") or {}).get("endpoint_url")
    if isinstance(endpoint, str) and endpoint and "://" not in endpoint:  # Hadoop's may have no scheme
        kind = "https" if held.get("use_ssl", True) else "http"
        held["client_kwargs"]["endpoint_url"] = f"{kind}://{endpoint}"


def _complete_abfs(held: dict[str, Any], properties: Mapping[str, Any], url: str) -> None:
    """The account is part of the address, or of the name under which a catalog gives the token for it."""
    for name, value in properties.items():
        if name.startswith("adls.sas-token."):
            held.setdefault("account_name", name.removeprefix("adls.sas-token.").split(".")[0])
            held.setdefault("sas_token", value)
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    if "@" in url.partition("://")[2].partition("/")[0] and host and "connection_string" not in held:
        held.setdefault("account_name", host.split(".")[0])


def _refuse_signing(properties: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
    is_signed = properties.get("s3.signer") or _read_bool(properties.get("s3.remote-signing-enabled", False))
    has_key = (
        any(name in properties for name in ("s3.access-key-id", "client.access-key-id")) or "key" in plain
    )
    if is_signed and not has_key:
        raise Unsupported(
            "a catalog that signs each request is not supported",
            hint='credentials: ask the catalog for vended ones (header "X-Iceberg-Access-Delegation": '
            '"vended-credentials"), or give "s3.access-key-id" in storage_options',
        )


def _split_key(address: str) -> tuple[str, dict[str, str]]:
    """Split an address without the credentials that it may begin with, as Hadoop's once did."""
    head, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    user, at, bucket = host.rpartition("@")
    key, colon, secret = user.partition(":")
    if not at or not colon:
        return address, {}
    return f"{head}{mark}{bucket}{slash}{path}", {"key": unquote(key), "secret": unquote(secret)}


def _fill(scheme: str, held: dict[str, Any]) -> dict[str, Any]:
    """Limits of time, as many connections as are used together, and no retries of the client: the store has its own."""
    if scheme != "s3":
        return held
    config = dict(held.get("config_kwargs") or {})
    pool = max(options.max_connections, int(config.get("max_pool_connections") or 0))
    held["config_kwargs"] = {
        "connect_timeout": options.connect_timeout,
        "read_timeout": options.timeout,
        **config,
        "max_pool_connections": pool,
        "retries": {"total_max_attempts": 1, "mode": "standard"},
        **_find_session(),
    }
    return held


def _find_session() -> dict[str, Any]:
    """Our own connections for the client of S3; nothing where it is not installed, or so old that it takes none."""
    try:
        from aiobotocore.config import AioConfig
    except ImportError:
        return {}
    if "http_session_cls" not in signature(AioConfig.__init__).parameters:
        return {}

    return {"http_session_cls": DirectSession}


# Connections of the client of S3 that go where they were sent: they follow no redirect, and every answer has a limit.
#
# The client's own follow a redirect to any host, with the session token in a header, and read whatever a listing becomes.
# Imported only where that client is installed.

_is_stream = ContextVar("_is_stream", default=False)


class DirectSession(AIOHTTPSession):  # type: ignore[misc]
    """The client's connections, each request of which is answered by the host that it is for."""

    async def send(self, request: Any) -> Any:
        """An answer; one that is no object has at most 64 MiB."""
        _is_stream.set(bool(request.stream_output))
        return await super().send(request)

    async def _get_session(self, proxy_url: Any) -> Any:
        return _Direct(await super()._get_session(proxy_url))


class _Direct:
    """A session of aiohttp, as far as the client uses it."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def request(self, *given: Any, **named: Any) -> Any:
        answer = await self._session.request(*given, **{**named, "allow_redirects": False})
        if not _is_stream.get() or answer.status >= 300:
            answer.read = partial(_read, answer)
        return answer


async def _read(answer: Any) -> bytes:
    try:
        return await receive_whole(answer.content.read, LARGEST_PAGE)
    except Exception:
        answer.close()
        raise
