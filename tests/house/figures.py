"""What the house is made of, in figures, and the places behind each.

python -m tests.house.figures                  prints all of them
python -m tests.house.figures --list NAME      the offenders of one figure, a place a line
python -m tests.house.figures --root PATH      of another checkout, to compare before and after
python -m tests.house.figures --lower          lowers the ceilings of ceilings.toml to what is counted now; raises none

The tests hold the same counts at or below the ceilings of `ceilings.toml`.
"""

from __future__ import annotations

import argparse
import ast
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from tests.house.tree import (
    PACKAGE,
    ROOT,
    Module,
    Place,
    Tree,
    count_lines,
    find_circles,
    list_body,
    read_tree,
)

CEILINGS = Path(__file__).with_name("ceilings.toml")
FORMATS = ("delta", "hive", "iceberg", "paimon")
CAPABILITIES = ("health", "check", "explain", "space", "dry_run", "life", "skeleton", "map", "diff")
MOST_LINES = 60  # of a function
MOST_MEANINGS = 2  # of a class name
MOST_BASENAMES = 4
MOST_STATEMENTS = 3  # of a helper that is worth no name if it is called once
MOST_IN_CIRCLE = 5


def list_imports(tree: Tree) -> Iterator[tuple[Place, int]]:
    """List every import statement and its lines."""
    for module in tree.modules:
        for node in module.imports:
            yield module.place(node, ast.unparse(node)), count_lines(node)


def count_blanks(module: Module) -> int:
    """Count empty lines outside of docstrings."""
    inside = {
        number
        for node in module.docstrings
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(not line.strip() for number, line in enumerate(module.lines, 1) if number not in inside)


def list_long_functions(tree: Tree, most: int = MOST_LINES) -> Iterator[tuple[Place, int]]:
    """List functions with more lines than `most`, from `def` to their last line, and how many they have."""
    for module in tree.modules:
        for node in module.functions:
            if (lines := count_lines(node)) > most:
                yield module.place(node, f"{node.name}: {lines} lines"), lines


def list_class_names(tree: Tree) -> dict[str, list[Place]]:
    """Map each class name that is in more than two modules to where it is."""
    places: dict[str, dict[str, Place]] = defaultdict(dict)
    for module in tree.modules:
        for node in module.classes:
            places[node.name].setdefault(module.path, module.place(node, f"class {node.name}"))
    return {name: list(by.values()) for name, by in sorted(places.items()) if len(by) > MOST_MEANINGS}


def list_basenames(tree: Tree) -> dict[str, list[Place]]:
    """Map each basename of more than four modules to where it is; a package's own face does not count."""
    places: dict[str, list[Place]] = defaultdict(list)
    for module in tree.modules:
        if module.basename != "__init__.py":
            places[module.basename].append(Place(module.path, 1, module.basename))
    return {name: found for name, found in sorted(places.items()) if len(found) > MOST_BASENAMES}


def count_statements(body: list[ast.stmt]) -> int:
    """Count simple statements, those in blocks included: an `if` or a `for` is none itself, what it has inside is."""
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.stmt)]
    return sum(not hasattr(node, "body") and not isinstance(node, ast.Match) for node in nodes)


def list_once_used(tree: Tree) -> Iterator[Place]:
    """List private functions and methods of one to three statements that their module names once more: to call them.

    What is decorated is registered or asked for by its decorator, and a function inside of another one shares its names:
    neither counts. Nor does a function that is handed on by name instead of called.
    """
    for module in tree.modules:
        for node in module.functions:
            if not node.name.startswith("_") or node.name.startswith("__") or node.decorator_list:
                continue
            if id(node) not in module.outer or not module.named[node.name] == module.called[node.name] == 1:
                continue
            if 1 <= (statements := count_statements(list_body(node))) <= MOST_STATEMENTS:
                yield module.place(node, f"{node.name}: {statements} statement{'s' * (statements > 1)}")


def list_methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """Map the methods and properties that a class itself defines; `__init__` and the like are Python's."""
    return {
        child.name: child
        for child in node.body
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("__")
    }


