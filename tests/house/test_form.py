"""Form: what CONTRIBUTING asks of functions, names and doors is counted here and may only shrink.

A ceiling is one line of `ceilings.toml`; `python -m tests.house.figures --list NAME` lists what counts towards it, and
`--lower` lowers what has become less.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.house import figures
from tests.house.tree import Tree, read_tree

SLACK = 0.03  # how far a count may be above its ceiling
RULES = {
    "long-functions": figures.MOST_LINES,
    "class-names": figures.MOST_MEANINGS,
    "basenames": figures.MOST_BASENAMES,
}
LOOSE = 0.10  # how far a ceiling may be above its count before it has to be lowered


@cache
def count() -> dict[str, Any]:
    """Count once for all tests."""
    return figures.count_ceilings(read_tree())


CEILINGS = figures.read_ceilings()


def find_excess(
    counts: Mapping[str, int], ceilings: Mapping[str, int], rule: int = 0, slack: float = 0.0
) -> dict[str, str]:
    """Find the counts above their ceilings; what has no ceiling of its own has the rule's."""
    return {
        name: f"{number}, at most {ceilings.get(name, rule)}"
        for name, number in counts.items()
        if number > ceilings.get(name, rule) * (1 + slack)
    }


def find_additions(
    circles: list[dict[str, str]], ceilings: list[dict[str, str]], slack: float = 0.0
) -> list[set[str]]:
    """Find the modules of each circle that are not in the ceiling that it has most in common with."""
    known = [set(circle["modules"].split()) for circle in ceilings]
    additions = []
    for circle in circles:
        names = set(circle["modules"].split())
        ceiling = max(known, key=names.intersection, default=set())
        if len(names - ceiling) > len(ceiling) * slack:
            additions.append(names - ceiling)
    return additions


@pytest.mark.parametrize("name", figures.NUMBERS)
def test_a_number_keeps_below_its_ceiling(name: str) -> None:
    """Hooks, forwarders, hidden names and once-used helpers may become fewer."""
    number = {name: count()["numbers"][name]}
    assert not find_excess(number, CEILINGS["numbers"], slack=SLACK), (
        f"python -m tests.house.figures --list {name}"
    )


@pytest.mark.parametrize(("table", "rule"), RULES.items())
def test_a_name_keeps_below_its_ceiling(table: str, rule: int) -> None:
    """No new function over 60 lines, class name in three modules or basename of five, and no more of the old ones."""
    assert not find_excess(count()[table], CEILINGS[table], rule, SLACK), (
        f"python -m tests.house.figures --list {table}"
    )


def test_a_circle_gets_no_new_modules() -> None:
    """Type-only imports count: a circle of more than five modules is inside of one that was known."""
    assert find_additions(count()["circles"], CEILINGS["circles"], SLACK) == []


@pytest.mark.parametrize("name", figures.NUMBERS)
def test_a_ceiling_of_a_number_is_near(name: str) -> None:
    """Room that was won is not lost again."""
    assert CEILINGS["numbers"][name] <= count()["numbers"][name] * (1 + LOOSE), "run figures with --lower"


@pytest.mark.parametrize("table", RULES)
def test_what_is_gone_has_no_ceiling(table: str) -> None:
    """The lists only shrink: whoever removes an entry's cause removes the entry, by hand or with --lower."""
    assert set(CEILINGS[table]) <= set(count()[table]), "run figures with --lower"


def test_circles_that_shrank_are_recorded() -> None:
    """A circle that lost a tenth of its modules has a new ceiling."""
    assert not find_additions(CEILINGS["circles"], count()["circles"], LOOSE), "run figures with --lower"


def plant(sources: Mapping[str, str]) -> Tree:
    """Make a small package of modules by their paths."""
    return Tree({f"lakelens/{name}.py": source for name, source in sources.items()})


