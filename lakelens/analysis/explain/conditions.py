"""A predicate in SQL as a `Condition`: columns found in a schema, literals as values of their types, NOT worked in.

Understood are AND, OR, NOT, comparisons, IN, BETWEEN, LIKE, IS [NOT] NULL, TRUE, FALSE, IS [NOT] DISTINCT FROM, `<=>`,
`starts_with`, `isnan`, casts of literals, and nested columns (`st.x`). Names are in double quotes or backticks where they
need any. Times without a zone are UTC. Anything else is refused with its place: a part that is not understood would prove
nothing, and the answer would look as if it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, cast

from lakelens.analysis.explain.sql import (
    NoValue,
    Point,
    balance,
    cut_fraction,
    cut_text,
    describe_place,
    describe_syntax,
    find_place,
    is_column,
    is_nan,
    is_null,
    load_dialect,
    place_literal,
    read_moment,
    read_number,
    settle,
    show_sql,
    split_pattern,
    unwrap,
)
from lakelens.caching import cached_property
from lakelens.errors import LakeError, Missing, list_nearest
from lakelens.model.scan.engines import parse_sql
from lakelens.model.schema import Field, Schema
from lakelens.model.stats import Condition, Constant, Term, Test, join_parts

if TYPE_CHECKING:
    from sqlglot import exp

_MOST_TERMS = 2_000  # a predicate beyond is no question of a person
_MOST_TEXT = 200_000
_TESTS: dict[str, Test] = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_FLIPPED: dict[Test, Test] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED: dict[Test, Test] = {
    "=": "!=",
    "<": ">=",
    "<=": ">",
    "in": "not in",
    "is null": "is not null",
    "starts with": "not starts with",
    "is nan": "is not nan",
}
_NEGATED |= {negated: test for test, negated in _NEGATED.items()}
_WHERE = "what stands after WHERE"
_WHOLE = ("INT", "BIGINT", "SMALLINT", "TINYINT", "UINT", "UBIGINT", "INT128")
_TEXTS = ("TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR", "UUID", "TIME")
_MOMENTS = ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "TIMESTAMP_NS", "DATETIME")


def parse_condition(text: str, schema: Schema) -> Condition:
    """Parse what a predicate in SQL says of the columns of a schema.

    Raises `LakeError` for what is not understood and for literals that do not fit, naming the place, and `Missing` for a
    column that there is not, with the nearest names.

    >>> from lakelens.model.schema import DataType
    >>> schema = Schema(0, (Field(1, "id", DataType("int", "int32")), Field(2, "at", DataType("date", "date"))))
    >>> condition = parse_condition("NOT (id <= 5 OR at IS NULL)", schema)
    >>> condition.kind, [(part.column, part.test, part.values) for part in condition.parts]
    ('and', [('id', '>', (5,)), ('at', 'is not null', ())])
    """
    return _Parser(text, schema).parse()


class _Parser:
    def __init__(self, text: str, schema: Schema) -> None:
        self._text = text
        self._schema = schema
        self._fields = dict(list_columns(schema.fields))
        self._count = 0

    def parse(self) -> Condition:
        import sqlglot
        from sqlglot import exp

        if not isinstance(self._text, str):
            raise TypeError(f"a predicate is SQL as text, not {type(self._text).__name__}")
        if len(self._text) > _MOST_TEXT:
            raise LakeError(f"a predicate of {len(self._text):,} characters; at most {_MOST_TEXT:,}")
        try:
            trees: list[Any] = parse_sql(lambda: load_dialect()().parse_into(exp.Condition, self._text))
            if len(trees) != 1 or trees[0] is None:
                place = describe_place(self._text.find(";") if ";" in self._text else None)
                raise LakeError(f"not one predicate{place}: {cut_text(self._text)!r}", hint=_WHERE)
            return self._read(trees[0], False)
        except RecursionError:
            raise LakeError(f"the predicate is nested too deeply: {cut_text(self._text)!r}") from None
        except (sqlglot.errors.SqlglotError, ValueError) as error:
            begin, said = describe_syntax(self._text, error)
            shown = cut_text(self._text, begin or 0)
            message = f"not a predicate in SQL{describe_place(begin)}: {shown!r} ({said})"
            span = None if begin is None else (begin, begin + 1)
            raise LakeError(message, hint=_WHERE, sql=self._text, span=span) from None

    def _refuse(self, node: exp.Expression, why: str, hint: str | None = None) -> LakeError:
        """An error that names the place of a part, or of the part around it."""
        begin, end = find_place(node)
        shown = node.sql(load_dialect())
        if begin is not None and end is not None:
            begin, end = balance(self._text, begin, end)
            shown = self._text[begin : end + 1]
        while begin is None and node.parent is not None:
            node = cast("exp.Expression", node.parent)
            begin, end = find_place(node)
        place = describe_place(begin)
        span = None if begin is None or end is None else (begin, end + 1)
        return LakeError(f"{cut_text(shown)!r}{place}: {why}", hint=hint, sql=self._text, span=span)

    def _show(self, node: exp.Expression, negated: bool) -> str:
        return show_sql(node, negated, self._text)

    # --- structure -----------------------------------------------------------------------------------------------------

    def _read(self, node: exp.Expression, negated: bool) -> Condition:
        """Read a part, or its negation."""
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self._read(node.this, negated)
        if isinstance(node, exp.Not):
            return self._read(node.this, not negated)
        if isinstance(node, exp.And | exp.Or):
            parts = [self._read(cast("exp.Expression", part), negated) for part in node.flatten()]
            kind: Literal["and", "or"] = "and" if isinstance(node, exp.And) != negated else "or"
            return join_parts(kind, parts, self._show(node, negated))
        self._count += 1
        if self._count > _MOST_TERMS:
            raise LakeError(f"a predicate of more than {_MOST_TERMS:,} comparisons")
        read = self._readers.get(type(node).__name__)
        if read is None:
            raise self._refuse(node, "not understood: a comparison of a column with literals is expected")
        return read(node, negated)

    @cached_property
    def _readers(self) -> dict[str, Callable[[Any, bool], Condition]]:
        compared = dict.fromkeys(_TESTS, self._read_comparison)
        return {
            **compared,
            "NullSafeEQ": self._read_null_safe,
            "NullSafeNEQ": lambda node, negated: self._read_null_safe(node, not negated),
            "In": self._read_in,
            "Between": self._read_between,
            "Is": self._read_is,
            "Like": self._read_like,
            "Escape": self._read_like,
            "StartsWith": self._read_prefix,
            "IsNan": lambda node, negated: self._make_term(node, node.this, "is nan", negated),
            "Column": self._read_flag,
            "Dot": self._read_flag,
            "Boolean": lambda node, negated: Constant(self._show(node, negated), bool(node.this) != negated),
            "Null": lambda node, negated: Constant("NULL", False),
        }

    def _read_comparison(self, node: exp.Expression, negated: bool) -> Condition:
        test = _TESTS[type(node).__name__]
        left, right = unwrap(node.this), unwrap(node.args["expression"])
        if not is_column(left) and is_column(right):
            left, right, test = right, left, _FLIPPED.get(test, test)
        return self._make_term(node, left, test, negated, [right])

    def _read_null_safe(self, node: exp.Expression, negated: bool) -> Condition:
        """IS [NOT] DISTINCT FROM, of which NULL is a value like others."""
        from sqlglot import exp

        left, right = unwrap(node.this), unwrap(node.args["expression"])
        if not is_column(left):
            left, right = right, left
        if isinstance(right, exp.Null):
            return self._make_term(node, left, "is null", negated)
        equal = self._make_term(node, left, "=", negated, [right])
        if not negated:
            return equal
        parts = [self._make_term(node, left, "is null", False), equal]
        return join_parts("or", parts, self._show(node, False))

    def _read_in(self, node: exp.Expression, negated: bool) -> Condition:
        negated = negated != bool(node.args.get("negate"))
        if node.args.get("query") is not None or not node.expressions:
            raise self._refuse(node, "IN needs a list of literals")
        return self._make_term(node, node.this, "in", negated, node.expressions)

    def _read_between(self, node: exp.Expression, negated: bool) -> Condition:
        low = self._make_term(node, node.this, ">=", negated, [node.args["low"]])
        high = self._make_term(node, node.this, "<=", negated, [node.args["high"]])
        return join_parts("or" if negated else "and", [low, high], self._show(node, negated))

    def _read_is(self, node: exp.Expression, negated: bool) -> Condition:
        from sqlglot import exp

        right = node.args["expression"]
        negated = negated != bool(node.args.get("negate"))
        if isinstance(right, exp.Null):
            return self._make_term(node, node.this, "is null", negated)
        if not isinstance(right, exp.Boolean):
            raise self._refuse(node, "IS needs NULL, TRUE or FALSE")
        self._need_flag(node, node.this)
        fits = self._make_term(node, node.this, "=", False, [exp.Boolean(this=bool(right.this) != negated)])
        if not negated:
            return fits
        empty = self._make_term(node, node.this, "is null", False)
        return join_parts("or", [empty, fits], self._show(node, True))

    def _read_flag(self, node: exp.Expression, negated: bool) -> Condition:
        """Read a boolean column by itself."""
        from sqlglot import exp

        self._need_flag(node, node)
        return self._make_term(
            node, node, "=", False, [exp.Boolean(this=not negated)], self._show(node, negated)
        )

    def _need_flag(self, node: exp.Expression, column: exp.Expression) -> None:
        name, found = self._find_column(node, unwrap(column))
        if found.type.logical != "boolean":
            raise self._refuse(node, f"{name} ({found.type}) is not TRUE or FALSE: a comparison is expected")

    def _read_prefix(self, node: exp.Expression, negated: bool) -> Condition:
        return self._make_term(node, node.this, "starts with", negated, [node.args["expression"]])

    def _read_like(self, node: exp.Expression, negated: bool) -> Condition:
        """Read a pattern: by what it begins with."""
        from sqlglot import exp

        whole, escape = node, "\\"
        if isinstance(node, exp.Escape):
            escape, node = str(node.args["expression"].this), node.this
            if len(escape) > 1:
                raise self._refuse(whole, "ESCAPE needs one character")
        if not isinstance(node, exp.Like):
            raise self._refuse(whole, "not understood: LIKE is expected")
        negated = negated != bool(node.args.get("negate"))
        pattern = unwrap(node.args["expression"])
        if not (isinstance(pattern, exp.Literal) and pattern.is_string):
            raise self._refuse(whole, "LIKE needs a pattern in single quotes")
        prefix, rest = split_pattern(str(pattern.this), escape)
        text = self._show(whole, negated)
        if not rest:
            literal = exp.Literal.string(prefix)
            return self._make_term(whole, node.this, "=", negated, [literal], text)
        is_exact = not rest.strip("%")
        if not prefix or (negated and not is_exact):  # whatever the pattern, NULL is not like it
            return self._make_term(whole, node.this, "is not null", False, (), text, is_text=True)
        literal = exp.Literal.string(prefix)
        made = self._make_term(whole, node.this, "starts with", negated, [literal], text)
        # A term that says less than its text.
        return replace(made, is_exact=False) if not is_exact and isinstance(made, Term) else made

    # --- terms ---------------------------------------------------------------------------------------------------------

    def _make_term(
        self,
        node: exp.Expression,
        column: exp.Expression,
        test: Test,
        negated: bool,
        literals: Any = (),
        text: str | None = None,
        *,
        is_text: bool = False,
    ) -> Condition:
        """Make a comparison of a column, or its negation, as a term; a constant where the literals decide by themselves."""
        name, found = self._find_column(node, unwrap(column))
        text = self._show(node, negated) if text is None else text
        test = _NEGATED[test] if negated else test
        logical = found.type.logical
        if found.type.is_nested and test not in ("is null", "is not null"):
            raise self._refuse(node, f"{name} ({logical}): only its fields can be compared")
        if (is_text or "starts" in test) and logical != "string":
            raise self._refuse(node, f"{name} ({found.type}): LIKE needs a column of text")
        if "nan" in test and logical not in ("float32", "float64"):
            raise self._refuse(node, f"{name} ({found.type}): it holds no NaN")
        if not literals:
            return Term(text, name, found.type, test, (), found.id, not is_text)
        raws = [self._read_literal(literal) for literal in literals]
        if None in raws:
            raws = [raw for raw in raws if raw is not None]
            if test == "not in" or not raws:
                return Constant(text, False)
        points = []
        for raw, literal in zip(raws, [one for one in literals if not is_null(one)], strict=True):
            try:
                points.append(Point(raw) if is_nan(raw, logical) else place_literal(raw, found.type))
            except NoValue as error:
                why = f"does not fit {name} ({found.type}): expected {error}"
                raise self._refuse(literal, why) from None
        return settle(Term(text, name, found.type, test, (), found.id), points)

    def _find_column(self, node: exp.Expression, column: exp.Expression) -> tuple[str, Field]:
        from sqlglot import exp

        if not is_column(column):
            raise self._refuse(node, "not understood: a comparison of a column with literals is expected")
        parts = [one.name for one in column.find_all(exp.Identifier, bfs=False)]
        name = ".".join(parts if not isinstance(column, exp.Column) else [part.name for part in column.parts])
        if name in self._fields:
            return name, self._fields[name]
        alike = [known for known in self._fields if known.lower() == name.lower()]
        if len(alike) == 1:
            return alike[0], self._fields[alike[0]]
        begin, end = find_place(column)
        at = "" if begin is None else f" (at character {begin + 1})"
        message = f"there is no column {cut_text(name)!r}{at}"
        span = None if begin is None or end is None else (begin, end + 1)
        raise Missing(message, hint=list_nearest(name, self._fields), sql=self._text, span=span)

    def _read_literal(self, node: exp.Expression) -> Any:
        """Read a literal: text, a number, a time, bytes, TRUE or FALSE; None for NULL."""
        from sqlglot import exp

        node = unwrap(node)
        if isinstance(node, exp.Null):
            return None
        if isinstance(node, exp.Boolean):
            return bool(node.this)
        if isinstance(node, exp.HexString):
            return bytes.fromhex(str(node.this))
        try:
            if isinstance(node, exp.Literal):
                return str(node.this) if node.is_string else read_number(str(node.this))
            if isinstance(node, exp.Neg):
                value = self._read_literal(node.this)
                return (value if isinstance(value, Decimal) else read_number(str(value))).copy_negate()
            if isinstance(node, exp.Cast):
                return self._cast(node)
        except NoValue as error:
            raise self._refuse(node, f"expected {error}") from None
        is_quoted = isinstance(node, exp.Column) and node.this.args.get("quoted")
        hint = f"text stands in single quotes: '{cut_text(node.name)}'" if is_quoted else None
        raise self._refuse(node, "not understood: a literal is expected", hint)

    def _cast(self, node: exp.Expression) -> Any:
        """A literal that is cast, or written with its type (DATE '2024-01-31')."""
        value, wanted = self._read_literal(node.this), str(node.args["to"].this.name)
        if value is None:
            return None
        if wanted in _TEXTS:
            return str(value)
        if wanted in _MOMENTS or wanted == "DATE":
            moment = read_moment(value) if isinstance(value, str) else value
            whole = 86_400_000_000_000
            if wanted == "DATE" and hasattr(moment, "nanos"):
                return datetime.fromtimestamp(moment.nanos // whole * 86_400, UTC).date().isoformat()
            return moment
        if wanted in _WHOLE:
            return cut_fraction(read_number(str(value)))
        if wanted in ("DOUBLE", "FLOAT", "DECIMAL"):
            return read_number(str(value))
        if wanted == "BOOLEAN":
            return value if isinstance(value, bool) else str(value)
        if wanted in ("BINARY", "VARBINARY"):
            return value if isinstance(value, bytes) else str(value).encode()
        raise self._refuse(node, f"a cast to {wanted} is not understood")


def list_columns(fields: Sequence[Field], prefix: str = "") -> Iterator[tuple[str, Field]]:
    """List the columns that a row has one value of, by full name: not those inside lists and maps."""
    for field in fields:
        yield f"{prefix}{field.name}", field
        if field.type.logical == "struct":
            yield from list_columns(field.type.children, f"{prefix}{field.name}.")
