"""The house: small folders, small modules, no circle of imports but the bridge, formats named in their own room alone."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "lakelens"
BRIDGE = "lakelens.display"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "samples/tables" not in str(path))
FOLDERS = sorted({path.parent for path in MODULES})
# a format compared with a string, or looked up by one
FORMAT = re.compile(r"""["'](hive|iceberg|paimon)["']""")


def name_module(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_module(path): path for path in MODULES}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_folders_have_at_most_twenty_modules(folder: Path) -> None:
    """What a reader can take in at a glance; the package's own face does not count."""
    modules = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= 20, modules


def test_modules_have_at_most_400_lines() -> None:
    """No hall."""
    lengths = {name_module(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def list_imports(source: str, known: set[str]) -> Iterator[str]:
    """The modules of ours that a source imports when it runs: at the top and late, not for type checkers alone."""
    tree = ast.parse(source)
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for part in node.body
        for inner in ast.walk(part)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner_modules = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in inner_modules if name in known]
            yield from found
            if len(found) < len(inner_modules) and node.module in known:
                yield node.module


def find_circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other in a loop (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == name:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def read_graph(without: str = BRIDGE) -> dict[str, set[str]]:
    """Who imports whom, late imports included."""
    graph: dict[str, set[str]] = defaultdict(set)
    for name, path in NAMES.items():
        if name != without:
            graph[name] = set(list_imports(path.read_text(), set(NAMES))) - {name, without}
    return graph


def test_no_circle_but_the_bridge() -> None:
    """Without `display`, the one bridge from an object to what is made of it, no module imports itself through others."""
    assert find_circles(read_graph()) == []


def test_a_planted_circle_is_found() -> None:
    """The test above can fail."""
    graph = read_graph()
    graph["lakelens.errors"].add("lakelens.formats.iceberg.table")
    assert find_circles(graph)


# where a format may be named outside of `formats`: what is written for one on purpose
NAMED = {
    "lakelens/catalogs": "kinds of catalogs are called as formats are, and a metastore marks its tables by them",
    "lakelens/spark/local": "the session's catalogs and jars are per format",
    "lakelens/cli/demo.py": "three tables of three formats",
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
