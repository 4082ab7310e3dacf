"""The explorer in Chromium: nothing of a hostile lake runs, no other origin gets anything, scripts off or on."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

import pytest

from lakelens.explorer.explorer import _MAKERS, Explorer, _load_pages
from lakelens.explorer.place import Place
from tests.browser.test_hostile_browser import Alarm
from tests.cli import test_hostile
from tests.serving.running import Running, serving

# no slash: it is the name of a directory and of a file as well
MARKUP = "\"'><img src=x onerror=alert(1)><svg onload=alert(2)><a href=javascript:alert(3)>&lt;b&gt;{{7*7}}"
MOST_OF_A_KIND, MOST, PARTS = 2, 15, 4
LISTEN = """window.refused = [];
const note = (e) => window.refused.push(`${e.violatedDirective} ${e.blockedURI}`);
document.addEventListener("securitypolicyviolation", note);"""
# what our own pages are made of; anything else, or any handler, came from the lake
FOREIGN = """() => {
  const own = location.origin + '/' + location.pathname.split('/')[1] + '/-/';
  return [...document.querySelectorAll('*')].filter(e =>
  (e.tagName === 'SCRIPT' && !e.src.startsWith(own))
  || (e.tagName === 'IMG' && !e.src.startsWith('data:image/svg+xml;base64,'))
  || ['IFRAME', 'OBJECT', 'EMBED', 'BASE'].includes(e.tagName.toUpperCase())
  || (e.tagName === 'LINK' && !e.href.startsWith(own))
  || (e.tagName === 'FORM' && !e.action.startsWith(location.origin + '/'))
  || (e.tagName.toUpperCase() === 'A' && !String(e.href.baseVal ?? e.href).match(/^(https?:|[.\\/?#@a-z]|$)/))
  || [...e.attributes].some(a => a.name.startsWith('on') || /^\\s*(javascript|data:text):/i.test(a.value)))
  .map(e => e.outerHTML.slice(0, 200)) }"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of tables whose names, columns, properties, refs and files are markup, or act on text."""
    root = tmp_path_factory.mktemp("hostile") / "root"
    with pytest.MonkeyPatch.context() as patch:
        for folder, name in (("markup", MARKUP), ("active", test_hostile.NAME)):
            patch.setattr(test_hostile, "NAME", name)
            for sample in ("iceberg", "paimon", "hive"):
                test_hostile.make_hostile(sample, root / folder)
    return root


@pytest.fixture(scope="module")
def running(hostile: Path) -> Iterator[Running]:
    with serving(hostile) as started:
        yield started


def list_first(root: Path) -> list[str]:
    """Every page that a table has, of each table; what they lead to is found by their links."""
    _load_pages()
    explorer = Explorer(root)
    tables = [explorer.name(found) for found in explorer.catalog]
    return [Place(table, "-", name).url for name in sorted(_MAKERS) for table in tables]


def crawl(page: Any, running: Running, root: Path, part: int) -> Iterator[str]:
    """Visits a part of all pages, then what they link to, a few of each kind, and says where it is."""
    first = [f"{running.pages}{url}" for url in list_first(root)[part::PARTS]]
    pending, kinds = deque([running.address, *first]), Counter[tuple[str, str]]()
    seen = {running.pages, *first}
    visits = 0
    while pending and visits <= len(first) + MOST:
        page.goto(pending.popleft(), wait_until="load")
        visits += 1
        yield page.url
        for href in page.evaluate(
            "[...document.querySelectorAll('a[href]:not([download])')].map(a => a.href.baseVal ?? a.href)"
        ):
            url = urldefrag(href)[0]
            parts = urlsplit(url)
            table, _, name = parts.path.partition("@")
            kind = (table, name.partition("/")[2])
            if url in seen or not url.startswith(running.pages) or kinds[kind] >= MOST_OF_A_KIND:
                continue
            seen.add(url)
            kinds[kind] += 1
            pending.append(url)


@pytest.mark.exhaustive(keep=PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_of_a_hostile_lake_runs(page: Any, running: Running, hostile: Path, part: int) -> None:
    alarm = Alarm(page)
    said: list[str] = []
    page.on(
        "console", lambda message: said.append(message.text) if "Content Security" in message.text else None
    )
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.add_init_script(LISTEN)
    visited = []
    for url in crawl(page, running, hostile, part):
        visited.append(url)
        assert page.evaluate("window.refused") == [], url
        assert page.evaluate(FOREIGN) == [], url
        assert "token" not in url
    assert len(visited) > 12, visited
    tables = {urlsplit(url).path.partition("@")[0] for url in visited}
    assert len(tables) >= 7, "all tables and the list of them"
    assert (alarm.heard, said) == ([], [])
    assert {urlsplit(url).netloc for url in requested if not url.startswith("data:")} == {
        urlsplit(running.origin).netloc
    }


def test_the_policy_would_stop_what_runs(page: Any, running: Running) -> None:
    """The tests above can fail: markup that got in would be seen, and is refused all the same."""
    page.add_init_script(LISTEN)
    alarm = Alarm(page)
    page.goto(running.address)
    page.evaluate(
        "document.querySelector('body').insertAdjacentHTML('beforeend', '<img src=/x onerror=alert(1)>')"
    )
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'alert(2)'}))"
    )
    page.wait_for_function("window.refused.length >= 2")
    assert page.evaluate(FOREIGN)
    assert not [said for said in alarm.heard if said.startswith("dialog")]


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def second(tmp_path: Path, running: Running) -> Iterator[str]:
    """Another origin of the same machine, whose page wants what the explorer shows."""
    target = running.pages.rstrip("/")
    (tmp_path / "index.html").write_text(
        f"""<!DOCTYPE html><meta charset="utf-8"><title>other</title>
        <form id="get" action="{target}/active/" method="get"><input name="q" value="1"><button>get</button></form>
        <form id="post" action="{target}/" method="post"><input name="q" value="1"><button>post</button></form>
        <a id="link" href="{target}/">link</a><iframe id="frame" src="{target}/"></iframe>
        <img id="img" src="{target}/"><img id="asset" src="{target}/-/explorer.css">"""
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


def test_a_second_origin_gets_nothing(page: Any, running: Running, second: str) -> None:
    """Another port of this machine, which knows the path: the same site to a browser, which sends a strict cookie too."""
    statuses: dict[str, set[int]] = {}
    page.goto(running.address)
    assert page.context.cookies()[0]["sameSite"] == "Strict" and page.context.cookies()[0]["httpOnly"]
    page.on(
        "response",
        lambda r: statuses.setdefault(r.url.removeprefix(running.pages.rstrip("/")), set()).add(r.status),
    )
    page.goto(second)
    fetched = page.evaluate(
        """async (target) => Promise.all(['cors', 'no-cors'].map((mode) =>
          fetch(target, {mode, credentials: 'include'}).then((r) => r.type + r.status, (e) => 'refused')))""",
        running.pages,
    )
    assert fetched == ["refused", "refused"]
    assert statuses.pop("/") == {403} and statuses.pop("/-/explorer.css", {403}) == {403}
    for name, path in (("get", "/active/?q=1"), ("post", "/"), ("link", "/")):
        page.goto(second)
        statuses.clear()
        page.locator(f"#{name}" if name == "link" else f"#{name} button").click()
        page.wait_for_url(running.pages.rstrip("/") + path)
        assert statuses[path] == ({405} if name == "post" else {403})
        assert page.locator("table").count() == 0
    page.get_by_role("link", name="go on").click()
    page.locator("table").first.wait_for()


def test_no_other_port_is_sent_the_cookie(page: Any, running: Running, second: str) -> None:
    """Cookies know no ports: it is the path, which nobody else knows, that keeps the cookie here."""
    page.goto(running.address)
    assert [cookie["path"] for cookie in page.context.cookies()] == [running.home]
    requests: list[Any] = []
    page.on("request", lambda request: requests.append(request))
    for url in (second, f"{second}db/t/", f"{running.origin}/db/t/", running.pages):
        page.goto(url)
    sent = {request.url: "cookie" in request.all_headers() for request in requests}
    assert {url for url, has_cookie in sent.items() if has_cookie} == {
        url for url in sent if url.startswith(running.pages)
    }


def test_another_site_leads_in_by_one_click(page: Any, running: Running, second: str) -> None:
    """From a site that is not ours no cookie is sent: a page of ours asks for one more click. With a token, for none."""
    elsewhere = second.replace("127.0.0.1", "localhost")
    page.goto(elsewhere)
    page.evaluate("url => { document.querySelector('#link').href = url }", running.address)
    page.locator("#link").click()
    page.wait_for_url(running.pages)
    page.locator("table").first.wait_for()
    page.goto(elsewhere)
    page.locator("#link").click()
    page.get_by_role("link", name="go on").click()
    page.locator("table").first.wait_for()


def test_without_scripts(browser: Any, running: Running, hostile: Path) -> None:
    """Every page is reached all the same, and none of them needs one."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(running.address)
    for url in ["", *list_first(hostile)[:2]]:
        page.goto(f"{running.pages}{url}")
        page.get_by_role("link", name="keys").click()
        assert "the next row" in page.locator("table").first.inner_text()
        page.go_back()
        assert page.locator("table").count()
    context.close()


def test_words_of_refusals_look_like_pages(page: Any, running: Running) -> None:
    page.goto(running.origin)
    assert page.locator("main").inner_text().strip().startswith("Not open")
    assert page.get_by_role("link").count() == 0, "nothing to follow"
    assert page.evaluate("document.styleSheets[0].cssRules.length") > 20, (
        "with the style sheet, which is no secret"
    )
