"""Options are checked when they are assigned."""

from __future__ import annotations

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


def test_environment_makes_views_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKELENS_STRICT_VIEWS", "1")
    assert DisplayOptions().strict_views is True
    monkeypatch.setenv("LAKELENS_STRICT_VIEWS", "0")
    assert DisplayOptions().strict_views is False
