"""Files, what deletes from them, and documents: pages that say what the model says, of every format, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from lakelens.model.datafile import DataFile
from tests.explorer.reading import Reader, find_grid, list_links, list_listings, read_column, read_text

SAMPLES = (
    "iceberg", "iceberg-v4", "iceberg-equality-deletes", "iceberg-merge-on-read",
    "paimon-deletion-vectors", "paimon-changelog", "hive",
)  # fmt: skip


def ask_for(file: DataFile) -> dict[str, object]:
    """What a file is asked for by."""
    return {"path": file.path, "offset": getattr(file, "content_offset", None)}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_file_has_its_page_and_leads_to_its_entry(name: str) -> None:
    """From the list to the file, from the file to the entry that records it, and to what it is made of."""
    reader = Reader.of_sample(name)
    page, markup = reader.get("files")
    leads = {
        place.get("path") + place.get("offset")
        for place in reader.follow(page.place, markup)
        if place.page == "file"
    }
    for file in reader.table.files:
        offset = getattr(file, "content_offset", None)
        assert f"{file.path}{'' if offset is None else offset}" in leads
        page, markup = reader.get("file", **ask_for(file))
        assert file.path.rpartition("/")[2] in read_text(markup)
        links = {link.text: link.place for link in list_links(page)}
        assert {"its bytes", "its biography"} <= links.keys()
        entries = [place for text, place in links.items() if text.startswith("entry ")]
        assert len(entries) == (0 if name == "hive" else 1)
        for place in filter(None, entries):
            beside, _ = reader.ask(place)
            marked = find_grid(beside, "entry")
            assert marked.chosen is not None
            chosen = dict(zip((one.name for one in marked.columns), marked.rows[marked.chosen], strict=True))
            assert chosen["entry"].text == f"{place.get('entry')} chosen"
            assert chosen["file"].text == file.path.rpartition("/")[2]


@pytest.mark.parametrize("name", SAMPLES)
def test_deletes_are_those_of_the_model(name: str) -> None:
    """What reaches each data file, with how many rows; and from a delete back to the files that it reaches."""
    reader = Reader.of_sample(name)
    reaching: dict[str, set[str]] = {}
    for file in reader.table.files:
        if file.content != "data":
            continue
        page, markup = reader.get("deletes", path=file.path)
        if not file.deletes:
            assert f"none reaches {file.path.rpartition('/')[2]}" in read_text(markup)
            continue
        names = [match.file.path.rpartition("/")[2] for match in file.deletes]
        assert [cell.text for cell in read_column(page, "file")] == names
        for number, match in enumerate(file.deletes):
            page, _ = reader.get("deletes", path=file.path, match=number, read="yes")
            rows = [
                (int(a.text), int(b.text))
                for a, b in zip(read_column(page, "from"), read_column(page, "to"), strict=True)
            ]
            assert [row for first, last in rows for row in range(first, last + 1)] == list(match.positions)
            reaching.setdefault(match.file.path + str(match.offset), set()).add(file.path)
    for file in reader.table.files:
        if file.content == "data":
            continue
        _, markup = reader.get("deletes", **ask_for(file))
        reached = reaching.get(file.path + str(getattr(file, "content_offset", None)), set())
        noun = "data file" if len(reached) == 1 else "data files"
        assert f"reaches {len(reached)} {noun}" in read_text(markup)
    page, _ = reader.get("deletes")
    assert bool(reaching) == bool(list_listings(page)) or name.startswith("iceberg")


def test_positions_come_in_pages(tmp_path: Path) -> None:
    """Every second row of a file deleted is a range for each; fifty a page."""
    reader = Reader.of_sample("iceberg-merge-on-read")
    file = next(file for file in reader.table.files if file.deletes)
    page, _ = reader.get("deletes", path=file.path, match=0)
    assert len(read_column(page, "from")) <= 50


def test_a_file_that_is_gone_is_said_to_be_gone() -> None:
    """Its page still has what the metadata says; its bytes are missing."""
    for name in ("iceberg", "paimon"):
        reader = Reader.of_sample(name)
        file = reader.table.files[0]
        Path(file.path).unlink()
        _, markup = reader.get("file", path=file.path)
        assert "the file is not there" in read_text(markup)
        assert "Bounds" in read_text(markup)
        page, markup = reader.ask(reader.place("bytes", path=file.path))
        assert (page.status, "the file is not there" in read_text(markup)) == (404, True)


def test_a_damaged_footer_hides_nothing_else() -> None:
    """The page says what is wrong, and what the metadata says."""
    reader = Reader.of_sample("paimon")
    file = reader.table.files[0]
    Path(file.path).write_bytes(Path(file.path).read_bytes()[:-9] + b"!!!!!PAR1")
    _, markup = reader.get("file", path=file.path)
    assert "ERROR" in read_text(markup)
    assert "Bounds" in read_text(markup)
    reader.get("bytes", path=file.path)


def test_a_file_of_another_snapshot_is_found_and_said_to_be_so() -> None:
    """It is not live where the page is pinned."""
    reader = Reader.of_sample("iceberg-copy-on-write")
    now = {file.path for file in reader.table.files}
    gone = [file for snapshot in reader.table.snapshots for file in snapshot.files if file.path not in now]
    assert gone
    _, markup = reader.get("file", path=gone[0].path)
    assert f"snapshot {reader.pinned} does not have this file" in read_text(markup)


def test_a_moved_table_is_walked_by_its_recorded_paths(tmp_path: Path) -> None:
    """Links have paths as the metadata says them, and lead to the files that are here."""
    origin = Reader.of_sample("iceberg")
    place = tmp_path / "elsewhere" / "t"
    shutil.copytree(origin.path, place)
    reader = Reader(place)
    for file in reader.table.files:
        assert not file.recorded_path.startswith(str(place))
        reader.get("file", **ask_for(file))
        page, _ = reader.get("bytes", path=file.recorded_path)
        assert os.path.commonpath([place, page.parts[-1].path]) == str(place)  # type: ignore[union-attr]


# --- documents -----------------------------------------------------------------------------------------------------------


def walk_document(reader: Reader, path: str | None, document: object, at: str = "") -> int:
    """Every place of a document has its page, with its keys; the number of places."""
    if not isinstance(document, dict | list) or not document:
        return 0
    page, markup = reader.get("metadata", path=path, at=at or None)
    keys = [str(key) for key in (document if isinstance(document, dict) else range(len(document)))]
    assert [cell.text for cell in read_column(page, "key")] == keys[:50]
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    found = {place.get("at") for place in reader.follow(page.place, markup) if place.page == "metadata"}
    count = 1
    deeper = [(key, value) for key, value in list(inner)[:50] if isinstance(value, dict | list) and value]
    for key, value in deeper[:6]:
        step = "/".join(filter(None, (at, str(key).replace("~", "~0").replace("/", "~1"))))
        assert step in found
        count += walk_document(reader, path, value, step)
    return count


@pytest.mark.parametrize("name", ["iceberg-statistics", "paimon-tags"])
def test_documents_are_walked_key_by_key(name: str) -> None:
    """The current one, and each that lies in the directory as JSON."""
    reader = Reader.of_sample(name)
    assert walk_document(reader, None, dict(reader.table.metadata)) >= 5
    for path in sorted(Path(reader.path).rglob("*"))[:60]:
        if path.is_file() and path.read_bytes()[:1] == b"{":
            assert walk_document(reader, str(path), json.loads(path.read_text()))


def test_earlier_versions_and_names_in_documents_are_links() -> None:
    """From today's document to yesterday's, to a manifest list, to a snapshot."""
    reader = Reader.of_sample("iceberg")
    page, markup = reader.get("metadata")
    leads = {place.get("path") for place in reader.follow(page.place, markup) if place.page == "metadata"}
    assert {one.path for one in reader.table.metadata_log} <= leads
    for one in reader.table.metadata_log:
        reader.get("metadata", path=one.path)
    page, markup = reader.get("metadata", at="snapshots/0")
    pages = {place.page for place in reader.follow(page.place, markup)}
    assert {"manifest_list", "", "schema"} <= pages


def test_a_document_that_is_none_says_so_and_one_of_gzip_is_read() -> None:
    """What can be said is said."""
    import gzip

    reader = Reader.of_sample("paimon")
    folder = Path(reader.path) / "snapshot"
    (folder / "odd.json").write_bytes(b'{"a": \xff\xfe' + b"\x00" * 9_000)
    _, markup = reader.get("metadata", path=str(folder / "odd.json"))
    assert "no JSON document" in read_text(markup)
    (folder / "odd.json.gz").write_bytes(gzip.compress(b'{"deep": {"er": 7}}'))
    page, _ = reader.get("metadata", path=str(folder / "odd.json.gz"), at="deep")
    assert [cell.text for cell in read_column(page, "value")] == ["7"]
    page, _ = reader.ask(reader.place("metadata", path=str(folder / "odd.json.gz"), at="deep/no"))
    assert page.status == 404


@pytest.mark.parametrize(
    "name", ["iceberg-statistics", "iceberg-v4", "paimon-deletion-vectors", "paimon-dynamic-bucket"]
)
def test_index_files_and_statistics_have_pages(name: str) -> None:
    """Each with its bytes; a vector leads to its bytes and to its data file."""
    reader = Reader.of_sample(name)
    current = reader.table.current
    assert current is not None
    for kind, found in (("index", current.index_files), ("statistics", current.statistics)):
        page, markup = reader.get(kind)
        assert len(found) == 0 or [one.path.rpartition("/")[2] for one in found] == [
            cell.text for cell in read_column(page, "file")
        ]
        for one in found:
            page, markup = reader.get(kind, path=one.path)
            for place in reader.follow(page.place, markup):
                if place.page in ("bytes", "deletes"):
                    reached, _ = reader.ask(place)
                    assert reached.status == 200, place


@pytest.mark.parametrize(
    "name", ["iceberg-merge-on-read", "iceberg", "paimon-deletion-vectors", "delta", "hive"]
)
def test_a_list_shows_one_partition_or_what_has_deletes_by_links(name: str) -> None:
    """What a partition or a content leads to are the files of it, exactly; the links stay in the address and lead back."""
    reader = Reader.of_sample(name)
    files = reader.table.files
    page, _ = reader.get("files")
    for column, read in (
        ("partition", lambda file: str(file.partition or "")),
        ("content", lambda file: file.content.replace("_", " ")),
    ):
        if column not in [one.name for one in find_grid(page, "file").columns]:
            continue
        for cell in read_column(page, column):
            assert cell.target is not None, cell
            chosen, _ = reader.ask(reader.place("files").ask(**dict(cell.target.asked)))
            shown = [cell.text for cell in read_column(chosen, "file")]
            assert shown == [one.path.rpartition("/")[2] for one in files if read(one) == cell.text]
            (back,) = [link for link in list_links(chosen) if link.text.startswith("every ")]
            assert back.place == page.place
    deleted = [one.path.rpartition("/")[2] for one in files if one.content == "data" and len(one.deletes)]
    links = [link.place for link in list_links(page) if link.text == "only with deletes"]
    assert bool(links) == (name != "hive")
    for place in filter(None, links):
        chosen, _ = reader.ask(place)
        assert [cell.text for cell in read_column(chosen, "file")] == deleted


def test_manifests_with_deletes_and_entries_of_one_partition() -> None:
    """The list of manifests leaves those of data files out; in a manifest a partition leads to its entries."""
    reader = Reader.of_sample("iceberg-merge-on-read")
    page, _ = reader.get("manifests")
    (place,) = [link.place for link in list_links(page) if link.text == "only with deletes"]
    assert place is not None
    assert reader.table.current is not None
    manifests = reader.table.current.manifests
    shown = [cell.text for cell in read_column(reader.ask(place)[0], "manifest")]
    assert shown == [one.path.rpartition("/")[2] for one in manifests if one.content == "deletes"]
    ranges = read_column(page, "partitions")
    assert ranges[0].target is not None
    same, _ = reader.ask(reader.place("manifests").ask(**dict(ranges[0].target.asked)))
    assert len(read_column(same, "partitions")) == sum(cell.text == ranges[0].text for cell in ranges)
    manifest = max(manifests, key=lambda one: len(one.entries))
    whole, _ = reader.get("manifest", path=manifest.path)
    first = read_column(whole, "partition")[0]
    assert first.target is not None
    few, _ = reader.ask(reader.place("manifest").ask(**dict(first.target.asked)))
    numbers = [
        str(at) for at, entry in enumerate(manifest.entries) if str(entry.file.partition) == first.text
    ]
    assert [cell.text for cell in read_column(few, "entry")] == numbers
    assert len(numbers) < len(manifest.entries)
