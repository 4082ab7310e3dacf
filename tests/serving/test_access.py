"""Who may ask: by which name, from where, with what; in process, so that every header is what the test says."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.testclient import TestClient

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from lakelens.serving.access import Access
from lakelens.serving.application import make_app

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ORIGIN = "http://127.0.0.1:8765"
TOKEN = "a-token-that-is-only-here"
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-user": "?1"}


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(Path(ll.sample("paimon").location).parent)


def make_client(explorer: Explorer, **rules: object) -> TestClient:
    access = Access(**{"token": TOKEN, "cookie": "lakelens-8765", **rules})  # type: ignore[arg-type]
    return TestClient(
        make_app(explorer, access=access), base_url=ORIGIN + access.home, follow_redirects=False
    )


@pytest.fixture
def client(explorer: Explorer) -> Iterator[TestClient]:
    with make_client(explorer) as made:
        yield made


@pytest.fixture
def inside(client: TestClient) -> TestClient:
    """A client that has entered."""
    assert client.get("/", params={"token": TOKEN}).status_code == 303
    return client


def test_a_browser_asks_for_an_icon_in_vain_and_without_an_error(client: TestClient) -> None:
    icon = f"{ORIGIN}/favicon.ico"  # above the path of the pages: no cookie goes there
    assert client.get(icon).status_code == 204
    assert client.get("/", params={"token": TOKEN}).status_code == 303
    assert client.get(icon).status_code == 204
    assert "set-cookie" not in client.get(icon).headers
    assert (
        client.get(icon, headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code
        == 403
    )


def test_a_token_is_asked_once(client: TestClient) -> None:
    refused = client.get("/")
    assert refused.status_code == 403 and "lakelens serve printed" in refused.text
    assert client.get(f"/?token={TOKEN}x").status_code == 403
    assert client.get("/?token=").status_code == 403
    assert "set-cookie" not in refused.headers
    entered = client.get(f"/paimon/?q=1&token={TOKEN}&from=2")
    home = client.base_url.path.strip("/")
    assert (entered.status_code, entered.headers["location"]) == (303, f"../../{home}/paimon/?q=1&from=2")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and f"Path=/{home}" in cookie.split("; ")
    assert cookie.startswith("lakelens-8765=") and TOKEN not in cookie
    assert client.get("/").status_code == 200
    assert TOKEN not in client.get("/").text
    assert client.get("/paimon/?token=of-yesterday").headers["location"].endswith(f"/{home}/paimon/")


def test_another_server_has_other_secrets(explorer: Explorer, inside: TestClient) -> None:
    with make_client(explorer, token=TOKEN + "2", path=inside.base_url.path.rstrip("/")) as other:
        other.cookies = inside.cookies
        assert other.get("/").status_code == 403
    assert "lakelens-8765" not in repr(Access(TOKEN)) and TOKEN not in repr(Access(TOKEN))


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example:8765"),
        *("", "127.0.0.1@evil.example", "10.0.0.1:8765", "[::2]:8765", "127.0.0.1:8765, evil.example"),
        *("127.0.0.1:8765/x", "127.0.0.1 ", "0.0.0.0:8765", "2130706433", "xn--locahost-x1a"),
    ],
)
def test_only_its_own_names(inside: TestClient, host: str) -> None:
    """DNS rebinding: the name of another site leads here."""
    answer = inside.get("/", headers={"host": host})
    if host == "127.0.0.1 ":  # a space around a header is no part of it
        assert answer.status_code == 200
        return
    assert answer.status_code == 421
    assert inside.get(f"/?token={TOKEN}", headers={"host": host}).status_code == 421
    assert inside.get("/-/explorer.js", headers={"host": host}).status_code == 421
    assert host == "" or host not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:9000", "[::1]:8765"])
def test_its_own_names(inside: TestClient, host: str) -> None:
    assert inside.get("/", headers={"host": host}).status_code == 200


def test_no_other_origin(inside: TestClient) -> None:
    for origin in (
        "http://127.0.0.1:9000",
        "https://127.0.0.1:8765.evil.example",
        "null",
        "http://evil.example",
    ):
        for path in ("/", "/-/explorer.css", f"/?token={TOKEN}"):
            assert inside.get(path, headers={"origin": origin}).status_code == 403, origin
    assert inside.get("/", headers={"origin": ORIGIN}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "target"),
    [
        *(("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")),
        *(("navigate", "embed"), ("navigate", "object"), ("no-cors", "style"), ("", "")),
    ],
)
def test_what_another_site_loads(inside: TestClient, site: str, mode: str, target: str) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": target}
    for path in ("/", "/paimon/", "/-/explorer.js", f"/?token={TOKEN}"):
        answer = inside.get(path, headers=headers)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_or_form_of_another_site_needs_one_more_click(inside: TestClient, site: str) -> None:
    """Of another site the browser sends no cookie, of another port of this machine it does: both are asked."""
    headers = {**NAVIGATION, "sec-fetch-site": site}
    answer = inside.get("/paimon/?from=50", headers=headers)
    assert answer.status_code == 403 and '<a href="">go on</a>' in answer.text
    assert inside.get("/paimon/", headers={**NAVIGATION, "sec-fetch-site": "same-origin"}).status_code == 303
    assert inside.get("/paimon/?token=wrong", headers=headers).status_code == 403


def test_the_address_in_a_page_of_another_site(client: TestClient) -> None:
    """What a notebook or a chat shows leads in by a page of ours: that asks with the cookie."""
    answer = client.get(f"/?x=%22%3E&token={TOKEN}", headers={**NAVIGATION, "sec-fetch-site": "cross-site"})
    assert answer.status_code == 200 and "set-cookie" in answer.headers
    assert re.search(r'content="0;url=../~[\w-]{22}/\?x=%22%3E"', answer.text)
    hostile = client.get(
        f"/%22%3E<script>&'?token={TOKEN}", headers={"sec-fetch-site": "cross-site", **NAVIGATION}
    )
    assert "<script>" not in hostile.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_nothing_but_reading(inside: TestClient, method: str) -> None:
    for path in ("/", "/-/explorer.css", "/paimon/"):
        answer = inside.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_sizes_of_requests(inside: TestClient) -> None:
    assert inside.get("/?q=" + "x" * 20_000).status_code == 414
    assert inside.get("/", headers={"x-long": "y" * 40_000}).status_code == 431
    assert inside.request("GET", "/", content=b"body").status_code == 413
    assert inside.request("GET", "/", content=iter([b"body"])).status_code == 413
    assert inside.get("/", headers={"content-length": "0"}).status_code == 200


def test_every_answer_keeps_a_browser_from_doing_more(inside: TestClient) -> None:
    for path in (
        "/",
        "/nothing/",
        "/a/b/c/@1/x",
        f"/?token={TOKEN}",
        "/-/explorer.css",
        "/-/nothing",
        "/%ff",
    ):
        headers = inside.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy, path
        assert "script-src 'self';" in policy and "unsafe-eval" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert headers["cache-control"] == ("no-cache" if path.endswith("css") else "no-store")
    assert "access-control-allow-origin" not in inside.get("/").headers


def test_behind_a_proxy(explorer: Explorer) -> None:
    with make_client(explorer, token="", takes_any_host=True, is_proxied=True) as client:
        answer = client.get(
            "/", headers={"host": "hub.example", **NAVIGATION, "sec-fetch-site": "cross-site"}
        )
        assert answer.status_code == 200, "the proxy has checked the user, who may come from anywhere"
        assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        for bad in (
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
            {"origin": "http://evil.example"},
        ):
            assert client.get("/", headers={"host": "hub.example", **bad}).status_code == 403
        own = {"origin": "https://hub.example", "x-forwarded-host": "hub.example", "host": "localhost:1"}
        assert client.get("/", headers=own).status_code == 200


def test_a_proxy_on_a_port_sends_the_token(explorer: Explorer) -> None:
    with make_client(explorer, takes_any_host=True, is_proxied=True) as client:
        assert client.get("/").status_code == 403
        assert client.get("/", headers={"x-lakelens-token": "wrong"}).status_code == 403
        assert client.get("/", headers={"x-lakelens-token": TOKEN}).status_code == 200


def test_below_a_base(explorer: Explorer) -> None:
    with make_client(explorer, base="/lens", is_secure=True) as client:
        home = client.base_url.path.rstrip("/")
        client.base_url = ORIGIN
        for path in ("/lens", "/lens/", "/"):  # as one proxy asks, and as another
            entered = client.get(f"{path}?token={TOKEN}")
            assert f"Path=/lens{home}; Secure" in entered.headers["set-cookie"]
            assert urljoin(path, entered.headers["location"]) == f"{path.rstrip('/')}{home}/"
        client.cookies.set("lakelens-8765", entered.headers["set-cookie"].partition("=")[2].partition(";")[0])
        assert urljoin(f"/lens{home}", client.get(f"/lens{home}").headers["location"]) == f"/lens{home}/"
        for path in (f"/lens{home}/", f"{home}/"):
            assert client.get(path).status_code == 200


def test_no_token_in_a_log(
    explorer: Explorer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Explorer, place: object) -> None:
        raise RuntimeError("\x1b]0;owned\x07 at /?token=abc&x=1")

    monkeypatch.setattr(Explorer, "answer", fail)
    with make_client(explorer) as client, caplog.at_level(logging.DEBUG):
        client.get(f"/?token={TOKEN}")
        answer = client.get("/?q=1")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.text and "owned" not in answer.text and "Traceback" not in answer.text
    ours = "".join(record.getMessage() for record in caplog.records if record.name.startswith("lakelens"))
    assert "Traceback" in ours and "token=…" in ours and "⟨U+001B⟩" in ours
    assert TOKEN not in ours and "token=abc" not in ours and "\x1b" not in ours
