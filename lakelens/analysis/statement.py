"""A maintenance statement as it stands in a runbook: which procedure it runs, on which table, with which options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, say_value
from lakelens.model.scan.engines import parse_sql

if TYPE_CHECKING:
    from sqlglot import exp


# Two kinds of statements are read:
#
#     CALL lake.system.expire_snapshots(table => 'db.t', retain_last => 5)     Iceberg's and Paimon's procedures
#     OPTIMIZE db.t WHERE day = '2024-03-01' ZORDER BY (a, b)                  what a procedure's own `form` describes
#
# The values of a CALL are literals, ARRAY(…) and map(…), as the engines' own grammars have it. A form is words in order:
#
#     VACUUM <table> [<type=LITE|FULL>] [RETAIN <retain_hours> HOURS]
#
# `<name>` is an option's value or the table, `<name,>` a list, `<name=A|B>` one of these words (a word alone: whether it
# stands there), and what stands in brackets may be left out.

_MOST = 20_000  # characters of a statement
# our own calls have <catalog>, which is not known
_CALL = re.compile(r"\s*CALL\s+(<\w+>\s*\.)?", re.IGNORECASE)
_FORM = re.compile(r"<(?P<name>\w+)(?:=(?P<words>[\w|]+)|,)?>|(?P<bracket>[\[\]])|(?P<word>[^\s\[\]<>]+)")


@dataclass(frozen=True)
class Statement:
    """What a statement says: the procedure's name, the values without names in their order, and those with names."""

    procedure: str
    values: Sequence[Any]
    options: Mapping[str, Any]


def is_statement(text: str) -> bool:
    """Check whether a text is a statement, and no procedure's name.

    >>> is_statement("CALL lake.system.expire_snapshots('db.t')"), is_statement("expire_snapshots")
    (True, False)
    """
    return re.search(r"[\s(]", text.strip()) is not None


def list_forms(procedures: Mapping[str, Any]) -> dict[str, str]:
    """List the forms of the statements that run some procedures, by their names; a CALL has none."""
    return {name: procedures[name].form for name in procedures if procedures[name].form}


def read_statement(text: str, forms: Mapping[str, str]) -> Statement:
    """Read a CALL, or a statement of one of the forms, which are by the names of their procedures.

    Raises `LakeError` where it is neither, cannot be read as SQL, or holds what is no literal.

    >>> read_statement("CALL lake.system.expire_snapshots('db.t', retain_last => 5)", {})
    Statement(procedure='expire_snapshots', values=['db.t'], options={'retain_last': 5})
    >>> read_statement("SWEEP db.t (a, b)", {"sweep": "SWEEP <table> [<columns,>]"})
    Statement(procedure='sweep', values=[], options={'table': 'db.t', 'columns': ['a', 'b']})
    """
    if len(text) > _MOST:
        raise LakeError(f"a statement of {len(text):,} characters is too long", expected=f"at most {_MOST:,}")
    call = _CALL.match(text)
    if call is not None:
        return _read_call(text[call.end() :])
    for name, form in forms.items():
        match = re.fullmatch(_write_pattern(form), text.strip().rstrip("; \n"), re.IGNORECASE | re.DOTALL)
        if match is not None:
            values = {key: value for key, value in match.groupdict().items() if value is not None}
            return Statement(name, [], {key: _read_part(form, key, values[key]) for key in values})
    expected = "; ".join(forms.values()) or "CALL catalog.system.procedure(option => value, …)"
    raise LakeError("the statement runs no procedure of this table", seen=say_value(text), expected=expected)


def _read_call(text: str) -> Statement:
    import sqlglot
    from sqlglot import exp

    try:
        # as the one column of a SELECT: what begins with another statement's word is none then
        (query,) = parse_sql(lambda: sqlglot.parse(f"SELECT {text.rstrip().rstrip(';')}", read="spark"))
        call = _pick_only(query)
    except sqlglot.errors.SqlglotError as error:
        reason = str(error).partition("\n")[0]
        raise LakeError(f"the CALL cannot be read: {reason}", seen=say_value(text)) from None
    except (ValueError, RecursionError):
        raise LakeError("the CALL cannot be read: it is no SQL", seen=say_value(text)) from None
    while isinstance(call, exp.Dot):
        call = call.expression
    if not isinstance(call, exp.Anonymous):
        raise LakeError(
            "the CALL has no procedure with its values in brackets",
            seen=say_value(text),
            expected="CALL catalog.system.procedure(option => value, …)",
        )
    values: list[Any] = []
    options: dict[str, Any] = {}
    for argument in call.expressions:
        if not isinstance(argument, exp.Kwarg) or argument.this is None:
            values.append(_read_literal(argument, f"value {len(values) + 1}"))
            continue
        name = argument.this.name.lower()
        if name in options:
            raise LakeError(f"the CALL gives {name} twice")
        options[name] = _read_literal(argument.expression, name)
    return Statement(call.name, values, options)


def _pick_only(query: exp.Expr | None) -> exp.Expr | None:
    """Pick the one column of a query that has nothing else; None of any other."""
    held = {name for name, value in (query.args if query is not None else {}).items() if value}
    columns = query.expressions if query is not None else []
    return columns[0] if held == {"expressions"} and len(columns) == 1 else None


def _read_literal(value: exp.Expr, name: str) -> Any:
    """Read the value of an option: a time stays the text that it is written with."""
    from sqlglot import exp

    if isinstance(value, exp.Array):
        return [_read_literal(item, name) for item in value.expressions]
    if isinstance(value, exp.VarMap) and len(value.keys) == len(value.values):
        keys = (_read_literal(key, name) for key in value.keys)
        return dict(zip(keys, (_read_literal(item, name) for item in value.values), strict=True))
    if isinstance(value, exp.Concat):  # literals side by side are one, in Spark 3
        return "".join(str(_read_literal(part, name)) for part in value.expressions)
    if isinstance(value, exp.Cast):  # TIMESTAMP '…', 5L
        return _read_literal(value.this, name)
    if isinstance(value, exp.Neg):
        number = _read_literal(value.this, name)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    if isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Boolean | exp.Literal):
        plain = value.to_py()
        return float(plain) if isinstance(plain, Decimal) else plain
    raise LakeError(
        f"{name} is no literal",
        seen=say_value(value.sql("spark")),
        expected="text, a number, true or false, TIMESTAMP '…', ARRAY(…) or map(…)",
    )


def _write_pattern(form: str) -> str:
    """Write a form as a regular expression: what may be left out takes the blanks before it along.

    >>> _write_pattern("VACUUM <table> [<type=LITE|FULL>]")
    'VACUUM\\\\s+(?P<table>.+?)(?:\\\\s+(?P<type>LITE|FULL))?'
    """
    pattern, gap = "", ""
    for part in _FORM.finditer(form):
        if part["bracket"]:
            pattern += ")?" if part["bracket"] == "]" else "(?:"
            continue
        found = f"(?P<{part['name']}>{part['words'] or '.+?'})" if part["name"] else re.escape(part["word"])
        pattern, gap = pattern + gap + found, r"\s+"
    return pattern


def _read_part(form: str, name: str, text: str) -> Any:
    """Read what stands in a form's place for a name."""
    if f"<{name},>" in form:
        return [part.strip().strip("`") for part in text.removeprefix("(").removesuffix(")").split(",")]
    if f"<{name}={text.upper()}>" in form:
        return True
    quoted = re.fullmatch(r"(['\"])([^'\"]*)\1", text)
    return quoted[2] if quoted else text
