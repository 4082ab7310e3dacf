"""The house: small folders, small modules, no circle of imports but the bridge, formats named in their own room alone."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakelens.cli.commands import commands
from lakelens.installed import EXTRAS
from lakelens.model.table import Table
from tests.house.tree import PACKAGE, ROOT, find_circles, read_tree

MODULES = sorted(path for path in (ROOT / PACKAGE).rglob("*.py") if "samples/tables" not in str(path))
FOLDERS = sorted({path.parent for path in MODULES})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_folders_have_at_most_twenty_modules(folder: Path) -> None:
    """What a reader can take in at a glance; the package's own face does not count."""
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= 20, modules


def test_modules_have_at_most_600_lines() -> None:
    """A module is one subject, read from its head to its foot."""
    lengths = {module.name: len(module.lines) for module in read_tree().modules}
    assert {name: lines for name, lines in lengths.items() if lines > 600} == {}


def test_no_circle_but_the_bridge() -> None:
    """Without `display`, the one bridge from an object to what is made of it, no module imports itself through others."""
    assert find_circles(read_tree().read_graph()) == []


def test_a_planted_circle_is_found() -> None:
    """The test above can fail."""
    graph = read_tree().read_graph()
    graph["lakelens.errors"].add("lakelens.formats.iceberg.table")
    assert find_circles(graph)


# where a format may be named outside of `formats`: what is written for one on purpose
NAMED = {
    "lakelens/catalogs": "kinds of catalogs are called as formats are, and a metastore marks its tables by them",
    "lakelens/spark/local": "the session's catalogs and jars are per format",
    "lakelens/cli/demo.py": "a table of each format",
    "lakelens/samples": "the packaged tables",
}


def find_formats(source: str) -> Iterator[tuple[int, str]]:
    """Comparisons of anything with the name of a format, and choices by one."""
    for node in ast.walk(ast.parse(source)):
        compared: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            compared = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            compared = [node.value]
        elif isinstance(node, ast.Dict):
            compared = [key for key in node.keys if key is not None]
        for expression in compared:
            for inner in ast.walk(expression):
                if isinstance(inner, ast.Constant) and inner.value in ("hive", "iceberg", "paimon"):
                    yield inner.lineno, str(inner.value)


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if not str(path.relative_to(ROOT)).startswith(("lakelens/formats", *NAMED))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_formats_are_named_in_their_room_alone(path: Path) -> None:
    """Outside of `formats` nothing asks which format a table has: it asks the table what is true of it."""
    assert list(find_formats(path.read_text())) == []


@pytest.mark.parametrize(
    "planted", ['x = t.format == "hive"', 'y = f in ("iceberg", "b")', 'z = {"paimon": 1}[f]']
)
def test_planted_formats_are_found(planted: str) -> None:
    """The test above can fail."""
    assert list(find_formats(planted))


DOCUMENT = ROOT / "docs/how-lakelens-is-built.md"


def read_rows(text: str, heading: str) -> list[list[str]]:
    """Read the rows of the first table below a heading, a list of cells each, without the head."""
    lines = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return rows[2:]


