"""The parts of a predicate as sqlglot gives them: which is a column, where it stands, how it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp


def load_dialect() -> Any:
    """SQL as all engines have it: names in double quotes (the standard's) or backticks (Spark's), bytes as X'00'."""
    global _dialect
    if _dialect is None:
        from sqlglot import tokens
        from sqlglot.dialects.dialect import Dialect

        class Predicate(Dialect):
            class Tokenizer(tokens.Tokenizer):
                IDENTIFIERS = ['"', "`"]  # noqa: RUF012 - sqlglot reads it so
                HEX_STRINGS = [("x'", "'"), ("X'", "'")]  # noqa: RUF012

        _dialect = Predicate
    return _dialect


_dialect: Any = None


def unwrap(node: exp.Expression) -> exp.Expression:
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_column(node: exp.Expression) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Column) or (isinstance(node, exp.Dot) and is_column(unwrap(node.this)))


def is_null(node: exp.Expression) -> bool:
    from sqlglot import exp

    inner = unwrap(node)
    return isinstance(inner, exp.Null) or (isinstance(inner, exp.Cast) and is_null(inner.this))


def show_sql(node: exp.Expression, negated: bool, text: str = "") -> str:
    """A part as SQL; a comparison as it is in the `text`."""
    from sqlglot import exp

    if bool(node.args.get("negate")):
        node, negated = node.copy(), not negated
        node.set("negate", None)
    if isinstance(node, exp.Is) and isinstance(node.args["expression"], exp.Null) and negated:
        return f"{node.this.sql(load_dialect(), comments=False)} IS NOT NULL"
    begin, end = find_place(node)
    if isinstance(node, exp.Binary) and not negated and begin is not None and end is not None:
        shown, last = text[begin : end + 1], find_place(node.args["expression"])[0]
        if (
            last is not None
            and shown.count("(") == shown.count(")")
            and "\n" not in shown
            and "--" not in shown
        ):
            return shown
    return str((exp.not_(node) if negated else node).sql(load_dialect(), comments=False))


def find_place(node: exp.Expression) -> tuple[int | None, int | None]:
    """The first and the last character of a part, as far as it is known."""
    places = [(one.meta["start"], one.meta["end"]) for one in node.walk() if "start" in one.meta]
    if not places:
        return None, None
    return min(begin for begin, _ in places), max(end for _, end in places)


def split_pattern(pattern: str, escape: str) -> tuple[str, str]:
    """The text that a pattern begins with, and the rest from its first wildcard on.

    >>> split_pattern("a!%b%c", "!")
    ('a%b', '%c')
    """
    prefix: list[str] = []
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == escape and place + 1 < len(pattern):
            place += 1
        elif sign in "%_":
            return "".join(prefix), pattern[place:]
        prefix.append(pattern[place])
        place += 1
    return "".join(prefix), ""


# --- errors ------------------------------------------------------------------------------------------------------------

_SHOWN = 120
_OPEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)""", re.S
)
_HEX = re.compile(r"""\b[xX]'(?![0-9a-fA-F]*')""")


def describe_place(begin: int | None) -> str:
    """Where a character is, for a message."""
    return "" if begin is None else f" at character {begin + 1}"


def cut_text(text: str, begin: int = 0) -> str:
    """A text, of a long one what is around a place.

    >>> cut_text("id = 1"), len(cut_text("(" * 5_000))
    ('id = 1', 121)
    """
    if len(text) <= _SHOWN:
        return text
    first = max(0, min(begin - _SHOWN // 2, len(text) - _SHOWN))
    last = first + _SHOWN
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def describe_syntax(text: str, error: Exception) -> tuple[int | None, str]:
    """The place of an error of the parser, and what is wrong there.

    >>> describe_syntax("name = 'a", ValueError())
    (7, 'a quote that is not closed')
    """
    details: Any = (getattr(error, "errors", None) or [{}])[0]
    before, here = str(details.get("start_context") or ""), str(details.get("highlight") or "")
    said = str(details.get("description") or "")
    if here:
        begin = max(text.find(f"{before}{here}{details.get('end_context') or ''}"), 0) + len(before)
        return begin, "something is missing" if said.startswith("Required") else said.rstrip(". ")
    opened = next((found.start() for found in _OPEN.finditer(text) if found["open"]), None)
    if opened is not None:
        return opened, "a comment that is not closed" if text[opened] == "/" else "a quote that is not closed"
    wrong = _HEX.search(text)
    return (None, "it cannot be split into words") if wrong is None else (wrong.start(), "not hexadecimal")


def balance(text: str, begin: int, end: int) -> tuple[int, int]:
    """A place in a text with the parentheses that belong to it.

    >>> text = "id = 1 AND abs(id) = (SELECT 1)"
    >>> begin, end = balance(text, 11, 29)
    >>> text[begin : end + 1]
    'abs(id) = (SELECT 1)'
    """
    depth = least = 0
    for sign in text[begin : end + 1]:
        depth += (sign == "(") - (sign == ")")
        least = min(least, depth)
    for _ in range(depth - least):  # those that are not closed
        place = end + 1 + len(text[end + 1 :]) - len(text[end + 1 :].lstrip())
        end = place if text[place : place + 1] == ")" else end
    for _ in range(-least):
        before = text[:begin].rstrip()
        if before.endswith("("):
            begin = len(before) - 1
            while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
                begin -= 1
    return begin, end
