"""Skeletons of every Iceberg table: nothing in clear, the same counts, the same files skipped."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Unsupported
from lakelens.formats.iceberg.metadata.wire import INTEGER_KEYS
from lakelens.formats.iceberg.skeleton.avro_files import FIELD_NAMES
from lakelens.formats.iceberg.skeleton.document import SPECIFIED, SUMMARY
from tests.analysis.skeleton.states import compare_answers, count_parts, values_of
from tests.support import LAKES
from tests.support.clear_text import Clear, unpack
from tests.support.planned import list_lakes
from tests.support.unpacked import unpack_samples

VOCABULARY = (*FIELD_NAMES, *SPECIFIED, *SUMMARY, *INTEGER_KEYS)
_SAMPLES = [one.name for one in ll.sample() if one.name.startswith("iceberg")]
_STEP = 1 if os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0") else 4
CASES = [*(str(path) for path in list_lakes("spark/iceberg")), *_SAMPLES][::_STEP]
counted: dict[str, int] = defaultdict(int)


def name_case(case: str) -> str:
    path = Path(case)
    return path.parent.name if path.is_absolute() else f"sample/{case}"


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_nothing_in_clear_and_everything_else(case: str, tmp_path: Path) -> None:
    place = Path(case) if Path(case).is_absolute() else unpack_samples() / case
    table = ll.open(place)
    path = table.skeleton(tmp_path / "made", seed=1)
    copy = ll.open(path)
    clear = Clear(place, values_of(table), VOCABULARY)
    assert clear.texts
    assert clear.search(unpack(Path(path))) == []
    assert count_parts(copy) == count_parts(table)
    assert [one.code for one in copy.findings] == [one.code for one in table.findings]
    compare_answers(table, copy, path, name_case(case), counted)


def test_as_many_predicates_were_compared_as_it_takes(request: pytest.FixtureRequest) -> None:
    ran = [item for item in request.session.items if item.name.startswith("test_nothing_in_clear")]
    if len(ran) < len(CASES):
        pytest.skip("only some of the tables were asked")
    print(dict(counted))
    assert counted["compared"] > 6 * len(CASES) and counted["refused"] < counted["compared"] // 10
    assert counted["skipped"] > counted["files"] // 5


# --- what may be written where -------------------------------------------------------------------------------------------


def test_only_an_empty_directory_elsewhere_is_written_to(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    before = sorted(Path(table.location).rglob("*"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    (tmp_path / "link").symlink_to(table.location)
    (tmp_path / "parent").symlink_to(Path(table.location).parent)
    for target in (
        table.location,
        f"{table.location}/skeleton",
        f"{table.location}/metadata/../new",
        tmp_path / "full",
        tmp_path / "full/file",
        tmp_path / "link/inside",
        tmp_path / "parent",
        "s3://bucket/skeleton",
    ):
        with pytest.raises(LakeError):
            table.skeleton(target)
    assert sorted(Path(table.location).rglob("*")) == before


def test_a_choice_is_kept(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    named = ll.open(table.skeleton(tmp_path / "named", keep=("names",)))
    assert named.schema.names == table.schema.names
    assert named.files.to_arrow()["lower_bounds"] != table.files.to_arrow()["lower_bounds"]
    valued = ll.open(table.skeleton(tmp_path / "valued", keep=("values", "names")))
    assert valued.files.to_arrow().select(["lower_bounds", "partition_values"]).to_pylist() == (
        table.files.to_arrow().select(["lower_bounds", "partition_values"]).to_pylist()
    )
    one = ll.open(table.skeleton(tmp_path / "one", keep=("p", "properties")))
    assert "p" in one.schema.names and "id" not in one.schema.names
    assert [file.partition for file in one.files] == [file.partition for file in table.files]
    assert dict(one.properties) == dict(table.properties)
    with pytest.raises(LakeError, match="nowhere"):
        table.skeleton(tmp_path / "none", keep=("nowhere",))
    assert not (tmp_path / "none").exists()


def test_the_same_seed_is_the_same_skeleton_and_another_is_not(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    made = [unpack(Path(table.skeleton(tmp_path / f"{n}", seed=seed))) for n, seed in enumerate((1, 1, 2))]
    assert made[0] == made[1] != made[2]


def test_a_skeleton_can_be_moved_and_made_again(tmp_path: Path) -> None:
    table = ll.sample("iceberg-merge-on-read")
    path = table.skeleton(tmp_path / "made", seed=1)
    Path(path).rename(tmp_path / "moved")
    moved = ll.open(tmp_path / "moved")
    assert count_parts(moved) == count_parts(table)
    again = ll.open(moved.skeleton(tmp_path / "again", seed=2))
    assert count_parts(again) == count_parts(table)


def test_what_cannot_be_read_is_not_copied(tmp_path: Path) -> None:
    source = unpack_samples() / "iceberg"
    copied = tmp_path / "table"
    for path in source.rglob("*"):
        if path.is_file():
            target = copied / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    manifests = sorted((copied / "metadata").glob("*-m0.avro"))
    secret = b"a secret that no reader understands"
    manifests[0].write_bytes(secret * 9)
    manifests[1].unlink()
    table = ll.open(copied)
    made = table.skeleton(tmp_path / "made")
    assert any("cannot be read" in one.message for one in made.findings)
    assert all(secret not in data for data in unpack(Path(made)).values())
    was, now = [], []
    for found, place in ((was, table), (now, ll.open(made))):
        for snapshot in place.snapshots:
            found.append(len(snapshot.files))
        found += sorted((one.severity, one.code) for one in place.findings)  # type: ignore[arg-type]
    assert now == was and any(isinstance(one, tuple) for one in now)


def test_the_key_is_written_only_on_request_and_elsewhere(tmp_path: Path) -> None:
    made = ll.sample("iceberg").skeleton(tmp_path / "made")
    made.save_key(tmp_path / "key.json")
    assert '"id": "c1"' in (tmp_path / "key.json").read_text()
    with pytest.raises(LakeError):
        made.save_key(tmp_path / "made/key.json")
    with pytest.raises(Unsupported):
        made.translate_predicate("name NOT LIKE 'a%'")


def test_an_imported_table_has_its_name_mapping(tmp_path: Path) -> None:
    table = ll.open(LAKES / "spark/iceberg/v2-imported/table")
    copy = ll.open(table.skeleton(tmp_path / "made"))
    names = [field.name for field in copy.schema.fields]
    assert all(name in copy.properties["schema.name-mapping.default"] for name in names)
