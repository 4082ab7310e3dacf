"""Lists that leave a page as CSV, JSON and Parquet: what `to_arrow()` gives, in the order and the choice of the page."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.answers.bug import CONTENTS
from lakelens.errors import LakeError, Missing
from lakelens.explorer import download
from lakelens.explorer.download import Export, find_export, write_csv, write_json, write_parquet
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import EXPORTS, Page, Redirect
from lakelens.explorer.place import Place
from lakelens.model.arrow import drop_empty_structs
from lakelens.model.facts.json_values import make_plain
from lakelens.model.table import Table
from tests.explorer.reading import Reader, list_listings, read_text
from tests.serving.running import serving

SAMPLES = ("iceberg-evolution", "iceberg-branches", "paimon-tags", "paimon-deletion-vectors", "hive", "delta")


def take(explorer: Explorer, place: Place, form: str) -> tuple[str, bytes]:
    """The name and the content of the list of a page, wherever its address leads."""
    found = find_export(explorer, place.ask(**{"as": form}))
    while isinstance(found, Redirect):
        found = find_export(explorer, found.place)
    assert isinstance(found, Export)
    return found.name, b"".join(found.chunks)


def read_json(content: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(content)
    return rows


def list_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as the JSON of a list has them."""
    rows: list[dict[str, Any]] = make_plain(table.to_pylist())
    return rows


def list_tables(table: Table) -> dict[str, pa.Table]:
    """What the lists of a table's pages are as Arrow, by page; newest snapshots first, as their page has them."""
    lists = {"files": table.files.to_arrow()}
    if table.traits.has_snapshots and table.current is not None:
        snapshots = table.snapshots.to_arrow()
        lists["snapshots"] = snapshots.take(pa.array(range(len(snapshots))[::-1], pa.int64()))
        lists["manifests"] = table.current.manifests.to_arrow()
    if len(table.refs):
        lists["refs"] = table.refs.to_arrow()
    return lists


@pytest.mark.parametrize("name", SAMPLES)
def test_each_list_equals_to_arrow(name: str) -> None:
    reader = Reader.of_sample(name)
    for page, expected in list_tables(reader.table).items():
        contents = {form: take(reader.explorer, reader.place(page), form)[1] for form in EXPORTS}
        assert pq.read_table(io.BytesIO(contents["parquet"])).to_pylist() == expected.to_pylist(), page
        assert read_json(contents["json"]) == list_rows(expected), page
        rows = list(csv.reader(io.StringIO(contents["csv"].decode(), newline="")))
        assert rows[0] == expected.column_names and len(rows) == len(expected) + 1, page
        for row, values in zip(rows[1:], list_rows(expected), strict=True):
            for text, value in zip(row, values.values(), strict=True):
                if value is None:
                    assert text == ""
                elif isinstance(value, str):
                    assert text.removeprefix("'") == value
                else:
                    assert json.loads(text) == value


def test_a_list_leaves_as_it_is_filtered_and_sorted() -> None:
    reader = Reader.of_sample("iceberg")
    place = reader.place("files", q="content = 'data'", sort="-rows", **{"from": 2})
    expected = [
        file.path
        for file in sorted(reader.table.files, key=lambda file: -(file.record_count or 0))
        if file.content == "data"
    ]
    for form in ("json", "csv"):
        _, content = take(reader.explorer, place, form)
        rows = (
            read_json(content)
            if form == "json"
            else list(csv.DictReader(io.StringIO(content.decode(), newline="")))
        )
        assert [row["path"] for row in rows] == expected


def test_the_entries_of_a_manifest_have_the_columns_of_its_files() -> None:
    for name in ("iceberg", "paimon", "delta"):
        reader = Reader.of_sample(name)
        assert reader.table.current is not None
        for manifest in reader.table.current.manifests:
            _, content = take(reader.explorer, reader.place("manifest", path=manifest.path), "json")
            assert read_json(content) == list_rows(manifest.entries.to_arrow()), (name, manifest.path)


def test_every_list_that_is_linked_leaves(tmp_path: Path) -> None:
    """Of a warehouse and its tables: what a page offers is there, in each form, and as many rows as the page counts."""
    for name in ("iceberg", "paimon", "hive", "delta"):
        shutil.copytree(ll.sample(name).location, tmp_path / "shop.db" / name)
    explorer = Explorer(str(tmp_path))
    places = [Place(), *(Place(("shop.db", name)) for name in ("iceberg", "paimon", "hive", "delta"))]
    seen, lists = set(), 0
    while places and len(seen) < 120:
        page = explorer.follow(places.pop(0))
        if isinstance(page, Redirect):
            places.append(page.place)
            continue
        assert isinstance(page, Page)
        if page.place.url in seen:
            continue
        seen.add(page.place.url)
        places += [link.place for link in page.navigation if link.place is not None]
        for listing in list_listings(page)[:1]:
            if listing.exports is None or listing.whole is None:
                continue
            lists += 1
            assert [link.text for link in listing.exports.links] == [*EXPORTS.values()]
            count = len(listing.whole())
            for link in listing.exports.links:
                assert link.place is not None
                name, content = take(explorer, link.place, link.place.get("as"))
                assert name.endswith(f".{link.place.get('as')}") and "/" not in name
                if name.endswith("parquet"):
                    assert pq.read_metadata(io.BytesIO(content)).num_rows == count
    assert lists >= 15


