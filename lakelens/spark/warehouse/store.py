"""Where an inventory is kept, and how a batch is committed: completely or not at all.

Rows are written under the id of a batch, in all data sets; then one record in the log commits the batch. Readers see only
the batches that the log names. Records are numbered; of two writers of the same number the first wins:

    Parquet    TARGET/entries/batch=0000000003-1f6c…/part-….parquet    TARGET/_commits/0000000003.json, linked into place
    Iceberg    rows of CATALOG.DATABASE.entries with that batch        a row of CATALOG.DATABASE.commits, merged by number

A run begins with a record of its own. An earlier run that is still working finds its next number taken and stops: its rows
never count. So there are no locks, a killed run breaks nothing, and rows that no record names can be removed. The log of a
Parquet inventory is small files that appear complete and never replace one another.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lakelens.errors import LakeError, Unsupported
from lakelens.spark.local.catalog import quote_name
from lakelens.spark.warehouse.columns import DATA_SETS, data_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class Folder(Protocol):
    """A directory of the target, by relative names; `url` is its name in Spark."""

    url: str

    def create(self, name: str, text: str) -> bool:
        """Create a file with this text unless the name exists; whether it was created. Never visible half written."""
        ...

    def read_texts(self, name: str) -> dict[str, str]:
        """Read the texts of the `.json` files in a directory by name; none if there is no directory."""
        ...

    def list_names(self, name: str) -> list[str]:
        """List the names in a directory; none if there is no directory."""
        ...

    def remove(self, name: str) -> None:
        """Remove a directory and everything in it."""
        ...


class LocalFolder:
    """A local directory: a record is linked into place, which fails if the name exists."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.url = str(root)

    def create(self, name: str, text: str) -> bool:
        place = self._root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(draft, place)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def read_texts(self, name: str) -> dict[str, str]:
        place = self._root / name
        return {
            path.name: path.read_text("utf-8")
            for path in place.glob("*.json")
            if not path.name.startswith(".")
        }

    def list_names(self, name: str) -> list[str]:
        place = self._root / name
        return sorted(path.name for path in place.iterdir()) if place.is_dir() else []

    def remove(self, name: str) -> None:
        shutil.rmtree(self._root / name)


class HadoopFolder:
    """A directory of any file system that Spark writes to, with Spark's configuration: a record is renamed into place.

    HDFS renames atomically and never over a file. Where rename is a copy (S3), it depends on the connector whether two runs
    can commit the same number in the same instant.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark._jvm
        self.url = root.rstrip("/")
        self._root = self._jvm.org.apache.hadoop.fs.Path(self.url)
        self._fs = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def create(self, name: str, text: str) -> bool:
        place = self._path(name)
        if self._fs.exists(place):
            return False
        draft = self._path(f"{name}.{uuid.uuid4().hex}.draft")
        stream = self._fs.create(draft, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        try:
            return bool(not self._fs.exists(place) and self._fs.rename(draft, place))
        finally:
            self._fs.delete(draft, False)

    def read_texts(self, name: str) -> dict[str, str]:
        texts = {}
        for file in self.list_names(name):
            if file.endswith(".json") and not file.startswith("."):
                stream = self._fs.open(self._path(f"{name}/{file}"))
                try:
                    texts[file] = str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
                finally:
                    stream.close()
        return texts

    def list_names(self, name: str) -> list[str]:
        place = self._path(name)
        if not self._fs.exists(place):
            return []
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(place))

    def remove(self, name: str) -> None:
        self._fs.delete(self._path(name), True)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name)


def open_folder(spark: SparkSession, root: str) -> Folder:
    """Open the folder of a target; a path without a scheme is on Spark's default file system."""
    scheme, separator, rest = root.partition(":")
    if separator and "/" not in scheme and len(scheme) > 1:
        if scheme == "file":
            return LocalFolder(Path("/" + rest.lstrip("/")))
        return HadoopFolder(spark, root)
    default = spark._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
    return LocalFolder(Path(root).absolute()) if default.startswith("file:") else HadoopFolder(spark, root)


FORMAT = 1
_NAMES_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class Commit:
    """One record of the log: the beginning of a run, a batch of rows, or the end of a run.

    `rows` counts the rows by data set, `counts` the tables, manifests and bytes that were read for them.
    """

    number: int
    kind: Literal["begin", "batch", "end"]
    run: str
    at: str
    batch: str | None = None
    rows: dict[str, int] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    note: str | None = None

    def to_json(self) -> str:
        """The record as it is stored."""
        return json.dumps(asdict(self), sort_keys=True)


def parse_commit(text: str) -> Commit | None:
    """Parse a record; None for one that is incomplete: only its number is taken."""
    try:
        return Commit(**json.loads(text))
    except (ValueError, TypeError):
        return None


