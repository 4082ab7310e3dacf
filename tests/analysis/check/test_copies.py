"""A copy of a table beside its original: what the copy lacks is missing, also where it is still at the recorded place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens import options
from lakelens.cli.commands import commands
from lakelens.errors import NotATable
from lakelens.io.memory import MemoryStore
from lakelens.model.table import Table
from lakelens.opening import open_in_store
from tests.support import LAKES
from tests.support.unpacked import unpack_samples

COPY = "/copies/iceberg"


@pytest.fixture(scope="module")
def beside() -> dict[str, bytes]:
    """The objects of an engine-written table with deletion vectors, at its recorded place and at another one."""
    root = unpack_samples() / "iceberg"
    original = ll.open(root).relocation.recorded_location
    assert original is not None
    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {f"{place}/{name}": data for place in (original, COPY) for name, data in files.items()}


def choose_manifest(table: Table) -> str:
    return table.current.manifests[-1].path  # type: ignore[union-attr]


def choose_list(table: Table) -> str:
    return table.current.manifest_lists[0].path  # type: ignore[union-attr, return-value]


def choose_data(table: Table) -> str:
    return next(file.path for file in table.files if file.content == "data")


def choose_vectors(table: Table) -> str:
    return next(file.path for file in table.files if file.content == "deletion_vector")


KINDS: list[Callable[[Table], str]] = [choose_manifest, choose_list, choose_data, choose_vectors]


def open_copy(objects: dict[str, bytes], *lost: str, enclosed: bool = False) -> Table:
    left = {path: data for path, data in objects.items() if path not in lost}
    return open_in_store(MemoryStore(left), COPY, enclosed=enclosed)


@pytest.mark.parametrize("choose", KINDS)
def test_what_a_copy_lacks_is_missing(beside: dict[str, bytes], choose: Callable[[Table], str]) -> None:
    lost = choose(open_copy(beside))
    table = open_copy(beside, lost)
    check = table.check()
    original = table.relocation.recorded_location
    name = lost.rpartition("/")[2]
    assert [one.path for one in check.missing] == [lost]
    assert check.missing[0].original == f"{original}/{lost.removeprefix(COPY + '/')}"
    assert [one.path for one in check.not_here] == [lost]
    assert not check.ok
    assert check.verdict == "damaged"
    assert check.whole.count < check.whole.total
    found = [one for one in check.findings if one.code == "file-missing"]
    assert [(one.severity, one.path) for one in found] == [("error", lost)]
    assert "not in this copy" in found[0].message
    text = check.to_text(2)
    assert name in text
    assert "Missing: none" not in text
    assert f"1 is not in this copy, and the original at {original} still has it" in text
    assert not any(one.code.startswith("dangling") for one in check.findings)
    assert "they cannot be read" not in text  # they are, elsewhere
    assert dict(table.relocation.elsewhere) == {lost: check.missing[0].original}


@pytest.mark.parametrize("choose", KINDS)
def test_an_enclosed_copy_is_judged_alike(beside: dict[str, bytes], choose: Callable[[Table], str]) -> None:
    lost = choose(open_copy(beside))
    table = open_copy(beside, lost, enclosed=True)
    check = table.check()
    assert [one.path for one in check.missing] == [lost]
    assert not check.ok
    assert not any(one.code.startswith("dangling") for one in check.findings)
    assert not [path for path in table.reads.paths if not path.startswith(COPY)]
    with NothingElsewhere():
        again = open_copy(beside, lost)
        assert [one.path for one in again.check().missing] == [lost]
        assert not [path for path in again.reads.paths if not path.startswith(COPY)]


class NothingElsewhere:
    """The option that keeps every table in its directory."""

    def __enter__(self) -> None:
        options.recorded_places = "never"

    def __exit__(self, *error: object) -> None:
        options.recorded_places = "follow"


def test_a_whole_copy_is_whole(beside: dict[str, bytes]) -> None:
    check = open_copy(beside).check()
    assert check.verdict == "sound"
    assert not len(check.missing)


def test_the_option_has_two_values() -> None:
    with pytest.raises(ValueError, match="'follow' or 'never'"):
        options.recorded_places = "sometimes"


def test_a_hundred_missing_files_are_named_and_the_others_counted(beside: dict[str, bytes]) -> None:
    table = open_copy(beside)
    access = table._context.access  # type: ignore[attr-defined]
    original = table.relocation.recorded_location
    for number in range(130):
        recorded = f"{original}/data/{number}.parquet"
        access._report_substitute(recorded, recorded, f"{COPY}/data/{number}.parquet")
    found = [one for one in table.findings if one.code == "missing"]
    assert len(found) == 101
    assert found[-1].message == "30 more files are not in this copy, and were read elsewhere"


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that pyiceberg writes, with three commits."""
    pa = pytest.importorskip("pyarrow")
    from pyiceberg.catalog.sql import SqlCatalog

    place = tmp_path_factory.mktemp("grown")
    catalog = SqlCatalog("c", uri=f"sqlite:///{place}/c.db", warehouse=f"file://{place}/wh")
    catalog.create_namespace("d")
    table = catalog.create_table("d.t", schema=pa.schema([("id", pa.int64())]))
    for number in range(3):
        table.append(pa.table({"id": [number]}))
    return Path(table.location().removeprefix("file://"))


