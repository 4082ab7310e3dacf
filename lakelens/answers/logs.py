"""`lakelens.predicates`: what Spark's event logs say that tables were asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from lakelens.analysis.layout.logged import LoggedPredicates, count_predicates
from lakelens.codecs.compression import allow_growth, decompress
from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.io.local import open_source
from lakelens.io.store import Store, find_info, walk

_CODECS = {"zstd": "zstd", "zst": "zstd", "gz": "gzip"}
_OWN = ("lz4", "lzf", "snappy")
_GROWS = 256


def read_predicates(
    log: str | os.PathLike[str], table: str | None = None, *, storage_options: Mapping[str, Any] | None = None
) -> LoggedPredicates:
    """Read which filters Spark's event logs say were pushed down into scans, and how often each was.

    Scans of Iceberg (their `filters`), Paimon and files (their `PushedFilters`) are read, from the physical plan with which
    each query began. Nothing else of a log is. See `spark.eventLog.enabled` in Spark's configuration.

    Parameters
    ----------
    log
        A log, or a directory of logs: a path, or the URL of an object store. Plain, or compressed with zstd or gzip.
    table
        The name of a table as the log has it, `"iceberg.db.events"`; None for all of them.
    storage_options
        Options of the object store, as for `lakelens.open`.

    Returns
    -------
    LoggedPredicates
        `table`, `predicate`, `asked`, the most frequent first: what `where=` of `Table.what_if` and `Table.advise` takes.
        `scans`, `unfiltered` and `unread` count what was passed over.

    Raises
    ------
    Missing
        There is no such file.
    LakeError
        There is no log in the directory.
    Unsupported
        A log is compressed in a way that Spark alone has (lz4, lzf, snappy).

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> plan = {"nodeName": "BatchScan c.db.t", "simpleString": "c.db.t [filters=id = 5, groupedBy=]"}
    >>> event = {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "sparkPlanInfo": plan}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "local-1"
    >>> _ = path.write_text(json.dumps(event))
    >>> read_predicates(path)[0]
    LoggedPredicate(table='c.db.t', predicate='id = 5', asked=1)
    """
    store, path = open_source(log, storage_options)
    info = find_info(store, path)
    if info is None:
        # without a path of its own: nothing of a table is missing
        raise Missing(f"no event log is at {path}", hint="spark.eventLog.dir says where Spark writes them")
    paths = [path]
    if info.is_dir:
        below = (child for child in walk(store, path, 2) if not child.is_dir)
        paths = [child.path for child in below if not child.name.startswith((".", "appstatus"))]
    if not paths:
        raise LakeError("no event log is in the directory", path=path)
    return count_predicates((line for place in paths for line in _read_lines(store, place)), table)


def _read_lines(store: Store, path: str) -> Iterator[bytes]:
    ending = path.removesuffix(".inprogress").removesuffix(".compact").rpartition(".")[2]
    if ending in _OWN:
        raise Unsupported(
            f"Spark frames {ending} in a way of its own",
            path=path,
            hint="spark.eventLog.compression.codec = zstd",
        )
    data = store.read(path)
    if ending in _CODECS:
        data = decompress(_CODECS[ending], data, allow_growth(len(data), _GROWS), path=path)
    yield from data.splitlines()
