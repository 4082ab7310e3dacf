"""How verbs end: 0, 1 for a damaged table, 2 for a mistake, 130 interrupted, quietly when the reader leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import lakelens as ll
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
    "html": ["page.html"],
}


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
        ["diff", "sample:iceberg", "main"],
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
    assert (verb.returncode, told, said.strip()) == (130, b"", b"")


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
