"""What a Spark session's catalogs know about a table beyond its directory.

For Iceberg that is the catalog's own current metadata file, for a format whose files say everything the path, and for Hive
nearly everything: the metastore's table, storage descriptor, partitions and statistics, read from `DESCRIBE FORMATTED` by
section and key (the keys and their order differ between Spark versions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.catalogs.entry import CatalogEntry, split_name
from lakelens.errors import Missing, Unsupported, find_nearest
from lakelens.spark.local.formats import FORMATS
from lakelens.spark.local.session import check_running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Sequence[tuple[str, str, str]]

# Keys of "# Detailed Table Information" that describe storage; the rest are facts about the table.
_STORAGE_KEYS = frozenset(
    {
        "Location",
        "Serde Library",
        "InputFormat",
        "OutputFormat",
        "Compressed",
        "Storage Desc Parameters",
        "Storage Properties",
        "Num Buckets",
        "Bucket Columns",
        "Sort Columns",
    }
)
_STATISTICS = re.compile(r"(\d+) bytes(?:, (\d+) rows)?")


def locate(spark: SparkSession, name: str, *, max_partitions: int = 1000) -> CatalogEntry:
    """Locate where a table is according to the catalog of a running session, and the catalog's other facts about it.

    Parameters
    ----------
    spark
        The session.
    name
        `"catalog.database.table"`; two parts mean `spark_catalog`. Parts may be in backticks.
    max_partitions
        How many partitions of a Hive table to list.

    Returns
    -------
    CatalogEntry
        For a Hive table `facts` has `columns`, `partition_columns`, `table`, `storage`, `partitions` (each with its own
        location; `partition_count` is the true number) and `statistics` by column.

    Raises
    ------
    Missing
        The catalog has no such table.
    Unsupported
        It is a view, or of another format; or the session is stopped.
    """
    check_running(spark)
    catalog, database, table = parse_name(name)
    full = ".".join((catalog, database, table))
    quoted = quote_name(catalog, database, table)
    sections = parse_description(_describe(spark, quoted, full))
    facts = sections.get("Detailed Table Information", {})
    provider = str(facts.get("Provider", "")).lower()
    if provider == "iceberg":
        # The log's last row is the current file; its order is kept even when two commits share a millisecond.
        log = spark.sql(f"SELECT file FROM {quoted}.metadata_log_entries").collect()
        pointer = str(log[-1][0]) if log else None
        return CatalogEntry(full, "iceberg", str(facts["Location"]), pointer, {"table": facts})
    if provider in FORMATS and provider != "hive":
        return _locate_described(spark, quoted, full, provider, facts)
    if catalog != "spark_catalog":
        raise Unsupported(
            f"{full} is a table of provider {provider or 'unknown'!r}, which is none of {', '.join(FORMATS)}"
        )
    if str(facts.get("Type", "")).upper() == "VIEW" or "Location" not in facts:
        raise Unsupported(f"{full} is a view or has no location: there are no files to look at")
    return _locate_hive(spark, quoted, full, sections, max_partitions)


def quote_name(*parts: str) -> str:
    """Quote a name in backticks, part by part, as SQL takes it.

    >>> quote_name("db", "a`b")
    '`db`.`a``b`'
    """
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def parse_name(name: str) -> tuple[str, str, str]:
    """Catalog, database and table of a name of two or three parts.

    >>> parse_name("db.`a.b`")
    ('spark_catalog', 'db', 'a.b')
    >>> parse_name("iceberg.db.t")
    ('iceberg', 'db', 't')
    """
    parts = list(split_name(name))
    if len(parts) == 2:
        parts.insert(0, "spark_catalog")
    if len(parts) != 3:
        raise Unsupported(
            f"{name!r} is not a table name of two or three parts", hint="catalog.database.table"
        )
    return parts[0], parts[1], parts[2]


def parse_description(rows: Rows) -> dict[str, Any]:
    """Parse the rows of `DESCRIBE FORMATTED` by section: `columns` and `partition_columns` as lists of dicts, every
    `# …` section as a dict of its keys.

    >>> rows = [("id", "int", ""), ("", "", ""), ("# Detailed Table Information", "", ""), ("Owner", "me", "")]
    >>> parse_description(rows)
    {'columns': [{'name': 'id', 'type': 'int', 'comment': None}], 'Detailed Table Information': {'Owner': 'me'}}
    """
    sections: dict[str, Any] = {"columns": []}
    current = "columns"
    fresh = False  # a section starts only after an empty row: a column may have any name
    for name, value, comment in rows:
        if not name:
            fresh = True
        elif name.startswith("# ") and (fresh or name == "# Partition Information"):
            current = _open_section(sections, name)
            fresh = False
        elif name == "# col_name":
            continue
        elif isinstance(sections[current], list):
            sections[current].append({"name": name, "type": value, "comment": comment or None})
        else:
            sections[current].setdefault(name, value)
    return sections


def _open_section(sections: dict[str, Any], header: str) -> str:
    columns = {"# Partition Information": "partition_columns", "# Metadata Columns": "metadata_columns"}
    name = columns.get(header, header.removeprefix("# "))
    sections[name] = [] if header in columns else {}
    return name


def find_near_names(spark: SparkSession, name: str) -> list[str]:
    """Find the tables of a session whose names are nearest to one that there is not: of its database, else of its catalog.

    None where the session cannot list them, or none is near.
    """
    from pyspark.errors import PySparkException

    try:
        catalog, database, table = parse_name(name)
        databases = [row[0] for row in spark.sql(f"SHOW DATABASES IN {quote_name(catalog)}").collect()]
        if database not in databases:
            databases = find_nearest(database, databases)[:1]
        else:
            databases = [database]
        names = [
            f"{catalog}.{place}.{row['tableName']}"
            for place in databases
            for row in spark.sql(f"SHOW TABLES IN {quote_name(catalog, place)}").collect()
        ]
    except (PySparkException, Unsupported):
        return []
    return find_nearest(f"{catalog}.{database}.{table}", names)


def _describe(spark: SparkSession, quoted: str, full: str) -> Rows:
    from pyspark.errors import AnalysisException

    try:
        return _rows(spark, f"DESCRIBE FORMATTED {quoted}")
    except AnalysisException as error:
        first = str(error).splitlines()[0]
        raise Missing(f"the session's catalogs have no table {full} ({first})", path=full) from error


def _rows(spark: SparkSession, sql: str) -> Rows:
    return [tuple("" if value is None else str(value) for value in row) for row in spark.sql(sql).collect()]  # type: ignore[misc]


def _locate_described(
    spark: SparkSession, quoted: str, full: str, provider: str, facts: dict[str, Any]
) -> CatalogEntry:
    """Locate a table of which the files say everything but where it is."""
    properties = {key: value for key, value, *_ in _rows(spark, f"SHOW TBLPROPERTIES {quoted}")}
    path = properties.get("path") or facts.get("Location")
    if not path:
        raise Unsupported(f"the catalog does not say where {full} is", hint="open its directory")
    return CatalogEntry(full, provider, str(path), None, {"table": facts, "properties": properties})


def _locate_hive(
    spark: SparkSession, quoted: str, full: str, sections: dict[str, Any], max_partitions: int
) -> CatalogEntry:
    detailed: dict[str, str] = sections["Detailed Table Information"]
    partition_columns = sections.get("partition_columns", [])
    keys = {column["name"] for column in partition_columns}
    columns = [column for column in sections["columns"] if column["name"] not in keys]
    facts: dict[str, Any] = {
        "columns": columns,
        "partition_columns": partition_columns,
        "table": {key: value for key, value in detailed.items() if key not in _STORAGE_KEYS},
        "storage": {key: value for key, value in detailed.items() if key in _STORAGE_KEYS},
        "properties": {key: value for key, value, *_ in _rows(spark, f"SHOW TBLPROPERTIES {quoted}")},
        "statistics": dict(_column_statistics(spark, quoted, columns)),
    }
    if match := _STATISTICS.search(detailed.get("Statistics", "")):
        facts["size_bytes"] = int(match[1])
        facts["record_count"] = int(match[2]) if match[2] else None
    if partition_columns:
        names = [row[0] for row in spark.sql(f"SHOW PARTITIONS {quoted}").collect()]
        facts["partition_count"] = len(names)
        facts["partitions"] = [_describe_partition(spark, quoted, name) for name in names[:max_partitions]]
    return CatalogEntry(full, "hive", detailed["Location"], None, facts)


def _column_statistics(
    spark: SparkSession, quoted: str, columns: Iterable[dict[str, str]]
) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The results of `ANALYZE TABLE … FOR COLUMNS`; columns that were not analysed are left out."""
    described = {"col_name", "data_type", "comment"}
    for column in columns:
        rows = _rows(spark, f"DESCRIBE FORMATTED {quoted} {quote_name(column['name'])}")
        values = {
            key: (None if value == "NULL" else value) for key, value, *_ in rows if key not in described
        }
        if any(value is not None for value in values.values()):
            yield column["name"], values


