"""Copies of engine-written tables: whole ones are the same, and what is taken away or changed is named, and nothing else."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from pathlib import Path

import fastavro
import pytest

import lakelens as ll
from lakelens.analysis.compare import Comparison, Side
from lakelens.errors import LakeError
from lakelens.model.table import Table
from lakelens.samples import unpack_table
from tests.support import LAKES

PLACES = sorted(path for path in LAKES.rglob("table") if path.is_dir())
FEW = PLACES[::16]
#: what lies in a document may lead to others: a changed one may name files that there are not
DOCUMENTS = (
    "snapshot",
    "list",
    "manifest",
    "metadata",
    "commit",
    "checkpoint",
    "schema",
    "tag",
    "branch",
    "hint",
)


ALL = [
    pytest.param(
        place,
        id=str(place.parent.relative_to(LAKES)),
        marks=() if place in FEW else (pytest.mark.exhaustive,),
    )
    for place in PLACES
]


def open_place(place: Path) -> Table:
    try:
        table = ll.open(str(place), enclosed=True)
    except LakeError:
        pytest.skip("the kept table cannot be opened: others test how that is said")
    if not isinstance(table, Table):
        pytest.skip("it is a view")
    return table


def copy(place: Path, folder: Path) -> Path:
    return Path(shutil.copytree(place, folder / "copy"))


@pytest.mark.parametrize("place", ALL)
def test_a_copy_is_the_same_table(place: Path, tmp_path: Path) -> None:
    open_place(place)
    compared = ll.compare(str(place), str(copy(place, tmp_path)), data=True)
    assert compared.same and compared.verdict == "same", (compared.headline, list(compared.differences))
    assert (compared.behind, compared.ahead) == (0, 0)


@pytest.mark.parametrize("place", ALL)
def test_what_is_taken_away_or_changed_is_named(place: Path, tmp_path: Path) -> None:
    """One file of each role is removed, cut by a byte, and changed in one."""
    side = Side("a", open_place(place))
    by_role: dict[str, list[str]] = defaultdict(list)
    for path in side.owned:
        by_role[side.find_role(path)].append(path)
    chance = random.Random(str(place.parent.name))
    for role, paths in by_role.items():
        path = chance.choice(sorted(paths))
        content = (place / path).read_bytes()
        for change in ("gone", "cut", "changed")[: 3 if content else 1]:
            there = copy(place, tmp_path / f"{len(list(tmp_path.iterdir()))}")
            if change == "gone":
                (there / path).unlink()
            elif change == "cut":
                (there / path).write_bytes(content[:-1])
            else:
                position = chance.randrange(len(content))
                changed = bytes([content[position] ^ 0x11])
                (there / path).write_bytes(content[:position] + changed + content[position + 1 :])
            try:
                compared = ll.compare(str(place), str(there), data=True)
            except LakeError:  # nothing of the copy can be opened: of a listed table with its only file
                assert any(word in role for word in DOCUMENTS) or not side.table.traits.has_snapshots
                continue
            named = {difference.relative_path for difference in compared.differences}
            assert path in named, (role, change, compared.headline)
            assert not compared.same
            others = named - {path}
            assert not others or any(word in role for word in DOCUMENTS), (role, change, others)
            if change == "gone" and "data" in role.split():
                (difference,) = compared.differences
                assert (difference.state, difference.side) in (("MISSING", "b"), ("ONLY", "a"))
                assert difference.b_bytes is None
            shutil.rmtree(there)


def test_other_bytes_of_the_same_length_take_reading_data(tmp_path: Path) -> None:
    place = unpack_table("iceberg", tmp_path)
    there = copy(place, tmp_path)
    path = sorted((there / "data").rglob("*.parquet"))[0]
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF
    path.write_bytes(content)
    assert ll.compare(str(place), str(there)).same
    compared = ll.compare(str(place), str(there), data=True)
    assert compared.verdict == "different"
    (difference,) = compared.differences
    assert (difference.state, difference.relative_path) == ("OTHER BYTES", str(path.relative_to(there)))


def move_recorded_places(there: Path, recorded: str) -> int:
    """Write all documents of an Iceberg table again with its own place in them; how many there are."""
    folder = there / "metadata"
    lengths = {}
    for path in sorted(folder.glob("*.avro"), key=lambda path: path.name.startswith("snap-")):
        with path.open("rb") as file:
            reader = fastavro.reader(file)
            records, schema, metadata = list(reader), reader.writer_schema, reader.metadata
        for record in records:
            if "manifest_path" in record:
                record["manifest_path"] = record["manifest_path"].replace(recorded, str(there))
                record["manifest_length"] = lengths[record["manifest_path"]]
            else:
                data_file = record["data_file"]
                for name in ("file_path", "referenced_data_file"):
                    if data_file.get(name):
                        data_file[name] = data_file[name].replace(recorded, str(there))
        codec = metadata.pop("avro.codec", "null")
        kept = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
        with path.open("wb") as file:
            fastavro.writer(file, schema, records, codec, metadata=kept)
        lengths[str(path)] = path.stat().st_size
    documents = list(folder.glob("*.metadata.json"))
    for document in documents:
        document.write_text(document.read_text().replace(recorded, str(there)))
    return len(documents) + len(list(folder.glob("*.avro")))


def test_metadata_that_was_written_again_for_another_place_says_the_same(tmp_path: Path) -> None:
    """The documents of a copy name its own place, as engines' procedures for moving a table write them."""
    place = unpack_table("iceberg", tmp_path)
    recorded = ll.open(str(place)).relocation.recorded_location
    assert recorded is not None
    there = copy(place, tmp_path)
    written = move_recorded_places(there, recorded)
    compared = ll.compare(str(place), str(there), data=True)
    assert compared.same, (compared.headline, list(compared.differences))
    assert compared.other_bytes == written


