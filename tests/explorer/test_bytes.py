"""Bytes by clicks: every encoded value is the model's, every part has its page, and no path leads out of the table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.explorer.inside import Inside
from lakelens.explorer.linker import find_place
from lakelens.explorer.place import Place
from lakelens.model.bytes_view import BytesView
from lakelens.views.card import wording
from lakelens.views.card.model import Target
from lakelens.views.render.html import render_card
from tests.explorer.reading import Reader, find_bytes, list_links, read_column, read_text
from tests.support.rewriting import find_document, rewrite_document, rewrite_manifest

SAMPLES = (
    "iceberg-types", "iceberg-v4", "iceberg-evolution", "paimon", "paimon-evolution", "paimon-deletion-vectors",
    "paimon-file-index",
)  # fmt: skip


def same(found: Any, expected: Any) -> bool:
    """Whether a value is the model's; NaN is NaN, a row the row of the same values."""
    return bool(found == expected) or repr(found) == repr(expected) or str(found) == str(expected)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_encoded_value_is_that_of_the_model(name: str) -> None:
    """From the entry as stored by its links to the bytes of each value, which decode to what the model says."""
    reader = Reader.of_sample(name)
    assert reader.table.current is not None
    count = 0
    for manifest in reader.table.current.manifests:
        for number, entry in enumerate(manifest.entries):
            page, markup = reader.get("entry", manifest=manifest.path, entry=number)
            leads = {
                p.get("field"): p
                for p in reader.follow(page.place, markup)
                if p.page == "bytes" and p.get("field")
            }
            known = {one.field: one for one in entry.file.list_encoded()}
            assert leads.keys() <= known.keys()
            assert {field for field in known if not field.endswith("_STATS")} <= leads.keys()
            for field, one in known.items():
                page, markup = reader.get("bytes", manifest=manifest.path, entry=number, field=field)
                view = find_bytes(page)
                if field.startswith(("lower", "upper")):
                    column = next(
                        c for c in entry.file.bounds.values() if str(c.field_id) == field.partition(".")[2]
                    )
                    raw = column.lower_raw if field.startswith("lower") else column.upper_raw
                    assert bytes(view.data[view.start : view.end]) == raw
                if isinstance(one.read(), bytes) or field.endswith("_STATS"):
                    assert len(view)
                elif field == "_PARTITION":
                    assert tuple(view.value) == tuple(entry.file.partition.values())
                else:
                    assert same(view.value, one.read()), (field, view.value, one.read())
                check_keys(reader, page.place, number, len(manifest.entries), one.partner)
                count += 1
    assert count >= 4


def check_keys(reader: Reader, place: Place, number: int, count: int, partner: str) -> None:
    """Each key is a link on the page: up, before and after, to the other end."""
    page, _ = reader.ask(place)
    keys = {
        key: link.place for key, link in page.keys if link.place is not None and link.place.page != "help"
    }
    expected = {"u", "e"} | ({","} if number else set()) | ({"."} if number + 1 < count else set())
    assert keys.keys() == expected | ({"m"} if partner else set())
    assert set(keys.values()) <= {link.place for link in list_links(page)}
    if partner:
        assert keys["m"] is not None
        assert keys["m"].get("field") == partner
    assert keys["u"] is not None
    assert (keys["u"].page, keys["u"].get("entry")) == ("manifest", str(number))


