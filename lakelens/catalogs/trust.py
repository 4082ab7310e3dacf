"""What a catalog's answer may lead to. It is input like any other: whoever runs the catalog chooses every word of it.

A location may be in an object store or in Hadoop's file system; on the disk of this machine only where the catalog is on
this machine too. A chain of fsspec's (`a::b`), a web address or a program's own scheme is not followed. Of the properties
that a catalog gives for a table those of storage are kept: its own token is sent to nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from lakelens.catalogs.entry import Source
from lakelens.errors import LakeError, Unsupported
from lakelens.io.redaction import redact
from lakelens.io.relocation import split_location

_FAR = frozenset(
    {"s3", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "hdfs", "viewfs", "webhdfs", "oss", "cosn", "obs"}
)
_OF_STORAGE = ("s3.", "gcs.", "adls.", "hdfs.", "client.", "fs.")
_LONGEST = 4_096


def check_location(location: object, source: Source, name: str) -> str:
    """A location that a catalog gave, if it may be read.

    Raises `LakeError` for one that climbs (`..`) or has no text, `Unsupported` for one in a place that is not followed.

    >>> check_location("file:///etc", Source("evil", "REST catalog", "https://evil.example"), "db.t")
    Traceback (most recent call last):
    lakelens.errors.Unsupported: db.t: REST catalog evil at https://evil.example gives a place on the disk of this machine,
    file:///etc, and is itself elsewhere; try: lakelens.open('file:///etc'), where that is meant
    """
    if not isinstance(location, str) or not location.strip() or len(location) > _LONGEST:
        raise LakeError(f"{source} does not say where this table is", path=name, seen=_show(location))
    if "\0" in location or ".." in location.replace("\\", "/").split("/"):
        message = (
            f"{source} gives a location that leads elsewhere: it may not hold '..' or the character U+0000"
        )
        raise LakeError(message, path=name, seen=_show(location))
    scheme = split_location(location)[0]
    if "::" in location or scheme not in ("", "file", *_FAR):
        message = f"{source} gives the location {_show(location)}, which is in no storage of tables"
        raise Unsupported(message, path=name, hint="lakelens.open of that location, where it is meant")
    if scheme in ("", "file") and not is_near(source.uri):
        message = (
            f"{source} gives a place on the disk of this machine, {_show(location)}, and is itself elsewhere"
        )
        raise Unsupported(message, path=name, hint=f"lakelens.open({_show(location)!r}), where that is meant")
    return location


def is_near(uri: str) -> bool:
    """Whether what answers at an address is on this machine: a file, or a server of its own.

    >>> is_near("sqlite:////wh/catalog.db"), is_near("http://127.0.0.1:8181"), is_near("https://catalog.example")
    (True, True, False)
    """
    rest = uri.removeprefix("jdbc:")
    if rest.split(":", 1)[0].startswith(("sqlite", "file")):
        return True
    hosts = {_find_host(one) for one in rest.split(",")}
    return all(host == "" or host == "localhost" or _is_loopback(host) for host in hosts)


def _find_host(uri: str) -> str:
    try:
        return (urlsplit(uri.replace("…@", "")).hostname or "").lower()
    except ValueError:
        return "?"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def choose_storage_options(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of the properties of a table those that say how its storage is reached.

    >>> choose_storage_options({"token": "t0ken", "s3.endpoint": "http://minio:9000", "owner": "me"})
    {'s3.endpoint': 'http://minio:9000'}
    """
    return {name: value for name, value in properties.items() if str(name).startswith(_OF_STORAGE)}


def _show(location: object) -> str:
    text = redact(str(location))
    return text if len(text) <= 200 else f"{text[:200]}…"
