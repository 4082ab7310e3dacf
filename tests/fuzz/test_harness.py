"""The harness finds what it is for: each kind of failure is planted once."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

import lakelens as ll
from lakelens.display import Named
from lakelens.views.names import list_hidden
from tests.fuzz.choose import list_edits
from tests.fuzz.mutate import HOWS, Impossible, change, find_file
from tests.fuzz.parent import Walker
from tests.fuzz.recipes import Recipe, list_lakes, read_lake
from tests.fuzz.structure import SUBJECTS
from tests.fuzz.walk import ARGUMENTS, UNWALKED

PLANTED = {
    "raise": "KeyError",
    "write": "writes or leaves: open",
    "remove": "writes or leaves: os.remove",
    "run": "writes or leaves: os.system",
    "memory": "MemoryError",
    "to_text()": "text with '\\x1b'",
    "spin": "StepTooLong",
    "die": "died",
    "sleep": "killed: waits",
}


@pytest.fixture(scope="module")
def walker() -> Iterator[Walker]:
    with Walker(step_seconds=2.0, waits_for=3.0) as made:
        yield made


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("fault", PLANTED)
def test_what_is_planted_is_found(fault: str, walker: Walker) -> None:
    result = walker.walk(Recipe("hive", steps=[f"planted.{fault}"]))
    assert [failure["cause"] for failure in result.failures if PLANTED[fault] in failure["cause"]]


def test_a_process_that_died_is_replaced(walker: Walker) -> None:
    before = walker.started
    assert walker.walk(Recipe("hive", steps=["planted.die"])).failures
    result = walker.walk(Recipe("hive", share=0.0))
    assert result.steps and not result.failures
    assert walker.started > before


def test_a_table_is_put_right_before_the_next_case(walker: Walker) -> None:
    documents = [{"file": "metadata/*.metadata.json", "place": place} for place in range(6)]
    broken = walker.walk(
        Recipe("iceberg", [{**one, "how": "content", "value": "empty"} for one in documents], share=0.0)
    )
    gone = walker.walk(
        Recipe("iceberg", [{**one, "how": "place", "do": "directory"} for one in documents], share=0.0)
    )
    whole = walker.walk(Recipe("iceberg", share=0.0))
    assert whole.steps > 5 * max(broken.steps, gone.steps) > 0
    assert not whole.failures


def test_what_cannot_be_done_is_said(walker: Walker) -> None:
    edit = {"file": "no such", "place": 0, "how": "content", "value": "empty"}
    assert "no file" in walker.walk(Recipe("hive", [edit])).impossible


def walk_kinds(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from walk_kinds(one)


def test_every_verb_has_its_arguments() -> None:
    """A new verb that needs arguments is given some in `ARGUMENTS`, or a reason in `UNWALKED`."""
    for name in ("hive", "iceberg", "paimon"):
        table = ll.sample(name)
        _ = table.check(), table.health(), table.space(), table.tree(), table.history, table.explain("TRUE")
    bare = set()
    for kind in set(walk_kinds(Named)):
        for name in set(dir(kind)) - list_hidden(kind) - UNWALKED:
            owner = next((one for one in kind.__mro__ if name in vars(one)), kind)
            held = vars(owner).get(name)
            keys = (name, *(f"{one.__name__}.{name}" for one in kind.__mro__))
            if name.startswith("_") or not inspect.isfunction(held) or any(key in ARGUMENTS for key in keys):
                continue
            needed = [
                one
                for one in list(inspect.signature(held).parameters.values())[1:]
                if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
            ]
            if needed and owner.__module__.startswith("lakelens"):
                bare.add(f"{owner.__name__}.{name}")
    assert not bare


def test_every_kind_of_edit_changes_something() -> None:
    """Of each way to change a file some systematic case does change the file."""
    done = dict.fromkeys([*HOWS, "place"], 0)
    for lake in ("iceberg-statistics", "paimon", "hive-orc", "delta/rs/appends"):
        files = read_lake(lake)
        for edit in list_edits(lake)[::7]:
            if edit["how"] == "place":
                done["place"] += 1
                continue
            name = find_file(list(files), edit)
            try:
                done[edit["how"]] += change(files[name], edit) != files[name]
            except Impossible:
                continue
    chance = {"bytes", "parquet", "orc", *SUBJECTS}  # of subjects test_structure says it
    assert all(count for how, count in done.items() if how not in chance), done
    data = {name: held for lake in ("hive", "hive-orc") for name, held in read_lake(lake).items()}
    puts = {"puts": [[3, 1, "ff"], [-9, 2, ""]]}
    for how, ending in (("bytes", ""), ("parquet", ".parquet"), ("orc", "orc")):
        held = next(held for name, held in sorted(data.items()) if held and name.endswith(ending))
        assert change(held, {"how": how, **puts}) != held


def test_there_are_many_lakes() -> None:
    assert len(list_lakes()) > 200