@pytest.mark.parametrize("name", ["iceberg", "paimon-deletion-vectors", "hive-orc"])
def test_parts_of_a_file_have_pages_with_the_same_bytes(name: str) -> None:
    """Every link of a file's bytes to a part of them shows that part; up leads back."""
    reader = Reader.of_sample(name)
    current = reader.table.current
    paths = [file.path for file in reader.table.files[:1]]
    if current is not None:
        paths += [manifest.path for manifest in current.manifests[:1]]
        paths += [one.path for one in current.index_files[:1]]
    checked = 0
    for path in paths:
        page, markup = reader.get("bytes", path=path)
        whole = find_bytes(page)
        for place in list(reader.follow(page.place, markup))[:40]:
            if place.page != "bytes" or not place.get("start"):
                continue
            part, _ = reader.ask(place)
            assert part.status == 200, place
            view = find_bytes(part)
            if not place.get("unpacked"):
                start, length = place.get_number("start"), place.get_number("length")
                assert bytes(view.data[view.start : view.end]) == bytes(whole.data[view.start : view.end])
                assert (
                    (view.start, len(view)) == (start, length) if length else view.start <= start < view.end
                )
            up = dict(part.keys)["u"].place
            assert up is not None
            assert reader.ask(up)[0].status == 200
            own = {link for key, link in part.keys if key not in ("u", "h")}  # these are among the crumbs
            assert own <= set(list_links(part))
            checked += 1
    assert checked >= 3


def test_names_and_offsets_in_bytes_lead_on() -> None:
    """From a manifest list to a manifest and its snapshot, from a footer's length to the footer, to a page of values."""
    reader = Reader.of_sample("iceberg")
    assert reader.table.current is not None
    (listed,) = reader.table.current.manifest_lists
    page, markup = reader.get("bytes", path=listed.path)
    leads = list(reader.follow(page.place, markup))
    named = {place.get("path") for place in leads if place.page == "manifest"}
    assert named == {manifest.path for manifest in listed.manifests}
    assert str(reader.table.current.id) in {place.snapshot for place in leads if place.page == ""}
    file = reader.table.files[0]
    page, markup = reader.get("bytes", path=file.path)
    starts = {(place.get("start"), place.get("length")) for place in reader.follow(page.place, markup)}
    parts = {part.label: part for part in find_bytes(page).iter_children()}
    footer = parts["footer"]
    assert (str(footer.start), str(len(footer))) in starts
    assert ("4", "") in starts  # data_page_offset of the first column


def test_a_notebook_has_no_links() -> None:
    """What is shown there is what it was."""
    table = ll.sample("iceberg")
    for thing in (table.files[0], table.current.manifests[0], table):
        assert "<a " not in render_card(thing.bytes_view())


def test_without_a_path_there_is_every_object_to_choose_from() -> None:
    reader = Reader.of_sample("paimon")
    page, markup = reader.get("bytes")
    reached = {place.get("path") for place in reader.follow(page.place, markup) if place.page == "bytes"}
    assert {one.path for one in reader.table.tree()} <= reached
    for path in filter(None, reached):
        assert isinstance(find_bytes(reader.get("bytes", path=path)[0]), BytesView)


def test_bytes_that_there_are_not_are_said() -> None:
    """Positions, fields and compressed bytes beyond what is there."""
    reader = Reader.of_sample("paimon")
    assert reader.table.current is not None
    manifest = reader.table.current.manifests[0].path
    path = reader.table.files[0].path
    for asked, said in (
        ({"path": path, "start": 10**9}, "no byte 1,000,000,000"),
        ({"path": path, "start": "x"}, "is no number"),
        ({"path": path, "unpacked": 0}, "not compressed"),
        ({"manifest": manifest, "entry": 0, "field": "_SECRET"}, "no encoded value '_SECRET' in entry 0"),
        ({"manifest": manifest, "entry": "7"}, "no entry 7"),
        ({"manifest": manifest}, "this page needs entry=…"),
    ):
        page, markup = reader.ask(reader.place("bytes", **asked))
        assert page.status == 404, asked
        assert said in read_text(markup), asked


# --- what is not the table's ---------------------------------------------------------------------------------------------

