"""A catalog that wants what is not its own: our credentials for its endpoint, our headers, our memory and our time."""

from __future__ import annotations

import itertools
import json
import time
import types
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens import options
from lakelens.catalogs.trust import combine_options
from lakelens.errors import LakeError
from tests.fuzz import remote
from tests.support.far import serve

START = Callable[..., Any]
VENDED = {"s3.access-key-id": "THEIRS", "s3.secret-access-key": "theirs"}
METADATA = {**remote.METADATA, "location": "s3://bucket/t"}


class Hostile:
    """A REST catalog: `config` is what it says of a table's storage, `overrides` of itself; `pages` are its lists."""

    def __init__(self) -> None:
        self.config: dict[str, str] = {}
        self.overrides: dict[str, Any] = {}
        self.pages: Callable[[], dict[str, Any]] = lambda: {"identifiers": []}
        self.table: Callable[..., Iterable[bytes]] | None = None
        self.seen: list[dict[str, str]] = []

    def __call__(self, environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        self.seen.append({name: str(value) for name, value in environ.items() if name.startswith("HTTP_")})
        path = environ["PATH_INFO"]
        if not path.startswith("/v1"):
            start_response("403 Forbidden", [("Content-Length", "0")])
            return []
        if "/tables/" in path and self.table is not None:
            return self.table(environ, start_response)
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(self._answer(path)).encode()]

    def _answer(self, path: str) -> Any:
        if path.endswith("/config"):
            return {"defaults": {}, "overrides": self.overrides}
        if path.endswith("/namespaces"):
            return {"namespaces": [["db"]]}
        if path.endswith("/tables"):
            return self.pages()
        if path.endswith("/views"):
            return {"identifiers": []}
        pointer = "s3://bucket/t/metadata/v1.metadata.json"
        return {"metadata-location": pointer, "metadata": METADATA, "config": self.config}


@pytest.fixture
def catalog() -> Iterator[tuple[Hostile, dict[str, Any]]]:
    """A hostile catalog, and its properties."""
    hostile = Hostile()
    with serve(hostile) as uri:
        yield hostile, {"name": "evil", "type": "rest", "uri": uri}


