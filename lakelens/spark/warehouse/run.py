"""One run of the inventory: open every table, read what is new, commit batch by batch.

A batch is a group of tables. Its first job opens them on executors and compares them with what is known; its second reads
the manifests that were never read. Rows are written under the batch's id and count once the log has its record.
"""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

from lakelens.options import display
from lakelens.progress import Progress
from lakelens.spark.frames.types import spark_schema
from lakelens.spark.warehouse.batches import describe_batches, limit_work, read_batches
from lakelens.spark.warehouse.columns import DESCRIBED, READ, wide_schema
from lakelens.spark.warehouse.state import read_known
from lakelens.spark.warehouse.store import Commit, InventoryStore
from lakelens.spark.warehouse.tables import TablePlace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_COUNTED = ("broken", "manifest_lists", "manifests", "unread", "entries", "bytes")
_STATUSES = ("new", "changed", "unchanged", "gone")
_PLACES = "location string, place binary"
_KNOWN = "signature string, is_incomplete boolean, snapshots array<string>, manifests array<binary>"
_WORK = ("portions", "counts")
_FEW_ROWS = 200_000  # of one data set, in one file


@dataclass(frozen=True)
class RunSummary:
    """What a run read: tables by their status, manifest lists, manifests, entries, bytes, and the seconds that it took.

    `broken` tables could not be opened, `unread` manifests not be read; the next run tries both again.
    """

    tables: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    broken: int = 0
    manifest_lists: int = 0
    manifests: int = 0
    unread: int = 0
    entries: int = 0
    bytes: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def words(self) -> str:
        """The summary in words, without the time it took."""
        parts = [
            f"{self.tables:,} tables: {self.new:,} new, {self.changed:,} changed, {self.unchanged:,} unchanged"
        ]
        parts += [f"{self.gone:,} gone"] if self.gone else []
        parts += [f"{self.broken:,} broken"] if self.broken else []
        read = f"{self.manifests:,} manifests read ({self.bytes:,} bytes, {self.entries:,} entries)"
        unread = f", {self.unread:,} of them in part or not at all" if self.unread else ""
        return f"{', '.join(parts)}; {read}{unread}"

    def __str__(self) -> str:
        return f"{self.words}; {self.seconds:,.1f} s"


@dataclass(frozen=True)
class _Part:
    """Rows that executors made and hold, counted by data set, with the counts of the work."""

    frame: DataFrame
    rows: dict[str, int]
    counts: dict[str, int]


class Tables(Progress):
    """How far a run is."""

    def __init__(self, total: int, counts: Mapping[str, int]) -> None:
        super().__init__("tables", total)
        self._counts = counts

    def describe(self) -> str:
        """Describe how far it is: `reading 40 of 210 tables, 812 manifests, 2 broken; interrupt to stop`."""
        troubled = "".join(
            f", {count:,} {name}" for name in ("broken", "unread") if (count := self._counts[name])
        )
        manifests = f"{self._counts['manifests']:,} manifests"
        return f"reading {self.done:,} of {self.total:,} tables, {manifests}{troubled}; interrupt to stop"

    def describe_stop(self) -> str:
        """Describe what an interrupt leaves."""
        return f"stopped after {self.done:,} of {self.total:,} tables; what was committed is kept: run again to go on"


