"""Manifests and entries: every one reachable by links, as the model has it; damage beside what can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakelens.explorer import stored
from lakelens.explorer.explorer import Visit
from lakelens.explorer.pages.manifests import make_entries
from lakelens.explorer.place import Place
from lakelens.explorer.shelf import Shelf
from lakelens.views.listing import EntrySource, ItemSource
from tests.explorer.reading import Reader, find_grid, list_links, list_listings, read_column, read_text

SAMPLES = (
    "iceberg",
    "iceberg-v4",
    "iceberg-upgraded",
    "paimon",
    "paimon-deletion-vectors",
    "paimon-changelog",
)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_entry_is_reached_from_the_manifests(name: str) -> None:
    """By links alone: manifests, manifest, entry, the entry as stored."""
    reader = Reader.of_sample(name)
    current = reader.table.current
    assert current is not None
    page, markup = reader.get("manifests")
    assert [cell.text for cell in read_column(page, "manifest")] == [
        m.path.rpartition("/")[2] for m in current.manifests
    ]
    manifests = {
        place.get("path"): place for place in reader.follow(page.place, markup) if place.page == "manifest"
    }
    assert manifests.keys() == {manifest.path for manifest in current.manifests}
    for manifest in current.manifests:
        page, markup = reader.ask(manifests[manifest.path])
        numbers = {
            int(place.get("entry")): place
            for place in reader.follow(page.place, markup)
            if place.page == "manifest" and place.get("entry")
        }
        assert sorted(numbers) == list(range(len(manifest.entries)))
        statuses = [cell.text for cell in read_column(page, "status")]
        assert statuses == [entry.status for entry in manifest.entries]
        for number, entry in enumerate(manifest.entries):
            page, markup = reader.ask(numbers[number])
            assert find_grid(page, "entry").chosen == number
            text = read_text(markup)
            assert f"Entry {number}" in text
            assert entry.file.path.rpartition("/")[2] in text
            (leads,) = {place for place in reader.follow(page.place, markup) if place.page == "entry"}
            record, _ = reader.ask(leads)
            check_record(reader, record.place, entry.raw)


def check_record(reader: Reader, place: Place, raw: object) -> None:
    """Every field of a record is on its pages."""
    assert isinstance(raw, dict)
    names: list[str] = []
    for start in range(0, 1_000, 100):
        page, _ = reader.ask(place.ask(**{"from": start or None}))
        names += [cell.text for cell in read_column(page, "field")]
        if len(read_column(page, "field")) < 100:
            break
    inner = next((held for held in raw.values() if isinstance(held, dict)), {})
    for field in (*raw, *inner):
        assert any(f".{field}." in f".{name}." for name in names), field


@pytest.mark.parametrize("name", ["iceberg-v4", "paimon-tags"])
def test_lists_are_pages_of_their_own(name: str) -> None:
    """Each with the manifests that it names."""
    reader = Reader.of_sample(name)
    for snapshot in reader.table.snapshots:
        for listed in snapshot.manifest_lists:
            page, _ = reader.get("manifest_list", path=listed.path)
            shown = read_column(page, "manifest") if len(listed.manifests) else []
            assert [cell.text for cell in shown] == [m.path.rpartition("/")[2] for m in listed.manifests]


def test_what_is_deleted_is_said_of_the_pinned_snapshot() -> None:
    """The same manifest says another number at another snapshot, and which one it is."""
    reader = Reader.of_sample("paimon-deletion-vectors")
    seen = set()
    for snapshot in reader.table.snapshots:
        for manifest in snapshot.manifests:
            place = Place((), str(snapshot.id), "manifest", (("path", manifest.path),))
            page, _ = reader.ask(place)
            column = f"deleted at {snapshot.id}"
            for entry, cell in zip(manifest.entries, read_column(page, column), strict=True):
                live = {file.path: file for file in snapshot.files}.get(entry.file.path)
                if live is None:
                    assert cell.text == "not live"
                    continue
                count = sum(match.cardinality or 0 for match in live.deletes)
                assert cell.key == (count or None) or (cell.text, count) == ("0", 0)
                seen.add((entry.file.path, cell.text))
    assert len(seen) > len({path for path, _ in seen})


def test_keys_of_an_entry_are_links_on_the_page() -> None:
    """Before and after, as far as there are any."""
    reader = Reader.of_sample("paimon-deletion-vectors")
    assert reader.table.current is not None
    manifest = max(reader.table.current.manifests, key=lambda one: len(one.entries))
    last = len(manifest.entries) - 1
    for number in range(last + 1):
        page, _ = reader.get("manifest", path=manifest.path, entry=number)
        keys = {
            key: link.place for key, link in page.keys if key not in ("u", "h")
        }  # these are among the crumbs
        beside = ((",", number > 0), (".", number < last), ("e", True))
        assert keys.keys() == {key for key, there in beside if there}
        assert set(keys.values()) <= {link.place for link in list_links(page)}


def test_an_entry_that_there_is_not_is_missing() -> None:
    """Said with how many there are."""
    reader = Reader.of_sample("iceberg")
    assert reader.table.current is not None
    path = reader.table.current.manifests[0].path
    for page in ("manifest", "entry"):
        asked = {"path": path} if page == "manifest" else {"manifest": path}
        answer, markup = reader.ask(reader.place(page, entry=999, **asked))
        assert answer.status == 404
        assert "there are 2, counted from 0" in read_text(markup)


def test_a_damaged_manifest_shows_what_can_be_read() -> None:
    """Cut behind its header, or in the middle of a block: the error is on the page, and so is all else."""
    for name in ("iceberg", "paimon"):
        for share in (0.97, 0.5, 0.01):
            reader = Reader.of_sample(name)
            assert reader.table.current is not None
            manifest = reader.table.current.manifests[0]
            file = Path(manifest.path)
            file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
            _, markup = reader.get("manifest", path=manifest.path)
            assert "ERROR" in read_text(markup), (name, share)
            assert file.name in read_text(markup)
            reader.get("manifests")
            reader.get("files")
            reader.get("bytes", path=manifest.path)
        Path(manifest.path).unlink()
        _, markup = reader.get("manifest", path=manifest.path)
        assert "ERROR" in read_text(markup)


@pytest.mark.parametrize("name", ["iceberg-v4", "iceberg-evolution", "paimon-deletion-vectors"])
def test_a_large_manifest_is_read_page_by_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are many entries only those of a page are decoded, and sorting reads columns: the pages are the same."""
    reader = Reader.of_sample(name)
    opened = Shelf().open(reader.explorer.catalog[0])
    assert opened.table.current is not None
    for manifest in opened.table.current.manifests:
        monkeypatch.setattr(stored, "_FEW", 0)
        page, _ = reader.get("manifest", path=manifest.path)
        visit = Visit(reader.explorer, page.place, opened, opened.table.current)
        large, none = make_entries(visit, manifest)
        monkeypatch.undo()
        small, nothing = make_entries(visit, manifest)
        assert (type(large), type(small), none, nothing) == (EntrySource, ItemSource, None, None)
        every = range(len(manifest.entries))
        drawn = small.draw(every)
        assert large.draw(every) == drawn
        assert [row[0].text for row in drawn.rows] == [cell.text for cell in read_column(page, "status")]
        for column in drawn.names:
            for order in (column, f"-{column}"):
                assert large.sort(order, every) == small.sort(order, every), order
        for words in ("data", "PARQUET", "nothing like it", "DELETE", manifest.entries[0].file.path[-20:]):
            assert list(large.filter(words)) == list(small.filter(words)), words


def test_tables_without_manifests_say_so() -> None:
    """Hive's, and one before its first commit."""
    _, markup = Reader.of_sample("hive").get("manifests")
    assert "Hive tables have no manifests" in read_text(markup)
    page, _ = Reader.of_sample("hive").get("deletes")
    assert not list_listings(page)
