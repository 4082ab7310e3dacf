"""What is known of Delta Lake stands in its own room, which is no larger than it may be."""

from __future__ import annotations

import re
import tomllib

from lakelens.formats.registry import load_formats
from tests.house.tree import PACKAGE, ROOT

MOST_LINES = 7_000
# what starts an engine: the demo, whose statements are of each format, the session, which says what it starts, and the crash
# lab, which steps through each writer
ELSEWHERE = {
    "lakelens/cli/demo.py",
    "lakelens/practice/commits/delta.py",
    "lakelens/spark/local/session.py",
}
NAMED = re.compile(r"_delta_log|[Dd]elta[ -][Ll]ake|formats[./]delta|DeltaTable|io\.delta")


def test_no_other_room_knows_delta() -> None:
    """Outside of samples no module names it, but for those that have always refused its directories."""
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / PACKAGE).rglob("*.py")
        if NAMED.search(path.read_text("utf-8"))
    }
    own = {path for path in found if path.startswith(("lakelens/formats/delta/", "lakelens/samples/"))}
    assert found - own <= ELSEWHERE


def test_nothing_names_its_folder_but_its_entry_point() -> None:
    """The registry finds it as a folder, and every folder that is a format has an entry point, or was there first."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    own = {
        name for name, one in load_formats().items() if type(one).__module__.startswith("lakelens.formats.")
    }
    assert own == {"hive", "iceberg", "paimon", *declared["lakelens.formats"]}
    registry = (ROOT / PACKAGE / "formats/registry.py").read_text("utf-8")
    assert "delta" not in registry.lower()


def test_the_room_is_no_larger_than_it_may_be() -> None:
    """Lines of all its modules."""
    modules = (ROOT / PACKAGE / "formats/delta").rglob("*.py")
    assert sum(len(path.read_text("utf-8").splitlines()) for path in modules) <= MOST_LINES