class Run:
    """A run over some places into a store. `on_batch` is called after each commit; an exception of it ends the run."""

    def __init__(
        self,
        spark: SparkSession,
        store: InventoryStore,
        places: Sequence[TablePlace],
        *,
        batch_size: int,
        progress: bool,
        on_batch: Callable[[Commit], None] | None = None,
    ) -> None:
        self._spark = spark
        self._store = store
        self._places = places
        self._batch_size = max(1, batch_size)
        self._progress = progress
        self._on_batch = on_batch
        self._id = uuid.uuid4().hex[:12]
        self._counts: dict[str, int] = dict.fromkeys((*_STATUSES, *_COUNTED), 0)
        self._log: list[Commit] = []

    def take(self, note: str | None = None) -> RunSummary:
        """Take the inventory. Raises `LakeError` when another run takes over."""
        started = time.monotonic()
        self._log = self._store.begin_run(self._id, note)
        self._store.remove_leftovers(self._log)
        with read_known(self._spark, self._store, self._log) as known:
            places = [*self._places, *known.remember_others(self._places)]
            shown = self._progress and display.progress
            with display.using(progress=shown), Tables(len(places), self._counts) as progress:
                for start in range(0, len(places), self._batch_size):
                    group = places[start : start + self._batch_size]
                    self._take_batch(group, known.frame)
                    progress.advance(len(group))
        summary = RunSummary(
            tables=len(places) - self._counts["gone"], seconds=time.monotonic() - started, **self._counts
        )
        self._commit("end", counts=asdict(summary))
        return summary

    def _take_batch(self, group: Sequence[TablePlace], known: DataFrame | None) -> None:
        described = self._count(self._describe(group, known), DESCRIBED)
        last = 0
        if described.rows["portions"]:
            found = described.frame.selectExpr("max(portions.round)").first()
            last = int(found[0]) if found is not None else 0
        for number in range(last + 1):  # the rounds of a huge table are committed before its state
            parts = [described] if number == last else []
            if described.rows["portions"]:
                # read the manifests of a round on the executors: portions of similar size, spread evenly
                portions = described.frame.where(f"portions.round = {number}").select("portions.*")
                spread = portions.repartition(2 * self._spark.sparkContext.defaultParallelism)
                parts.append(
                    self._count(
                        spread.mapInArrow(limit_work(read_batches), spark_schema(wide_schema(READ))), READ
                    )
                )
            self._keep(parts)
            for part in parts if not self._store.holds_frames else ():
                part.frame.unpersist()

    def _describe(self, group: Sequence[TablePlace], known: DataFrame | None) -> DataFrame:
        """Open tables on the executors."""
        spark = self._spark
        rows = [(place.url, bytearray(pickle.dumps(place))) for place in group]
        places = spark.createDataFrame(rows, _PLACES)
        if known is None:
            known = spark.createDataFrame([], f"location string, {_KNOWN}")
        given = places.join(known, "location", "left")
        spread = given.repartition(min(len(group), 4 * spark.sparkContext.defaultParallelism))
        return spread.mapInArrow(limit_work(describe_batches), spark_schema(wide_schema(DESCRIBED)))

    def _count(self, frame: DataFrame, names: tuple[str, ...]) -> _Part:
        """Compute a frame, keep its rows on the executors, and count them."""
        from pyspark.sql import functions as f

        kept = frame.persist()
        sums = [f.sum(f"counts.{name}").alias(f"sum_{name}") for name in _COUNTED]
        statuses = [
            f.sum((f.col("counts.status") == name).cast("int")).alias(f"is_{name}") for name in _STATUSES
        ]
        row = kept.agg(*(f.count(f.col(name)).alias(name) for name in names), *sums, *statuses).first()
        assert row is not None
        counts = {name: int(row[f"sum_{name}"] or 0) for name in _COUNTED}
        counts |= {name: int(row[f"is_{name}"] or 0) for name in _STATUSES}
        for name, value in counts.items():
            self._counts[name] += value
        return _Part(kept, {name: int(row[name]) for name in names}, counts)

    def _keep(self, parts: Sequence[_Part]) -> None:
        """Write the rows of some parts under one batch and commit it, if there are any."""
        from pyspark.sql import DataFrame

        batch = f"{self._store.next_number(self._log):010d}-{self._id}"
        rows = {
            name: sum(part.rows.get(name, 0) for part in parts)
            for name in dict.fromkeys((*READ, *DESCRIBED))
            if name not in _WORK
        }

        def write(name: str) -> None:
            frames = [
                part.frame.where(f"{name} is not null").select(f"{name}.*")
                for part in parts
                if part.rows.get(name)
            ]
            frame = reduce(DataFrame.unionByName, frames)
            self._store.write(name, batch, frame.coalesce(1) if rows[name] <= _FEW_ROWS else frame)

        with ThreadPoolExecutor(self._store.writers) as pool:
            list(pool.map(write, [name for name, count in rows.items() if count]))
        if any(rows.values()):
            names = (*_STATUSES, *_COUNTED)
            counts = {name: sum(part.counts[name] for part in parts) for name in names}
            self._commit("batch", batch, rows, counts)

    def _commit(
        self,
        kind: Literal["batch", "end"],
        batch: str | None = None,
        rows: dict[str, int] | None = None,
        counts: dict[str, Any] | None = None,
    ) -> None:
        commit = Commit(
            self._store.next_number(self._log),
            kind,
            self._id,
            datetime.now(UTC).isoformat(),
            batch,
            rows or {},
            counts or {},
        )
        self._store.commit(self._log, commit)
        if self._on_batch is not None and kind == "batch":
            self._on_batch(commit)
