"""The README: what it shows runs, what it names is there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.samples import unpack_table

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(r"(<!-- spark -->\n)?^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def list_blocks(language: str, *, spark: bool = False) -> list[str]:
    return [body for mark, named, body in BLOCK.findall(TEXT) if named == language and bool(mark) == spark]


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the warehouse that the README speaks of, and in it."""
    folder = tmp_path / "warehouse" / "shop.db"
    folder.mkdir(parents=True)
    unpack_table("iceberg", folder).rename(folder / "orders")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_lines(block: str, names: dict[str, object]) -> None:
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - the README is ours


def test_python_runs(warehouse: Path) -> None:
    names: dict[str, object] = {}
    blocks = list_blocks("python")
    assert len(blocks) >= 4
    for block in blocks:
        run_lines(block, names)
    table = names["table"]
    assert isinstance(table, ll.model.table.Table) and table.files.record_count > 0


def test_the_number_of_samples_is_true() -> None:
    (told,) = re.findall(r"one of (\d+) that ship", TEXT)
    assert int(told) == len(ll.sample())


def test_every_line_of_the_questions_has_an_answer(warehouse: Path) -> None:
    (questions,) = [block for block in list_blocks("python") if "table.history" in block]
    names: dict[str, object] = {"ll": ll, "table": ll.open("warehouse/shop.db/orders")}
    for line in questions.splitlines():
        answer = eval(line, names)  # noqa: S307 - the README is ours
        assert answer is not None and repr(answer), line


@pytest.mark.parametrize("line", [line for block in list_blocks("sh") for line in block.splitlines()])
def test_commands_run(warehouse: Path, line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "lakelens"
    done = subprocess.run([sys.executable, "-m", "lakelens.cli", *words[1:]], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([a-z-]+)`", TEXT))))
def test_make_knows_what_the_readme_names(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", sorted(set(re.findall(r"\]\(([^)#:]+)\)|src(?:set)?=\"([^\"]+)\"", TEXT))))
def test_what_is_linked_is_there(place: tuple[str, str]) -> None:
    assert (ROOT / "".join(place)).exists()


@pytest.mark.spark
def test_spark_runs(warehouse: Path, spark: object, monkeypatch: pytest.MonkeyPatch) -> None:
    # the session of the tests stands for the one that the README starts
    monkeypatch.setattr(ll.spark, "session", lambda **_: spark)
    assert Path.cwd() == warehouse
    names: dict[str, object] = {"ll": ll}
    for block in list_blocks("python", spark=True):
        run_lines(block, names)
    files = names["files"]
    assert files.count() == len(ll.open("warehouse/shop.db/orders").files)  # type: ignore[attr-defined]
