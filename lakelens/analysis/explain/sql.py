"""The parts of a predicate as sqlglot gives them: which is a column, where it stands, how it is written."""

from __future__ import annotations

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
