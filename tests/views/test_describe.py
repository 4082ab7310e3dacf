"""Cards are found by class, and loaded when something of the class is shown."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import lakelens as ll
from lakelens.views.describe import CARDS, describe


@pytest.mark.parametrize("module", CARDS)
def test_a_module_draws_the_classes_that_are_said_to_be_its(module: str) -> None:
    """No card is missing from the table, and none is there that no module draws."""
    home = import_module(f"lakelens.views.{module}")
    drawn = {
        f"{kind.__module__}.{kind.__qualname__}"
        for kind, function in describe.registry.items()
        if function.__module__ == home.__name__
    }
    assert drawn == set(CARDS[module])


def test_every_module_with_a_card_is_in_the_table() -> None:
    """Whoever adds a card is told where to name it."""
    from pkgutil import iter_modules

    from lakelens.views import answers, cards

    for room in (answers, cards):
        for found in iter_modules(room.__path__):
            import_module(f"{room.__name__}.{found.name}")
    homes = {function.__module__.removeprefix("lakelens.views.") for function in describe.registry.values()}
    assert homes - {"describe"} == set(CARDS)


def test_a_first_card_loads_no_other_answer() -> None:
    """What is not shown is not loaded: no answer, no plot, nothing of Arrow."""
    code = (
        "import sys, lakelens as ll\n"
        f"ll.open({str(ll.sample('iceberg').location)!r})._repr_html_()\n"
        "print(*sorted(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"numpy", "pyarrow", "pandas", "matplotlib", "rich", "click", "sqlglot"}
    assert not heavy & set(loaded)
    assert [
        name for name in loaded if name.startswith(("lakelens.views.answers.", "lakelens.analysis.health"))
    ] == []
    assert len([name for name in loaded if name.partition(".")[0] == "lakelens"]) <= 150
