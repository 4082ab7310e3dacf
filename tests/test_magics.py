"""The magics, without an engine: a stand-in for the session does to a directory what its statements say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import lakelens as ll
from lakelens import magics
from lakelens.errors import Unsupported
from lakelens.magics import split_statements
from tests.support.stages import Stages, check_plainly, list_plainly


class Frame:
    """What a statement gave."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns

    def show(self) -> None:
        print(f"rows of {', '.join(self.columns)}")


class Session:
    """Runs `GO n` on a table of stages; anything else fails."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.ran: list[str] = []

    def sql(self, statement: str) -> Frame:
        self.ran.append(statement)
        if statement.startswith("SELECT"):
            return Frame(["a", "b"])
        if "INSERT" not in statement:
            raise ValueError(f"cannot run {statement}")
        self.stages.go(int(statement.split()[-1]))
        return Frame([])


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    made = InteractiveShell()
    made.run_line_magic("load_ext", "lakelens")
    yield made


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    stages = Stages("spark/paimon/changelog-input", tmp_path / "my table")
    stages.go(1)
    made = Session(stages)
    monkeypatch.setattr(magics, "get_session", lambda: made)
    return made


def test_a_trace_is_shown_and_kept(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    place = session.stages.path
    before = list_plainly(place)
    sql = "-- why\nINSERT INTO t 2"
    shell.run_cell_magic("laketrace", f"'{place}' --output done", sql)
    check_plainly(before, list_plainly(place), shell.user_ns["done"])
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("Trace: INSERT wrote ") and first.endswith(" bytes, and rewrote 1")
    assert session.ran == [sql]


def test_several_statements_are_told_apart(shell: InteractiveShell, session: Session) -> None:
    shell.user_ns["place"] = session.stages.path
    shell.run_cell_magic("laketrace", "place -o done -d 0", "INSERT 2; /* ; */ INSERT 3;\n-- the end;")
    assert [commit.name for commit in shell.user_ns["done"].snapshots] == ["snapshot 2", "snapshot 3"]
    assert len(session.ran) == 2


def test_rows_of_a_query_are_printed(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["table"] = ll.open(session.stages.path)
    shell.run_cell_magic("laketrace", "table", "SELECT 1")
    told = capsys.readouterr().out
    assert told.startswith("rows of a, b\nTrace: SELECT touched no file\n")


def test_what_a_failing_cell_did_is_kept(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["place"] = session.stages.path
    with pytest.raises(ValueError, match="cannot run NONSENSE"):
        shell.run_cell_magic("laketrace", "place -o done", "INSERT 2; NONSENSE")
    assert len(shell.user_ns["done"].snapshots) == 1
    assert "(it raised ValueError: cannot run NONSENSE)" in capsys.readouterr().out


def test_without_a_session_it_says_so(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))
    with pytest.raises(Unsupported, match="no Spark session is running"):
        shell.run_cell_magic("laketrace", str(tmp_path), "SELECT 1")


def test_arguments_are_checked(shell: InteractiveShell, session: Session) -> None:
    with pytest.raises(UsageError):
        shell.run_cell_magic("laketrace", "", "SELECT 1")
    with pytest.raises(UsageError):
        shell.run_cell_magic("laketrace", "x -o not-a-name", "SELECT 1")
    with pytest.raises(UsageError):
        shell.run_line_magic("lakelens", "x -d 9")
    assert session.ran == []


def test_a_table_is_shown(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    table = ll.sample("iceberg")
    shell.run_line_magic("lakelens", table.location)
    assert capsys.readouterr().out.rstrip("\n") == ll.open(table.location).to_text()
    shell.user_ns["table"] = table
    shell.run_line_magic("lakelens", f"table -s {table.snapshots[0].id} -d 0")
    assert capsys.readouterr().out.strip() == repr(table.snapshots[0])


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("", 0),
        (" ;; \n; -- nothing\n/* at ; all */", 0),
        ("SELECT 'it''s; one'", 1),
        (r"SELECT 'it\'s; one'", 1),
        ('SELECT "a;b"; SELECT 2', 2),
        ("SELECT `a;b`", 1),
        ("SELECT 1 -- 'open; quote\n; SELECT 2", 2),
        ("SELECT 1 /* 'open; /* ; */ ; */; SELECT 2", 2),
        ("SELECT 1 /* never closed ; SELECT 2", 1),
        ("SELECT 'never closed ; 2", 2),
    ],
)
def test_statements_are_split(sql: str, count: int) -> None:
    assert len(split_statements(sql)) == count


_PARTS: dict[str, Callable[[str], str]] = {
    "text": lambda t: "'" + t.replace("\\", "\\\\").replace("'", "\\'") + "'",
    "name": lambda t: "`" + t.replace("`", "") + "`",
    "line": lambda t: "--" + t.replace("\n", "") + "\n",
    "block": lambda t: "/*" + t.replace("*", "").replace("/", "") + "*/",
}


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(sorted(_PARTS)), st.text(";'\"`-*/\\ \nab", max_size=6)), max_size=4
        ),
        max_size=4,
    )
)
def test_what_was_joined_is_split(statements: list[list[tuple[str, str]]]) -> None:
    made = ["SELECT " + " ".join(_PARTS[kind](text) for kind, text in parts) for parts in statements]
    assert split_statements(";".join(made)) == [one.strip() for one in made]


def test_loading_the_package_loads_no_ipython() -> None:
    import subprocess
    import sys

    script = "import lakelens.magics, lakelens.watching, sys\nprint('IPython' in sys.modules, 'pyspark' in sys.modules)"
    told: Any = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "False"]