def compare_rooms(text: str) -> tuple[set[str], set[str]]:
    """Find folders and modules right below the package that no row names, and names of rows that are nowhere."""
    named = {name for cells in read_rows(text, "The rooms") for name in re.findall(r"`(\w+)`", cells[0])}
    there = {path.stem for path in (ROOT / PACKAGE).glob("*.py")} - {"__init__"}
    there |= {path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")}
    return there - named, named - there


def compare_answers(text: str) -> tuple[set[str], set[str]]:
    """Find folders of `analysis` that no answer names, and paths of answers that are nowhere."""
    named = {
        path
        for cells in read_rows(text, "The answers")
        for path in re.findall(r"`(\w+/[\w/.]+)`", " ".join(cells))
    }
    folders = {path.parent for path in (ROOT / PACKAGE / "analysis").glob("*/__init__.py")}
    return (
        {path.relative_to(ROOT / PACKAGE).as_posix() for path in folders} - named,
        {path for path in named if not (ROOT / PACKAGE / path).exists()},
    )


def test_the_table_of_rooms_is_the_package() -> None:
    """One table says which rooms there are: none is missing, none is gone."""
    assert compare_rooms(DOCUMENT.read_text()) == (set(), set())


def test_the_table_of_answers_is_the_package() -> None:
    """Every answer has its line, and every place in it is there."""
    assert compare_answers(DOCUMENT.read_text()) == (set(), set())


def test_answers_are_asked_as_the_table_says() -> None:
    """The methods and verbs of the table are those of the package."""
    asked = " ".join(cells[1] for cells in read_rows(DOCUMENT.read_text(), "The answers"))
    assert {name for name in re.findall(r"`Table\.(\w+)`", asked) if not hasattr(Table, name)} == set()
    assert set(re.findall(r"`lakelens ([\w-]+)`", asked)) <= set(commands.commands)


def test_planted_rooms_are_found() -> None:
    """The two tests above can fail."""
    text = (
        DOCUMENT.read_text()
        .replace("| `testing` |", "| `attic` |")
        .replace("`analysis/diff`", "`analysis/gone`")
    )
    missing, gone = compare_rooms(text)
    assert "testing" in missing and "attic" in gone
    missing, gone = compare_answers(text)
    assert "analysis/diff" in missing and "analysis/gone" in gone


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md"])
def test_there_is_one_table_of_rooms(path: str) -> None:
    """Other documents link to it."""
    text = (ROOT / path).read_text()
    assert "docs/how-lakelens-is-built.md" in text
    assert len(re.findall(r"^\W*lakelens/\w+ ", text, re.MULTILINE)) == 0


@pytest.mark.parametrize(
    "room", ["formats", "formats.hive", "formats.iceberg", "formats.paimon", "model", "analysis"]
)
def test_every_part_stands_on_a_floor(room: str) -> None:
    """A contract names every part of the room, and fails for one that it does not name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    floors = [contract for contract in contracts if contract.get("containers") == [f"{PACKAGE}.{room}"]]
    assert [contract["exhaustive"] for contract in floors] == [True]


#: Modules that are loaded only by who has the package: their subject is its arrays, or whether it is there.
_OF_ARRAYS = frozenset(("bitmaps.py", "codecs/bitmaps/roaring_arrays.py", "codecs/paimon/row_columns.py"))


def _list_top_imports(tree: ast.Module) -> Iterator[str]:
    """List the packages that are imported when a module is loaded, those for types alone left out."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            yield str(statement.module).partition(".")[0]
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            waiting += statement.orelse
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            parts = ast.iter_child_nodes(statement)
            waiting += [part for part in parts if isinstance(part, ast.stmt | ast.ExceptHandler)]


def test_no_module_of_the_core_imports_a_heavy_package_at_its_top() -> None:
    """It is imported by the function that needs it: loading a module asks for nothing that may be missing."""
    heavy = {*EXTRAS, "datafusion", "isal", "duckdb", "polars"}
    modules = {str(path.relative_to(ROOT / PACKAGE)): path for path in (ROOT / PACKAGE).rglob("*.py")}
    at_top = {
        name for name, path in modules.items() if heavy & set(_list_top_imports(ast.parse(path.read_text())))
    }
    assert at_top == _OF_ARRAYS


def test_what_the_core_does_without_is_what_the_contract_names_and_the_extra_brings() -> None:
    """The hint of an import that fails, the contract and the extra are of the same packages."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = next(
        contract
        for contract in document["tool"]["importlinter"]["contracts"]
        if "numpy" in contract.get("forbidden_modules", ())
    )
    extra = document["project"]["optional-dependencies"]["tables"]
    assert sorted(contract["forbidden_modules"]) == sorted(EXTRAS)
    assert sorted(re.split(r"\W", wanted)[0] for wanted in extra) == sorted(EXTRAS)
