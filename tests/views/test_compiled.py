"""Templates are compiled once and kept beside themselves, as Python keeps modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from lakelens.views.card.markup import CompiledTemplates


def render(directory: Path, source: str) -> str:
    """Render a template in an environment of its own, as another process would."""
    environment = Environment(
        loader=DictLoader({"a": source}), bytecode_cache=CompiledTemplates(directory), autoescape=True
    )
    return environment.get_template("a").render(x="<b>")


def test_a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second environment compiles nothing."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert render(tmp_path / "c", "{{ x }}!") == "&lt;b&gt;!"
    (kept,) = (tmp_path / "c").iterdir()
    assert kept.name.endswith(f"{sys.implementation.cache_tag}.pyc")
    monkeypatch.setattr(Environment, "compile", None)
    assert render(tmp_path / "c", "{{ x }}!") == "&lt;b&gt;!"


@pytest.mark.parametrize("content", [b"", b"x", b"garbage" * 100])
def test_what_is_damaged_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """Nor does the text of a template that changed come from what was kept."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    render(tmp_path, "{{ x }}!")
    (kept,) = tmp_path.iterdir()
    assert render(tmp_path, "{{ x }}?") == "&lt;b&gt;?"
    kept.write_bytes(content)
    assert render(tmp_path, "{{ x }}!") == "&lt;b&gt;!"


def test_where_nothing_can_be_written_it_is_compiled_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the directory would be, and a Python that is told to write no bytecode."""
    (tmp_path / "file").write_text("")
    assert render(tmp_path / "file", "{{ x }}!") == "&lt;b&gt;!"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render(tmp_path / "none", "{{ x }}!") == "&lt;b&gt;!"
    assert not (tmp_path / "none").exists()
