"""The package as its source says it: one reading of every module, which all figures and tests of the house are made from."""

from __future__ import annotations

import ast
import gc
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "lakelens"
BRIDGE = "lakelens.display"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Place:
    """A line of a module, and what is there."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass
class Module:
    """One module, parsed. Nodes are sorted by kind when it is made, because every figure needs some of them."""

    path: str
    source: str
    functions: list[Function] = field(default_factory=list)
    classes: list[ast.ClassDef] = field(default_factory=list)
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    type_only: set[int] = field(default_factory=set)
    outer: set[int] = field(default_factory=set)
    named: Counter[str] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.source)
        self.lines = self.source.splitlines()
        for node in ast.walk(self.tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.functions.append(node)
                case ast.ClassDef():
                    self.classes.append(node)
                    self.outer.update(id(child) for child in node.body)
                case ast.Import() | ast.ImportFrom():
                    self.imports.append(node)
                case ast.If() if "TYPE_CHECKING" in ast.dump(node.test):
                    self.type_only.update(id(inner) for part in node.body for inner in ast.walk(part))
                case ast.Name():
                    self.named[node.id] += 1
                case ast.Attribute():
                    self.named[node.attr] += 1
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                    self.called[name] += 1
        self.outer.update(id(child) for child in self.tree.body)

    @property
    def name(self) -> str:
        """Give the dotted name."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def folder(self) -> str:
        """Give the path of the folder that the module is in."""
        return self.path.rpartition("/")[0]

    @property
    def basename(self) -> str:
        """Give the last part of the path."""
        return self.path.rpartition("/")[2]

    def place(self, node: ast.stmt, text: str) -> Place:
        """Say where a node of this module is."""
        return Place(self.path, node.lineno, text)

    def list_imported(self, known: frozenset[str], *, type_only: bool = False) -> Iterator[str]:
        """List the modules of ours that are imported, at the top and late; those for type checkers alone if asked."""
        for node in self.imports:
            if id(node) in self.type_only and not type_only:
                continue
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in known)
            elif node.module and not node.level:
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name for name in inner if name in known)
                if node.module in known and not known.issuperset(inner):
                    yield node.module

    @cached_property
    def docstrings(self) -> list[ast.stmt]:
        """List the statements that are docstrings."""
        return [
            node.body[0]
            for node in (self.tree, *self.classes, *self.functions)
            if ast.get_docstring(node, clean=False) is not None
        ]

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Map each imported name to the full name of what it stands for."""
        pairs: dict[str, str] = {}
        for node in self.imports:
            if isinstance(node, ast.ImportFrom) and node.module:
                pairs |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                pairs |= {alias.asname: alias.name for alias in node.names if alias.asname}
        return pairs


def list_body(function: Function) -> list[ast.stmt]:
    """List the statements of a function without its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def count_lines(node: ast.stmt) -> int:
    """Count the lines of a statement from its first to its last."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


class Tree:
    """All modules of the package, by path, and who imports whom."""

    def __init__(self, sources: Mapping[str, str], hidden: str = "") -> None:
        self.modules = [Module(path, source) for path, source in sorted(sources.items())]
        self.by_name = {module.name: module for module in self.modules}
        #: the text of `views/names.toml`
        self.hidden = hidden

    @cached_property
    def line_count(self) -> int:
        """Count the lines of all modules."""
        return sum(len(module.lines) for module in self.modules)

    def read_graph(self, *, type_only: bool = False, without: str = BRIDGE) -> dict[str, set[str]]:
        """Map each module to those that it imports, late imports included."""
        known = frozenset(self.by_name)
        graph: dict[str, set[str]] = defaultdict(set)
        for name, module in self.by_name.items():
            if name != without:
                graph[name] = set(module.list_imported(known, type_only=type_only)) - {name, without}
        return graph

    @cached_property
    def classes(self) -> dict[str, tuple[Module, ast.ClassDef]]:
        """Map the full name of each class at the top of a module to where it is."""
        return {
            f"{module.name}.{node.name}": (module, node)
            for module in self.modules
            for node in module.classes
            if id(node) in module.outer
        }

    def find_class(self, module: Module, expression: ast.expr) -> str | None:
        """Find the class of ours that a base in a class statement names; None for one of another package."""
        if isinstance(expression, ast.Subscript):
            expression = expression.value
        written = ast.unparse(expression)
        first, _, rest = written.partition(".")
        name = ".".join(filter(None, [module.aliases.get(first, f"{module.name}.{first}"), rest]))
        for _ in range(5):  # a package may hand on what its module hands on
            if name in self.classes:
                return name
            holder, _, last = name.rpartition(".")
            if holder not in self.by_name or last not in self.by_name[holder].aliases:
                return None
            name = self.by_name[holder].aliases[last]
        return None

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """Map each class to those of ours that it is directly made from."""
        return {
            name: [base for written in node.bases if (base := self.find_class(module, written))]
            for name, (module, node) in self.classes.items()
        }

    def list_ancestors(self, name: str) -> Iterator[str]:
        """List every class of ours that a class inherits from; one that is reached twice comes twice."""
        for base in self.bases[name]:
            yield base
            yield from self.list_ancestors(base)


@cache
def read_tree(root: Path = ROOT) -> Tree:
    """Read the package of a checkout; packaged tables are no modules."""
    sources = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in (root / PACKAGE).rglob("*.py")
        if "samples/tables" not in path.as_posix()
    }
    names = root / PACKAGE / "views/names.toml"
    gc.disable()  # millions of nodes, none of them garbage: looking for some takes longer than parsing
    try:
        return Tree(sources, names.read_text("utf-8") if names.exists() else "")
    finally:
        gc.enable()


def find_circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Find groups of modules that import each other in a loop (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

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
            start = stack.index(name)
            if len(stack) - start > 1:
                circles.append(sorted(stack[start:]))
            del stack[start:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return circles