class InventoryStore(ABC):
    """Keeps data sets by batch, and the log.

    `holds_frames`: written rows must stay on the executors. `writers`: how many data sets may be written at once.
    """

    holds_frames = False
    writers = 4

    @abstractmethod
    def read_log(self) -> list[Commit]:
        """Every record, in order."""

    @abstractmethod
    def add_record(self, commit: Commit) -> bool:
        """Add a record to the log unless its number is taken; whether it was added. Atomic."""

    @abstractmethod
    def write(self, name: str, batch: str, frame: DataFrame) -> None:
        """Write rows of a data set under a batch; the rows of an earlier attempt are replaced."""

    @abstractmethod
    def read(self, name: str, commits: Sequence[Commit]) -> DataFrame:
        """The rows of a data set in these committed batches, with their `batch`."""

    @abstractmethod
    def remove_leftovers(self, log: Sequence[Commit]) -> None:
        """Remove the rows that no record names. Only the newest run may do that."""

    def holds(self, url: str) -> bool:
        """Check whether a location is inside the inventory itself."""
        return False

    def begin_run(self, run: str, note: str | None = None) -> list[Commit]:
        """Take the inventory over for a run: the log with its first record. Earlier runs can no longer commit."""
        for _ in range(20):
            log = self.read_log()
            number = self.next_number(log)
            record = Commit(number, "begin", run, datetime.now(UTC).isoformat(), note=note)
            if self.add_record(record):
                return [*log, record]
        raise LakeError("other runs keep writing to the log of the inventory")

    def next_number(self, log: Sequence[Commit]) -> int:
        """The number after the last record."""
        return log[-1].number + 1 if log else 1

    def commit(self, log: list[Commit], commit: Commit) -> None:
        """Add a record of a run that has begun. Raises `LakeError` when another run has taken over."""
        if not self.add_record(commit):
            raise LakeError(
                f"another run has taken over this inventory (record {commit.number} is not ours)",
                hint="let it finish; what this run had committed before is kept",
            )
        log.append(commit)


class ParquetStore(InventoryStore):
    """An inventory in a directory: Parquet by data set and batch, the log in `_commits`."""

    def __init__(self, spark: SparkSession, target: str) -> None:
        self._spark = spark
        self._folder: Folder = open_folder(spark, target)
        self._root = self._folder.url

    def read_log(self) -> list[Commit]:
        found = []
        for name, text in sorted(self._folder.read_texts("_commits").items()):
            number = name.removesuffix(".json")
            commit = parse_commit(text) or Commit(int(number), "begin", "", "", note="not written whole")
            found.append(commit)
        return found

    def add_record(self, commit: Commit) -> bool:
        if commit.number == 1:
            about = {"what": "an inventory of tables by lakelens", "format": FORMAT}
            self._folder.create("_inventory.json", json.dumps(about))
        return self._folder.create(f"_commits/{commit.number:010d}.json", commit.to_json())

    def write(self, name: str, batch: str, frame: DataFrame) -> None:
        place = f"{self._root}/{name}/batch={batch}"
        frame.write.mode("overwrite").option("compression", "zstd").parquet(place)

    def read(self, name: str, commits: Sequence[Commit]) -> DataFrame:
        schema = with_batch(name)
        batches = [commit.batch for commit in commits if commit.rows.get(name)]
        if not batches:
            return self._spark.createDataFrame([], schema)
        base = f"{self._root}/{name}"
        reader = self._spark.read.schema(schema).option("basePath", base)
        return reader.parquet(*(f"{base}/batch={batch}" for batch in batches))

    def holds(self, url: str) -> bool:
        return f"{url}/".startswith(f"{self._root}/")

    def remove_leftovers(self, log: Sequence[Commit]) -> None:
        kept = {f"batch={commit.batch}" for commit in log if commit.batch}
        for name in DATA_SETS:
            for folder in self._folder.list_names(name):
                if folder.startswith("batch=") and folder not in kept:
                    self._folder.remove(f"{name}/{folder}")


