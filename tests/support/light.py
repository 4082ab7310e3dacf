"""A walk of tables as one process sees them, to compare with what a process without the heavy packages sees.

    python -m tests.support.light [--bare] DIRECTORY…

Prints one JSON object: for every table, what each question was answered, or the `LakeError` that said why not. With
`--bare` the packages of `HEAVY` cannot be imported and no thread starts, as in a browser.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import PathFinder
from typing import Any

HEAVY = frozenset(
    ("numpy", "pyarrow", "pandas", "fastavro", "pyroaring", "mmh3", "datafusion", "isal", "polars", "duckdb")
)


_COLUMNS = 6  # of a table, of which a predicate is asked


class Bare:
    """Finds every module but those of the heavy packages, wherever they are installed."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Find a module as Python does."""
        return None if name.partition(".")[0] in HEAVY else PathFinder.find_spec(name, path, target)


def take_away() -> None:
    """Take packages and threads away from this process."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sys.meta_path = [Bare if finder is PathFinder else finder for finder in sys.meta_path]
    threading.Thread.start = refuse  # type: ignore[method-assign]


def list_questions(table: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """List what the light core answers of a table, by name."""
    yield "card", lambda: table.to_text(2)
    yield "html", table._repr_html_
    yield "history", lambda: table.history.to_text()
    yield "map", lambda: table.map().to_text()
    yield "diff", lambda: table.diff().to_text(2)
    yield "schemas", lambda: table.schemas.to_text(2)
    yield "refs", lambda: table.refs.to_text()
    yield "tree", lambda: table.tree().to_text()
    for snapshot in table.snapshots if len(table.snapshots) else filter(None, [table.current]):
        yield from _list_of_snapshot(snapshot)
    for file in list_all(table, "files"):
        yield from _list_of_file(file)
    for where in _list_predicates(table):
        yield f"explain {where}", lambda where=where: table.explain(where, row_groups=True).to_text(2)
    yield "findings", lambda: table.findings.to_text(2)


def _list_predicates(table: Any) -> Iterator[str]:
    """List predicates on the first columns: about nulls, and comparisons with bounds that files have."""
    files = list_all(table, "files")[:4]
    for name, field in list(table.schema.leaves())[:_COLUMNS]:
        quoted = ".".join(f"`{part}`" for part in name.split("."))
        yield f"{quoted} IS NOT NULL"
        yield f"{quoted} IS NULL OR NOT {quoted} IS NULL"
        bounds = [file.bounds[name] for file in files if name in file.bounds]
        found = [bound for pair in bounds for bound in (pair.lower, pair.upper) if bound is not None]
        texts = list(dict.fromkeys(_write_literal(value, field.type.logical) for value in found))
        for text in [text for text in texts if text][:2]:
            yield f"{quoted} = {text}"
            yield f"NOT ({quoted} <= {text})"
            yield f"{quoted} < {text} AND {quoted} IN ({text}, {texts[-1] or text})"
            if field.type.logical == "string":
                yield f"{quoted} LIKE {text[:2]}%'"


def _write_literal(value: Any, logical: str) -> str | None:
    if logical in ("boolean", "int8", "int16", "int32", "int64", "float32", "float64", "decimal"):
        return str(value).upper() if str(value) not in ("nan", "inf", "-inf") else None
    if logical in ("string", "date", "time", "timestamp", "timestamptz", "uuid") and "'" not in str(value):
        return f"'{value}'"
    return None


def _list_of_snapshot(snapshot: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    own = f"snapshot {snapshot.id}"
    yield own, lambda: snapshot.to_text(2)
    yield f"{own} changes", lambda: snapshot.changes.to_text()
    yield f"{own} files", lambda: snapshot.files.to_text(2)
    yield f"{own} live rows", lambda: str(snapshot.live_rows)
    yield f"{own} dangling", lambda: snapshot.dangling_deletes.to_text()
    yield f"{own} lists", lambda: [document.to_text(2) for document in snapshot.manifest_lists]
    yield f"{own} index", lambda: [file.to_text(2) for file in snapshot.index_files]
    for manifest in list_all(snapshot, "manifests"):
        name = f"{own} {manifest.path.rpartition('/')[2]}"
        yield name, lambda manifest=manifest: manifest.to_text(2)
        yield f"{name} bytes", lambda manifest=manifest: manifest.bytes_view().to_text(1)
        for number, entry in enumerate(list_all(manifest, "entries")):
            yield f"{name} {number}", lambda entry=entry: entry.to_text(2)


def _list_of_file(file: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    name = file.path.rpartition("/")[2]
    yield f"{name} card", lambda: file.to_text(2)
    yield f"{name} bounds", lambda: file.bounds.to_text(2)
    yield f"{name} bytes", lambda: file.bytes_view().to_text(1)
    yield f"{name} deletes", lambda: [match.to_text(2) for match in file.deletes]
    yield f"{name} positions", lambda: [list(file.deleted_positions), file.deleted_positions.to_text()]


def list_all(thing: Any, name: str) -> Sequence[Any]:
    """List what an attribute has; nothing where reading it fails, which another question says."""
    from lakelens.errors import LakeError

    try:
        return tuple(getattr(thing, name))
    except LakeError:
        return ()


def walk(directory: str) -> dict[str, Any]:
    """Ask everything of a table."""
    import lakelens as ll
    from lakelens.errors import LakeError

    answers: dict[str, Any] = {}
    with ll.options.display.using(strict_views=True):
        for question, ask in list_questions(ll.open(directory)):
            try:
                answers[question] = json.loads(json.dumps(ask(), default=str))
            except LakeError as error:
                answers[question] = f"{type(error).__name__}: {error}"
    return answers


def main(arguments: list[str]) -> None:
    """Print the walks of some tables."""
    if "--bare" in arguments:
        take_away()
    walked = {directory: walk(directory) for directory in arguments if directory != "--bare"}
    print(json.dumps(walked))


if __name__ == "__main__":
    main(sys.argv[1:])
