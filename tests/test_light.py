"""The core needs none of the heavy packages and no thread: without them it answers the same of every sample."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lakelens as ll
from tests.support import LAKES
from tests.support.view_lakes import name_lake

#: Samples with what pyarrow alone decodes: footers of ORC.
ROWS_ARE_READ = frozenset(("hive-orc",))
#: Why the bare core says less of some tables of the lakes, and which have such files: pyarrow alone decodes them.
CAUSES = {"footers, rows and manifests in ORC": ("**/*.orc", r"manifest-orc|pk-orc")}
#: How Roaring's library keeps the union of some small sets, which ours keeps in its own way, and what an answer has read:
#: many files are read by column, each time what is asked for, or one by one, once.
_OWN = re.compile(r"containers: 1  \(1 (array|run)\)|Read: [^\n]*")
LAKES_OF_A_TEST = 4
COMMAND = "is not installed; try: pip install 'lakelens[tables]'"


def run_python(*arguments: str) -> subprocess.Popen[str]:
    """Start a Python on some arguments; its output is kept."""
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a process that has to succeed, for its output."""
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def test_every_sample_is_answered_alike_without_the_packages() -> None:
    """A process that lacks them says of each sample what one that has them says, to the letter."""
    places = {table.name: ll.sample(table.name).location for table in ll.sample()}
    walks = [
        run_python("-m", "tests.support.light", *options, *places.values()) for options in ((), ("--bare",))
    ]
    known, bare = (json.loads(finish(walk)) for walk in walks)
    for name, place in places.items():
        assert len(known[place]) > 10
        others = {
            question for question in known[place] if known[place][question] != bare[place].get(question)
        }
        assert name in ROWS_ARE_READ or not others, (name, sorted(others))


TABLES = sorted(path.as_posix() for path in LAKES.glob("*/**/table"))


def find_cause(place: Path) -> str | None:
    """Find the reason for which the bare core may say less of a table."""
    for cause, (files, names) in CAUSES.items():
        if (files and any(place.glob(files))) or (names and re.search(names, name_lake(place))):
            return cause
    return None


@pytest.mark.exhaustive(keep=30)
@pytest.mark.parametrize(
    "places",
    [TABLES[first : first + LAKES_OF_A_TEST] for first in range(0, len(TABLES), LAKES_OF_A_TEST)],
    ids=lambda places: name_lake(Path(places[0])),
)
def test_every_table_of_the_lakes_is_answered_alike_without_the_packages(places: list[str]) -> None:
    """What differs is said to need a package, and only of tables with what no codec of ours decodes to records."""
    tables = [place for place in places if hasattr(ll.open(place), "snapshots")]  # views have no files
    walks = [run_python("-m", "tests.support.light", *options, *tables) for options in ((), ("--bare",))]
    known, bare = (json.loads(finish(walk)) for walk in walks)
    for place in tables:
        asked = known[place].keys() | bare[place].keys()
        others = {question for question in asked if known[place].get(question) != bare[place].get(question)}
        others = {
            question
            for question in others
            if _OWN.sub("", str(known[place].get(question))) != _OWN.sub("", str(bare[place].get(question)))
        }
        if find_cause(Path(place)):
            assert not others or COMMAND in json.dumps(bare[place]), (place, sorted(others))
        else:
            assert not others, (place, sorted(others))


@pytest.mark.parametrize(
    "asked",
    [
        "ll.sample('iceberg').check()",
        "ll.sample('paimon').health()",
        "ll.sample('hive').space()",
        "ll.sample('iceberg').row('id = 1')",
        "ll.sample('iceberg').snapshots.to_arrow()",
        "next(iter(ll.sample('iceberg').files)).preview()",
    ],
)
def test_what_needs_a_package_says_which_and_the_command(asked: str) -> None:
    """It is `Unsupported`, and an `ImportError` for whoever expects one."""
    script = f"""
from tests.support.light import take_away
take_away()
import lakelens as ll
try:
    {asked}
except (ll.errors.Unsupported, ImportError) as error:
    assert isinstance(error, ll.errors.Unsupported) and isinstance(error, ModuleNotFoundError)
    print(error)
"""
    assert finish(run_python("-c", script)).strip().endswith(COMMAND)


def test_the_command_line_says_it_in_one_line() -> None:
    """A verb ends with the line and the status of what is not read."""
    script = """
import sys
from tests.support.light import take_away
take_away()
from lakelens.cli import main
sys.argv = ["lakelens", "health", sys.argv[1]]
main()
"""
    process = run_python("-c", script, ll.sample("iceberg").location)
    output, errors = process.communicate()
    assert process.returncode == 2 and not output
    assert errors.startswith("lakelens: ") and errors.strip().endswith(COMMAND) and errors.count("\n") == 1


def test_imports_of_others_fail_as_they_do() -> None:
    """Only an import of ours is explained; who asks whether a package is there learns that it is not."""
    script = """
from importlib.util import find_spec
from tests.support.light import take_away
take_away()
import lakelens.installed
assert find_spec("numpy") is None
try:
    import numpy
except ModuleNotFoundError as error:
    print(type(error).__name__, error)
"""
    assert finish(run_python("-c", script)).strip() == "ModuleNotFoundError No module named 'numpy'"
