"""The annotated hex dump as HTML: static, escaped, within the budget of a view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.model.explanation import Explanation
from lakelens.views.bytes_lines import list_tokens
from lakelens.views.bytes_model import BytesView, Group, More, Part, present_bytes

if TYPE_CHECKING:
    from jinja2 import Environment

# classes of the common sheet that this view never uses: their rules are left out of its style
_UNUSED = ("ll-f", "ll-b", "ll-o", "ll-a", "ll-r", "ll-s", "ll-id", "ll-c")
_PIXELS = 7.3  # of one character of code


class Columns(NamedTuple):
    """Which columns a view has; `field` and `value` are their widths in pixels, so that several tables align."""

    number: bool
    field: int
    value: int
    columns: int


def render_bytes(explanation: Explanation, detail: int, most: int, *, style: bool = True) -> str:
    """An explanation as HTML of at most `most` bytes: with fewer rows until it fits."""
    scale = 1.0
    while True:
        markup = _render(present_bytes(explanation, detail, scale), style)
        size = len(markup.encode())
        if size <= most or scale < 0.01:
            return markup
        scale *= min(0.7, 0.9 * most / size)


def _render(view: BytesView, style: bool) -> str:
    markup: str = (
        _environment()
        .get_template("bytes.html")
        .render(view=view, has=choose_columns(view), style=bytes_style() if style else None)
    )
    return markup


def choose_columns(view: BytesView) -> Columns:
    """The columns that some line fills."""
    lines = list(view.list_lines())
    number = any(line.number is not None for line in lines)
    field = max((len(line.field) for line in lines), default=0)
    value = max((len(line.value) for line in lines), default=0)
    return Columns(number, _measure(field, 18), _measure(value, 28), 4 + number + bool(field) + bool(value))


def _measure(characters: int, most: int) -> int:
    return int(min(max(characters, 5), most) * _PIXELS) + 14 if characters else 0


def chunk(parts: Sequence[Part]) -> list[tuple[str, Any]]:
    """Parts as the template draws them: groups that follow each other share a table."""
    chunks: list[tuple[str, Any]] = []
    for kind, run in groupby(parts, _name_kind):
        members = list(run)
        chunks += [("table", members)] if kind == "table" else [(kind, member) for member in members]
    return chunks


def _name_kind(part: Part) -> str:
    return "table" if isinstance(part, Group) else "more" if isinstance(part, More) else "fold"


@cache
def _environment() -> Environment:
    from lakelens.views.html import template_environment

    made = template_environment().overlay()
    made.filters["chunk"] = chunk
    made.filters["list_tokens"] = list_tokens
    return made


@cache
def bytes_style() -> Any:
    """The part of the common sheet that this view uses, and its own."""
    from markupsafe import Markup

    static = files("lakelens.views").joinpath("static")
    common = static.joinpath("lakelens.css").read_text("utf-8").splitlines()
    kept = [rule for rule in common if not _is_unused(rule)]
    return Markup("\n".join(kept) + "\n" + static.joinpath("bytes.css").read_text("utf-8"))


def _is_unused(rule: str) -> bool:
    """Whether every selector of a rule (one a line) needs a class that this view does not use."""
    selectors = re.sub(r":is\([^)]*\)", "", rule.split("{", 1)[0])
    return any(name in re.findall(r"\.(ll-[a-z]+)", selectors) for name in _UNUSED)
