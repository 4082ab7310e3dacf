"""How verbs end: 0, 1 for a damaged table, 2 for a mistake, 130 interrupted, quietly when the reader leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.cli.commands import VERBS
from lakelens.options import display
from tests.support.documents import invoke, read_document

LAKELENS = [sys.executable, "-m", "lakelens.cli"]
TABLE_VERBS = {
    "show": [],
    "snapshots": [],
    "manifests": [],
    "files": [],
    "history": [],
    "schema": [],
    "refs": [],
    "findings": [],
    "tree": [],
    "diff": ["nothing", "main"],
    "explain": ["TRUE"],
    "dry-run": [],
    "row": ["FALSE"],
    "sql": ["SELECT * FROM files"],
    "html": ["page.html"],
}


@pytest.fixture(autouse=True)
def without_progress() -> Iterator[None]:
    """No line about how far a reading is: it would come on a slow machine alone."""
    with display.using(progress=False):
        yield


def end(*arguments: str) -> tuple[int, str, str]:
    """A verb's status, output, and its one line on standard error ("" for none)."""
    result = invoke(*arguments)
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    lines = result.stderr.splitlines()
    assert len(lines) <= 1, lines
    if result.exit_code:
        assert lines, "a status that is not 0 is explained"
        assert lines[0].startswith("lakelens: ")
        assert "; try: " in lines[0], "the line says what to do"
    return result.exit_code, result.stdout, "".join(lines)


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("verb", TABLE_VERBS)
def test_a_wrong_path_is_a_mistake(verb: str, form: list[str], tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("none of ours")
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / "letters.txt"):
        status, told, line = end(verb, str(path), *TABLE_VERBS[verb], *form)
        assert (status, told) == (2, "")
        assert str(path) in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "sample:nothing"],
        ["show", "sample:iceberg", "-s", "nothing"],
        ["show", "sample:iceberg", "-s", "12"],
        ["show", "sample:iceberg", "--version", "99"],
        ["show", "sample:paimon", "--version", "1"],
        ["show", "sample:hive", "--branch", "main"],
        ["show", "sample:paimon", "--branch", "nothing"],
        ["show", "sample:paimon", "--format", "delta"],
        ["show", "sample:paimon", "--format", "iceberg"],
        ["show", "sample:paimon", "--storage-option", "anon"],
        ["show", "sample:paimon", "-d", "7"],
        ["files", "sample:iceberg", "--columns", "nothing"],
        ["files", "sample:iceberg", "--where", "nothing=1"],
        ["files", "sample:iceberg", "--where", "nothing"],
        ["diff", "sample:iceberg", "main~9"],
        ["diff", "sample:hive"],
        ["diff", "sample:hive", "1", "2"],
        ["find", "/nowhere/at/all"],
        ["samples", "nothing"],
        ["watch", "sample", "--", "/nowhere/command"],
        ["bytes", "/nowhere/at/all"],
        ["html", "sample:paimon", "/nowhere/at/all/page.html"],
        ["nothing"],
        ["show"],
        ["show", "--nothing", "sample:hive"],
        ["completion", "tcsh"],
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(arguments: list[str]) -> None:
    status, told, _ = end(*arguments)
    assert (status, told) == (2, "")


