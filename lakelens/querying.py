"""SQL over a table's metadata: `Table.sql`, with DuckDB if it is installed, else with DataFusion.

Five views: `snapshots`, `refs`, `manifests`, `entries`, `files`. Only those that the query names are built, and of `files`
and `entries` only the columns that it names: a query of snapshots reads no manifest, a count of files decodes no bounds.
The query sees these views and nothing else: it can read and write no file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, find_nearest
from lakelens.model.arrow import drop_empty_structs
from lakelens.model.collections import QueryResult
from lakelens.model.facts.facts import MANIFEST, REF, SNAPSHOT, build_entries, build_manifests, list_kinds
from lakelens.model.scan.engines import Bounds, Engine, choose_engine, run_bounded, run_query
from lakelens.model.scan.files_to_arrow import list_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

#: The words that a query may begin a part with, for the nearest of one that is misspelt.
_WORDS = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "WITH", "UNION", "JOIN")
_SECONDS, _MOST_ROWS = 60.0, 1_000_000  # of a query that is bounded in the other way
VIEWS = ("snapshots", "refs", "manifests", "entries", "files")
# with these words a query may use columns that it does not name
_SWEEPING = frozenset(
    ("columns", "describe", "explain", "natural", "pivot", "show", "summarize", "table", "unpivot")
)
# the name that an engine does not find: of a column, of a view
_NO_COLUMN = re.compile(
    r"""Referenced column "([^"]+)" not found|does not have a column named "([^"]+)"|No field named (\S+?)\.?(?:\s|$)"""
)
_NO_VIEW = re.compile(r"""Table with name (\S+) does not exist|table '(?:[^'.]+\.)*([^'.]+)' not found""")
_NEAR = re.compile(r'at or near "([^"]+)"')
# an engine's own list of columns: the hint has the nearest
_CANDIDATES = re.compile(r"\s*(Valid fields are|Candidate bindings:|Did you mean|LINE \d).*", re.DOTALL)


def query_table(
    table: Table,
    query: str,
    *,
    snapshot: Any = None,
    engine: Engine | None = None,
    seconds: float | None = None,
    most_rows: int | None = None,
) -> QueryResult:
    """Run a query over the views of a table; see `Table.sql`.

    With `seconds` or `most_rows` it runs in a process of its own, within these and a GiB of memory: what has more rows is
    cut. Raises `LakeError`.
    """
    if not isinstance(query, str):
        raise TypeError(f"a query is SQL as text, not {type(query).__name__}")
    chosen = choose_engine(engine)
    state = table.current if snapshot is None else table.snapshot(snapshot)
    named = [view for view in VIEWS if view in split_words(query)]
    views = {view: make_view(table, state, view, query) for view in named}
    is_cut = False
    try:
        if seconds is None and most_rows is None:
            found = run_query(query, views, chosen)
        else:
            bounds = Bounds(seconds or _SECONDS, most_rows or _MOST_ROWS)
            found, is_cut = run_bounded(query, views, chosen, bounds)
    except LakeError:
        raise
    except Exception as error:  # engines raise errors of many classes
        missing, hint = _suggest_name(str(error), find_columns(table, state), named)
        message = f"the query cannot be run by {chosen}: {_shorten(error)}"
        span = None if missing is None else find_word(query, missing)
        raise LakeError(message, path=table.location, hint=hint, sql=query, span=span) from error
    return QueryResult(found, chosen, tuple(named), is_cut=is_cut)


def make_view(table: Table, state: Snapshot | None, view: str, query: str) -> pa.Table:
    """Make the Arrow table behind a view: of `files` and `entries` the columns that the query may mean."""
    makers: dict[str, Callable[[], pa.Table]] = {
        "snapshots": table.snapshots.to_arrow,
        "refs": table.refs.to_arrow,
        "manifests": partial(build_manifests, state),
    }
    if view in makers:
        return makers[view]()
    columns = find_columns(table, state)
    known = list_view_columns(view, columns)
    wanted = choose_columns(query, view, known)
    if "partition_values" not in known and "partition_values" in split_words(query):
        wanted = None  # a partitioning that the metadata has forgotten shows when manifests are read
    if view == "entries":
        return drop_empty_structs(build_entries(state, columns, wanted))
    files = table.files if state is None else state.files
    return drop_empty_structs(files.to_arrow(columns=wanted))


def find_columns(table: Table, state: Snapshot | None) -> FileColumns:
    """Find the columns of files, from the metadata alone where no manifest is needed to know them."""
    scan = None if state is None else state.scan_files()
    if scan is not None:
        return scan.columns
    return table.files.columns if state is None else state.files.columns


def list_view_columns(view: str, columns: FileColumns) -> list[str]:
    """List the columns of a view, in order."""
    if view == "entries":
        return ["status", *list_columns(columns, stats=True)]
    if view == "files":
        return list_columns(columns, stats=True)
    return list(list_kinds({"snapshots": SNAPSHOT, "refs": REF, "manifests": MANIFEST}[view]))


def describe_views(columns: FileColumns, named: Sequence[str]) -> str:
    """The views that a query names with their columns, then the names of the others; all with columns if it names none.

    >>> from lakelens.model.fileset import FileColumns
    >>> describe_views(FileColumns(), ["refs"])[:45]
    'refs(name, type, snapshot_id, max_ref_age_ms,'
    """
    shown = named or VIEWS
    words = [f"{view}({', '.join(list_view_columns(view, columns))})" for view in shown]
    others = [view for view in VIEWS if view not in shown]
    return "; ".join([*words, *([f"other views: {', '.join(others)}"] if others else [])])


def _suggest_name(said: str, columns: FileColumns, named: Sequence[str]) -> tuple[str | None, str]:
    """The name that an engine did not find, and what to try: the nearest ones, else how to see those that there are."""
    if found := _NO_COLUMN.search(said):
        missing = next(filter(None, found.groups())).strip('"').rpartition(".")[2]
        known = dict.fromkeys(name for view in named for name in list_view_columns(view, columns))
        near = find_nearest(missing, known)
        if named and not near:
            ways = " or ".join(f"SELECT * FROM {view} LIMIT 1" for view in named)
            return missing, f"{ways} shows all {len(known):,} columns. The views are {', '.join(VIEWS)}"
    elif found := _NO_VIEW.search(said):
        missing = next(filter(None, found.groups())).strip('"!')
        near = find_nearest(missing, VIEWS) or list(VIEWS)
    else:
        wrong = _NEAR.search(said)
        missing = None if wrong is None else wrong[1]
        near = [] if missing is None else find_nearest(missing, (*_WORDS, *VIEWS))
    if not near:
        return missing, describe_views(columns, named)
    return missing, f"did you mean {' or '.join(near)}? The views are {', '.join(VIEWS)}"


def find_word(text: str, word: str) -> tuple[int, int] | None:
    """Find where a word is in a text first, as the numbers of its first character and of the one after it.

    >>> find_word("select sises, sise from files", "SISE")
    (14, 18)
    """
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)
    return None if found is None else found.span()


def split_words(query: str) -> list[str]:
    """Split the words of a query in lower case.

    >>> split_words('SELECT path FROM "Files"')
    ['select', 'path', 'from', 'files']
    """
    return re.findall(r"\w+", query.lower())


def choose_columns(query: str, view: str, known: Sequence[str]) -> list[str] | None:
    """Choose the known columns of a view that a query may use, never too few; None for all.

    A plain SELECT uses those that it names. A star, the view's name as a whole row, or a statement that uses columns
    without naming them, uses all.

    >>> choose_columns("select sum(size_bytes) from files where level = 0", "files", ["path", "size_bytes", "level"])
    ['size_bytes', 'level']
    >>> choose_columns("select count(*) from files", "files", ["content", "path"])
    ['content']
    >>> choose_columns("select * from files", "files", ["path"]) is None
    True
    """
    words = split_words(query)
    if not _is_plain(query, words) or _means_whole_rows(query.lower(), view):
        return None
    named = [name for name in known if name.lower() in words]
    return named or list(known[:1])


def _is_plain(query: str, words: Sequence[str]) -> bool:
    """Check whether the query names every column that it uses."""
    text = re.sub(r"count\s*\(\s*\*\s*\)", "count()", query, flags=re.IGNORECASE)
    if "*" in text or "--" in text or "&" in text or not _SWEEPING.isdisjoint(words):
        return False
    # FROM without SELECT means everything, and every FROM has its SELECT before it
    return words[:1] in (["select"], ["with"]) and words.count("from") <= words.count("select")


def _means_whole_rows(query: str, view: str) -> bool:
    """Check whether the view or an alias of it is used as a column: SELECT f FROM files f."""
    aliases = set(re.findall(rf"\b{view}\b[\"`]?(?:\s+as)?\s+[\"`]?(\w+)", query))
    places = len(re.findall(rf"\b(?:from|join)\s+[\"`]?{view}\b", query))
    if len(re.findall(rf"\b{view}\b(?![\"`]?\s*\.)", query)) > places:
        return True
    return any(len(re.findall(rf"\b{alias}\b(?![\"`]?\s*\.)", query)) > places for alias in aliases)


def _shorten(error: Exception, limit: int = 400) -> str:
    """Shorten an engine's message in one line; it may quote names and values from the table."""
    said = re.sub(r"\^+", " ", _CANDIDATES.sub(" ", str(error)))
    text = " ".join(said.split()) or type(error).__name__
    text = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return text if len(text) <= limit else text[:limit] + "…"