def forget_newest(sample: str, there: Path) -> None:
    """Take the newest commit away, as a copy that was made before it lacks it."""
    if sample == "iceberg":
        sorted((there / "metadata").glob("*.metadata.json"))[-1].unlink()
    elif sample == "paimon":
        (there / "snapshot" / "snapshot-5").unlink()
        (there / "snapshot" / "LATEST").write_text("4")
    else:
        for path in (there / "_delta_log").glob("*4.*"):
            path.unlink()


@pytest.mark.parametrize("sample", ["iceberg", "paimon", "delta"])
def test_a_copy_that_was_made_before_the_last_commit_is_behind(sample: str, tmp_path: Path) -> None:
    place = unpack_table(sample, tmp_path)
    there = copy(place, tmp_path)
    forget_newest(sample, there)
    compared = ll.compare(str(place), str(there), data=True)
    assert (compared.verdict, compared.behind, compared.ahead) == ("behind", 1, 0)
    assert {(difference.state, difference.side) for difference in compared.differences} == {("ONLY", "a")}
    states = {row.name: row.state for row in compared.rows}
    assert states["live files"] == states["rows of data files"] == "SAME"
    assert states["snapshots"] == states["current snapshot"] == "BEHIND"
    turned = ll.compare(str(there), str(place))
    assert (turned.verdict, turned.behind, turned.ahead) == ("behind", 0, 1)
    assert "a is 1 commit behind" in turned.headline


def test_two_tables_are_two_tables(tmp_path: Path) -> None:
    kept = LAKES / "spark" / "iceberg"
    compared = ll.compare(str(kept / "v2-basic" / "table"), str(kept / "v1-basic" / "table"))
    assert compared.verdict == "other table" and not compared.same


def test_what_is_missing_here_is_missing_also_where_the_original_stands(tmp_path: Path) -> None:
    """The metadata of a copy names the original's place, where the file still is."""
    place = unpack_table("iceberg", tmp_path)
    recorded = ll.open(str(place)).relocation.recorded_location
    assert recorded is not None
    move_recorded_places(place, recorded)
    there = copy(place, tmp_path)
    gone = sorted((there / "metadata").glob("snap-*.avro"))[0]
    gone.unlink()
    compared: Comparison = ll.compare(str(place), str(there))
    (missing,) = compared.missing
    assert (missing.side, missing.relative_path) == ("b", str(gone.relative_to(there)))
    assert len(missing.snapshots) == 1 and not missing.is_live
