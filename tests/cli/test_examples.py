"""Every example of the help texts and of docs/cli.md runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lakelens.cli.commands import VERBS, commands
from tests.support.documents import invoke

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
# what needs Spark or a warehouse of one's own; `test_commands.py` runs the demo
_ELSEWHERE = (
    "lakelens demo",
    "s3://",
    "spark-sql",
    "lakelens find warehouse",
    "lakelens bytes FILE",
    "lakelens inventory",
    "lakelens serve",
    "lakelens mcp",
)


def list_help_examples() -> list[str]:
    """The examples at the end of each help text."""
    texts = [commands.epilog or "", *(verb.epilog or "" for verb in VERBS)]
    found = [example.strip() for text in texts for example in text.split("·") if example.strip()]
    return [example for example in found if not any(word in example for word in _ELSEWHERE)]


def list_page_examples() -> list[str]:
    """The commands of the page, in order."""
    return re.findall(r"^\$ (lakelens .*)$", PAGE.read_text("utf-8"), re.MULTILINE)


def run(example: str) -> str:
    """What an example tells; one that goes through a pipe is run without it."""
    result = invoke(*shlex.split(example.partition(" | ")[0])[1:])
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    assert result.exit_code == 0, (example, result.stderr)
    return result.stdout


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("example", list_help_examples())
def test_examples_of_the_help(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(example)


def test_examples_of_the_page_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = list_page_examples()
    assert len(examples) > 20
    for example in examples:
        assert run(example), example


def test_the_page_tells_every_verb() -> None:
    text = PAGE.read_text("utf-8")
    for verb in VERBS:
        assert f"`{verb.name}" in text or verb.name == "inventory", verb.name


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: str(verb.name))
def test_the_help_of_each_verb(verb: object) -> None:
    name = str(getattr(verb, "name", ""))
    told = invoke(name, "--help").stdout
    assert f"lakelens {name}" in told.replace("commands", "lakelens")
    assert (getattr(verb, "help", "") or "").split()[0] in told
