"""`to_html(site=DIR)`: a folder in which every link leads to a file, bounded, written whole or not at all."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.errors import LakeError
from lakelens.explorer.place import Place
from lakelens.explorer.render import MOST_BYTES as MOST_OF_A_PAGE
from lakelens.explorer.site.folder import MARKER, make_site, name_file, write_site
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.whole import NotWritten
from tests.support.fakes import FakeTable
from tests.views.test_hostile import cycle

SAMPLES = ("iceberg", "paimon-branches", "hive")


class Links(HTMLParser):
    """What a page refers to, what it asks with, and the elements that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.elements: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.found += [
            value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")
        ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each sample, written once."""
    root = tmp_path_factory.mktemp("sites")
    for name in SAMPLES:
        ll.sample(name).to_html(site=root / name, most_pages=40)
    return {name: root / name for name in SAMPLES}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_link_leads_to_a_file_of_the_folder(folders: dict[str, Path], name: str) -> None:
    folder = folders[name]
    pages = sorted(folder.glob("*.html"))
    assert folder / "index.html" in pages and len(pages) > 1
    reached = {"index.html"}
    for path in pages:
        links = Links(path.read_text("utf-8"))
        assert "form" not in links.elements
        for link in links.found:
            if link.startswith("data:image/svg+xml;base64,"):
                continue
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc and not parts.query and not link.startswith("/"), (
                link
            )
            assert link and (not parts.path or (folder / unquote(parts.path)).is_file()), (path.name, link)
            reached.add(parts.path)
    assert {path.name for path in pages} <= reached, "a page to which nothing leads"


@pytest.mark.parametrize("name", SAMPLES)
def test_names_are_safe_and_pages_bounded(folders: dict[str, Path], name: str) -> None:
    names = [
        path.relative_to(folders[name]).as_posix() for path in folders[name].rglob("*") if path.is_file()
    ]
    assert all(re.fullmatch(r"(assets/)?[a-z0-9-]{1,60}\.(html|css|js|json)", one) for one in names)
    assert len({one.lower() for one in names}) == len(names)
    sizes = [path.stat().st_size for path in folders[name].glob("*.html")]
    assert max(sizes) <= MOST_OF_A_PAGE and len(sizes) <= 40


def test_two_addresses_have_two_names() -> None:
    places = [
        Place((), pin, page, asked)
        for pin in ("1", "2")
        for page in ("", "files")
        for asked in ((), (("from", "50"),))
    ]
    assert len({name_file(place, places[0]) for place in places}) == len(places)


def test_bounds_hold_and_are_said() -> None:
    table = ll.sample("iceberg")
    whole = make_site(table, most_pages=30)
    few = make_site(table, most_pages=3)
    assert len(few.pages) == 3 and few.left_out > 0
    assert "This folder holds 3 pages" in few.words and "more page" in few.words
    assert few.words.partition(":")[0] in few.pages["index.html"]
    small = make_site(table, most_bytes=whole.size_bytes // 2)
    assert small.size_bytes <= whole.size_bytes // 2 and 0 < len(small.pages) < len(whole.pages)
    assert make_site(ll.sample("iceberg"), most_pages=3).pages.keys() == few.pages.keys()
    with pytest.raises(LakeError, match="at least one page"):
        make_site(table, most_pages=0)


def test_what_is_not_ours_is_not_written_over(tmp_path: Path) -> None:
    table = ll.sample("hive")
    foreign = tmp_path / "notes"
    foreign.mkdir()
    (foreign / "todo.txt").write_text("mine")
    with pytest.raises(LakeError, match=r"notes: holds 'todo.txt'"):
        table.to_html(site=foreign)
    with pytest.raises(LakeError, match="is a file"):
        table.to_html(site=foreign / "todo.txt")
    with pytest.raises(LakeError, match="inside of the table"):
        table.to_html(site=Path(table.location) / "site")
    for both in ({}, {"path": tmp_path / "a.html", "site": tmp_path / "b"}):
        with pytest.raises(LakeError, match="takes the path of a file, or site="):
            table.to_html(**both)
    assert (foreign / "todo.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes"], "nothing is left beside"


def test_an_earlier_site_is_replaced_as_a_whole(tmp_path: Path) -> None:
    site = tmp_path / "deep" / "site"
    write_site(ll.sample("iceberg"), site, most_pages=20)
    before = {path.name for path in site.glob("*.html")}
    written = write_site(ll.sample("iceberg"), site, most_pages=2)
    assert {path.name for path in site.glob("*.html")} == set(written.pages) and len(before) > 2
    assert set(json.loads((site / MARKER).read_text())["files"]) == {
        *written.pages,
        "assets/explorer.css",
        "assets/explorer.js",
    }
    (site / "assets" / "mine.css").write_text("")
    with pytest.raises(LakeError, match=r"holds 'assets/mine.css'"):
        write_site(ll.sample("iceberg"), site, most_pages=2)
    (site / "assets" / "mine.css").unlink()
    (site / "assets" / "out").symlink_to(tmp_path)
    with pytest.raises(LakeError, match=r"holds 'assets/out'"):
        write_site(ll.sample("iceberg"), site, most_pages=2)
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_a_cell_shows_where_the_pages_are_and_not_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = ll.sample("iceberg")
    site = table.to_html(site="a site <&>", most_pages=12)
    index = tmp_path / "a site <&>" / "index.html"
    assert repr(site) == f"<Site of 12 pages, {wording.size(site.size_bytes)}: {index}>"
    assert site.path == str(index.parent)
    shown = site._repr_html_()
    assert len(shown.encode()) < 20_000 and Links(shown).found == ["a%20site%20%3C%26%3E/index.html"]
    assert "a site &lt;&amp;&gt;/index.html" in shown.replace("<wbr>", "")
    assert f"<b>{len(site.pages)}</b>" in shown and f"{site.left_out} left out" in shown
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert Links(site._repr_html_()).found == [index.as_uri()]
    unwritten = make_site(table, most_pages=1)
    assert repr(unwritten).startswith("<Site of 1 page, ") and Links(unwritten._repr_html_()).found == []


def test_a_write_that_fails_leaves_the_earlier_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    write_site(ll.sample("hive"), site, most_pages=2)
    before = {path.name: path.read_bytes() for path in site.glob("*.html")}
    real = Path.write_bytes

    def fail(path: Path, data: bytes) -> int:
        if path.name == MARKER:
            raise OSError(28, "no space left", str(path))
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(NotWritten, match="no space left"):
        write_site(ll.sample("hive"), site, most_pages=2)
    assert {path.name: path.read_bytes() for path in site.glob("*.html")} == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_nothing_of_a_hostile_table_is_markup(tmp_path: Path) -> None:
    with display.using(strict_views=False):  # what a made-up table cannot answer is said on its page
        write_site(FakeTable(cycle()), tmp_path / "site", most_pages=20)
    plain = {tag for path in _write_plain(tmp_path) for tag in Links(path.read_text("utf-8")).elements}
    for path in (tmp_path / "site").glob("*.html"):
        links = Links(path.read_text("utf-8"))
        assert links.elements <= plain | {"svg", "path", "circle", "rect", "g", "title", "text", "line"}, (
            path.name
        )
        assert all(
            re.fullmatch(
                r"(assets/)?[a-z0-9-]+\.(html|css|js)|#[a-z]+|data:image/svg\+xml;base64,[\w+/=]+", link
            )
            for link in links.found
        ), path.name


def _write_plain(tmp_path: Path) -> list[Path]:
    for name in SAMPLES:
        write_site(ll.sample(name), tmp_path / name, most_pages=20)
    return [path for name in SAMPLES for path in (tmp_path / name).glob("*.html")]


def test_the_command_writes_it(tmp_path: Path) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(commands, ["html", "sample:hive", *arguments])

    done = run("--site", str(tmp_path / "site"))
    assert done.exit_code == 0 and str(tmp_path / "site" / "index.html") in done.output.replace("\n", "")
    document = json.loads(run("--site", str(tmp_path / "site"), "--json").stdout)
    assert document["pages"] == len(list((tmp_path / "site").glob("*.html"))) and document["left_out"] == 0
    assert run().exit_code == 2 and run("page.html", "--site", str(tmp_path / "other")).exit_code == 2


def test_it_is_read_from_a_share_without_script(folders: dict[str, Path], browser: Any) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((folders["iceberg"] / "index.html").as_uri())
    page.locator("a[href^='files-']").first.click()
    assert re.search(r"/files-[0-9a-f]{24}\.html$", page.url)
    assert page.locator("table").count() and page.locator("main").is_visible()
    page.go_back()
    assert page.url.endswith("/index.html")
    assert all(url.startswith("file:") for url in asked) and any(
        url.endswith("explorer.css") for url in asked
    )


@pytest.mark.exhaustive
def test_what_is_the_same_at_every_snapshot_is_one_page_and_no_page_asks_in_vain(tmp_path: Path) -> None:
    site = make_site(ll.sample("iceberg"), most_pages=120)
    kinds = Counter(name.partition("-")[0] for name in site.pages)
    assert not kinds.keys() & {"explain", "row", "check"}
    assert kinds["space"] == kinds["refs"] == kinds["help"] == kinds["findings"] == 1
    assert kinds["overview"] == len(ll.sample("iceberg").snapshots) - 1, "each other snapshot has its own"
    titles = Counter(re.findall(r"<title>Bytes of (.*?) [·@]", text)[0] for name, text in site.pages.items()
                     if name.startswith("bytes-") and "<title>Bytes of " in text)  # fmt: skip
    assert titles and max(titles.values()) == 1, "a file is explained once"