def list_members(node: ast.ClassDef) -> set[str]:
    """Name whatever a class body defines: methods, properties, attributes, annotations."""
    names = set(list_methods(node))
    for child in node.body:
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            names.add(child.target.id)
        elif isinstance(child, ast.Assign):
            names.update(target.id for target in child.targets if isinstance(target, ast.Name))
    return names


def list_hooks(tree: Tree) -> Iterator[Place]:
    """List members of a class outside of the formats that a class of a format overrides by a method or a property.

    A member counts once for each class that defines it, however many formats override it, so a hook that two classes on the
    way down define counts twice, as a reader of both meets it. Attributes that a format only sets are facts, no hooks.
    """
    rooms = tuple(f"{PACKAGE}.formats.{name}." for name in FORMATS)
    hooks: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, (_, node) in tree.classes.items():
        if name.startswith(rooms):
            own = list_methods(node)
            for base in set(tree.list_ancestors(name)):
                if not base.startswith(rooms):
                    for member in own.keys() & list_members(tree.classes[base][1]):
                        hooks[base, member].append(name.rpartition(".")[2])
    for (base, member), names in sorted(hooks.items()):
        module, node = tree.classes[base]
        yield module.place(node, f"{node.name}.{member}: {', '.join(sorted(names))}")


def list_forwarders(tree: Tree) -> Iterator[Place]:
    """List functions that import from the package and return one expression: nothing but a door to another module."""
    for module in tree.modules:
        for node in module.functions:
            body = list_body(node)
            imports = [child for child in body if isinstance(child, ast.Import | ast.ImportFrom)]
            rest = [child for child in body if child not in imports]
            if imports and len(rest) == 1 and isinstance(rest[0], ast.Return) and all(map(_is_ours, imports)):
                yield module.place(node, f"{node.name}: {ast.unparse(rest[0])}")


def _is_ours(node: ast.Import | ast.ImportFrom) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return all(name.partition(".")[0] == PACKAGE for name in names)


def list_hidden(tree: Tree, kind: str | None = None) -> Iterator[Place]:
    """List names that `views/names.toml` hides by hand: those of one class, else of every class."""
    lines = tree.hidden.splitlines()
    for name, said in tomllib.loads(tree.hidden).items():
        if kind in (None, name):
            heads = [number for number, line in enumerate(lines, 1) if line.strip('[]" ') == name]
            for hidden in said.get("hidden", "").split():
                yield Place(f"{PACKAGE}/views/names.toml", heads[0] if heads else 1, f"{name}.{hidden}")


def list_circles(tree: Tree) -> list[list[str]]:
    """List circles of more than five modules, type-only imports included, without the bridge; the largest first."""
    circles = find_circles(tree.read_graph(type_only=True))
    return sorted((c for c in circles if len(c) > MOST_IN_CIRCLE), key=lambda c: (-len(c), c))


def list_folders(tree: Tree, capability: str) -> dict[str, list[str]]:
    """Map the folders that name a capability to the modules that do, in their own name or that of a folder around."""
    folders: dict[str, list[str]] = defaultdict(list)
    for module in tree.modules:
        if any(f"_{capability}_" in f"_{part}_" for part in module.name.split(".")):
            folders[module.folder].append(module.path)
    return dict(folders)


@dataclass(frozen=True)
class Figure:
    """A figure: its name on the command line, what it is in words, its value as text, and the places behind it."""

    name: str
    about: str
    show: Callable[[Tree], str]
    places: Callable[[Tree], Iterator[object]]


def _share(lines: Callable[[Module], int]) -> Callable[[Tree], str]:
    return lambda tree: f"{sum(map(lines, tree.modules)) / tree.line_count:.1%}"


def _rank(measure: Callable[[Module], int], what: str) -> Callable[[Tree], Iterator[Place]]:
    """List the twenty modules that have most of something."""

    def rank(tree: Tree) -> Iterator[Place]:
        for module in sorted(tree.modules, key=measure, reverse=True)[:20]:
            yield Place(module.path, 1, f"{measure(module):,} {what}")

    return rank


