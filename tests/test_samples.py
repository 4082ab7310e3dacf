"""The tables that ship with the package."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import Missing
from lakelens.samples import Samples

PACKAGED = Path(ll.__file__).parent / "samples/tables"
NAMES = [one.name for one in ll.sample()]


def list_packaged() -> list[str]:
    return sorted(str(path.relative_to(PACKAGED)) for path in PACKAGED.rglob("*") if path.is_file())


def test_listing_names_every_packaged_table_with_its_story() -> None:
    listed = ll.sample()
    assert isinstance(listed, Samples)
    assert sorted(NAMES) == sorted(path.name for path in PACKAGED.iterdir())
    assert {one.format for one in listed} == {"hive", "iceberg", "paimon"}
    assert listed["paimon"] == listed[NAMES.index("paimon")]
    assert listed[:2] == (listed[0], listed[1])
    assert repr(listed) == f"<Samples {', '.join(NAMES)}>"
    lines = str(listed).splitlines()
    for one in listed:
        assert [line.split()[0] for line in lines if one.story in line] == [one.name]


def test_unknown_sample_is_missing_and_the_others_are_named() -> None:
    with pytest.raises(Missing, match="iceberg"):
        ll.sample("nothing")
    with pytest.raises(KeyError):
        ll.sample()["nothing"]


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_opens_whole_and_sound(name: str) -> None:
    table = ll.sample(name)
    assert table.format == ll.sample()[name].format
    assert len(table.files) > 0
    for file in table.files:
        assert file.record_count is not None
        assert file.footer is not None
        _ = file.bounds
    for snapshot in table.snapshots:
        data = sum(f.record_count or 0 for f in snapshot.files if f.content == "data")
        assert data == snapshot.record_count
    assert table.relocation.unmapped == ()
    assert [f for f in table.findings if f.severity == "error"] == []


def test_stories_are_true() -> None:
    hive, iceberg, evolution = ll.sample("hive"), ll.sample("iceberg"), ll.sample("iceberg-evolution")
    assert {file.partition["dt"] for file in hive.files} == {"2024-01-01", "x/y", None}
    assert len({file.write_id for file in hive.files}) == 2
    assert [s.operation for s in iceberg.snapshots] == [
        "append",
        "delete",
        "delete",
        "overwrite",
        "overwrite",
    ]
    assert "deletion_vector" in {file.content for file in iceberg.files}
    assert len({s.schema.id for s in evolution.snapshots}) == len(evolution.snapshots) == 3
    assert {"audit", "first"} <= set(ll.sample("iceberg-branches").refs.keys())
    assert "COMPACT" in [s.operation for s in ll.sample("paimon").snapshots]
    branched = ll.sample("paimon-branches")
    assert [ref.name for ref in branched.refs.tags] == ["base"]
    assert "audit" in [ref.name for ref in branched.refs.branches]


def test_a_sample_is_a_copy_of_its_own() -> None:
    before = list_packaged()
    first, second = ll.sample("paimon"), ll.sample("paimon")
    assert first.location != second.location
    assert not Path(first.location).is_relative_to(PACKAGED)
    Path(first.location, "snapshot/LATEST").unlink()
    assert len(ll.sample("paimon").snapshots) == len(second.snapshots)
    assert list_packaged() == before


def test_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in PACKAGED.rglob("*") if path.is_file()) < 1_000_000


def test_a_copy_is_gone_when_the_process_ends() -> None:
    script = "import lakelens as ll; print(ll.sample('hive').location)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert not Path(done.stdout.strip()).exists()


def test_the_wheel_holds_the_samples(tmp_path: Path) -> None:
    root = Path(ll.__file__).parent.parent
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=root,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    packed = sorted(
        name.removeprefix("lakelens/samples/tables/") for name in names if "/samples/tables/" in name
    )
    assert packed == list_packaged()
    assert "lakelens/samples/samples.json" in names