# of each verb what can be asked wrongly: a name that there is not, a value that is none, a text that is not understood
WRONG: dict[str, list[list[str]]] = {
    "show": [["sample:iceberg", "-s", "0"]],
    "snapshots": [["sample:iceberg", "--limit", "none"]],
    "history": [["sample:iceberg", "--limit", "0"]],
    "diff": [["sample:iceberg", "nothing", "nobody"]],
    "biography": [["sample:iceberg", "nofile"]],
    "row": [["sample:iceberg", "idd = 3"], ["sample:iceberg", "id = 'three'"], ["sample:paimon", "id ="]],
    "manifests": [["sample:iceberg", "-s", "nobody"]],
    "files": [["sample:iceberg", "--where", "partion=1"], ["sample:iceberg", "--columns", "pth"]],
    "schema": [["sample:iceberg", "-s", "nobody"]],
    "refs": [["sample:hive", "--branch", "main"]],
    "tree": [["sample:iceberg", "--version", "99"]],
    "findings": [["sample:iceberg", "--format", "delta"]],
    "check": [["sample:nothing"]],
    "health": [["sample:iceberg", "-d", "9"]],
    "explain": [
        ["sample:iceberg", "idd = 3"],
        ["sample:iceberg", "id LIKE 3"],
        ["sample:iceberg", "1", "-s", "x"],
    ],
    "space": [["sample:iceberg", "--before", "tomorrow"]],
    "sql": [
        ["sample:iceberg", "SELEC 1"],
        ["sample:iceberg", "SELECT pth FROM files"],
        ["sample:iceberg", "SELECT 1", "--engine", "x"],
    ],
    "dry-run": [
        ["sample:iceberg", "expir"],
        ["sample:hive", "expire_snapshots"],
        ["sample:iceberg", "expire_snapshots", "-o", "older_than=tomorrow"],
        ["sample:paimon", "expire_snapshots", "-o", "retain_max=-1"],
        ["sample:iceberg", "expire_snapshots", "-o", "older=2024-01-01"],
        ["sample:iceberg", "rollback_to_snapshot"],
    ],
    "bytes": [["sample:iceberg"], ["sample:iceberg/nothing"], ["sample:iceberg", "--kind", "nothing"]],
    "html": [["sample:iceberg"], ["sample:iceberg", "/nowhere/at/all/page.html"]],
    "serve": [["sample:nothing"], ["/nowhere/at/all"]],
    "mcp": [["sample:nothing"], ["/nowhere/at/all"]],
    "find": [["sample:nothing"], ["sample:iceberg", "--depth", "-1"], ["--catalog", "nothing"]],
    "inventory": [["sample:nothing"]],
    "watch": [["sample:nothing", "--", "true"]],
    "samples": [["icberg"]],
    "demo": [["--nothing"]],
    "completion": [["tcsh"]],
    "skeleton": [["sample:nothing", "target"]],
    "compare": [
        ["sample:iceberg"],
        ["sample:iceberg", "sample:nothing"],
        ["sample:nothing", "sample:iceberg"],
    ],
    "conflict": [["sample:iceberg"], ["sample:iceberg", "no such"], ["sample:nothing", "text"]],
    "advise": [
        ["sample:iceberg"],
        ["sample:iceberg", "-w", "nothing = 3"],
        ["sample:iceberg", "-w", "id = 3", "--target-file-size", "large"],
        ["sample:iceberg", "--predicates", "/no/such/log"],
        ["sample:iceberg", "-w", "id = 3", "--sample", "0"],
        ["sample:hive", "-w", "id = 3"],
    ],
    "what-if": [
        ["sample:iceberg", "-w", "id = 3"],
        ["sample:iceberg", "sort by id"],
        ["sample:iceberg", "sort by id", "--predicates", "/no/such/log"],
        ["sample:iceberg", "sort by nothing", "-w", "id = 3"],
        ["sample:iceberg", "by id", "-w", "id = 3"],
        ["sample:iceberg", "CALL a.system.rewrite_manifests('t')", "-w", "id = 3"],
        ["sample:iceberg", "sort by id", "-w", "nothing = 3"],
        ["sample:iceberg", "sort by id, in files of large", "-w", "id = 3"],
        ["sample:hive", "sort by id", "-w", "id = 3"],
    ],
    "bug": [
        ["sample:iceberg"],
        ["sample:nothing", "report.zip"],
        ["sample:iceberg", "report.zip", "--call", "no such"],
    ],
    "tab": [["/dev/null/folder"]],
    "map": [["sample:iceberg", "-s", "nobody"]],
    "lifetimes": [["hudi"]],
    "exercise": [["nothing"], ["bounds", "--check"]],
    "quiz": [["9"], ["1", "eleven"]],
}


def test_every_verb_calls_what_was_asked_wrongly_a_mistake() -> None:
    assert set(WRONG) == {verb.name for verb in VERBS}
    for verb, cases in WRONG.items():
        for arguments in ([*cases], [["--surely-no-option"]]):
            for words in arguments:
                status, told, _ = end(verb, *words)
                assert (status, told) == (2, ""), (verb, words)


def test_a_snapshot_that_is_not_there_is_a_mistake_however_the_table_is_named(tmp_path: Path) -> None:
    table = ll.sample()["iceberg"].unpack(tmp_path)
    document = max((table / "metadata").glob("*.metadata.json"), key=lambda path: path.name)
    for path in (str(table), f"{table}/", f"file:{table}", str(document)):
        assert end("show", path, "-s", "nobody")[0] == 2, path


def test_a_sample_that_there_is_not_has_its_nearest_names() -> None:
    assert "try: sample:iceberg" in end("show", "sample:icberg")[2]


