"""lakelens opens a data lake table from nothing but its files and shows what it is made of.

>>> import lakelens as ll
>>> ll.open("/nowhere")
Traceback (most recent call last):
lakelens.errors.Missing: /nowhere: no such file or directory

Everything is loaded when it is first used (PEP 562): importing lakelens costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.5.0"

if TYPE_CHECKING:
    from lakelens import errors, options, samples, spark
    from lakelens.analysis.diff.documents import diff_json
    from lakelens.analysis.layout.wanted import WantedLayout as Layout
    from lakelens.analysis.skeleton import minimize_table as minimize
    from lakelens.answers.comparing import compare_places as compare
    from lakelens.answers.logs import read_predicates as predicates
    from lakelens.explaining import decode_binary_row, explain_bytes, explain_file
    from lakelens.file_lives import list_lifetimes as lifetimes
    from lakelens.jupyter.exploring import explore_root as explore
    from lakelens.opening import open_any as open
    from lakelens.practice.climbing import ladder
    from lakelens.practice.course import exercise, quiz
    from lakelens.practice.drills import drill
    from lakelens.practice.encodings import explain_encoding
    from lakelens.practice.guesses.guess import guess
    from lakelens.practice.guesses.reviewing import review
    from lakelens.samples import sample
    from lakelens.showing import show
    from lakelens.warehouse import find_tables as find
    from lakelens.watching import watch

_PUBLIC = {
    "open": ("lakelens.opening", "open_any"),
    "find": ("lakelens.warehouse", "find_tables"),
    "sample": ("lakelens.samples", "sample"),
    "Layout": ("lakelens.analysis.layout.wanted", "WantedLayout"),
    "predicates": ("lakelens.answers.logs", "read_predicates"),
    "compare": ("lakelens.answers.comparing", "compare_places"),
    "diff_json": ("lakelens.analysis.diff.documents", "diff_json"),
    "minimize": ("lakelens.analysis.skeleton", "minimize_table"),
    "decode_binary_row": ("lakelens.explaining", "decode_binary_row"),
    "explain_bytes": ("lakelens.explaining", "explain_bytes"),
    "explain_encoding": ("lakelens.practice.encodings", "explain_encoding"),
    "explain_file": ("lakelens.explaining", "explain_file"),
    "explore": ("lakelens.jupyter.exploring", "explore_root"),
    "show": ("lakelens.showing", "show"),
    "exercise": ("lakelens.practice.course", "exercise"),
    "quiz": ("lakelens.practice.course", "quiz"),
    "drill": ("lakelens.practice.drills", "drill"),
    "ladder": ("lakelens.practice.climbing", "ladder"),
    "guess": ("lakelens.practice.guesses.guess", "guess"),
    "review": ("lakelens.practice.guesses.reviewing", "review"),
    "lifetimes": ("lakelens.file_lives", "list_lifetimes"),
    "watch": ("lakelens.watching", "watch"),
    "errors": ("lakelens.errors", None),
    "options": ("lakelens.options", None),
    "samples": ("lakelens.samples", None),
    "spark": ("lakelens.spark", None),
}

__all__ = [
    "Layout",
    "compare",
    "decode_binary_row",
    "diff_json",
    "drill",
    "errors",
    "exercise",
    "explain_bytes",
    "explain_encoding",
    "explain_file",
    "explore",
    "find",
    "guess",
    "ladder",
    "lifetimes",
    "minimize",
    "open",
    "options",
    "predicates",
    "quiz",
    "review",
    "sample",
    "samples",
    "show",
    "spark",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'lakelens' has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    loaded = import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext lakelens`: the magics `%lakelens` and `%%laketrace`."""
    from lakelens.magics import register_magics

    register_magics(shell)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _offer_names() -> None:
    """In IPython and Jupyter, have Tab know samples, refs, ids and columns, Shift-Tab attributes: `lakelens.completion`."""
    shell = sys.modules["IPython"].get_ipython()
    _offer_sentences(getattr(shell, "inspector", None))
    if getattr(shell, "custom_exceptions", None) == ():  # whoever has a handler of their own keeps it
        shell.set_custom_exc((KeyboardInterrupt,), _show_interrupt)
    matchers = getattr(getattr(shell, "Completer", None), "custom_matchers", None)
    if matchers is None or any(
        getattr(matcher, "matcher_identifier", "") == __name__ for matcher in matchers
    ):
        return

    def match(context: Any) -> Any:
        from lakelens.completion import match_names

        return match_names(context, shell.user_ns)

    marks = {"matcher_api_version": 2, "matcher_identifier": __name__, "matcher_priority": 100}
    vars(match).update(marks)
    matchers.append(match)


def _show_interrupt(
    shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: int | None = None
) -> None:
    """Have IPython show an interrupt as it always does, in a few lines where it came in the middle of our work."""
    from traceback import walk_tb

    modules = (str(frame.f_globals.get("__name__", "")) for frame, _ in walk_tb(trace))
    if any(name.partition(".")[0] == __name__ for name in modules):
        from lakelens.views.render.raised import shorten_interrupt

        shorten_interrupt(error)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _offer_sentences(inspector: Any) -> None:
    """Have IPython's answers about attributes begin with their sentence; versions before 8.22 ask in another way."""
    hooks = getattr(inspector, "mime_hooks", None)
    if (
        hooks is None
        or "text/plain" in hooks
        or not hasattr(sys.modules[type(inspector).__module__], "InspectorHookData")
    ):
        return

    def explain(asked: Any) -> Any:
        from lakelens.completion import explain_attribute

        return explain_attribute(asked)

    def explain_html(asked: Any) -> Any:
        from html import escape

        said = explain(asked)
        return said and [(head, f"<pre>{escape(text)}</pre>") for head, text in said]

    inspector.mime_hooks = {**hooks, "text/plain": explain, "text/html": explain_html}


if "IPython" in sys.modules:
    _offer_names()