@pytest.fixture
def lacking(grown: Path, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A copy of it without the newest manifest, and that manifest's place."""
    copy = tmp_path / "copy"
    shutil.copytree(grown, copy)
    lost = Path(ll.open(copy).current.manifests[0].path)
    lost.unlink()
    yield copy, lost


VERBS = [
    ("show",),
    ("files",),
    ("manifests",),
    ("health",),
    ("space",),
    ("explain", "id = 1"),
    ("row", "id = 2"),
    ("check",),
    ("findings",),
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_a_verb_says_what_it_took_from_elsewhere(lacking: tuple[Path, Path], verb: tuple[str, ...]) -> None:
    copy, lost = lacking
    for more in ((), ("--enclosed",)):
        result = CliRunner().invoke(commands, [verb[0], str(copy), *verb[1:], "--json", *more])
        if verb[0] in ("show", "manifests") and not any(
            one["path"] == str(lost) for one in json.loads(result.stdout)["findings"]
        ):
            continue  # it reads no manifest
        assert result.exit_code == 1, result.output
        found = json.loads(result.stdout)["findings"]
        assert any(one["severity"] == "error" and one["path"] == str(lost) for one in found), found


def test_cards_of_answers_say_it(lacking: tuple[Path, Path]) -> None:
    copy, lost = lacking
    table = ll.open(copy)
    for answer in (
        table.explain("id = 1"),
        table.row("id = 2"),
        table.health(),
        table.space(),
        table.check(),
    ):
        text = answer.to_text(1)
        assert "not in this copy" in text, text
        assert lost.name in text


def test_a_skeleton_does_not_heal_what_is_missing(lacking: tuple[Path, Path], tmp_path: Path) -> None:
    copy, lost = lacking
    table = ll.open(copy)
    made = table.skeleton(tmp_path / "skeleton")
    assert any("missing in the skeleton" in one.message for one in made.findings)
    assert any(one.code == "missing" and one.path == str(lost) for one in table.findings)
    whole = ll.open(copy.parent / "skeleton").check()
    assert len([one for one in whole.missing if one.role == "manifest"]) == 1


def test_space_counts_no_bytes_of_elsewhere(lacking: tuple[Path, Path]) -> None:
    copy, _ = lacking
    space = ll.open(copy).space()
    assert space.size_bytes == sum(path.stat().st_size for path in copy.rglob("*") if path.is_file())
    assert space.outside_files == 0


def test_a_table_that_was_not_moved_may_have_files_elsewhere(tmp_path: Path) -> None:
    """`write.data.path` leads out of the table, also of a copy: nothing is missing."""
    pa = pytest.importorskip("pyarrow")
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/wh")
    catalog.create_namespace("d")
    properties = {"write.data.path": f"file://{tmp_path}/bulk/data"}
    table = catalog.create_table("d.t", schema=pa.schema([("id", pa.int64())]), properties=properties)
    table.append(pa.table({"id": [1]}))
    place = Path(table.location().removeprefix("file://"))
    assert not (place / "data").exists()
    assert ll.open(place).check().verdict == "sound"
    shutil.copytree(place, tmp_path / "copy")
    copied = ll.open(tmp_path / "copy")
    check = copied.check()
    assert check.ok
    assert not len(check.missing)
    assert copied.relocation.homes == (table.location(),)
    assert "foreign-file" in {one.code for one in check.findings}


def test_one_metadata_file_is_enclosed_in_its_table(grown: Path) -> None:
    table = ll.open(ll.open(grown).metadata_path, enclosed=True)  # type: ignore[arg-type]
    assert table.check().verdict == "sound"
    with pytest.raises(NotATable):
        ll.open(grown.parent, enclosed=True)


@pytest.mark.parametrize("lake", ["v3-merge-on-read", "v2-equality-deletes", "v2-position-deletes-orc"])
def test_no_delete_is_called_dangling_because_a_manifest_is_missing(lake: str, tmp_path: Path) -> None:
    place = LAKES / "spark" / "iceberg" / lake / "table"
    state = ll.open(place).current
    assert state is not None
    assert not len(state.dangling_deletes)
    for number, manifest in enumerate(state.manifests):
        copy = tmp_path / str(number)
        shutil.copytree(place, copy)
        Path(str(copy) + manifest.path.removeprefix(str(place))).unlink()
        check = ll.open(copy, enclosed=True).check()
        assert not check.ok
        assert "dangling-deletes" not in {one.code for one in check.findings}