def name_places(places: object) -> list[str]:
    """Shorten places to what is said of them."""
    return [place.text.partition(":")[0] for place in places]  # type: ignore[attr-defined]


def test_a_planted_long_function_is_found() -> None:
    """61 lines are too many, 60 are not."""
    long = "def long():\n" + "    x = 1\n" * 60
    just = "def just():\n" + "    x = 1\n" * 59
    assert name_places(place for place, _ in figures.list_long_functions(plant({"a": long + just}))) == [
        "long"
    ]


def test_planted_meanings_are_found() -> None:
    """Three modules with a class of one name, wherever in the module it is; two are few enough."""
    tree = plant(
        {
            "a": "class One: pass\nclass Two: pass",
            "b": "def f():\n    class One: pass",
            "c": "class One: pass\nclass Two: pass",
        }
    )
    assert {name: len(places) for name, places in figures.list_class_names(tree).items()} == {"One": 3}


def test_planted_basenames_are_found() -> None:
    """Five modules of one basename; the faces of packages do not count."""
    tree = plant(
        {f"{folder}/{name}": "" for folder in "abcde" for name in ("rows", "__init__")} | {"rowz": ""}
    )
    assert {name: len(places) for name, places in figures.list_basenames(tree).items()} == {"rows.py": 5}


@pytest.mark.parametrize(
    "helper",
    [
        "def _help(x):\n    return x",
        '"""M."""\ndef _help(x):\n    """Help."""\n    if x:\n        return 1\n    y = 2\n    return y',
        "class K:\n    def _help(self, x):\n        return x\n    help = lambda self: self._help(1)\ndef _other(): ...",
    ],
)
def test_a_planted_helper_is_found(helper: str) -> None:
    """Up to three statements, called once, in a module or a class."""
    call = "" if "class K" in helper else "\nprint(_help(1))"
    assert name_places(figures.list_once_used(plant({"a": helper + call}))) == ["_help"]


@pytest.mark.parametrize(
    "kept",
    [
        "def _help(x):\n    return x\nprint(_help(1), _help(2))",
        "def _help(x):\n    return x\nprint(sorted([], key=_help))",
        "def _help(x):\n    a = 1\n    b = 2\n    for i in x:\n        print(i)\n    return a + b\n_help([])",
        "def help(x):\n    return x\nhelp(1)",
        "@register\ndef _help(x):\n    return x\n_help(1)",
    ],
)
def test_other_helpers_are_not(kept: str) -> None:
    """Called twice, handed on, longer, public, registered."""
    assert name_places(figures.list_once_used(plant({"a": kept}))) == []


def test_planted_hooks_are_found() -> None:
    """A method over a method or an attribute of a base, through classes between, re-exports and generic bases; each once."""
    noun = "class Noun:\n    x = 1\n    y: int\n    def __init__(self): ...\n"
    tree = plant(
        {
            "model/noun": noun + "    def f(self): ...\n    def g(self): ...",
            "model/__init__": "from lakelens.model.noun import Noun",
            "formats/hive/a": "from lakelens.model import Noun\n"
            "class A(Noun[int]):\n    def f(self): ...\n    def x(self): ...",
            "formats/hive/b": "from lakelens.formats.hive.a import A\n"
            "class B(A):\n    y = 2\n    def f(self): ...\n    def own(self): ...",
            "formats/paimon/c": "from lakelens.model import noun\n"
            "class C(noun.Noun):\n    def __init__(self): ...\n    def f(self): ...",
            "formats/base": "from lakelens.model.noun import Noun\nclass D(Noun):\n    def g(self): ...",
        }
    )
    assert [place.text for place in figures.list_hooks(tree)] == ["Noun.f: A, B, C", "Noun.x: A"]


