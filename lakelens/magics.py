"""`%load_ext lakelens`: `%lakelens` shows a table, `%%laketrace` runs SQL and shows what it did to storage.

%lakelens warehouse/shop.db/orders -s 3 -d 2

%%laketrace iceberg.shop.orders -o change
INSERT INTO iceberg.shop.orders VALUES (1, 'a');
DELETE FROM iceberg.shop.orders WHERE id = 1
"""

# IPython leaves its decorators of magics untyped
# mypy: disable-error-code="untyped-decorator, no-untyped-call"

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lakelens.errors import LakeError, Unsupported

# comments, strings and quoted names may hold a semicolon that ends no statement; last, the semicolon itself
_TOKEN = re.compile(
    r"""--[^\n]*|/\*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|;""",
    re.DOTALL,
)
_FENCE = re.compile(r"/\*|\*/")
_COMMENT = re.compile(r"\s+|--[^\n]*(?:\n|$)")


def split_statements(sql: str) -> list[str]:
    """Split the statements of a script, without the semicolons between them; one in a string, name or comment ends none.

    >>> split_statements("SELECT ';' -- a; b\\n; ; DELETE FROM `a;b` /* ; /* ; */ */;")
    ["SELECT ';' -- a; b", 'DELETE FROM `a;b` /* ; /* ; */ */']
    """
    pieces, start = [], 0
    for position in _find_semicolons(sql):
        pieces.append(sql[start:position])
        start = position + 1
    pieces.append(sql[start:])
    return [piece.strip() for piece in pieces if _skip_comments(piece)]


def _find_semicolons(sql: str) -> Iterator[int]:
    position = 0
    while token := _TOKEN.search(sql, position):
        if token[0] == "/*":
            position = _find_comment_end(sql, token.end())
            continue
        if token[0] == ";":
            yield token.start()
        position = token.end()


def _find_comment_end(sql: str, position: int) -> int:
    """Find where a bracketed comment ends; comments nest, and an unclosed one runs to the end."""
    depth = 1
    while depth and (fence := _FENCE.search(sql, position)):
        depth += 1 if fence[0] == "/*" else -1
        position = fence.end()
    return len(sql) if depth else position


def _skip_comments(sql: str) -> str:
    """Skip a statement without the comments before it; empty if it is only comments."""
    position = 0
    while position < len(sql):
        if sql.startswith("/*", position):
            position = _find_comment_end(sql, position + 2)
        elif comment := _COMMENT.match(sql, position):
            position = comment.end()
        else:
            break
    return sql[position:]


def run_statements(statements: Iterable[str], spark: Any) -> None:
    """Run each statement; show the first rows of a result. Of an error of Spark IPython shows the message."""
    from lakelens.spark.local.statement import run_statement
    from lakelens.views.card.wording import name_statement
    from lakelens.views.render.raised import shorten_traceback

    for statement in statements:
        try:
            found = run_statement(
                spark, statement, name_statement(_skip_comments(statement)) or "the statement"
            )
        except LakeError:
            raise
        except Exception as error:
            shorten_traceback(error)
            raise
        if found is not None:
            found.show()


def get_session() -> Any:
    """Give the active Spark session. Raises `Unsupported` when there is none."""
    hint = 'spark = lakelens.spark.session("warehouse") first'
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Unsupported("PySpark is not installed", hint="pip install 'lakelens[spark]'") from None
    found = SparkSession.getActiveSession()
    if found is None:
        raise Unsupported("no Spark session is running: %%laketrace runs SQL on one", hint=hint)
    return found


def find_target(text: str, namespace: dict[str, Any]) -> Any:
    """Find the TARGET of a magic: a variable's table or path, else the text itself.

    >>> find_target("place", {"place": "/warehouse/t"}), find_target("'/my lake/t'", {})
    ('/warehouse/t', '/my lake/t')
    """
    import os

    from lakelens.model.table import Table

    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]  # IPython leaves the quotes around a path with spaces
    held = namespace.get(text) if text.isidentifier() else None
    return held if isinstance(held, str | os.PathLike | Table) else text


def register_magics(shell: Any) -> None:
    """Give a shell `%lakelens` and `%%laketrace`."""
    from IPython.core.error import UsageError
    from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
    from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

    @magics_class
    class LakeMagics(Magics):
        """The magics of lakelens."""

        @magic_arguments()
        @argument("path", help="path, URL, variable, or catalog.database.table of a running session")
        @argument("-s", "--snapshot", help="id, tag, branch or time of the snapshot to show")
        @argument("-d", "--detail", type=int, default=1, choices=range(4), help="0 is one line, 3 everything")
        @line_magic
        def lakelens(self, line: str) -> None:
            """Show a table, or one of its snapshots."""
            arguments = parse_argstring(self.lakelens, line)
            with _in_one_line():
                show_table(find_target(arguments.path, shell.user_ns), arguments.snapshot, arguments.detail)

        @magic_arguments()
        @argument("target", help="path, variable or catalog.database.table of a table, or a warehouse's root")
        @argument("-o", "--output", metavar="VAR", help="keep the trace in this variable")
        @argument("-d", "--detail", type=int, default=1, choices=range(4), help="0 is one line, 3 everything")
        @cell_magic
        def laketrace(self, line: str, cell: str) -> None:
            """Run the cell's SQL on the running Spark session, and show what it did to storage."""
            arguments = parse_argstring(self.laketrace, line)
            if arguments.output and not arguments.output.isidentifier():
                raise UsageError(f"{arguments.output} is not a name for a variable")
            target = find_target(arguments.target, shell.user_ns)
            with _in_one_line():
                trace_statements(cell, target, arguments.detail, arguments.output, shell.user_ns)

    shell.register_magics(LakeMagics)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """An error of lakelens is what the reader typed: one line says it, `%tb` has the frames."""
    try:
        yield
    except LakeError as error:
        error.is_brief = True
        raise


def show_table(target: Any, snapshot: str | None = None, detail: int = 1) -> None:
    """Show a table or one of its snapshots; a name is looked up in the running session."""
    from lakelens.model.table import Table
    from lakelens.opening import open_any
    from lakelens.watching import find_session, looks_like_name

    if isinstance(target, Table):
        table = target
    else:
        spark = find_session() if isinstance(target, str) and looks_like_name(target) else None
        table = open_any(target, spark=spark)
    if snapshot is not None and not isinstance(table, Table):
        raise Unsupported("a view has no snapshots")
    (table if snapshot is None else table.snapshot(snapshot)).show(detail)


def trace_statements(
    sql: str, target: Any, detail: int = 1, output: str | None = None, namespace: dict[str, Any] | None = None
) -> None:
    """Run SQL, show what it did to the target even if it failed, and keep the trace in a variable."""
    from lakelens.views.cards.trace import format_sentence
    from lakelens.watching import watch

    spark = get_session()
    watching = watch(target, spark=spark)
    statements = split_statements(sql)
    watching.trace.statements = tuple(map(_skip_comments, statements))
    try:
        with watching:
            run_statements(statements, spark)
    finally:
        if watching.trace.is_finished:
            if output and namespace is not None:
                namespace[output] = watching.trace
            if detail > 0:
                watching.trace.show(detail)
            else:
                print(format_sentence(watching.trace))