def _count(places: Callable[[Tree], Iterator[object]]) -> Callable[[Tree], str]:
    return lambda tree: f"{sum(1 for _ in places(tree)):,}"


def _spread(table: Callable[[Tree], Mapping[str, list[Place]]]) -> Callable[[Tree], Iterator[Place]]:
    return lambda tree: (place for places in table(tree).values() for place in places)


def _name_counts(table: Callable[[Tree], Mapping[str, list[Place]]]) -> Callable[[Tree], str]:
    def name_counts(tree: Tree) -> str:
        counts = Counter({name: len(places) for name, places in table(tree).items()})
        return f"{len(counts)}: " + ", ".join(f"{name} {n}" for name, n in counts.most_common())

    return name_counts


def _show_longest_function(tree: Tree) -> str:
    place, lines = max(list_long_functions(tree, most=0), key=lambda pair: pair[1])
    return f"{lines} ({place.path}:{place.line})"


def _show_longest_module(tree: Tree) -> str:
    module = max(tree.modules, key=lambda module: len(module.lines))
    return f"{len(module.lines)} ({module.path})"


def _folder_figure(capability: str) -> Figure:
    def show(tree: Tree) -> str:
        folders = list_folders(tree, capability)
        return f"{len(folders)} ({sum(map(len, folders.values()))} modules)"

    def places(tree: Tree) -> Iterator[Place]:
        for modules in list_folders(tree, capability).values():
            yield from (Place(path, 1, capability) for path in modules)

    return Figure(f"folders-{capability}", f"folders that name {capability}", show, places)


FIGURES = [
    Figure(
        "modules", "modules", lambda tree: f"{len(tree.modules)}", lambda tree: (m.path for m in tree.modules)
    ),
    Figure("lines", "lines", lambda tree: f"{tree.line_count:,}", _rank(lambda m: len(m.lines), "lines")),
    Figure(
        "functions",
        "functions per 1,000 lines",
        lambda tree: f"{sum(len(m.functions) for m in tree.modules) / tree.line_count * 1000:.1f}",
        _rank(lambda m: len(m.functions), "functions"),
    ),
    Figure(
        "imports",
        "share of imports",
        _share(lambda m: sum(map(count_lines, m.imports))),
        _rank(lambda m: sum(map(count_lines, m.imports)), "lines of imports"),
    ),
    Figure(
        "docstrings",
        "share of docstrings",
        _share(lambda m: sum(map(count_lines, m.docstrings))),
        _rank(lambda m: sum(map(count_lines, m.docstrings)), "lines of docstrings"),
    ),
    Figure("blanks", "share of blank lines", _share(count_blanks), _rank(count_blanks, "blank lines")),
    Figure("hooks", "hooks that formats override", _count(list_hooks), list_hooks),
    Figure("forwarders", "forwarders (import and return)", _count(list_forwarders), list_forwarders),
    Figure(
        "hidden",
        "names of Table hidden by hand",
        _count(lambda tree: list_hidden(tree, "Table")),
        lambda tree: list_hidden(tree, "Table"),
    ),
    Figure("hidden-all", "names of all classes hidden by hand", _count(list_hidden), list_hidden),
    Figure("once-used", "short helpers that are called once", _count(list_once_used), list_once_used),
    Figure(
        "class-names",
        f"class names in more than {MOST_MEANINGS} modules",
        _name_counts(list_class_names),
        _spread(list_class_names),
    ),
    Figure(
        "basenames",
        f"basenames of more than {MOST_BASENAMES} modules",
        _name_counts(list_basenames),
        _spread(list_basenames),
    ),
    Figure(
        "circles",
        f"circles of more than {MOST_IN_CIRCLE} modules, type-only imports included",
        lambda tree: ", ".join(str(len(circle)) for circle in list_circles(tree)) or "0",
        lambda tree: (", ".join(circle) for circle in list_circles(tree)),
    ),
    Figure(
        "long-functions",
        f"functions over {MOST_LINES} lines",
        _count(list_long_functions),
        lambda tree: (place for place, _ in list_long_functions(tree)),
    ),
    Figure(
        "longest-function",
        "lines of the longest function",
        _show_longest_function,
        lambda tree: (p for p, _ in sorted(list_long_functions(tree, 50), key=lambda pair: -pair[1])),
    ),
    Figure(
        "longest-module",
        "lines of the longest module",
        _show_longest_module,
        _rank(lambda m: len(m.lines), "lines"),
    ),
    *map(_folder_figure, CAPABILITIES),
]
NUMBERS: Mapping[str, Callable[[Tree], Iterator[object]]] = {
    "hooks": list_hooks,
    "forwarders": list_forwarders,
    "hidden": lambda tree: list_hidden(tree, "Table"),
    "once-used": list_once_used,
}


