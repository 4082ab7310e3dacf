"""The templates and style sheets of all views: autoescape is on, undefined names are refused, text is made visible."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2.bccache import Bucket, BytecodeCache

from lakelens.installed import read_text
from lakelens.views.card.model import Block, Card, Gauge, Grid, Note, Pairs, Picture, Strip
from lakelens.views.card.wording import split_ids, visible

if TYPE_CHECKING:
    from jinja2 import Environment

# Compiled templates, kept where Python keeps compiled modules: compiling one takes longer than drawing a small card.
#
# They are `__pycache__/KEY.cpython-311.pyc` beside the templates, and are read from nowhere else: whoever may write there
# may change the package itself. A template that changed is compiled again.


class CompiledTemplates(BytecodeCache):
    """Keeps templates compiled in a directory; one that cannot be written or read is as if it were empty."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _place(self, bucket: Bucket) -> Path:
        return self._directory / f"{bucket.key}.{sys.implementation.cache_tag}.pyc"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template; what is there but belongs to another source or another Python counts as nothing."""
        with suppress(OSError, EOFError, ValueError, TypeError):
            bucket.load_bytecode(BytesIO(self._place(bucket).read_bytes()))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, whole or not at all; not where Python may write no bytecode."""
        if not sys.dont_write_bytecode:
            from lakelens.whole import NotWritten, write_whole

            with suppress(OSError, NotWritten):
                self._directory.mkdir(exist_ok=True)
                write_whole(self._place(bucket), bucket.bytecode_to_string())


_PACKAGE = "lakelens.views.render"
_LONGEST = 16  # characters of a word that may have to be broken, and of what is left whole of it
_LONG_WORD = re.compile(rf"\S{{{_LONGEST},}}")
# a separator and what it ends: where a reader would break a path, a name, a type or a setting
_PART = re.compile(r"[^/=_.,:;(-]*[/=_.,:;(-]+|[^/=_.,:;(-]+")
_LEAST = 3


@cache
def read_style(name: str) -> Any:
    """Read a packaged sheet, the one text that is marked as markup here: it is ours, not a lake's."""
    from markupsafe import Markup

    return Markup(read_text(_PACKAGE, "static", name))


def _keep_indent(text: str) -> str:
    """Leading spaces that are shown without any style too."""
    bare = text.lstrip(" ")
    return "\u00a0" * (len(text) - len(bare)) + bare


def mark_breaks(text: str) -> Any:
    """Text that may be broken after the separators of its long words, and in a longer run without any.

    >>> str(mark_breaks("PLAIN, PLAIN_DICTIONARY")), str(mark_breaks("<b>/warehouse/orders"))
    ('PLAIN, PLAIN_<wbr>DICTIONARY', '&lt;b&gt;/<wbr>warehouse/<wbr>orders')
    """
    from markupsafe import Markup, escape

    if not _LONG_WORD.search(text):
        return text
    pieces: list[str] = [""]
    for word in re.split(r"(\s+)", visible(text)):
        if len(word) < _LONGEST:
            pieces[-1] += word
            continue
        head, *parts = _cut(word)
        pieces[-1] += head
        pieces += parts
    return Markup("<wbr>").join(map(escape, pieces))


def _cut(word: str) -> list[str]:
    """Cut the parts of a long word, none so short that it would stand alone in a line."""
    parts: list[str] = []
    for part in _PART.findall(word):
        if parts and (len(parts[-1]) < _LEAST or len(part) < _LEAST):
            parts[-1] += part
        else:
            parts.append(part)
    return [part[at : at + _LONGEST] for part in parts for at in range(0, len(part), _LONGEST)]


def _to_base64(text: str) -> str:
    return b64encode(text.encode()).decode()


@cache
def template_environment() -> Environment:
    """The templates of all views: autoescaping, and undefined names are refused."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(_PACKAGE),
        bytecode_cache=CompiledTemplates(Path(__file__).parents[1] / "render" / "templates" / "__pycache__"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_guard,
    )
    made.filters["split_ids"] = split_ids
    made.filters["mark_breaks"] = mark_breaks
    made.filters["keep_indent"] = _keep_indent
    made.filters["to_base64"] = _to_base64
    kinds = {"grid": Grid, "pairs": Pairs, "block": Block, "note": Note, "picture": Picture, "card": Card}
    kinds |= {"gauge": Gauge, "strip": Strip}
    for name, kind in kinds.items():
        made.tests[name] = lambda body, kind=kind: isinstance(body, kind)
    return made


def _guard(held: Any) -> Any:
    """Say what every expression of a template passes: whatever a card forgot to make visible is made so here."""
    return visible(held) if type(held) is str else held
