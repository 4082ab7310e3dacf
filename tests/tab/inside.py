"""A plug-in of pytest in a tab: what asks for a package that is not there is set aside, and has to be on the list.

    python -m pytest -p tests.tab.inside FILE…

`needs.toml` names each test file that cannot be imported, and each test that cannot run in full, with what it needs. A run
whose tests need something else fails, and prints what the list has to say of them.
"""

from __future__ import annotations

import builtins
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any
from zlib import crc32

import pytest
from hypothesis import Phase, settings

from lakelens.errors import NotInstalled
from tests.support.light import HEAVY

# by what is said where it is asked for; a package is named by the error itself
_OTHER = {
    "can't start new thread": "threads",
    "does not support processes": "processes",
    "Function not implemented": "a system call",
}
NEEDS = Path(__file__).with_name("needs.toml")
# what lakelens says where it imports one of them
_NOT_INSTALLED = re.compile(r"this needs (\w+)")
# packages that are in no tab; any other that is not there is a fault
ABSENT = frozenset(
    (*HEAVY, "jsonschema", "moto", "playwright", "pyiceberg", "pypaimon", "pyspark", "referencing")
)

# Python is five times as slow here, and everything is tried outside: what is tried here is about the platform
_MOST_EXAMPLES = 10
_MOST_CASES = 4  # of one test, the same ones at every run


def find_need(error: BaseException | None) -> str | None:
    """Find what is not there, in an error or in what it came of; None for an error of another kind."""
    while error is not None:
        if isinstance(error, BaseExceptionGroup):  # of hypothesis: several examples failed
            needs = [find_need(member) for member in error.exceptions]
            return None if None in needs else ", ".join(sorted({need for need in needs if need}))
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in ABSENT:
            return (error.name or "").partition(".")[0]
        if isinstance(error, NotInstalled) and (said := _NOT_INSTALLED.search(str(error))):
            return said[1]
        for text, need in _OTHER.items():
            if text in str(error):
                return need
        error = error.__cause__ or error.__context__
    return None


class Absent:
    """Stands for a package that is not there where a module of tests imports it: what uses it fails, not the file."""

    def __init__(self, name: str) -> None:
        self.__dict__["name"] = name

    def __getattr__(self, attribute: str) -> Any:
        raise ModuleNotFoundError(f"No module named {self.name!r}", name=self.name)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {self.name!r}", name=self.name)


def import_for_tests(
    name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
) -> Any:
    """Import as Python does; in modules of tests what is absent is an `Absent`. lakelens itself gets the error."""
    wanted = name.partition(".")[0]
    if level or wanted not in ABSENT or not str((globals or {}).get("__name__")).startswith("tests."):
        return _IMPORT(name, globals, locals, fromlist, level)
    # `import a.b as c` takes b from a, `from a.b import c` takes c from a.b: either is among the attributes
    package = Absent(wanted)
    package.__dict__.update(
        {attribute: Absent(wanted) for attribute in (*name.split(".")[1:], *(fromlist or ()))}
    )
    return package


_IMPORT = builtins.__import__


class Needs:
    """What was seen to be needed, beside the list."""

    def __init__(self) -> None:
        listed = tomllib.loads(NEEDS.read_text())
        self.listed: dict[str, str] = {**listed.get("files", {}), **listed.get("tests", {})}
        self.differing: dict[str, str] = listed.get("differs", {})
        self.seen: dict[str, str] = {}
        self.asked: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what the list gives another reason for, and most cases of each test that the run would take."""
        apart = {item for item in items if {item.nodeid, name_test(item)} & self.differing.keys()}
        families: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            if item not in apart:
                families[name_test(item)].append(item)
        few = {item for family in families.values() for item in sorted(family, key=hash_name)[:_MOST_CASES]}
        config.hook.pytest_deselected(items=[item for item in items if item not in few])
        items[:] = [item for item in items if item in few]
        self.asked.update(map(name_test, items))
        for test in {getattr(item, "obj", None) for item in items}:
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            if own is not None:
                test._hypothesis_internal_use_settings = settings(
                    own,
                    max_examples=min(own.max_examples, _MOST_EXAMPLES),
                    phases=(Phase.explicit, Phase.generate),
                )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """Make an empty file of one that needs something."""
        report: Any = yield
        if isinstance(collector, pytest.Module):
            self.asked.add(collector.nodeid)
            self._take_note(collector.nodeid, collector.path, report, report.call.excinfo)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Make a skipped test of one that needs something."""
        report: Any = yield
        self._take_note(name_test(item), item.path, report, call.excinfo)
        return report

    def _take_note(
        self, name: str, path: Path, report: Any, raised: pytest.ExceptionInfo[BaseException] | None
    ) -> None:
        need = find_need(raised.value) if raised is not None and report.outcome == "failed" else None
        if need is not None:
            self.seen[name] = need
            report.outcome, report.longrepr = "skipped", (str(path), 0, f"needs {need}")

    def list_changes(self) -> Iterator[str]:
        """List what the list has to say, and does not, of what was asked; nothing where it is right."""
        for name in sorted(self.asked):
            seen, listed = self.seen.get(name), self.listed.get(name)
            if seen != listed:
                yield f'"{name}" = "{seen}"' if seen else f"# no more: {name}"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail where the list is wrong."""
        if any(self.list_changes()) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what is to be changed on the list."""
        if changes := list(self.list_changes()):
            terminalreporter.section("tests/tab/needs.toml has to say")
            terminalreporter.write("\n".join(changes) + "\n")


def hash_name(item: pytest.Item) -> int:
    """Order the cases of a test in a way that other cases do not change."""
    return crc32(item.nodeid.encode())


def name_test(item: pytest.Item) -> str:
    """Name a test for all its cases."""
    return item.nodeid.partition("[")[0]


def pytest_configure(config: pytest.Config) -> None:
    """Start to take note, before any module of tests is imported."""
    # lakelens looks who imports, and beyond what is named as the machinery of imports is
    named = {**globals(), "__name__": "importlib.for_tests"}
    builtins.__import__ = FunctionType(import_for_tests.__code__, named, None, import_for_tests.__defaults__)
    config.pluginmanager.register(Needs(), "lakelens-needs")
