"""Options are checked when they are assigned."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from lakelens.options import DisplayOptions


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_rows", 0), ("max_rows", True), ("max_rows", "9"), ("max_bytes", 10**9), ("strict_views", 1)],
)
def test_wrong_values_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        setattr(DisplayOptions(), name, value)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="max_rows"):
        DisplayOptions().rows = 5


def test_values_return_after_the_block_also_when_it_fails() -> None:
    options = DisplayOptions()
    with pytest.raises(ValueError, match="max_text"), options.using(max_rows=3, max_text=1):
        pass
    assert options.max_rows == DisplayOptions().max_rows


def test_threads_do_not_see_each_others_values() -> None:
    """Pages are drawn at once, each with as many rows as it needs: what one leaves is nothing that another had set."""
    options, steps = DisplayOptions(), Barrier(2)

    def draw(rows: int) -> tuple[int, int]:
        with options.using(max_rows=rows):
            steps.wait()  # both are inside
            seen = options.max_rows
            if rows == 3:
                steps.wait()
        if rows == 4:
            steps.wait()  # has left before the other one
        return seen, options.max_rows

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(draw, (3, 4))) == [(3, 20), (4, 20)]
    with options.using(max_rows=5), options.using(max_text=99):
        options.max_rows = 6
        assert (options.max_rows, options.max_text) == (6, 99)
    assert options.max_rows == 20


def test_environment_makes_views_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKELENS_STRICT_VIEWS", "1")
    assert DisplayOptions().strict_views is True
    monkeypatch.setenv("LAKELENS_STRICT_VIEWS", "0")
    assert DisplayOptions().strict_views is False
