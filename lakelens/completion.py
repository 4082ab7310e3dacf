"""Names at hand in IPython and Jupyter: Tab in the brackets of an object, in the quotes of a call, and after a subscript;
Shift-Tab and `?` on an attribute.

IPython asks objects for keys only where it may evaluate what is before the bracket, and it evaluates no property. This
matcher does so for objects of lakelens, whose properties change nothing. It gives nothing for what it does not know. Of an
attribute IPython shows what its value's class says, of a number what `int` does; here its own sentence comes first.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

from lakelens.model.fileset import FileSet
from lakelens.model.scan.files_to_arrow import list_columns
from lakelens.model.table import Table
from lakelens.querying import VIEWS
from lakelens.samples import read_samples

_PATH = r"(?P<path>[A-Za-z_]\w*(?:\.\w+|\[[^\[\]]*\])*)"
_KEY = re.compile(_PATH + r"\[(?P<quote>['\"])(?P<begun>[^'\"]*)$")
_ARGUMENT = re.compile(_PATH + r"\.(?P<verb>\w+)\((?:[^()]*,)?\s*(?P<quote>['\"])(?P<begun>[^'\"]*)$")
_CONDITION = re.compile(_PATH + r"\.(?:explain|row)\(\s*(?P<quote>['\"])(?P<begun>(?:(?!(?P=quote)).)*)$")
_KEYWORD = re.compile(_PATH + r"\.(?P<verb>\w+)\((?:[^()]*,)?\s*(?P<begun>\w*)$")
_ATTRIBUTE = re.compile(_PATH + r"\.(?P<begun>\w*)$")


def match_names(context: Any, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Match what IPython offers for the text before the cursor: `completions`, and what of them is written already."""
    from IPython.core.completer import SimpleCompletion

    text = context.text_until_cursor
    line, column = context.line_with_cursor, len(context.line_with_cursor) - len(text)
    rest = line[len(text) :] if column else ""
    try:
        begun, names = find_names(text, namespace, rest)
    except Exception:  # what cannot be read offers nothing, and Tab is no place for an error
        begun, names = "", []
    return {
        "completions": [SimpleCompletion(text=name, type="lakelens") for name in names],
        "matched_fragment": begun,
        "suppress": bool(names),
    }


def explain_attribute(asked: Any) -> list[tuple[str, str]] | None:
    """What IPython shows of an attribute of an object of lakelens, as headings with their text; None of anything else.

    `asked` is an `InspectorHookData`. Source code, which `??` asks for, is left to IPython.
    """
    from lakelens.errors import visible

    try:
        parent, known = asked.info.parent, asked.info_dict
        said = _find_sentence(parent, known["name"].rpartition(".")[2])
        if not said or asked.detail_level > 0:
            return None
        text = visible(known["string_form"])  # a lake's own
        shown = [("Attribute", said), ("Type", known["type_name"]), ("String form", text)]
        if _is_ours(asked.obj):
            shown.append(("Docstring", known["docstring"]))
        return [(head, text) for head, text in shown if text and head not in asked.omit_sections]
    except Exception:  # a question is no place for an error: IPython says what it knows
        return None


def _find_sentence(parent: Any, name: str) -> str:
    """What an attribute of one of our objects holds; empty for methods and properties, whose documentation IPython shows."""
    if parent is None or isinstance(parent, ModuleType | type) or not _is_ours(parent):
        return ""
    from lakelens.views.names import describe_attributes

    kind: type = type(parent)
    held = inspect.getattr_static(kind, name, None)
    if isinstance(held, property | classmethod) or callable(held):
        return ""
    said = describe_attributes(kind).get(name)
    if said is None and isinstance(held, cached_property):
        said = inspect.getdoc(held.func)
    return said or getattr(held, "__dict__", {}).get("__doc__", "")