class IcebergStore(InventoryStore):
    """An inventory in an Iceberg database of the session's catalogs: a table for each data set, and `commits`."""

    writers = 1  # a catalog may allow only one at a time

    def __init__(self, spark: SparkSession, target: str) -> None:
        self._spark = spark
        self._database = quote_name(*target.split("."))
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._database}")
        for name in DATA_SETS:
            self._create(name, with_batch(name))
        self._create("commits", spark.createDataFrame([], "number bigint, record string").schema)

    def read_log(self) -> list[Commit]:
        rows = self._spark.table(f"{self._database}.commits").orderBy("number").collect()
        return [commit for row in rows if (commit := parse_commit(row["record"])) is not None]

    def add_record(self, commit: Commit) -> bool:
        """Merge the record by number, which Iceberg checks against concurrent commits; then see whether it is ours."""
        text = commit.to_json()
        self._spark.createDataFrame(
            [(commit.number, text)], "number bigint, record string"
        ).createOrReplaceTempView("lakelens_commit")
        try:
            self._spark.sql(
                f"MERGE INTO {self._database}.commits t USING lakelens_commit s ON t.number = s.number "
                "WHEN MATCHED THEN UPDATE SET t.record = t.record WHEN NOT MATCHED THEN INSERT *"
            )
        except Exception as error:
            if "ValidationException" not in str(error) and "CommitFailed" not in str(error):
                raise
        found = self._spark.table(f"{self._database}.commits").where(f"number = {commit.number}").collect()
        return len(found) == 1 and found[0]["record"] == text

    def write(self, name: str, batch: str, frame: DataFrame) -> None:
        from pyspark.sql.functions import lit

        frame.withColumn("batch", lit(batch)).writeTo(f"{self._database}.{name}").append()

    def read(self, name: str, commits: Sequence[Commit]) -> DataFrame:
        from pyspark.sql.functions import broadcast, col

        batches = [commit.batch for commit in commits if commit.rows.get(name)]
        frame = self._spark.table(f"{self._database}.{name}")
        if len(batches) <= _NAMES_AT_ONCE:
            return frame.where(col("batch").isin(batches))
        named = self._spark.createDataFrame([(batch,) for batch in batches], "batch string")
        return frame.join(broadcast(named), "batch", "left_semi").select(frame.columns)

    def remove_leftovers(self, log: Sequence[Commit]) -> None:
        """After a run that did not finish: rows of batches that no record names."""
        earlier = [commit for commit in log[:-1] if commit.kind != "batch"]
        if not earlier or earlier[-1].kind == "end":
            return
        kept = {commit.batch for commit in log if commit.batch}
        for name in DATA_SETS:
            table = f"{self._database}.{name}"
            for (batch,) in self._spark.table(table).select("batch").distinct().collect():
                if batch not in kept:
                    self._spark.sql(f"DELETE FROM {table} WHERE batch = '{batch}'")

    def _create(self, name: str, schema: StructType) -> None:
        columns = ", ".join(f"{quote_name(one.name)} {one.dataType.simpleString()}" for one in schema)
        self._spark.sql(f"CREATE TABLE IF NOT EXISTS {self._database}.{name} ({columns}) USING iceberg")


class SessionStore(InventoryStore):
    """An inventory that lasts as long as the Spark session: the executors that made the rows keep them."""

    holds_frames = True

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._log: list[Commit] = []
        self._frames: dict[tuple[str, str], DataFrame] = {}

    def read_log(self) -> list[Commit]:
        return list(self._log)

    def add_record(self, commit: Commit) -> bool:
        if any(known.number == commit.number for known in self._log):
            return False
        self._log.append(commit)
        return True

    def write(self, name: str, batch: str, frame: DataFrame) -> None:
        from pyspark.sql.functions import lit

        self._frames[name, batch] = frame.withColumn("batch", lit(batch))

    def read(self, name: str, commits: Sequence[Commit]) -> DataFrame:
        from pyspark.sql import DataFrame

        frames = [self._frames[name, c.batch] for c in commits if c.batch and c.rows.get(name)]
        return reduce(DataFrame.unionByName, frames, self._spark.createDataFrame([], with_batch(name)))

    def remove_leftovers(self, log: Sequence[Commit]) -> None:
        """There are none: a killed run leaves nothing."""


def open_store(spark: SparkSession, target: Any) -> InventoryStore:
    """Open the store of a target: None (the session), a directory or URL (Parquet), `catalog.database` (Iceberg)."""
    if target is None:
        return SessionStore(spark)
    text = str(target)
    if "/" in text or "\\" in text:
        return ParquetStore(spark, text)
    catalog, _, database = text.partition(".")
    if database and spark.conf.get(f"spark.sql.catalog.{catalog}", None) is not None:
        return IcebergStore(spark, text)
    if database:
        raise Unsupported(
            f"the session has no catalog {catalog!r}",
            hint="a directory as ./DIR, or CATALOG.DATABASE of the session",
        )
    return ParquetStore(spark, text)


def with_batch(name: str) -> StructType:
    """The Spark schema of a stored data set: with the batch of each row."""
    from pyspark.sql.types import StringType, StructField, StructType

    from lakelens.spark.frames.types import spark_schema

    return StructType([*spark_schema(data_schema(name)).fields, StructField("batch", StringType())])
