"""The magics, without an engine: a stand-in for the session does to a directory what its statements say."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Timer
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql.types import LongType, StructField, StructType

import lakelens as ll
from lakelens import magics, progress
from lakelens.errors import Interrupted, Unsupported
from lakelens.magics import split_statements
from lakelens.views.card.wording import size
from tests.support.stages import Stages, check_plainly, list_plainly


class Frame:
    """What a statement gave: a row for each number, as PySpark 4 hands it out."""

    def __init__(self, columns: list[str], rows: int = 1) -> None:
        self.columns, self.rows = columns, rows
        self.schema = StructType([StructField(name, LongType()) for name in columns])

    def limit(self, most: int) -> Frame:
        return Frame(self.columns, min(self.rows, most))

    def toArrow(self) -> pa.Table:  # noqa: N802
        return pa.table([pa.array(range(self.rows), pa.int64()) for _ in self.columns], names=self.columns)


class Session:
    """Runs `INSERT n` and `SELECT n` on a table of stages; anything else fails."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.ran: list[str] = []
        self.is_cancelled = Event()
        self.sparkContext = self

    def cancelAllJobs(self) -> None:  # noqa: N802
        self.is_cancelled.set()

    def statusTracker(self) -> Any:  # noqa: N802
        stages = {1: SimpleNamespace(numTasks=30, numCompletedTasks=17), 2: None}
        return SimpleNamespace(getActiveStageIds=lambda: list(stages), getStageInfo=stages.get)

    def sql(self, statement: str) -> Frame:
        self.ran.append(statement)
        if statement.startswith("SELECT"):
            return Frame(["a", "b"], int(statement.split()[-1]))
        if statement == "WAIT":
            self.is_cancelled.wait(20)
            raise ValueError("the job was cancelled")
        if "INSERT" not in statement:
            raise ValueError(
                f"[NO_SUCH] cannot run {statement}; line 1 pos 2;\n'Project [*]\n+- 'Plan of it\n"
            )
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
    assert first.startswith("Trace: INSERT wrote ") and first.endswith(" B, and rewrote 1")
    assert session.ran == [sql]


def test_several_statements_are_told_apart(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["place"] = session.stages.path
    shell.run_cell_magic(
        "laketrace", "place -o done -d 0", "INSERT 2; /* ; */ INSERT 3; SELECT 1;\n-- the end;"
    )
    assert [commit.name for commit in shell.user_ns["done"].snapshots] == ["snapshot 2", "snapshot 3"]
    assert len(session.ran) == 3
    assert capsys.readouterr().out.splitlines()[-1].startswith("INSERT and SELECT wrote ")


def test_one_sentence_says_what_a_statement_did(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["place"] = session.stages.path
    shell.run_cell_magic("laketrace", "place -o done -d 0", "INSERT 2")
    (said,) = capsys.readouterr().out.splitlines()
    created = shell.user_ns["done"].created
    assert said == f"INSERT wrote {len(created)} files, {size(created.size_bytes)}, and rewrote 1"


def test_rows_of_a_query_are_a_card(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["table"] = ll.open(session.stages.path)
    shell.run_cell_magic("laketrace", "table", "SELECT 1")
    told = capsys.readouterr().out
    assert told.startswith("SELECT: 1 row, 2 columns\n  a  b\n  0  0\nTrace: SELECT touched no file\n")
    shell.run_cell_magic("laketrace", "table", "SELECT 1000")
    told = capsys.readouterr().out
    assert told.startswith("SELECT: the first 20 rows, 2 columns\n") and "\n  19  19\n" in told


def test_what_a_failing_cell_did_is_kept(
    shell: InteractiveShell, session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["place"] = session.stages.path
    with pytest.raises(ValueError, match="cannot run NONSENSE") as raised:
        shell.run_cell_magic("laketrace", "place -o done", "INSERT 2; NONSENSE")
    assert len(shell.user_ns["done"].snapshots) == 1
    assert "(it raised ValueError: [NO_SUCH] cannot run NONSENSE; line 1 pos 2;)" in capsys.readouterr().out
    assert raised.value._render_traceback_() == [  # type: ignore[attr-defined]
        "ValueError: [NO_SUCH] cannot run NONSENSE; line 1 pos 2",
        "  full traceback: %tb",
    ]


def test_a_running_statement_says_how_far_it_is_and_can_be_stopped(
    shell: InteractiveShell,
    session: Session,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background begins without it
    shell.user_ns["place"] = session.stages.path
    timer = Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(
        Interrupted, match=r"WAIT was stopped after \d s; what it had committed stays"
    ) as raised:
        shell.run_cell_magic("laketrace", "place -o done", "INSERT 2; WAIT")
    assert session.is_cancelled.is_set() and raised.value._render_traceback_()[0].startswith(
        "Interrupted: WAIT"
    )
    assert len(shell.user_ns["done"].snapshots) == 1
    said = capsys.readouterr()
    assert "lakelens: WAIT is running, 0 s, 17 of 30 tasks; interrupt to stop" in said.err.splitlines()
    assert "it raised Interrupted" in said.out


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