def test_bytes_of_a_file_of_a_sample() -> None:
    status, told, _ = end("bytes", "sample:paimon/snapshot/snapshot-5")
    assert status == 0
    assert "schemaId" in told


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.name)


DAMAGE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "iceberg metadata cut": ("iceberg", lambda t: [cut(p) for p in (t / "metadata").glob("*.metadata.json")]),  # type: ignore[dict-item,return-value]
    "iceberg list cut": ("iceberg", lambda t: [cut(p) for p in (t / "metadata").glob("snap-*.avro")]),  # type: ignore[dict-item,return-value]
    "iceberg manifests gone": ("iceberg", lambda t: [p.unlink() for p in (t / "metadata").glob("*-m0.avro")]),  # type: ignore[dict-item,return-value]
    "paimon snapshot cut": ("paimon", lambda t: cut(t / "snapshot" / "snapshot-5")),
    "paimon lists gone": ("paimon", lambda t: [p.unlink() for p in (t / "manifest").glob("manifest-list-*")]),  # type: ignore[dict-item,return-value]
    "paimon manifests cut": (
        "paimon",
        lambda t: [cut(p) for p in (t / "manifest").glob("manifest-[0-9a-f]*-0")],
    ),  # type: ignore[dict-item,return-value]
    "paimon schema gone": ("paimon", lambda t: (t / "schema" / "schema-0").unlink()),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_every_verb_on_a_damaged_table(what: str, tmp_path: Path) -> None:
    name, harm = DAMAGE[what]
    table = ll.sample()[name].unpack(tmp_path)
    harm(table)
    statuses = {}
    for verb, more in TABLE_VERBS.items():
        more = [str(tmp_path / word) if word.endswith(".html") else word for word in more]
        for form in ([], ["--json"]):
            status, told, _ = end(verb, str(table), *more, *form)
            statuses[verb] = status
            assert status in (0, 1), (verb, form)
            if told and form:
                assert isinstance(json.loads(told), dict), "what can be read is still told, whole"
    assert statuses["findings"] == 1, "who asks for damage hears of it"
    assert sum(statuses.values()) >= 2


def test_what_can_be_read_is_told_beside_the_damage(tmp_path: Path) -> None:
    table = ll.sample()["iceberg"].unpack(tmp_path)
    gone = next(iter(ll.open(table).current.manifests))  # type: ignore[union-attr]
    Path(gone.path).unlink()
    document = read_document("files", str(table), status=1)
    assert 0 < len(document["files"]) < 7
    assert [finding["severity"] for finding in document["findings"]] == ["error"]
    assert end("snapshots", str(table))[0] == 0, "nothing damaged was asked for"


def test_a_directory_that_may_not_be_read_is_a_problem_of_find(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every directory")
    shutil.copytree(ll.sample("paimon").location, tmp_path / "t")
    (tmp_path / "closed").mkdir(mode=0)
    assert end("find", str(tmp_path))[0] == 1


def test_watch_ends_as_its_command_did(tmp_path: Path) -> None:
    status, told, line = end("watch", str(tmp_path), "--", "sh", "-c", "exit 7")
    assert status == 7
    assert told
    assert "status 7" in line


def test_a_reader_that_leaves_ends_a_verb_quietly() -> None:
    verb = subprocess.Popen(
        [*LAKELENS, "files", "sample:iceberg", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert verb.stdout is not None and verb.stderr is not None
    verb.stdout.close()
    assert verb.stderr.read() == b""
    assert verb.wait() == 0


def test_an_interrupt_ends_a_verb_quietly(tmp_path: Path) -> None:
    started = tmp_path / "started"
    verb = subprocess.Popen(
        [*LAKELENS, "watch", str(tmp_path / "t"), "--", "sh", "-c", f"touch {started}; sleep 60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored where tests run in the background
    )
    while not started.exists():
        time.sleep(0.05)
    os.killpg(verb.pid, signal.SIGINT)
    told, said = verb.communicate()
    assert (verb.returncode, told, said) == (130, b"", b"lakelens: interrupted\n")


def test_help_is_fast_to_load() -> None:
    heavy = [
        "pandas",
        "pyarrow",
        "numpy",
        "polars",
        "datafusion",
        "pyspark",
        "matplotlib",
        "fsspec",
        "jinja2",
        "fastavro",
    ]
    code = (
        "import sys\nfrom lakelens.cli.commands import commands\ncommands.main(['--help'], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "show" in result.stdout
    assert result.stderr.strip() == "[]"