def find_names(text: str, namespace: Mapping[str, Any], rest: str = "") -> tuple[str, list[str]]:
    """Find what is written of a name at the end of a text, and the names that begin so; `rest` is what follows.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg-branches")
    >>> find_names("ll.sample('icebreg", {"ll": ll}), find_names('table.refs["', {"table": table}, '"]')[1][0]
    (('icebreg', []), 'audit')
    """
    found = _CONDITION.search(text)
    if found is not None:
        from lakelens.analysis.explain.completing import complete_condition

        begun, words = complete_condition(_check(_evaluate(found["path"], namespace)), found["begun"])
        return begun, [
            word for word in words if word.isprintable() and not set(word) & {found["quote"], *"\\{}"}
        ]
    for pattern, list_all in ((_KEY, _list_keys), (_ARGUMENT, _list_arguments)):
        found = pattern.search(text)
        if found is not None:
            quote, begun = found["quote"], found["begun"]
            if found.groupdict().get("verb") in _SENTENCES:
                names = _SENTENCES[found["verb"]](_check(_evaluate(found["path"], namespace)))
                begun = re.split(r"[^\w]", begun)[-1]
                return begun, [
                    name for name in dict.fromkeys(names) if name.startswith(begun) and _is_plain(name)
                ]
            names = list_all(_evaluate(found["path"], namespace), found)
            end = "" if rest.startswith(quote) else quote
            return begun, [name + end for name in names if name.startswith(begun) and _is_plain(name)]
    found = _KEYWORD.search(text)
    if found is not None and found["verb"] == "where":
        names = [f"{name}=" for name in _list_columns(_evaluate(found["path"], namespace))]
    else:
        found = _ATTRIBUTE.search(text)
        if found is None or not found["path"].endswith("]"):
            return "", []  # IPython knows the names of what needs no subscript
        held = _evaluate(found["path"], namespace)
        names = dir(held) if _is_ours(held) else []
    return found["begun"], [name for name in names if name.startswith(found["begun"])]


def _evaluate(path: str, namespace: Mapping[str, Any]) -> Any:
    """Evaluate the object that a path of names and constant subscripts leads to, through objects of lakelens alone."""

    def walk(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return namespace[node.id]
        if isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            return getattr(_check(walk(node.value)), node.attr)
        if isinstance(node, ast.Subscript):
            return _check(walk(node.value))[ast.literal_eval(node.slice)]
        raise LookupError(path)

    return walk(ast.parse(path, mode="eval").body)


def _check(held: Any) -> Any:
    if not _is_ours(held):
        raise LookupError(type(held).__name__)
    return held


def _is_ours(held: Any) -> bool:
    home = held.__name__ if isinstance(held, ModuleType) else type(held).__module__
    return bool(home.split(".")[0] == "lakelens")


def _is_plain(name: str) -> bool:
    """Check whether a name of a lake can stand between quotes as it is, and does nothing there."""
    return name.isprintable() and not set(name) & set("'\"\\{}")


def _list_keys(held: Any, _: re.Match[str]) -> Sequence[str]:
    return [str(name) for name in held._ipython_key_completions_()] if _is_ours(held) else []


def _list_columns(held: Any) -> list[str]:
    if not isinstance(held, FileSet):
        return []
    return [name for name in list_columns(held.columns, stats=False) if name != "partition_values"]


def _list_samples(held: Any) -> list[str]:
    return read_samples().keys() if isinstance(held, ModuleType) else []


def _list_snapshots(held: Any) -> list[str]:
    return held.snapshots._ipython_key_completions_() if isinstance(held, Table) else []


_VERBS: dict[str, Callable[[Any], Sequence[str]]] = {
    "sample": _list_samples,
    "snapshot": _list_snapshots,
    "diff": _list_snapshots,
    "dry_run": lambda table: list(table.procedures),
    "field": lambda schema: schema._ipython_key_completions_(),
    "sort_by": _list_columns,
}


def _list_queried(table: Any) -> list[str]:
    """List the columns of files, and the views that a query is over."""
    return [*_list_columns(table.files), *VIEWS]


# calls whose text is SQL: the word before the cursor is completed, and the quote stays open
_SENTENCES: dict[str, Callable[[Any], Sequence[str]]] = {
    "where": _list_columns,
    "sql": _list_queried,
}


def _list_arguments(held: Any, found: re.Match[str]) -> Sequence[str]:
    verb = found["verb"]
    return _VERBS[verb](held) if verb in _VERBS and _is_ours(held) else []