def test_planted_forwarders_are_found() -> None:
    """What imports from the package and returns; not what imports another package, or does more."""
    tree = plant(
        {
            "a": 'def f(x):\n    """F."""\n    from lakelens.b import g\n\n    return g(x)',
            "b": "def g(x):\n    import numpy\n    return numpy.array(x)",
            "c": "def h(x):\n    from lakelens.b import g\n    x += 1\n    return g(x)",
        }
    )
    assert name_places(figures.list_forwarders(tree)) == ["f"]


def test_planted_hidden_names_are_found() -> None:
    """Names of one class, and of all."""
    tree = Tree({}, '[Table]\nhidden = """a b\nc"""\nname = "hidden d"\n["m.Row"]\nhidden = "e"\n')
    assert name_places(figures.list_hidden(tree, "Table")) == ["Table.a", "Table.b", "Table.c"]
    assert [place.line for place in figures.list_hidden(tree)] == [1, 1, 1, 5]


def test_a_planted_circle_of_types_is_found() -> None:
    """Six modules in a circle that is closed by a type-only import; five are few enough."""
    sources = {f"m{n}": f"from lakelens import m{n + 1}" for n in range(5)}
    last = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lakelens.m0 import x"
    assert [len(circle) for circle in figures.list_circles(plant({**sources, "m5": last}))] == [6]
    assert figures.list_circles(plant({**sources, "m4": last})) == []


def test_planted_folders_are_found() -> None:
    """A folder, a module, and a part of a module's name; not a longer word."""
    tree = plant(dict.fromkeys(["a/health/x", "a/health/y", "b/health_plots", "c/healthy", "d/dry_run"], ""))
    assert {name: len(paths) for name, paths in figures.list_folders(tree, "health").items()} == {
        "lakelens/a/health": 2,
        "lakelens/b": 1,
    }
    assert list(figures.list_folders(tree, "dry_run")) == ["lakelens/d"]


def test_planted_excess_is_found() -> None:
    """Above a ceiling, or without one; slack is a share of the ceiling."""
    assert find_excess({"a": 3, "b": 1, "c": 2}, {"a": 2, "c": 2}) == {
        "a": "3, at most 2",
        "b": "1, at most 0",
    }
    assert find_excess({"a": 3, "b": 2}, {}, rule=2) == {"a": "3, at most 2"}
    assert not find_excess({"a": 103}, {"a": 100}, slack=0.03)
    assert find_excess({"a": 104}, {"a": 100}, slack=0.03)
    assert find_additions([{"modules": "a b c"}], [{"modules": "a b"}, {"modules": "x"}]) == [{"c"}]
    assert not find_additions([{"modules": "a b"}], [{"modules": "a b c"}])
    assert find_additions([{"modules": "a"}], []) == [{"a"}]


def test_lowering_raises_nothing() -> None:
    """What became less is lowered, what is gone is dropped, what became more keeps its ceiling."""
    empty: dict[str, Any] = {"numbers": {}, "long-functions": {}, "basenames": {}}
    known = {**empty, "class-names": {"A": 5, "B": 4, "C": 3}, "circles": [{"modules": "a b c d e f g"}]}
    counted = {**empty, "class-names": {"A": 4, "B": 5, "D": 3}, "circles": [{"modules": "a b c d e f h"}]}
    lowered = figures.lower_ceilings(known, counted)
    assert lowered["class-names"] == {"A": 4, "B": 4}
    assert lowered["circles"] == [{"modules": "a b c d e f"}]


def test_every_figure_has_a_value() -> None:
    """And places, where there are any, as `--list` prints them."""
    tree = read_tree()
    for figure in figures.FIGURES:
        assert re.search(r"\d", figure.show(tree)), figure.name
        for place in figure.places(tree):
            assert str(place), figure.name


def test_another_checkout_can_be_read(tmp_path: Path) -> None:
    """`--root` needs no more than modules."""
    (tmp_path / "lakelens").mkdir()
    (tmp_path / "lakelens/a.py").write_text("x = 1\n")
    assert [module.name for module in read_tree(tmp_path).modules] == ["lakelens.a"]