def test_what_is_no_list_and_no_form_is_said() -> None:
    reader = Reader.of_sample("hive")
    with pytest.raises(Missing, match="has no list of rows"):
        take(reader.explorer, reader.place("schema"), "csv")
    with pytest.raises(Missing, match="no list is given as 'xlsx'"):
        take(reader.explorer, reader.place("files"), "xlsx")


def test_nothing_of_a_lake_is_a_formula() -> None:
    """A spreadsheet begins a formula at these letters; a number below zero is none."""
    texts = [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "＝1",
        'a"b',
        "a,b",
        " x",
        "a\r\nb",
        "",
    ]
    table = pa.table({"=name": texts, "number": [-number for number in range(len(texts))]})
    content = b"".join(write_csv(table)).decode()
    rows = list(csv.reader(io.StringIO(content, newline="")))
    assert rows[0] == ["'=name", "number"]
    for row, text in zip(rows[1:], texts, strict=True):
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
        assert row[0].removeprefix("'") == text
    assert [int(row[1]) for row in rows[1:]] == [-number for number in range(len(texts))]


def test_nothing_and_empty_text_are_two_things_in_csv() -> None:
    content = b"".join(write_csv(pa.table({"id": [1, 2], "text": ["", None]})))
    options = pa.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    read = pa.csv.read_csv(io.BytesIO(content), convert_options=options)
    assert read["text"].to_pylist() == ["", None]


def test_many_rows_leave_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_ROW_GROUP", 5_000)
    table = pa.table({"id": pa.array(range(12_345)), "day": pa.array([10**8] * 12_345, pa.date32())})
    chunks = list(write_json(table))
    assert len(chunks) > 2 and len(json.loads(b"".join(chunks))) == 12_345
    content = b"".join(write_parquet(table))
    assert pq.read_metadata(io.BytesIO(content)).num_row_groups == 3
    assert pq.read_table(io.BytesIO(content)).equals(table)
    assert b"".join(write_json(table.slice(0, 0))) == b"[]\n"


def test_structs_without_fields_stay_behind_in_parquet() -> None:
    table = pa.table({"id": [1], "bounds": pa.array([{}], pa.struct([]))})
    assert drop_empty_structs(table).column_names == ["id"]
    assert pq.read_table(io.BytesIO(b"".join(write_parquet(table)))).column_names == ["id"]


def test_a_server_sends_a_list(tmp_path: Path) -> None:
    """As a file that a browser keeps, under the headers of every other answer; what fails is a page of words."""
    place = tmp_path / "t"
    shutil.copytree(ll.sample("iceberg").location, place)
    table = ll.open(place)
    with serving(tmp_path) as running, running.open() as client:
        answer = client.get("/t/@7/files?as=csv", follow_redirects=True)
        assert answer.status_code == 404 and b"is not kept" in answer.content
        assert table.current is not None
        here = f"/t/@{table.current.id}/files"
        answer = client.get(f"{here}?as=json")
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''t-files-")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.json() == list_rows(table.files.to_arrow())
        assert pq.read_table(io.BytesIO(client.get(f"{here}?as=parquet").content)).num_rows == len(
            table.files
        )
        assert client.head(f"{here}?as=csv").content == b""
        page = client.get(here).text
        assert "as=csv" in page and "as=parquet" in page
        assert (
            client.get(f"{here}?as=csv&q=nonsense(").status_code == 200
        )  # the list is shown without the filter
        assert client.get(f"{here}?as=exe").status_code == 404


def test_damage_is_an_error_and_no_list(tmp_path: Path) -> None:
    place = tmp_path / "t"
    shutil.copytree(ll.sample("iceberg").location, place)
    table = ll.open(place)
    assert table.current is not None
    Path(table.current.manifests[0].path).write_bytes(b"nothing")
    manifest = table.current.manifests[0].path
    place = Place((), str(table.current.id), "manifest", (("path", manifest), ("as", "csv")))
    try:
        found = find_export(Explorer(table.location), place)
    except LakeError:
        return
    assert isinstance(found, Page) and found.status != 200


def test_a_report_of_a_fault_leaves_its_page_as_a_zip() -> None:
    """Every page of a table leads to it; it says what the zip contains, and the zip is that of `lakelens bug`."""
    reader = Reader.of_sample("iceberg")
    for page in ("", "findings", "explain"):
        found, markup = reader.get(page)
        assert "report" in {place.page for place in reader.follow(found.place, markup)}
    shown, markup = reader.get("report")
    assert all(name in read_text(markup) for name in CONTENTS)
    export = find_export(reader.explorer, shown.place.ask(**{"as": "zip", "call": "explain 'id > 15'"}))
    assert isinstance(export, Export) and export.media_type == "application/zip"
    with zipfile.ZipFile(io.BytesIO(b"".join(export.chunks))) as archive:
        names = archive.namelist()
        assert names[0] == "README.md" and {"call.json", "check.json"} <= set(names)
        assert json.loads(archive.read("call.json"))["question"] == "explain"
        assert b"merged" not in b"".join(map(archive.read, names))
    with pytest.raises(LakeError, match="nonsense"):
        find_export(reader.explorer, shown.place.ask(**{"as": "zip", "call": "nonsense"}))