@pytest.fixture
def other() -> Iterator[tuple[Hostile, str]]:
    """Another server of the same attacker."""
    hostile = Hostile()
    with serve(hostile) as uri:
        yield hostile, uri


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials of the user, in the environment and in a profile."""
    place = tmp_path / "credentials"
    place.write_text(
        "[production]\naws_access_key_id = A\naws_secret_access_key = p\naws_session_token = our-token\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(place))
    for name, value in (
        ("ACCESS_KEY_ID", "A"),
        ("SECRET_ACCESS_KEY", "ours"),
        ("SESSION_TOKEN", "our-token"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("more", [{}, {"s3.profile-name": "production"}, {"s3.access-key-id": "THEIRS"}])
def test_an_endpoint_without_credentials_gets_none_of_ours(
    catalog: tuple[Hostile, dict[str, Any]], other: tuple[Hostile, str], more: dict[str, str]
) -> None:
    hostile, properties = catalog
    for place in (hostile.config, hostile.overrides):
        place.update({"s3.endpoint": other[1], "s3.region": "us-east-1", **more})
        with pytest.raises(
            LakeError, match=f"REST catalog evil names s3.endpoint='{other[1]}' and gives no credentials"
        ):
            ll.open("db.t", catalog=properties)
        place.clear()
    assert other[0].seen == []


@pytest.mark.usefixtures("credentials")
def test_vended_credentials_go_to_their_endpoint_alone(
    catalog: tuple[Hostile, dict[str, Any]], other: tuple[Hostile, str]
) -> None:
    hostile, properties = catalog
    hostile.config = {
        **VENDED,
        "s3.endpoint": other[1],
        "s3.region": "us-east-1",
        "s3.profile-name": "production",
    }
    own = {"s3.session-token": "our-token", "s3.access-key-id": "OURS", "s3.secret-access-key": "ours"}
    with pytest.raises(LakeError):
        ll.open("db.t", catalog={**properties, **own})
    assert other[0].seen
    for headers in other[0].seen:
        assert "our-token" not in str(headers) and "Credential=THEIRS/" in headers["HTTP_AUTHORIZATION"]


@pytest.mark.usefixtures("credentials")
def test_ours_go_to_our_endpoint(catalog: tuple[Hostile, dict[str, Any]], other: tuple[Hostile, str]) -> None:
    hostile, properties = catalog
    hostile.config = {**VENDED, "s3.endpoint": "http://127.0.0.1:9", "s3.region": "us-east-1"}
    given = {"key": "OURS", "secret": "ours", "client_kwargs": {"endpoint_url": other[1]}}
    with pytest.raises(LakeError):
        ll.open("db.t", catalog=properties, storage_options=given)
    assert other[0].seen and all("Credential=OURS/" in one["HTTP_AUTHORIZATION"] for one in other[0].seen)


@pytest.mark.usefixtures("credentials")
def test_a_table_of_pyiceberg(other: tuple[Hostile, str]) -> None:
    merged = {"s3.region": "us-east-1", "s3.endpoint": other[1], "s3.profile-name": "production"}
    table = types.SimpleNamespace(
        metadata_location="s3://bucket/t/metadata/v1.metadata.json",
        io=types.SimpleNamespace(properties=merged),
        catalog=types.SimpleNamespace(properties={"s3.region": "us-east-1"}),
    )
    with pytest.raises(LakeError, match=r"names s3[.]endpoint"):
        ll.open(table)
    assert other[0].seen == []


@pytest.mark.parametrize(
    ("location", "named", "vended"),
    [
        ("s3://b/t", {"s3.endpoint": "http://h"}, VENDED),
        ("s3://b/t", {"fs.s3a.endpoint": "http://h"}, {"fs.s3a.access.key": "a", "fs.s3a.secret.key": "b"}),
        ("s3://b/t", {"fs.s3a.bucket.b.endpoint": "http://h"}, VENDED),
        ("gs://b/t", {"gcs.service.host": "http://h"}, {"gcs.oauth2.token": "theirs"}),
        ("abfss://c@a.dfs.core.windows.net/t", {"adls.account-host": "h"}, {"adls.account-key": "theirs"}),
        (
            "abfss://c@a.dfs.core.windows.net/t",
            {"adls.account-name": "evil"},
            {"adls.sas-token.evil": "theirs"},
        ),
    ],
)
def test_who_names_an_endpoint_gives_credentials(
    location: str, named: dict[str, str], vended: dict[str, str]
) -> None:
    never = {
        "s3.profile-name": "production",
        "client.profile-name": "production",
        "s3.proxy-uri": "http://p",
        "gcs.session-kwargs": "{}",
        "gcs.requester-pays": "true",
        "s3.request-timeout": "1000000",
    }
    with pytest.raises(LakeError, match=r"a catalog names .* and gives no credentials for it"):
        combine_options({}, {}, {**never, **named}, location, "a catalog")
    assert combine_options({}, {}, {**never, **named, **vended}, location, "a catalog") == {**named, **vended}
    (name,) = named
    assert combine_options({name: "mine"}, {}, {**never, **named}, location, "a catalog") == {name: "mine"}
    assert combine_options({}, {name: "mine"}, named, location, "a catalog") == {name: "mine"}


@pytest.mark.parametrize("key", ["fs.s3a.bucket.b.session.token", "s3.session-token", "s3.profile-name"])
def test_none_of_ours_goes_with_what_a_catalog_vends(key: str) -> None:
    answer = {**VENDED, "s3.endpoint": "http://h"}
    assert combine_options({}, {key: "ours"}, answer, "s3://b/t", "a catalog") == answer


def test_the_account_of_a_location_needs_no_credentials() -> None:
    answer = {"adls.account-name": "a", "adls.account-host": "a.dfs.core.windows.net"}
    assert combine_options({}, {}, answer, "abfss://c@a.dfs.core.windows.net/t", "a catalog") == {}


@pytest.mark.parametrize("name", ["uri", "header.X-Evil", "oauth2-server-uri", "auth", "token"])
def test_a_configuration_that_leads_elsewhere(
    catalog: tuple[Hostile, dict[str, Any]], other: tuple[Hostile, str], name: str
) -> None:
    hostile, properties = catalog
    value: Any = other[1] if "uri" in name else "evil"
    hostile.overrides = {name: value}
    with pytest.raises(LakeError):
        ll.open("db.t", catalog={**properties, "token": "our-token"})
    assert other[0].seen == []
    assert all("our-token" in one["HTTP_AUTHORIZATION"] and "HTTP_X_EVIL" not in one for one in hostile.seen)


def test_a_redirect_leads_nowhere_else(
    catalog: tuple[Hostile, dict[str, Any]], other: tuple[Hostile, str]
) -> None:
    hostile, properties = catalog

    def lead(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        start_response(
            "302 Found", [("Location", f"{other[1]}{environ['PATH_INFO']}"), ("Content-Length", "0")]
        )
        return []

    hostile.table = lead
    with pytest.raises(LakeError, match="leads to"):
        ll.open("db.t", catalog={**properties, "header.X-Api-Key": "ours"})
    assert other[0].seen == []


def list_pages(token: Callable[[int], str], names: int) -> Callable[[], dict[str, Any]]:
    numbers = itertools.count()

    def page() -> dict[str, Any]:
        number = next(numbers)
        found = [{"namespace": ["db"], "name": f"t{number}-{n}"} for n in range(names)]
        return {"identifiers": found, "next-page-token": token(number)}

    return page


@pytest.mark.parametrize(
    ("token", "names"), [(str, 1), (str, 0), (lambda number: "again", 5)], ids=["new", "empty", "again"]
)
def test_pages_without_an_end(
    catalog: tuple[Hostile, dict[str, Any]], token: Callable[[int], str], names: int
) -> None:
    hostile, properties = catalog
    hostile.pages = list_pages(token, names)
    found = ll.find(properties)
    assert any("lists names without an end" in str(problem) for problem in found.problems), found.problems
    assert len(hostile.seen) < 200


def test_many_pages_are_read(catalog: tuple[Hostile, dict[str, Any]]) -> None:
    hostile, properties = catalog
    numbers = itertools.count()

    def page() -> dict[str, Any]:
        number = next(numbers)
        found = [{"namespace": ["db"], "name": f"t{number}-{n}"} for n in range(50)]
        return {"identifiers": found, "next-page-token": str(number) if number < 20 else None}

    hostile.pages = page
    from lakelens.catalogs.choice import connect

    assert len(list(connect(properties).list_names(("db",)))) == 21 * 50


def test_an_answer_that_grows(catalog: tuple[Hostile, dict[str, Any]]) -> None:
    hostile, properties = catalog
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join([*(packer.compress(b" " * (1 << 20)) for _ in range(80)), packer.flush()])

    def grow(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))])
        return [body]

    hostile.table = grow
    with pytest.raises(LakeError, match="more than 64 MiB"):
        ll.open("db.t", catalog=properties)


def test_an_answer_that_drips(
    catalog: tuple[Hostile, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile, properties = catalog

    def drip(environ: dict[str, Any], start_response: START) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Length", "100000")])
        for _ in range(100):
            yield b" "
            time.sleep(0.1)

    hostile.table = drip
    monkeypatch.setattr(options, "timeout", 0.5)
    with pytest.raises(LakeError, match="no whole answer within"):
        ll.open("db.t", catalog=properties)
