"""One poisoned table of each format through every output: what it says is shown, and acts on nothing.

Texts, lines and errors are looked at by Unicode category, cards and pages by a strict parser of HTML, widgets by
what they send. The verbs of the command line that tests/cli/test_hostile.py does not ask are asked here, all with --json.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, visible
from lakelens.options import display
from tests.cli.test_hostile import VERBS as LOOKED_AT
from tests.cli.test_hostile import make_hostile
from tests.fuzz.commands import VERBS
from tests.fuzz.known import KNOWN
from tests.fuzz.markup import check_markup
from tests.fuzz.walk import Walk
from tests.support.documents import invoke

FORMATS = ("hive", "iceberg", "paimon")


class Ear:
    """Hears what each step says, and keeps what must not be said."""

    def __init__(self) -> None:
        self.heard = {"text": 0, "markup": 0, "error": 0, "widget": 0}
        self.bad: dict[str, str] = {}

    def __call__(self, step: str, said: Any) -> None:
        if isinstance(said, LakeError):
            self.heard["error"] += 1
            self.listen_text(step, f"{said}\n{said!r}\n{''.join(said._render_traceback_())}")
        elif step.endswith("_repr_html_()"):
            self.listen_markup(step, said, page=False)
        elif isinstance(said, str) and ("to_text(" in step or "show(" in step or step.startswith("repr(")):
            self.listen_text(step, said)
        elif hasattr(said, "get_state"):
            self.heard["widget"] += 1
            for name, value in said.get_state().items():
                if isinstance(value, str) and value.startswith("<"):
                    self.listen_markup(f"{step}.{name}", value, page=False)

    def listen_text(self, step: str, text: str) -> None:
        self.heard["text"] += 1
        if visible(text) != text:
            self.bad[step] = ascii(text[:200])

    def listen_markup(self, step: str, markup: str, *, page: bool) -> None:
        self.heard["markup"] += 1
        try:
            check_markup(markup, page=page)
            assert visible(markup) == markup
        except Exception as error:
            self.bad[step] = f"{type(error).__name__}: {str(error)[:200]!a}"


@pytest.fixture(scope="module", params=FORMATS)
def poisoned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_hostile(request.param, tmp_path_factory.mktemp("poisoned"))


@pytest.mark.exhaustive(keep=3)
def test_every_output_of_a_poisoned_table(poisoned: Path, tmp_path: Path) -> None:
    ear = Ear()
    walk = Walk(random.Random(0), 1.0, tmp_path, most_of_a_kind=1, listen=ear)
    with display.using(strict_views=True):
        walk.run(lambda: ll.open(poisoned))
    for page in tmp_path.glob("*.html"):
        ear.listen_markup(page.name, page.read_text("utf-8"), page=True)
    assert all(ear.heard.values()), f"{ear.heard} were heard in {walk.steps} steps"
    bad = {step: said for step, said in ear.bad.items() if not any(known.search(step) for known in KNOWN)}
    assert not bad
    assert not walk.failures


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in LOOKED_AT])
def test_verbs_obey_nothing(verb: str, poisoned: Path, tmp_path: Path) -> None:
    _ask(verb, poisoned, tmp_path)


@pytest.mark.parametrize("verb", VERBS)
def test_json_is_ascii(verb: str, poisoned: Path, tmp_path: Path) -> None:
    _ask(verb, poisoned, tmp_path, "--json")


def test_markup_that_acts_is_found() -> None:
    """The parser that the outputs are looked at with finds what it is for."""
    planted = (
        "<p><script>x</script></p>",
        "<p onclick='x'>a</p>",
        '<p style="background:url(x)">a</p>',
        '<a href="https://host/">a</a>',
        '<img src="https://host/x">',
        '<p class="other">a</p>',
        "<p><!-- a --></p>",
        "<p>a</div>",
    )
    for markup in planted:
        with pytest.raises(Exception):  # noqa: B017
            check_markup(markup)
    check_markup('<p class="ll-a" style="width:3px">a</p>')


def _ask(verb: str, table: Path, tmp_path: Path, *options: str) -> None:
    arguments = [str(tmp_path / one[1:]) if one.startswith("@") else one for one in VERBS[verb]]
    place = next(path for path in sorted(table.rglob("*")) if path.is_file()) if verb == "bytes" else table
    result = invoke(verb, str(place), *arguments, *options)
    assert result.exit_code in (0, 1, 2), result.exception
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert visible(result.stderr) == result.stderr
    assert visible(result.stdout) == result.stdout
    if options and result.exit_code != 2:
        assert result.stdout.isascii()
        json.loads(result.stdout)