def count_ceilings(tree: Tree) -> dict[str, Any]:
    """Count whatever has a ceiling, in the shape of `ceilings.toml`."""
    longest: dict[str, int] = {}
    for place, lines in list_long_functions(tree):
        key = f"{place.path}:{place.text.partition(':')[0]}"
        longest[key] = max(lines, longest.get(key, 0))
    return {
        "numbers": {name: sum(1 for _ in places(tree)) for name, places in NUMBERS.items()},
        "long-functions": longest,
        "class-names": {name: len(places) for name, places in list_class_names(tree).items()},
        "basenames": {name: len(places) for name, places in list_basenames(tree).items()},
        "circles": [{"modules": " ".join(circle)} for circle in list_circles(tree)],
    }


def read_ceilings() -> dict[str, Any]:
    """Read `ceilings.toml`."""
    return tomllib.loads(CEILINGS.read_text("utf-8"))


def lower_ceilings(known: Mapping[str, Any], counted: Mapping[str, Any]) -> dict[str, Any]:
    """Lower every ceiling to what is counted, and drop what is gone; nothing is raised and nothing is added."""
    lowered: dict[str, Any] = {}
    for table in ("numbers", "long-functions", "class-names", "basenames"):
        lowered[table] = {
            name: min(most, counted[table][name])
            for name, most in known[table].items()
            if name in counted[table]
        }
    recorded = [set(circle["modules"].split()) for circle in known["circles"]]
    kept = [
        sorted(
            set(circle["modules"].split()) & max(recorded, key=set(circle["modules"].split()).intersection)
        )
        for circle in counted["circles"]
        if recorded
    ]
    lowered["circles"] = [{"modules": " ".join(names)} for names in kept if len(names) > MOST_IN_CIRCLE]
    return lowered


def format_ceilings(ceilings: Mapping[str, Any]) -> str:
    """Write the ceilings as TOML, an entry a line."""
    parts = [
        "# What the house may have at most; tests/house/test_form.py counts. It only shrinks: --lower of figures.py."
    ]
    for table in ("numbers", "long-functions", "class-names", "basenames"):
        rows = [f'"{name}" = {most}' for name, most in sorted(ceilings[table].items())]
        parts.append("\n".join([f"[{table}]", *rows]))
    for circle in ceilings["circles"]:
        text = fill(circle["modules"], 140, break_long_words=False, break_on_hyphens=False)
        parts.append(f'[[circles]]\nmodules = """\n{text}"""')
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.figures")
    parser.add_argument("--list", metavar="NAME", choices=[figure.name for figure in FIGURES])
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to what is counted now")
    asked = parser.parse_args()
    tree = read_tree(asked.root.resolve())
    if asked.lower:
        CEILINGS.write_text(format_ceilings(lower_ceilings(read_ceilings(), count_ceilings(tree))), "utf-8")
    elif asked.list:
        figure = next(figure for figure in FIGURES if figure.name == asked.list)
        print(*figure.places(tree), sep="\n")
    else:
        for figure in FIGURES:
            print(f"{figure.name:<18}{figure.about:<62}{figure.show(tree)}")


if __name__ == "__main__":
    main()
