"""What a catalog's answer may lead to. It is input like any other: whoever runs the catalog chooses every word of it.

A location may be in an object store or in Hadoop's file system; on the disk of this machine only where the catalog is on
this machine too. A chain of fsspec's (`a::b`), a web address or a program's own scheme is not followed. Of the properties
that a catalog gives for a table those of storage are kept: its own token is sent to nobody else. The user's credentials go
to the user's endpoint: an answer says where requests go only for credentials that it vends itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from lakelens.catalogs.entry import CatalogSource
from lakelens.errors import LakeError, Unsupported
from lakelens.io.redaction import redact
from lakelens.io.relocation import split_location

_FAR = frozenset(
    {"s3", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "hdfs", "viewfs", "webhdfs", "oss", "cosn", "obs"}
)
_OF_STORAGE = ("s3.", "gcs.", "adls.", "hdfs.", "client.", "fs.")
_LONGEST = 4_096


def check_location(location: object, source: CatalogSource, name: str) -> str:
    """Check a location that a catalog gave, if it may be read.

    Raises `LakeError` for one that climbs (`..`) or has no text, `Unsupported` for one in a place that is not followed.

    >>> check_location("file:///etc", CatalogSource("evil", "REST catalog", "https://evil.example"), "db.t")
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
    """Check whether what answers at an address is on this machine: a file, or a server of its own.

    >>> is_near("sqlite:////wh/catalog.db"), is_near("http://127.0.0.1:8181"), is_near("https://catalog.example")
    (True, True, False)
    """
    rest = uri.removeprefix("jdbc:")
    if rest.split(":", 1)[0].startswith(("sqlite", "file")):
        return True
    for address in rest.split(","):
        try:
            host = (urlsplit(address.replace("…@", "")).hostname or "").lower()
            is_here = host in ("", "localhost") or ip_address(host).is_loopback
        except ValueError:
            return False
        if not is_here:
            return False
    return True


