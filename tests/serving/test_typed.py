"""Addresses as one types them, and those that are none: each leads on, or its page is styled and its links work."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from starlette.testclient import TestClient

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from lakelens.serving.access import Access
from lakelens.serving.application import make_app
from tests.serving.test_server import LINK

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
ORIGIN = "http://localhost"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a warehouse with a table, one in a database, and one whose name has to be spelled."""
    root = tmp_path_factory.mktemp("typed")
    for name in ("t", "shop.db/orders", "@odd#1?"):
        shutil.copytree(ll.sample("iceberg").location, root / name)
    app = make_app(Explorer(root), access=Access(""))
    with TestClient(app, base_url=ORIGIN, follow_redirects=False) as made:
        yield made


def follow(client: TestClient, path: str) -> tuple[int, str]:
    """The status at the end of what an address leads to, and where that is."""
    for _ in range(4):
        answer = client.get(path)
        if answer.status_code != 303:
            break
        path = urljoin(path, answer.headers["location"])
    return answer.status_code, path


@pytest.mark.parametrize(
    "page", ["files", "snapshots", "timeline", "schema", "refs", "manifests", "findings", "health", "space"]
)
def test_a_page_without_a_snapshot_is_that_of_the_newest(client: TestClient, page: str) -> None:
    newest = follow(client, "/t/")[1]
    assert "/@" in newest
    assert follow(client, f"/t/{page}") == (200, f"{newest}{page}")
    assert follow(client, f"/shop.db/orders/{page}?q=x") == (200, f"/shop.db/orders{newest[2:]}{page}?q=x")


@pytest.mark.parametrize("name", ["t", "shop.db/orders", "~@odd~h1~q"])
def test_a_table_without_a_slash_is_that_table(client: TestClient, name: str) -> None:
    (status, place), (_, expected) = follow(client, f"/{name}"), follow(client, f"/{name}/")
    assert (status, unquote(place)) == (200, unquote(expected))


def test_a_table_that_is_the_root_has_its_pages_there() -> None:
    with TestClient(
        make_app(Explorer(ll.sample("iceberg").location), access=Access("")),
        base_url=ORIGIN,
        follow_redirects=False,
    ) as client:
        status, place = follow(client, "/files")
        assert status == 200 and place.startswith("/@") and place.endswith("/files")
        assert follow(client, "/nothing")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/nothing",
            "/nothing/",
            "/t/nothing",
            "/t/nothing/",
            "/shop.db/nothing/files",
            "/t/metadata/v1.json",
        ),
        *(
            "/t/@1/@2/files",
            "/t/@1/files/x",
            "/t/%ff/x/y",
            "/shop.db",
            "/t/@1/files",
            "/t/@-/nothing",
        ),
    ],
)
def test_what_is_not_found_is_styled_and_leads_on(client: TestClient, path: str) -> None:
    status, place = follow(client, path)
    assert status == 404, place
    text = client.get(place).text
    sheets = [part.partition('"')[0] for part in text.split('<link rel="stylesheet" href="')[1:]]
    assert sheets and {client.get(urljoin(place, sheet)).status_code for sheet in sheets} == {200}
    links = [urljoin(place, unescape(link)) for link in LINK.findall(text)]
    root, keys = links[0], next(link for link in links if link.endswith("help"))
    assert {urlsplit(root).path, urlsplit(keys).path} == {"/", "/help"}
    assert {follow(client, link)[0] for link in (root, keys)} == {200}
    assert {follow(client, link)[0] for link in links} <= {200, 404}, "a crumb may name what is not there"
