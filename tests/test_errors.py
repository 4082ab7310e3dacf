"""Errors as a reader meets them: a card of text where they are raised, a card where they are values, near names in both."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.errors import Corrupt, LakeError, Missing, NotATable, Unsupported
from lakelens.io.local import find_neighbours
from lakelens.views.card.wording import visible
from lakelens.views.cards.finding import mark_span
from lakelens.views.render.html import render_card
from tests.support.unpacked import unpack_samples
from tests.views.test_hostile import HOSTILE, check_markup

SAMPLES = unpack_samples()
ESCAPE = "\x1b"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """The one shell that `get_ipython` gives, as in a notebook."""
    made = InteractiveShell.instance()
    made.colors = "nocolor"
    made.run_cell("import lakelens as ll")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A database of three tables."""
    for name in ("hive", "iceberg", "paimon"):
        shutil.copytree(SAMPLES / name, tmp_path / "shop.db" / name)
    return tmp_path


def say(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str) -> list[str]:
    """What a cell that fails shows."""
    capsys.readouterr()
    assert not shell.run_cell(cell).success
    return capsys.readouterr().out.rstrip("\n").split("\n")


# raised


def test_a_raised_error_fits_on_a_screen_and_tb_has_the_frames(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    said = say(shell, capsys, "ll.sample('iceberg').explain(\"id > 3 AND nmae = 'a'\")")
    assert said == [
        "Missing: there is no column 'nmae' (at character 12)",
        "",
        "  id > 3 AND nmae = 'a'",
        "             ^^^^",
        "  try  did you mean name?",
        "  full traceback: %tb",
    ]
    shell.run_line_magic("tb", "")
    frames = capsys.readouterr().out
    assert (
        "Traceback (most recent call last)" in frames and "conditions.py" in frames and "Cell In[" in frames
    )
    said = say(shell, capsys, "ll.open('/nowhere')")
    assert said == ["Missing: no such file or directory", "  where  /nowhere", "  full traceback: %tb"]


def test_a_damaged_place_has_its_bytes(shell: InteractiveShell) -> None:
    error = Corrupt("not an Avro file", path="m0.avro", offset=0, expected="magic Obj", seen="PAR1")
    assert error._render_traceback_() == [
        "Corrupt: not an Avro file",
        "  where     m0.avro, byte 0",
        "  seen      PAR1",
        "  expected  magic Obj",
        "  full traceback: %tb",
    ]
    long = LakeError("word " * 200, hint="name " * 200)
    assert all(len(line) <= 100 for line in long._render_traceback_()) and long.hint
    assert sum(line.count("name") for line in long._render_traceback_()) == 200, "all of it is there"


def test_a_cause_is_one_line() -> None:
    error = LakeError("the query cannot be run")
    error.__cause__ = ValueError("first\nsecond")
    assert "  because  ValueError: first" in error._render_traceback_()
    error.__cause__ = ValueError("the query cannot be run: at all")
    assert not any("because" in line for line in error._render_traceback_())


def test_only_a_shell_with_colors_has_them(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    error = Missing("gone")
    assert ESCAPE not in "".join(error._render_traceback_())
    shell.colors = "linux"
    assert error._render_traceback_()[0].startswith(f"{ESCAPE}[1;31mMissing{ESCAPE}[0m: gone")
    monkeypatch.setattr(shell, "kernel", object(), raising=False)  # a notebook's ground is red
    assert error._render_traceback_()[0].startswith(f"{ESCAPE}[1mMissing{ESCAPE}[0m: gone")


def test_no_word_of_a_lake_is_obeyed(shell: InteractiveShell) -> None:
    for word in HOSTILE:
        error = Corrupt(word, path=word, json_path=word, expected=word, seen=word, hint=word)
        error.sql, error.span = word, (0, 3)
        error.__cause__ = ValueError(word)
        lines = [*error._render_traceback_(), *str(error).split("\n"), error.to_text(3)]
        error.is_brief = True
        lines += error._render_traceback_()
        assert all(visible(line) == line for line in lines)
        check_markup(render_card(error, 3))


def test_a_magic_says_one_line(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_line_magic("load_ext", "lakelens")
    assert say(shell, capsys, "%lakelens /nowhere") == ["Missing: /nowhere: no such file or directory"]
    shell.run_line_magic("tb", "")
    assert "Traceback (most recent call last)" in capsys.readouterr().out


def test_a_plain_interpreter_has_a_plain_traceback() -> None:
    script = "import lakelens as ll\nll.open('/nowhere')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.startswith("Traceback (most recent call last)")
    assert done.stderr.endswith("lakelens.errors.Missing: /nowhere: no such file or directory\n")


# as values


def test_an_error_that_is_a_value_has_a_card() -> None:
    try:
        ll.open(SAMPLES / "nothing")
    except LakeError as error:
        markup = error._repr_html_()
        assert (
            re.search(r'<h4 class="ll-r"[^>]*>Missing</h4>', markup) and "no such file or directory" in markup
        )
        assert "1 frame of yours, " in markup and "of lakelens" in markup
        assert "lakelens/opening.py" in error.to_text(3) and str(
            Path(ll.__file__).parent
        ) not in error.to_text(3)
    else:
        pytest.fail("there is something")


@pytest.mark.parametrize(
    ("sql", "span", "shown"),
    [
        ("a = 1", None, "a = 1"),
        ("a = 1\n AND b = 2\n", (11, 12), " AND b = 2\n     ^"),
        ("x", (1, 1), "x\n ^"),
        ("\ta", (1, 2), f"⟨U+0009⟩a\n{' ' * 8}^"),
    ],
)
def test_the_wrong_part_is_marked(sql: str, span: tuple[int, int] | None, shown: str) -> None:
    assert mark_span(sql, span) == shown


def test_the_wrong_part_of_a_long_line_is_in_sight() -> None:
    line, carets = mark_span("a = 1 AND " * 100 + "b = 2", (1_000, 1_001)).split("\n")
    assert len(line) < 100 and line[carets.index("^")] == "b"


# near names


def test_a_misspelt_path_has_a_near_one(warehouse: Path) -> None:
    for wrong, right in (("shop.db/icberg", "shop.db/iceberg"), ("shp.db/hive", "shop.db/hive")):
        with pytest.raises(Missing) as raised:
            ll.open(warehouse / wrong)
        assert raised.value.hint == f"did you mean {warehouse / right}?"
    for path in ("shop.db/xyz", "shop.db/iceberg/metadata/v1.metadata.json/x"):
        with pytest.raises(Missing) as raised:
            ll.open(warehouse / path)
        assert raised.value.hint is None


def test_looking_for_near_paths_is_bounded(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"t{number}").mkdir()
    assert len(find_neighbours(str(tmp_path / "t"), most=10)[3]) == 10


def test_a_directory_of_tables_says_so(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotATable) as raised:
        ll.open(warehouse)
    error = raised.value
    assert (error.message, error.path) == ("not a table: it holds 3 tables", str(warehouse))
    assert error.hint == f"lakelens.find({str(warehouse)!r}) lists them"
    assert "looked for" not in str(error) and error.__suppress_context__
    monkeypatch.setattr("lakelens.walking._LOOKED_AT", 3)
    with pytest.raises(NotATable, match="it holds at least 1 table"):
        ll.open(warehouse)
    (warehouse / "empty").mkdir()
    with pytest.raises(NotATable, match=r"looked for delta: .*; hive: "):
        ll.open(warehouse / "empty")


def test_names_have_near_ones() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(Unsupported, match=r"did you mean iceberg\?"):
        ll.open(table.location, format="icberg")
    with pytest.raises(Missing, match=r"did you mean iceberg or iceberg-v4\?"):
        ll.sample("icebrg")
    with pytest.raises(Missing, match=r"did you mean main\?"):
        table.snapshot("mian")
    wrong = table.snapshots[1].id + 1
    with pytest.raises(Missing, match=rf"did you mean {wrong - 1}\?"):
        table.snapshot(wrong)
    with pytest.raises(Missing, match=f"one of .*{table.snapshots[-1].id}, main"):
        table.snapshot("nothing like it")


def test_branches_and_columns_have_near_ones() -> None:
    for name in ("paimon-branches", "iceberg-branches"):
        with pytest.raises(Missing, match=r"no branch 'audt'; try: did you mean audit\?"):
            ll.open(SAMPLES / name, branch="audt")
    with pytest.raises(KeyError, match=r"no column 'sise_bytes'; did you mean size_bytes\?"):
        ll.sample("iceberg").files.to_arrow(columns=["sise_bytes"])


def test_a_choice_that_fails_has_a_line_in_a_terminal() -> None:
    chosen = ll.sample("iceberg").files.where(lambda file: file.nope)  # type: ignore[attr-defined]
    assert (
        repr(chosen)
        == "<FileSet that cannot be read: AttributeError: 'IcebergDataFile' object has no attribute 'nope'>"
    )
    with pytest.raises(TypeError, match=r"did you mean partition\?"):
        ll.sample("iceberg").files.where(partion="x")


def test_the_command_line_says_one_line(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path, said in (
        (
            warehouse,
            f"lakelens: {warehouse}: not a table: it holds 3 tables; try: lakelens find '{warehouse}'\n",
        ),
        (
            warehouse / "shop.db" / "icberg",
            f"lakelens: {warehouse}/shop.db/icberg: no such file or directory; "
            f"try: did you mean {warehouse}/shop.db/iceberg?\n",
        ),
    ):
        with pytest.raises(SystemExit) as ended:
            commands.main(["show", str(path)])
        assert ended.value.code == 2 and capfd.readouterr().err == said


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
def test_a_query_has_the_nearest_names_alone(engine: str) -> None:
    pytest.importorskip(engine)
    table = ll.sample("iceberg")
    for query, right, marked in (
        ("SELECT sise_bytes FROM files", "size_bytes", (7, 17)),
        ("SELECT path FROM fils", "files", (17, 21)),
    ):
        with pytest.raises(LakeError) as raised:
            table.sql(query, engine=engine)  # type: ignore[arg-type]
        assert str(raised.value.hint).startswith(f"did you mean {right}? The views are snapshots,")
        assert raised.value.span == marked
        assert str(raised.value).count("recorded_path") == 0


# formats


def test_a_package_without_metadata_opens_tables(tmp_path: Path) -> None:
    """From a zip file on the path, where no entry point names the formats."""
    package = Path(ll.__file__).parent
    archive = tmp_path / "lakelens.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in package.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                packed.write(path, path.relative_to(package.parent))
    script = """
import importlib.metadata
importlib.metadata.entry_points = lambda **options: ()
import lakelens as ll
assert ".zip" in ll.__file__, ll.__file__
for name in ("hive", "iceberg", "paimon"):
    table = ll.sample(name)
    print(table.format, len(table.files) > 0, "ll-root" in table._repr_html_(), table.format in table.to_text())
"""
    command = [sys.executable, "-c", script]
    environment = {"PYTHONPATH": str(archive), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.stdout.splitlines() == [f"{name} True True True" for name in ("hive", "iceberg", "paimon")], (
        done.stderr
    )
