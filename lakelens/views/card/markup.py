"""The templates and style sheets of all views: autoescape is on, undefined names are refused, text is made visible."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lakelens.views.card.model import Block, Card, Gauge, Grid, Note, Pairs, Picture, Strip
from lakelens.views.card.wording import split_ids, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "lakelens.views.render"


@cache
def read_style(name: str) -> Any:
    """A packaged sheet, the one text that is marked as markup here: it is ours, not a lake's."""
    from markupsafe import Markup

    return Markup(files(_PACKAGE).joinpath("static", name).read_text("utf-8"))


def _keep_indent(text: str) -> str:
    """Leading spaces that are shown without any style too."""
    bare = text.lstrip(" ")
    return "\u00a0" * (len(text) - len(bare)) + bare


def _to_base64(text: str) -> str:
    return b64encode(text.encode()).decode()


@cache
def template_environment() -> Environment:
    """The templates of all views: autoescaping, and undefined names are refused."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_guard,
    )
    made.filters["split_ids"] = split_ids
    made.filters["keep_indent"] = _keep_indent
    made.filters["to_base64"] = _to_base64
    kinds = {"grid": Grid, "pairs": Pairs, "block": Block, "note": Note, "picture": Picture, "card": Card}
    kinds |= {"gauge": Gauge, "strip": Strip}
    for name, kind in kinds.items():
        made.tests[name] = lambda body, kind=kind: isinstance(body, kind)
    return made


def _guard(held: Any) -> Any:
    """What every expression of a template passes: whatever a card forgot to make visible is made so here."""
    return visible(held) if type(held) is str else held
