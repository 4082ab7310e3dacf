"""A maintenance statement as it stands in a runbook: which procedure it runs, on which table, with which options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, say_value

if TYPE_CHECKING:
    from sqlglot import exp

    from lakelens.model.maintenance import Procedure


# Two kinds of statements are read:
#
#     CALL lake.system.expire_snapshots(table => 'db.t', retain_last => 5)     Iceberg's and Paimon's procedures
#     OPTIMIZE db.t WHERE day = '2024-03-01' ZORDER BY (a, b)                  what a procedure's own `form` describes
#
# The values of a CALL are literals, ARRAY(…) and map(…), as the engines' own grammars have it. A form is words in order:
#
#     VACUUM <table> [<type=LITE|FULL>] [RETAIN <retain_hours> HOURS]
#
# `<name>` is an option's value or the table, `<name=A|B>` one of these words (of an option that is true or false: that it
# stands there), and what stands in brackets may be left out.

_MOST = 20_000  # characters of a statement
_CALL = re.compile(
    r"\s*CALL\s+(<\w+>\s*\.)?", re.IGNORECASE
)  # our own calls have <catalog>, which is not known
_FORM = re.compile(r"<(?P<name>\w+)(?:=(?P<words>[\w|]+))?>|(?P<bracket>[\[\]])|(?P<word>[^\s\[\]<>]+)")


@dataclass(frozen=True)
class Statement:
    """What a statement says: the procedure that it runs, the options as they are given, and the table as it names it."""

    procedure: Procedure
    options: Mapping[str, Any]
    table: str | None = None


def is_statement(text: str) -> bool:
    """Check whether a text is a statement, and no procedure's name.

    >>> is_statement("CALL lake.system.expire_snapshots('db.t')"), is_statement("expire_snapshots")
    (True, False)
    """
    return re.search(r"[\s(]", text.strip()) is not None


def read_statement(text: str, known: Mapping[str, Procedure], find: Callable[[str], Procedure]) -> Statement:
    """Read a statement that runs one of the known procedures; `find` has one by the name of a CALL.

    Raises `LakeError` where it runs none, cannot be read as SQL, or holds what is no literal.
    """
    if len(text) > _MOST:
        raise LakeError(f"a statement of {len(text):,} characters is too long", expected=f"at most {_MOST:,}")
    call = _CALL.match(text)
    if call is not None:
        return _read_call(text[call.end() :], find)
    forms = {procedure.form: procedure for procedure in known.values() if procedure.form}
    for form, procedure in forms.items():
        match = re.fullmatch(_write_pattern(form), text.strip().rstrip("; \n"), re.IGNORECASE | re.DOTALL)
        if match is not None:
            return _read_form(procedure, match)
    expected = "; ".join(forms) or "CALL catalog.system.procedure(option => value, …)"
    raise LakeError("the statement runs no procedure of this table", seen=say_value(text), expected=expected)


def _read_call(text: str, find: Callable[[str], Procedure]) -> Statement:
    import sqlglot
    from sqlglot import exp

    try:
        call = sqlglot.parse_one(text, read="spark")
    except (sqlglot.errors.SqlglotError, ValueError, IndexError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise LakeError(f"the CALL cannot be read: {reason}", seen=say_value(text)) from None
    while isinstance(call, exp.Dot):
        call = call.expression
    if not isinstance(call, exp.Anonymous):
        raise LakeError(
            "the CALL has no procedure with its values in brackets",
            seen=say_value(text),
            expected="CALL catalog.system.procedure(option => value, …)",
        )
    procedure = find(call.name)
    parameters = ("table", *(procedure.parameters or (option.name for option in procedure.options)))
    given: dict[str, Any] = {}
    for place, argument in enumerate(call.expressions):
        if isinstance(argument, exp.Kwarg):
            name, argument = argument.this.name.lower(), argument.expression
        elif place < len(parameters):
            name = parameters[place]
        else:
            raise LakeError(
                f"{procedure.name} takes at most {len(parameters)} values: {', '.join(parameters)}"
            )
        if name in given:
            raise LakeError(f"{procedure.name} is given {name} twice")
        given[name] = _read_literal(argument, name)
    table = given.pop("table", None)
    return Statement(procedure, given, table if isinstance(table, str) else None)


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
        return -_read_literal(value.this, name)
    if isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Boolean | exp.Literal):
        return value.to_py()
    raise LakeError(
        f"the value of {name} is no literal",
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


def _read_form(procedure: Procedure, match: re.Match[str]) -> Statement:
    kinds = {option.name: option.kind for option in procedure.options}
    options: dict[str, Any] = {}
    for name, value in match.groupdict().items():
        if value is None or name == "table":
            continue
        if kinds[name] == "texts":
            columns = value.removeprefix("(").removesuffix(")").split(",")
            options[name] = [column.strip().strip("`") for column in columns]
        elif kinds[name] == "predicate":
            options[name] = value
        else:
            options[name] = True if kinds[name] == "boolean" else value.strip("'\"")
    return Statement(procedure, options, match["table"])
