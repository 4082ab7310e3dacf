"""What executors run: bins of manifests to record batches that Spark reads. One thread, one manifest after another.

`make_reader` and the readers of the data source hold plain bytes and import lakelens when they are called, so that an
executor without it says so in one line.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.scan.files_to_arrow import assemble_batch
from lakelens.model.scan.plan import FileBatch, ScanTask
from lakelens.options import adopt_limits
from lakelens.spark.frames.types import carrier_schema, carry_batch

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.spark.frames.planning import ReadPlan

Reader = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]

#: Columns of a row's identity and of its place, where rows are merged by Spark.
IDENTITY, ORDER = "__lakelens_identity", "__lakelens_order"

NOT_HERE = (
    "lakelens, or what it needs, cannot be imported on this executor ({error}): ship them with spark.archives, or "
    "install them there (docs/spark.md of lakelens says how)"
)

# Spark turns a batch into rows at once: many columns, fewer rows.
_BATCH_BYTES = 4 * 1024 * 1024
_ROWS_OF_A_BATCH = 20_000


def make_reader(head: bytes, bins: Sequence[bytes], part: str = "read_files") -> Reader:
    """Make a function for `mapInArrow` over the numbers of bins. `part` names the function here that reads a bin.

    It is a closure over bytes: Spark ships it by value, so that it runs, and can say what is missing, without lakelens.
    """
    packed, not_here = tuple(bins), NOT_HERE

    def read(batches: Iterable[Any]) -> Iterator[Any]:
        try:
            from lakelens.spark.frames import scanning

            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from getattr(scanning, part)(head, packed[number])
        except ImportError as error:
            raise RuntimeError(not_here.format(error=error)) from None

    return read


def read_files(head: bytes, packed: bytes) -> Iterator[pa.RecordBatch]:
    """Read the rows of a bin; with identity and place where Spark is to merge them."""
    return read_bin(head, packed, None)


def read_bin(
    head: bytes, packed: bytes, merge: Callable[[FileBatch], FileBatch] | None
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a bin in batches of bounded size. `merge` leaves out files that others take away; where it is None
    and the plan asks for them, identity and place are given too.
    """
    import pyarrow as pa

    plan = load_plan(head)
    if plan.scan is None:
        for listed in pa.ipc.open_stream(packed):
            yield from cut_batch(carry_batch(listed, carrier_schema(listed.schema)))
        return
    schema = carrier_schema(plan.layout.schema)
    with_identity = plan.request.identity and merge is None
    for batch in read_tasks(plan, pickle.loads(packed)):
        batch = batch if merge is None else merge(batch)
        rows = carry_batch(assemble_batch(batch, plan.layout), schema)
        if with_identity:
            arrays = [*rows.columns, batch.identity, batch.order]
            rows = pa.RecordBatch.from_arrays(arrays, names=[*rows.schema.names, IDENTITY, ORDER])
        yield from cut_batch(rows)


def read_removals(head: bytes, packed: bytes) -> Iterator[pa.RecordBatch]:
    """Read what the DELETE entries of a bin remove: identity and place."""
    import pyarrow as pa

    plan = load_plan(head)
    assert plan.scan is not None
    removals = plan.scan.removals(pickle.loads(packed))
    check_damage(plan)
    schema = pa.schema([(IDENTITY, pa.binary()), (ORDER, pa.int64())])
    yield from (
        removals.rename_columns([IDENTITY, ORDER]).cast(schema).combine_chunks().to_batches(_ROWS_OF_A_BATCH)
    )


def read_tasks(plan: ReadPlan, tasks: Sequence[ScanTask]) -> Iterator[FileBatch]:
    """Read the batches of some manifests, without the files that are not meant. Raises `LakeError` for a damaged one."""
    assert plan.scan is not None
    for batch in plan.scan.read(tasks, plan.request):
        chosen = plan.selection.filter_batch(batch)
        if chosen.rows:
            yield chosen
    check_damage(plan)


def cut_batch(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a record batch in slices of a few megabytes."""
    rows = batch.num_rows
    size = max(1, rows * _BATCH_BYTES // max(batch.nbytes, 1))
    for start in range(0, rows, size):
        yield batch.slice(start, size)


def load_plan(head: bytes) -> ReadPlan:
    """Load the plan of some bytes, unpickled once in each worker, which takes the driver's limits."""
    plan = _unpickle(head)
    adopt_limits(plan.limits)
    return plan


@lru_cache(maxsize=4)
def _unpickle(head: bytes) -> ReadPlan:
    plan: ReadPlan = pickle.loads(head)
    return plan


def check_damage(plan: ReadPlan) -> None:
    """Raise what is damaged, unless the plan skips it: nobody sees the findings of an executor.

    All findings of this process are looked at: a task that is tried again must fail again.
    """
    if plan.strict and plan.scan is not None:
        for finding in plan.scan.findings:
            if finding.severity == "error":
                raise LakeError(finding.message, path=finding.path, hint="strict=False goes past it")
