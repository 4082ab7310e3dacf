"""The tables of a warehouse as places to read: plain data that goes to the executors.

A warehouse is a directory or URL (walked as by `lakelens.find`), a catalog of the Spark session (asked for its tables,
their locations and current pointers), or a list of tables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.table import Table
from lakelens.model.warehouse.catalog import FoundTable
from lakelens.opening import is_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HIVE_CATALOG = "spark_catalog"
_FILE_URL = re.compile(r"^file:/+")


@dataclass(frozen=True, slots=True)
class TablePlace:
    """One table to read: its URL or path, what is known about it, or why it cannot be opened.

    `facts` come from a catalog, with the current metadata file. A `remembered` table was found by an earlier run but not
    by this one: it is gone if it cannot be opened. `answers` are those that are asked of it.
    """

    url: str
    format: str | None = None
    name: str | None = None
    facts: Mapping[str, Any] | None = None
    error: str | None = None
    error_code: str | None = None
    remembered: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    answers: tuple[str, ...] = ()


def list_places(
    root: Any, spark: SparkSession, *, depth: int = 4, storage_options: Mapping[str, Any] | None = None
) -> list[TablePlace]:
    """List the tables below a directory, of a catalog, or of a list; each location once, in order.

    A directory that cannot be read, and a table that its catalog cannot locate, are places with an `error`. A root that
    does not exist or cannot be read is raised.
    """
    options = dict(storage_options or {})
    if isinstance(root, str) and is_catalog(root, spark):
        found = _list_catalog(root, spark, options)
    elif isinstance(root, str | os.PathLike):
        found = _walk_directory(os.fspath(root), depth, options)
    else:
        found = _list_given(root, spark, options)
    return list({place.url: place for place in map(_normalise, found)}.values())


def is_catalog(name: str, spark: SparkSession) -> bool:
    """Check whether a name is a catalog of the session, and not a directory."""
    if "/" in name or ":" in name or os.path.exists(name):  # noqa: PTH110
        return False
    return name == _HIVE_CATALOG or spark.conf.get(f"spark.sql.catalog.{name}", None) is not None


def _normalise(place: TablePlace) -> TablePlace:
    """Normalise the same place with one spelling of its location: catalogs give `file:/wh/t`, walks `/wh/t`."""
    url = _FILE_URL.sub("/", place.url)
    return replace(place, url=url.rstrip("/") or "/")


def _walk_directory(root: str, depth: int, options: Mapping[str, Any]) -> Iterator[TablePlace]:
    from lakelens import find

    catalog = find(root, depth=depth, storage_options=options)
    if not len(catalog) and [problem.path for problem in catalog.problems] == [catalog.root]:
        raise catalog.problems[0]
    for found in catalog:
        yield TablePlace(_make_url(found.path, root), found.format, options=options)
    for problem in catalog.problems:
        path = problem.path or root
        yield TablePlace(
            _make_url(path, root), error=str(problem), error_code=_code(problem), options=options
        )


def _list_given(
    tables: Iterable[Any], spark: SparkSession, options: Mapping[str, Any]
) -> Iterator[TablePlace]:
    for table in tables:
        if isinstance(table, Table):
            yield TablePlace(table.location, table.format, table.name, table.catalog, options=options)
        elif isinstance(table, FoundTable):
            yield TablePlace(table.path, table.format, options=options)
        elif isinstance(table, str) and "." in table and is_name(table):
            yield _locate_table(table, spark, options)
        else:
            place = os.fspath(table)
            if "://" not in place:
                place = os.path.abspath(os.path.expanduser(place))  # noqa: PTH100, PTH111
            yield TablePlace(place, options=options)


def _list_catalog(catalog: str, spark: SparkSession, options: Mapping[str, Any]) -> Iterator[TablePlace]:
    from lakelens.spark.local.catalog import quote_name

    for row in spark.sql(f"SHOW NAMESPACES IN {quote_name(catalog)}").collect():
        database = str(row[0])
        for found in spark.sql(f"SHOW TABLES IN {quote_name(catalog, database)}").collect():
            if not found["isTemporary"]:
                yield _locate_table(quote_name(catalog, database, found["tableName"]), spark, options)


def _locate_table(name: str, spark: SparkSession, options: Mapping[str, Any]) -> TablePlace:
    from lakelens.spark.local.catalog import locate, parse_name

    plain = ".".join(parse_name(name))
    try:
        entry = locate(spark, name)
    except LakeError as error:
        return TablePlace(plain, name=plain, error=str(error), error_code=_code(error), options=options)
    facts = {**entry.facts, "metadata_location": entry.metadata_location}
    return TablePlace(entry.location, entry.format, entry.name, facts, options=options)


def _make_url(path: str, root: str) -> str:
    """Make a path in the store of `root` as a URL that can be opened.

    >>> _make_url("bucket/wh/t", "s3://bucket/wh"), _make_url("/wh/t", "file:///wh"), _make_url("/wh/t", "/wh")
    ('s3://bucket/wh/t', '/wh/t', '/wh/t')
    """
    scheme, separator, _ = root.partition("://")
    if not separator or scheme == "file":
        return path
    return path if "://" in path else f"{scheme}://{path.lstrip('/')}"


def _code(error: LakeError) -> str:
    return type(error).__name__.lower()
