"""Which modules a tab compiles beforehand: those that a list of tables, overviews and lists of files ask for.

    python -m tests.tab.first_modules

Writes `lakelens/tab/first.txt`, a name a line; `!` stands before those that cannot be imported without code for WebAssembly.
The others of them are what is kept of Python's memory for the next visit.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from lakelens.samples import unpack_table
from lakelens.tab.inside import FIRST, Guard, Native, Tab

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "lakelens" / "tab" / FIRST
_SAMPLES = ("delta-basic", "hive", "iceberg", "paimon")
_PAGES = ("", "files")
_MARK = "module:"


def print_modules() -> None:
    """Show some pages, and print what was imported for them; here is what runs in Node."""
    warehouse = Path("/lake/warehouse")
    for sample in _SAMPLES:
        unpack_table(sample, warehouse)
    tab = Tab(str(warehouse), "x")
    tab.answer("")
    for sample in _SAMPLES:
        for page in _PAGES:
            tab.answer(f"{sample}/@-/{page}")
    for name, module in sorted(sys.modules.items()):
        if getattr(module, "__file__", None) and not name.startswith(("tests", "__main__")):
            print(f"{_MARK}{name}")


def print_natives(names: str) -> None:
    """Print which of some modules cannot be imported where no code for WebAssembly is."""
    for name in names.split():
        with Guard():
            try:
                import_module(name)
            except Native:
                print(f"{_MARK}{name}")


def run(call: str) -> list[str]:
    """Run a step in Node, and give what it printed."""
    from tests.tab.hosts import run_in_node  # not in Node: what it imports is none of a page's
    from tests.tab.parts import gather_for_tests

    made = run_in_node(gather_for_tests(), "tests.tab.first_modules", call)
    if made.returncode:
        raise SystemExit(made.stderr)
    return [line.removeprefix(_MARK) for line in made.stdout.splitlines() if line.startswith(_MARK)]


def main() -> None:
    """Write the list."""
    names = run("modules")
    natives = set(run("natives " + " ".join(names)))
    TARGET.write_text("".join(f"{'!' if name in natives else ''}{name}\n" for name in names))
    print(
        f"{TARGET.relative_to(ROOT)}: {len(names)} modules, {len(natives)} of them not without code for WebAssembly"
    )


if __name__ == "__main__":
    call, *given = (sys.argv[1:] or ["main"])[0].split(" ", 1)
    steps: dict[str, Any] = {"main": main, "modules": print_modules, "natives": print_natives}
    steps[call](*given)
