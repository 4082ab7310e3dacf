"""Public buckets and web folders, as a page of a browser may ask them: how each lists, and what cannot be opened."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from lakelens.errors import AccessDenied, LakeError, Missing, Unavailable
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_fitting
from lakelens.explorer.site.single import FixedExplorer
from lakelens.io.remote.buckets import GooglePlace
from lakelens.io.remote.web import AskWeb, WebStore, open_web
from lakelens.io.store import walk
from lakelens.samples import unpack_table
from lakelens.warehouse import find_in_web
from tests.support.web_lakes import WebLake, ask_web, serve_lake, write_google

ROOT = "web://t"
# where the folder of a lake is below its address
ABOVE = {"python": "", "nginx": "", "s3": "bucket/", "azure": "bucket/"}


def explore(ask: AskWeb, url: str) -> FixedExplorer:
    """Explore what is at an address."""
    return FixedExplorer(ROOT, lambda root: find_in_web(ask, url, root))


def show(explorer: FixedExplorer, place: Place) -> Page:
    """Show the page of a place, after what it leads to."""
    made = explorer.follow(place)
    for _ in range(3):
        if isinstance(made, Page):
            break
        made = explorer.follow(made.place)
    assert isinstance(made, Page)
    return made


def make_lake(folder: Path, listing: str = "python", *samples: str) -> WebLake:
    for name in samples or ("iceberg", "paimon"):
        unpack_table(name, folder / "shop.db")
    return WebLake(folder, listing)


@pytest.mark.parametrize("listing", list(ABOVE))
def test_each_kind_of_listing_shows_what_is_there(tmp_path: Path, listing: str) -> None:
    lake = make_lake(tmp_path, listing)
    odd = tmp_path / "shop.db" / "k=a%2Fb é+#?"
    odd.mkdir()
    (odd / "x y.parquet").write_bytes(b"0123456789")
    with serve_lake(lake) as address:
        store = open_web(ask_web, f"{address}{ABOVE[listing]}", ROOT)
        seen = {info.path: info.size for info in walk(store, ROOT) if not info.is_dir}
        assert seen == {f"{ROOT}/{key}": size for key, size in lake.list_keys()}
        path = f"{ROOT}/shop.db/{odd.name}/x y.parquet"
        assert store.read_range(path, -3, 2) == b"78" and store.read(path) == b"0123456789"
        with pytest.raises(Missing):
            store.info(f"{ROOT}/shop.db/none")
        with pytest.raises(Missing):
            store.list(f"{ROOT}/none")
        # below one of its directories, as an address of its own
        below = open_web(ask_web, f"{address}{ABOVE[listing]}shop.db/iceberg/", ROOT)
        assert {info.name for info in below.list(ROOT)} == {"data", "metadata"}


def test_google_lists_and_sends_by_one_interface() -> None:
    asked = []

    def ask(verb: str, address: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
        asked.append(unquote(address))
        if "alt=media" in address:
            return 206, {}, b"ab"
        return 200, {}, write_google([("wh/t/metadata/v1", 2), ("wh/t/../x", 1), ("other", 1)])

    store = WebStore(ask, GooglePlace("b", "wh/"), ROOT, "storage.googleapis.com")
    store.look()
    assert [info.path for info in walk(store, ROOT)] == [
        f"{ROOT}/t",
        f"{ROOT}/t/metadata",
        f"{ROOT}/t/metadata/v1",
    ]
    assert store.read(f"{ROOT}/t/metadata/v1") == b"ab"
    assert all(address.startswith("https://storage.googleapis.com/storage/v1/b/b/o") for address in asked)


@pytest.mark.parametrize("listing", list(ABOVE))
def test_pages_of_a_table_at_an_address_are_those_of_its_folder(tmp_path: Path, listing: str) -> None:
    lake = make_lake(tmp_path, listing, "iceberg", "paimon", "hive", "delta-basic")
    with serve_lake(lake) as address:
        explorer = explore(ask_web, f"{address}{ABOVE[listing]}")
        assert [explorer.name(found)[-1] for found in explorer.catalog] == [
            "delta-basic",
            "hive",
            "iceberg",
            "paimon",
        ]
        for name in ("delta-basic", "hive", "iceberg", "paimon"):
            for page in ("", "files", "schema"):
                made = show(explorer, Place(("shop.db", name), "-", page))
                markup, status = render_fitting(made)
                assert status == 200 and "corrupt" not in markup.lower(), (name, page)


def test_the_bytes_of_a_file_at_an_address_are_read_by_ranges(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, "s3", "iceberg")
    path = next(key for key, _ in lake.list_keys() if key.endswith(".parquet")).partition("iceberg/")[2]
    with serve_lake(lake) as address:
        explorer = explore(ask_web, f"{address}bucket")
        made = show(explorer, Place(("shop.db", "iceberg"), "-", "bytes", (("path", path),)))
        assert "footer" in render_fitting(made)[0] and made.status == 200
        assert any(path in asked and wanted for _, asked, wanted in map(_unquote, lake.requests))


def _unquote(request: tuple[str, str, str]) -> tuple[str, str, str]:
    return request[0], unquote(request[1]), request[2]


def test_a_server_without_ranges_sends_small_files_whole_and_large_ones_never(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, "python", "iceberg")
    lake.has_ranges = False
    large = tmp_path / "shop.db" / "large"
    with large.open("wb") as file:
        file.truncate(80 << 20)
    with serve_lake(lake) as address:
        store = open_web(ask_web, address, ROOT)
        path = next(info.path for info in walk(store, ROOT) if info.path.endswith(".json"))
        assert store.read_range(path, 0, 1) == b"{"
        before = len(lake.requests)
        assert store.read(path).endswith(b"}") and len(lake.requests) == before, "it was kept"
        with pytest.raises(LakeError, match=r"refuses ranges, and a file of 83,886,080 bytes"):
            store.read_range(f"{ROOT}/shop.db/large", -8, 8)


def test_what_gives_a_page_no_answer_is_said(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, "python", "hive")
    lake.has_cors = False
    with serve_lake(lake) as address:
        with pytest.raises(Unavailable, match=r"does not let pages of other sites read it \(CORS\)"):
            open_web(ask_web, address, ROOT)
        lake.has_cors, lake.listing = True, "nothing"
        with pytest.raises(AccessDenied, match=r"nothing here can be listed .*status 403.*metadata\.json"):
            open_web(ask_web, f"{address}shop.db", ROOT)
        for url, words in (
            ("ftp://h/t", "no address of the web"),
            ("https://me:secret@h/t", "is not opened"),
            ("https://h/t?sig=secret", "is not opened"),
            ("https://", "no address of the web"),
        ):
            with pytest.raises(LakeError, match=words) as raised:
                open_web(ask_web, url, ROOT)
            assert "secret" not in str(raised.value)
        (tmp_path / "empty").mkdir()
        lake.listing = "python"
        with pytest.raises(LakeError, match="nothing is below this address"):
            open_web(ask_web, f"{address}empty", ROOT)


def test_the_address_of_a_metadata_file_opens_a_table_that_cannot_be_listed(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, "nothing", "iceberg")
    newest = max((tmp_path / "shop.db" / "iceberg" / "metadata").glob("*.metadata.json"))
    with serve_lake(lake) as address:
        explorer = explore(ask_web, f"{address}shop.db/iceberg/metadata/{newest.name}")
        (found,) = explorer.catalog
        table = found.open()
        assert len(table.files) > 0 and table.current is not None
        assert show(explorer, Place((), "-", "manifests")).status == 200
        with pytest.raises(Missing):
            explore(ask_web, f"{address}shop.db/iceberg/metadata/v99.metadata.json")


HOSTILE = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaa">]><ListBucketResult><Contents><Key>&a;</Key></Contents></ListBucketResult>',
    b"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken></ListBucketResult>",
    b"<ListBucketResult><Contents><Key>bad\x00</Key></Contents></ListBucketResult>",
    b"{" * 100_000,
    b"<" * 100_000,
    b"",
)


@pytest.mark.parametrize("content", HOSTILE, ids=lambda content: content[:12].decode())
def test_a_listing_that_is_none_is_an_error_of_ours(content: bytes) -> None:
    def ask(verb: str, address: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, content

    with pytest.raises(LakeError):
        open_web(ask, "https://h.example/b/t", ROOT).list(ROOT)


def test_no_other_address_is_asked_whatever_metadata_records(tmp_path: Path) -> None:
    lake = make_lake(tmp_path, "s3", "iceberg")
    asked = []

    def ask(verb: str, address: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
        asked.append(address)
        return ask_web(verb, address, wanted)

    metadata = tmp_path / "shop.db" / "iceberg" / "metadata"
    for document in metadata.glob("*.metadata.json"):
        text = document.read_text()
        document.write_text(
            text.replace('"manifest-list":"', '"manifest-list":"https://evil.example/').replace(
                '"manifest-list" : "', '"manifest-list" : "https://evil.example/'
            )
        )
    with serve_lake(lake) as address:
        explorer = explore(ask, f"{address}bucket")
        (found,) = explorer.catalog
        for page in ("", "files", "manifests", "snapshots"):
            show(explorer, Place(explorer.name(found), "-", page))
        assert asked and all(
            place.startswith(f"{address}bucket/") or place == f"{address}bucket" for place in asked
        )
