"""What the engine itself says about a table, as JSON: its metadata or system tables, row by row."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable
from decimal import Context, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

ICEBERG_TABLES = (
    *(
        "snapshots",
        "history",
        "refs",
        "manifests",
        "all_manifests",
        "entries",
        "all_entries",
        "files",
        "partitions",
    ),
    *("metadata_log_entries", "position_deletes"),
)
# Their rows are rows of `files` or of `all_entries` again: the paths say which.
ICEBERG_SUBSETS = ("data_files", "delete_files", "all_files", "all_data_files", "all_delete_files")
PAIMON_TABLES = (
    *(
        "snapshots",
        "schemas",
        "options",
        "files",
        "manifests",
        "partitions",
        "tags",
        "branches",
        "statistics",
    ),
)
MOST_ROWS = 200


def collect(spark: Any, kind: str, table: str) -> tuple[Path, dict[str, Any]]:
    """The directory of a table and everything the engine answers about it."""
    return {"iceberg": collect_iceberg, "paimon": collect_paimon, "hive": collect_hive}[kind](spark, table)


def collect_iceberg(spark: Any, table: str) -> tuple[Path, dict[str, Any]]:
    document: dict[str, Any] = {"engine": f"iceberg 1.12.0, spark {spark.version}", "table": table}
    for name in ICEBERG_TABLES:
        document[name] = ask_iceberg(spark, f"{table}.{name}")
    if len(document["position_deletes"]) > MOST_ROWS:
        del document["position_deletes"]
    for name in ICEBERG_SUBSETS:
        document[name] = ask(spark, f"SELECT file_path, content_offset FROM {table}.{name}")
    ids = [row["snapshot_id"] for row in document["snapshots"]]
    for name in ("files", "manifests"):
        document[f"{name}_at"] = {
            str(key): ask_iceberg(spark, f"{table}.{name}", f" VERSION AS OF {key}") for key in ids
        }
    for taken in (document["entries"], document["all_entries"], *document["files_at"].values()):
        for row in taken if isinstance(taken, list) else []:
            row.pop("readable_metrics", None)  # the raw bounds are there; `files` has both
    counts = {key: ask(spark, f"SELECT count(*) AS n FROM {table} VERSION AS OF {key}") for key in ids}
    # a snapshot that the engine refuses to read is left out
    document["row_count_at"] = {
        str(key): rows[0]["n"] for key, rows in counts.items() if isinstance(rows, list)
    }
    document |= rows(spark, table)
    location = described(spark, table)["Location"]
    document["location"] = location
    document["metadata_location"] = document["metadata_log_entries"][-1]["file"]
    return local(location), document


def collect_paimon(spark: Any, table: str) -> tuple[Path, dict[str, Any]]:
    document: dict[str, Any] = {"engine": f"paimon 0.9.0, spark {spark.version}", "table": table}
    base, _, last = table.rpartition(".")
    for name in PAIMON_TABLES:
        document[name] = ask(spark, f"SELECT * FROM {base}.`{last}${name}`")
    document["files_at"] = {}
    document["row_count_at"] = {}
    for row in document["snapshots"]:
        key = row["snapshot_id"]
        reader = spark.read.option("scan.snapshot-id", str(key))
        document["files_at"][str(key)] = attempt(lambda: records(reader.table(f"{base}.`{last}$files`")))  # noqa: B023
        document["row_count_at"][str(key)] = attempt(lambda: reader.table(table).count())  # noqa: B023
    audit = ask(spark, f"SELECT rowkind, count(*) AS n FROM {base}.`{last}$audit_log` GROUP BY rowkind")
    document["audit_log_counts"] = (
        audit if isinstance(audit, dict) else {row["rowkind"]: row["n"] for row in audit}
    )
    document |= rows(spark, table)
    document["location"] = paimon_location(spark, table)
    return local(document["location"]), document


def collect_hive(spark: Any, table: str) -> tuple[Path, dict[str, Any]]:
    document: dict[str, Any] = {"engine": f"spark {spark.version}", "table": table}
    facts = described(spark, table)
    document["describe"] = ask(spark, f"DESCRIBE FORMATTED {table}")
    document["create"] = ask(spark, f"SHOW CREATE TABLE {table}")[0]["createtab_stmt"]
    document["properties"] = ask(spark, f"SHOW TBLPROPERTIES {table}")
    partitioned = any(row["col_name"] == "# Partition Information" for row in document["describe"])
    document["partitions"] = ask(spark, f"SHOW PARTITIONS {table}") if partitioned else []
    document["input_files"] = sorted(spark.table(table).inputFiles())
    document |= rows(spark, table)
    document["location"] = facts["Location"]
    return local(facts["Location"]), document


def rows(spark: Any, table: str) -> dict[str, Any]:
    """How many rows the table has, and the rows themselves when they are few."""
    count = attempt(lambda: spark.table(table).count())
    few = isinstance(count, int) and count <= MOST_ROWS
    return {"row_count": count, "rows": attempt(lambda: records(spark.table(table))) if few else None}


def ask(spark: Any, sql: str) -> Any:
    return attempt(lambda: records(spark.sql(sql)))


def ask_iceberg(spark: Any, table: str, version: str = "") -> Any:
    """A metadata table; without readable_metrics where the engine fails to render them (columns of type uuid)."""
    answer = ask(spark, f"SELECT * FROM {table}{version}")
    if isinstance(answer, list):
        return answer
    return attempt(lambda: records(spark.sql(f"SELECT * FROM {table}{version}").drop("readable_metrics")))


def attempt(question: Callable[[], Any]) -> Any:
    """The answer, or why the engine fails to give one: such a failure is a fact about the engine."""
    try:
        return question()
    except Exception as error:
        text = str(error)
        cause = re.search(r"Lost task.*?: ([\w.]+(?:Exception|Error)[^\n]*)", text)
        return {
            "error": cause[1] if cause else next(line for line in text.splitlines() if line.strip())[:300]
        }


def records(frame: Any) -> list[dict[str, Any]]:
    return [plain(row, frame.schema) for row in frame.collect()]


def described(spark: Any, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in spark.sql(f"DESCRIBE FORMATTED {table}").collect()}


def paimon_location(spark: Any, table: str) -> str:
    return {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}["path"]


def local(location: str) -> Path:
    return Path(unquote(urlparse(location).path) if location.startswith("file:") else location)


def plain(value: Any, kind: Any) -> Any:
    """A value of the engine's type `kind` as JSON can hold it; the conventions are in tests/lakes/README.md."""
    name = kind.typeName()
    if value is None:
        return None
    if name == "struct":
        return {
            field.name: plain(item, field.dataType) for field, item in zip(kind.fields, value, strict=True)
        }
    if name == "map":
        return {_key(key, kind.keyType): plain(item, kind.valueType) for key, item in value.items()}
    if name == "array":
        return [plain(item, kind.elementType) for item in value]
    if name in ("float", "double") and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if name == "timestamp":  # an instant: collect() gives it in the local zone, which make.py sets to UTC
        return value.replace(tzinfo=datetime.UTC).isoformat()
    if name in ("date", "timestamp_ntz"):
        return value.isoformat()
    if name == "binary":
        return value.hex()
    if isinstance(value, Decimal):  # collect() gives small ones with an exponent, and with zeros of its own
        return f"{value.quantize(Decimal(1).scaleb(-kind.scale), context=Context(prec=76)):f}"
    return value


def _key(key: Any, kind: Any) -> str:
    return key if isinstance(key, str) else json.dumps(plain(key, kind))


def write(path: Path, document: dict[str, Any]) -> None:
    """One line per row, so that a difference between two makings is a difference of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [f" {json.dumps(key)}: {_lines(value)}" for key, value in document.items()]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join("  " + _text(item) for item in value) + "\n ]"
    if isinstance(value, dict) and value and any(isinstance(item, list) for item in value.values()):
        parts = [f"  {json.dumps(key)}: {_lines(item)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + "\n }"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