SPELLINGS = [
    "/etc/passwd", "//etc/passwd", "///etc//passwd", "/etc/./passwd", "/etc/passwd/", "/etc/passwd\0.parquet",
    "file:/etc/passwd", "file:///etc/passwd", "file://localhost/etc/passwd", "FILE:///etc/passwd",
    "http://127.0.0.1/x", "s3://bucket/key", "memory://x", "/proc/self/environ", "/dev/zero", "~/.ssh/id_rsa",
    "../secret.txt", "../../secret.txt", "{root}/../secret.txt", "{root}/data/../../secret.txt",
    "{root}/./../secret.txt", "{root}//../secret.txt", "{root}/..", "{root}/%2e%2e/secret.txt",
    "{root}/..%2fsecret.txt", "{root}/..\\secret.txt", "{root}/....//secret.txt", "{root}/\u2025/secret.txt",
    "{root}x/secret.txt", "{root}/link.txt", "{root}/folder/secret.txt",
    "{root}/metadata/../metadata/../../secret.txt", "{root}", "{root}/", "metadata", "\\\\server\\share",
    "C:\\secret.txt", "a" * 9_000, " ", ".", "..", "/", "%00", "{root}/loop/loop/secret.txt",
]  # fmt: skip


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths of files that were opened."""
    seen: list[str] = []
    real = os.open

    def spy(path: Any, *rest: Any, **more: Any) -> int:
        seen.append(os.path.realpath(os.fspath(path)))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", spy)
    yield seen


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_no_spelling_of_a_path_leads_out(name: str, opened: list[str]) -> None:
    """Missing on every page that takes a path, and no file outside of the table was opened."""
    reader = Reader.of_sample(name)
    root = Path(reader.path)
    secret = root.parent / "secret.txt"
    secret.write_text("do not tell")
    (root / "link.txt").symlink_to(secret)
    (root / "folder").symlink_to(root.parent)
    (root / "loop").symlink_to(root)
    reader.get("files")
    opened.clear()
    for spelling in SPELLINGS:
        path = spelling.replace("{root}", str(root))
        for page in (
            "bytes",
            "metadata",
            "file",
            "manifest",
            "manifest_list",
            "index",
            "statistics",
            "deletes",
        ):
            if path.strip() or page not in ("metadata", "index", "statistics", "deletes"):
                answer, markup = reader.ask(reader.place(page, path=path))
                is_listed = name == "hive" and path.endswith("/link.txt")  # said to be there, and not read
                assert answer.status == 404 or (is_listed and page in ("file", "deletes")), (page, path)
                assert "do not tell" not in markup
        answer, _ = reader.ask(reader.place("entry", manifest=path, entry=0))
        assert answer.status == 404, path
        answer, _ = reader.ask(reader.place("bytes", manifest=path, entry=0, field="_MIN_KEY"))
        assert answer.status == 404, path
    home = os.path.realpath(root) + "/"
    assert [
        path for path in opened if not path.startswith(home) and "lakelens" not in path.partition("/tmp/")[0]
    ] == []


@pytest.mark.parametrize("folder", ["secret", "data"])
def test_metadata_that_names_files_elsewhere_leads_nowhere(folder: str, opened: list[str]) -> None:
    """A data file and a log entry recorded outside, one where a format keeps its files: said, not linked, never opened."""
    reader = Reader.of_sample("iceberg")
    root = Path(reader.path)
    hidden = root.parent / folder / "passwd.parquet"
    hidden.parent.mkdir()
    hidden.write_bytes(b"PAR1 do not tell PAR1")
    assert reader.table.current is not None
    manifest = reader.table.current.manifests[0]
    recorded = str(hidden)

    def point(entries: list[dict[str, Any]]) -> None:
        entries[0]["data_file"]["file_path"] = recorded

    rewrite_manifest(root, Path(manifest.path), point)
    rewrite_document(
        find_document(root), lambda document: document["metadata-log"][0].update({"metadata-file": recorded})
    )
    opened.clear()
    page, markup = reader.get("files")
    assert "passwd.parquet" in read_text(markup)
    if folder == "secret":
        assert not [place for place in reader.follow(page.place, markup) if place.get("path") == recorded]
    for name in ("bytes", "metadata", "file"):
        answer, markup = reader.ask(reader.place(name, path=recorded))
        assert answer.status == 404 or (name, folder) == ("file", "data"), name
        assert "do not tell" not in markup
    for page_name in ("manifest", "entry"):
        reader.get(page_name, path=manifest.path, manifest=manifest.path, entry=0)
    assert str(hidden) not in opened


def test_links_are_given_to_what_may_be_asked_for_alone() -> None:
    """A target outside of the root has no page; every other kind has one."""
    here, inside = Place(("t",), "7", "files"), Inside("/wh")
    for key in ("data/../../x", "/wh/t/../../x", "a\0b", ""):
        for kind in ("file", "manifest", "manifest_list", "index", "statistics", "metadata", "bytes"):
            assert find_place(Target(kind, key), here, inside) is None, key  # type: ignore[arg-type]
    expected = {
        Target("snapshot", "9"): "t/@9/",
        Target("ref", "main"): "t/@main/",
        Target("schema", "3"): "t/@7/schema?id=3",
        Target("file", "/wh/t/a b", (("offset", "4"),)): "t/@7/file?path=/wh/t/a%20b&offset=4",
        Target("manifest", "m"): "t/@7/manifest?path=m",
        Target("manifest_list", "l"): "t/@7/manifest_list?path=l",
        Target("index", "i"): "t/@7/index?path=i",
        Target("statistics", "s"): "t/@7/statistics?path=s",
        Target("metadata", "d", (("at", "refs"),)): "t/@7/metadata?path=d&at=refs",
        Target("bytes", "b", (("start", "4"), ("length", "8"))): "t/@7/bytes?path=b&start=4&length=8",
        Target("bytes", "", (("manifest", "m"), ("entry", "2"), ("field", "_MIN_KEY"))): (
            "t/@7/bytes?manifest=m&entry=2&field=_MIN_KEY"
        ),
        Target("entry", "123", (("manifest", "m"),)): "t/@7/manifest?path=m&from=100&entry=123",
        Target("page", "explain", (("where", "id = 1"),)): "t/@7/explain?where=id%20%3D%201",
        Target("table", "/wh/shop.db/orders"): "shop.db/orders/",
        Target("table", "shop.db/orders"): "shop.db/orders/",
    }
    for target, url in expected.items():
        place = find_place(target, here, inside)
        assert place is not None, target
        assert place.url == url
    for target in (
        Target("table", "/etc"),
        Target("table", "../x"),
        Target("entry", "x", (("manifest", "m"),)),
    ):
        assert find_place(target, here, inside) is None


def test_a_remote_table_is_walked_too() -> None:
    """Objects of a store that has no links: below the root by their names alone."""
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(ll.sample("paimon").location, "/explored/t", recursive=True)
    memory.pipe("/explored/secret.txt", b"do not tell")
    try:
        reader = Reader("memory://explored/t")
        page, _ = reader.get("files")
        assert find_place(Target("file", "x"), page.place, page.inside) is not None
        for file in reader.table.files:
            assert isinstance(find_bytes(reader.get("bytes", path=file.path)[0]), BytesView)
        reader.get("metadata", path=reader.table.metadata_path)
        for path in ("memory://explored/secret.txt", "memory://explored/t/../secret.txt"):
            assert reader.ask(reader.place("bytes", path=path))[0].status == 404
    finally:
        memory.rm("/explored", recursive=True)


def test_objects_to_choose_from_are_sorted_by_their_sizes() -> None:
    reader = Reader.of_sample("iceberg")
    stored = {one.relative_path: one for one in reader.table.tree(references=False)}
    page, markup = reader.get("bytes", sort="-bytes")
    names = [cell.text for cell in read_column(page, "object")]
    sizes = [stored[name].size_bytes for name in names]
    assert sizes == sorted(sizes, reverse=True)
    assert [cell.text for cell in read_column(page, "what it is")] == [stored[name].role for name in names]
    assert [cell.text for cell in read_column(page, "bytes")] == [wording.size(size) for size in sizes]
    assert "&#39;" not in markup.partition("<main")[2], "no role in quotes"
    few, _ = reader.get("bytes", q="manifest list")
    assert {cell.text for cell in read_column(few, "what it is")} == {"manifest list"}