def choose_storage_options(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of the properties of a table or catalog those that say how its storage is reached.

    >>> choose_storage_options({"token": "t0ken", "s3.endpoint": "http://minio:9000", "owner": "me"})
    {'s3.endpoint': 'http://minio:9000'}
    """
    return {name: value for name, value in properties.items() if str(name).startswith(_OF_STORAGE)}


def combine_options(
    given: Mapping[str, Any],
    own: Mapping[str, Any],
    answer: Mapping[str, Any],
    location: str,
    source: object,
    name: str | None = None,
) -> dict[str, Any]:
    """How a table's storage is reached: what was `given` for it, the user's `own` settings, and what of an `answer` counts.

    A catalog's answer may vend credentials; they are used unless others were given, and then none of the user's own are sent
    with them. Where requests go (an endpoint, an account) an answer says together with the credentials that it vends, or not
    at all: the user's own go to the user's own endpoint. A profile, a proxy or anything else that says which credentials
    of this machine are used, or how, never counts.

    Raises `LakeError` where an answer names an endpoint without credentials, and the user names none.

    >>> vended = {"s3.access-key-id": "k", "s3.secret-access-key": "s", "s3.endpoint": "http://h", "s3.proxy-uri": "http://p"}
    >>> sorted(combine_options({}, {"s3.session-token": "mine"}, vended, "s3://b/t", "a catalog"))
    ['s3.access-key-id', 's3.endpoint', 's3.secret-access-key']
    >>> combine_options({}, {"s3.endpoint": "http://mine"}, {"s3.endpoint": "http://h"}, "s3://b/t", "a catalog")
    {'s3.endpoint': 'http://mine'}
    """
    family = _FAMILIES.get(split_location(location)[0], _NOTHING)
    said = {key: value for key, value in answer.items() if value not in (None, "")}
    host = split_location(location)[1].strip("/").partition("/")[0].rpartition("@")[2]
    plain = {key: value for key, value in said.items() if key in family.harmless}
    leading = {
        key: value
        for key, value in said.items()
        if family.leads(key) and value not in (host, host.partition(".")[0])  # the location has said so
    }
    vended = {key: value for key, value in said.items() if family.is_credential(key)}
    client = given.get("client_kwargs") or {}
    has_own = any(family.is_credential(key) or key in _OWN for key in (*given, *client))
    if not has_own and family.is_whole(vended):
        mine = {key: value for key, value in own.items() if key in family.harmless or key in _KEPT}
        places = leading or {key: value for key, value in own.items() if family.leads(key)}
        return {**mine, **plain, **places, **vended, **given}
    mine = {**own, **given}
    is_placed = any(family.leads(key) for key in (*mine, *client)) or (
        family is _S3 and any(name in os.environ for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"))
    )
    if leading and not is_placed:
        key, value = next(iter(leading.items()))
        message = f"{source} names {key}={redact(str(value))!r} and gives no credentials for it: yours are not sent there"
        hint = f"storage_options={{{key!r}: …}} with an endpoint that you trust"
        raise LakeError(message, path=name, hint=hint)
    return {**plain, **mine}


def split_answer(
    properties: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Properties that a client has merged, as those of the user and those that a catalog's answer has put there.

    >>> split_answer({"s3.region": "x", "s3.endpoint": "http://h"}, {"s3.region": "x", "uri": "http://c"})
    ({'s3.region': 'x'}, {'s3.endpoint': 'http://h'})
    """
    merged, mine = choose_storage_options(properties), choose_storage_options(own)
    return mine, {name: value for name, value in merged.items() if mine.get(name) != value}


@dataclass(frozen=True)
class _Family:
    """The settings of one kind of storage: which are credentials, which say where requests go, which do neither.

    `whole` are the settings that are enough to be somebody: all of one of these.
    """

    credentials: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    whole: tuple[frozenset[str], ...] = ()

    def is_credential(self, name: str) -> bool:
        if self is _S3 and _BUCKET_KEY.search(name):
            return True
        return name in self.credentials or (name.startswith(_SAS) and self is _AZURE)

    def leads(self, name: str) -> bool:
        return name in self.leading or bool(self is _S3 and _BUCKET_ENDPOINT.fullmatch(name))

    def is_whole(self, vended: Mapping[str, Any]) -> bool:
        return any(names <= vended.keys() for names in self.whole) or any(
            one.startswith(_SAS) for one in vended
        )


def _name(names: str) -> frozenset[str]:
    return frozenset(names.split())


_SAS = "adls.sas-token."
_BUCKET_ENDPOINT = re.compile(
    r"(spark\.hadoop\.)?fs\.s3a\.(bucket\..*\.)?(endpoint|connection\.ssl\.enabled)"
)
_BUCKET_KEY = re.compile(r"fs\.s3a\..*(access\.key|secret\.key|session\.token)$|^aws_")
_NOTHING = _Family()
_S3 = _Family(
    credentials=_name(
        "s3.access-key-id s3.secret-access-key s3.session-token client.access-key-id client.secret-access-key "
        "client.session-token s3.access-key s3.secret-key fs.s3a.access.key fs.s3a.secret.key fs.s3a.session.token "
        "key secret token username password"
    ),
    leading=_name("s3.endpoint fs.s3a.endpoint endpoint_url"),
    harmless=_name(
        "s3.region client.region fs.s3a.endpoint.region s3.path-style-access s3.path.style.access "
        "fs.s3a.path.style.access s3.force-virtual-addressing s3.remote-signing-enabled s3.signer"
    ),
    whole=(
        _name("s3.access-key-id s3.secret-access-key"),
        _name("client.access-key-id client.secret-access-key"),
        _name("s3.access-key s3.secret-key"),
        _name("fs.s3a.access.key fs.s3a.secret.key"),
    ),
)
_GOOGLE = _Family(
    credentials=_name("gcs.oauth2.token token"),
    leading=_name("gcs.service.host endpoint_url"),
    harmless=_name("gcs.version-aware"),
    whole=(_name("gcs.oauth2.token"),),
)
_AZURE = _Family(
    credentials=_name(
        "adls.connection-string adls.credential adls.account-key adls.sas-token adls.tenant-id adls.client-id "
        "adls.client-secret connection_string credential account_key sas_token tenant_id client_id client_secret"
    ),
    leading=_name("adls.account-host adls.account-name account_host account_name"),
    whole=(
        _name("adls.connection-string"),
        _name("adls.account-key"),
        _name("adls.sas-token"),
        _name("adls.tenant-id adls.client-id adls.client-secret"),
    ),
)
_ALIBABA = _Family(
    credentials=_name("fs.oss.accessKeyId fs.oss.accessKeySecret fs.oss.securityToken key secret token"),
    leading=_name("fs.oss.endpoint endpoint"),
    whole=(_name("fs.oss.accessKeyId fs.oss.accessKeySecret"), _name("key secret")),
)
_FAMILIES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _S3),
    **dict.fromkeys(("gs", "gcs"), _GOOGLE),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs", "adl", "az"), _AZURE),
    "oss": _ALIBABA,
}
#: Settings that say which credentials of this machine are used.
_OWN = _name(
    "s3.profile-name client.profile-name profile s3.anonymous anon adls.anon gcs.session-kwargs session_kwargs"
)
#: Settings of the user's own that stay beside credentials that a catalog vends.
_KEPT = _name(
    "s3.proxy-uri s3.connect-timeout s3.request-timeout gcs.project-id gcs.requester-pays gcs.cache-timeout"
)


def _show(location: object) -> str:
    text = redact(str(location))
    return text if len(text) <= 200 else f"{text[:200]}…"