def _describe_partition(spark: SparkSession, quoted: str, name: str) -> dict[str, Any]:
    values = parse_partition_name(name)
    spec = ", ".join(f"{quote_name(key)}={_literal(value)}" for key, value in values.items())
    sections = parse_description(_rows(spark, f"DESCRIBE FORMATTED {quoted} PARTITION ({spec})"))
    detailed = dict(sections.get("Detailed Partition Information", {}))
    entry: dict[str, Any] = {"name": name, "values": values, "location": detailed.pop("Location", None)}
    if match := _STATISTICS.search(detailed.get("Partition Statistics", "")):
        entry["size_bytes"] = int(match[1])
        entry["record_count"] = int(match[2]) if match[2] else None
    return entry | {"facts": detailed, "storage": sections.get("Storage Information", {})}


def parse_partition_name(name: str) -> dict[str, str | None]:
    """Parse the values of one line of `SHOW PARTITIONS`, unescaped; Hive's default partition is None.

    >>> parse_partition_name("d=2024-01-01/k=x%2Fy")
    {'d': '2024-01-01', 'k': 'x/y'}
    >>> parse_partition_name("k=__HIVE_DEFAULT_PARTITION__")
    {'k': None}
    """
    pairs = (part.partition("=") for part in name.split("/"))
    return {_unescape(key): None if value == _DEFAULT else _unescape(value) for key, _, value in pairs}


_DEFAULT = "__HIVE_DEFAULT_PARTITION__"


def _unescape(text: str) -> str:
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), text)


def _literal(value: str | None) -> str:
    """A string literal of Spark SQL; null partitions are asked for under the name that Hive gives them."""
    text = _DEFAULT if value is None else value
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
