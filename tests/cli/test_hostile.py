"""Names from a lake never act on a terminal: paths, columns, properties, refs, partitions, operations, whole verbs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

import lakelens as ll
from tests.support.documents import invoke, read_document

NAME = "[red]\x1b[31m\x1b]0;owned\x07\u202egpj\u2066:smile:\x9b1m\ttab"
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
VERBS = {
    "show": ["-d", "3"],
    "snapshots": [],
    "manifests": [],
    "files": ["--columns", "all"],
    "history": [],
    "schema": ["--all"],
    "refs": [],
    "findings": [],
    "tree": [],
    "explain": ["TRUE"],
    "dry-run": [],
    "sql": ["SELECT * FROM snapshots"],
    "diff": ["nothing", "main", "-d", "3"],
}


def replace_words(held: object) -> object:
    """A metadata document in which whatever is a name is hostile."""
    if isinstance(held, dict):
        hostile = {key: replace_words(value) for key, value in held.items()}
        for key in ("operation", "doc"):
            if key in hostile:
                hostile[key] = NAME
        if "name" in hostile and "type" in hostile:
            hostile["name"] = f"{NAME}{hostile['name']}"
        for key in ("properties", "summary", "options"):
            if isinstance(hostile.get(key), dict):
                hostile[key] = {**hostile[key], NAME: NAME}
        if isinstance(hostile.get("refs"), dict) and "main" in hostile["refs"]:
            hostile["refs"] = {**hostile["refs"], NAME: {**hostile["refs"]["main"], "type": "tag"}}
        return hostile
    return [replace_words(item) for item in held] if isinstance(held, list) else held


def make_hostile(name: str, place: Path) -> Path:
    """A copy of a sample below a hostile directory, with hostile names within."""
    table = ll.sample()[name].unpack(place / NAME)
    for path in (
        *table.glob("metadata/*.metadata.json"),
        *table.glob("snapshot/snapshot-*"),
        *table.glob("schema/*"),
    ):
        document = replace_words(json.loads(path.read_text("utf-8")))
        if isinstance(document, dict) and "commitUser" in document:
            document["commitUser"] = NAME
        path.write_text(json.dumps(document))
    (table / f"{NAME}.parquet").write_bytes(b"PAR1")
    if name == "hive":
        folder = table / f"dt={NAME}"
        folder.mkdir()
        (folder / "part-00000.parquet").write_bytes(next(table.rglob("*.snappy.parquet")).read_bytes())
    return table


def check(text: str) -> None:
    """Nothing is obeyed; the name itself is there to be read."""
    assert all(character == "\n" or character.isprintable() for character in text), repr(text)
    assert "\u202e" not in text


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_pipe_gets_no_control_character(verb: str, name: str, tmp_path: Path) -> None:
    if name == "hive" and verb == "diff":
        pytest.skip("a Hive table has no two snapshots to compare")
    table = make_hostile(name, tmp_path)
    result = invoke(verb, str(table), *VERBS[verb])
    assert result.exit_code in (0, 1), result.stderr
    check(result.stdout)
    check(result.stderr)
    if verb in ("show", "tree", "files"):
        assert "[red]" in result.stdout, "rich markup is text"
        assert "⟨U+001B⟩" in result.stdout


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", [60, 200])
def test_a_terminal_gets_styles_of_ours_alone(
    verb: str, name: str, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "hive" and verb == "diff":
        pytest.skip("a Hive table has no two snapshots to compare")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(width))
    assert Console().is_terminal
    told = invoke(verb, str(make_hostile(name, tmp_path)), *VERBS[verb]).stdout
    check(_STYLE.sub("", told))


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_json_escapes_and_keeps_the_name(name: str, tmp_path: Path) -> None:
    table = make_hostile(name, tmp_path)
    files = read_document("tree", str(table))["files"]
    assert f"{NAME}.parquet" in [file["relative_path"] for file in files]
    assert "\\u202e" in invoke("tree", str(table), "--json").stdout


def test_other_verbs(tmp_path: Path) -> None:
    table = make_hostile("paimon", tmp_path)
    for arguments in (
        ["find", str(tmp_path)],
        ["bytes", str(table / "schema" / "schema-0")],
        ["html", str(table), str(tmp_path / f"{NAME}.html")],
        ["watch", str(table), "--", "touch", str(table / f"{NAME}2")],
        ["show", str(tmp_path / NAME / "nowhere")],
        ["show", str(table), "-s", NAME],
        ["files", str(table), "--where", f"{NAME}=1"],
    ):
        result = invoke(*arguments)
        assert result.exit_code in (0, 2)
        check(result.stdout)
        check(result.stderr)
