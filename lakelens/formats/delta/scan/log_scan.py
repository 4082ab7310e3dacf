"""The plan to read the live files of a version by column: one task for each file of the log that leads to it, in order.

    identity     vector and path of the logical file of each action, see `rows.ActionRows.identify`
    removals     of a remove its own place; of an add the place before it, for what the same file was added as earlier
    live         the adds that nothing later takes away

This is "Action Reconciliation" of the Delta protocol by column, as `replay.State` does it action by action. Rows that
cannot be shown by column are halved until few are left, and these are read one by one: damage costs only what is around it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import make_file
from lakelens.formats.delta.actions import Action, read_row
from lakelens.formats.delta.context import LogContext
from lakelens.formats.delta.scan.files import build_plain, list_partitions
from lakelens.formats.delta.scan.rows import ActionRows, encode_key, join_rows, read_stored, type_actions
from lakelens.formats.delta.scan.statistics import build_stats, count_records
from lakelens.model.scan.columnar import NotColumnar
from lakelens.model.scan.files_to_arrow import STATS, batch_files, list_columns
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, FileScan, ScanRequest, ScanTask, find_live
from lakelens.model.scan.scan_to_arrow import WORKERS, read_along

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns

BATCH_ROWS = 16_384  # of commits that are built together
_FEW = 32  # rows that are read one by one where one of them is odd
_KEYS = frozenset({"vector_id"})
#: Actions with their numbers in a file of the log, for the record reader.
Numbered = list[tuple[int, Action]]
Rows = ActionRows | Numbered
Build = Callable[[Rows], tuple[Rows, list[FileBatch] | None]]


class LogScan(FileScan):
    """Reads the live files of some files of the log. The line of a task is the version and the kind of its file."""

    context: LogContext
    totals = ("content", "size_bytes")
    facts = (
        *(
            "content",
            "path",
            "recorded_path",
            "file_format",
            "record_count",
            "size_bytes",
            "snapshot_id",
            "manifest",
        ),
        *("version", "modified", "data_change", "vector_id", "deleted_rows", "base_row_id"),
        *("default_row_commit_version", "clustering_provider"),
    )
    absent = ("bucket", "level", "spec_id", "schema_id", "sequence_number")

    def __init__(
        self, context: LogContext, columns: FileColumns, tasks: Sequence[ScanTask], version: int
    ) -> None:
        self.context = context
        self.columns = columns
        self.tasks = tuple(tasks)
        self.version = version

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`."""
        self.fetch(tasks)
        names = (
            list_columns(self.columns, stats=request.stats) if request.columns is None else request.columns
        )
        loaded = self._load(tasks, "add", _choose_needs(names, request, removals))
        pieces = (piece for run in loaded for piece in (run.cut() if isinstance(run, ActionRows) else [run]))
        build = functools.partial(self._build, names, request, removals)
        for piece, batches in read_along(build, pieces, WORKERS if request.ahead else 1):
            yield from self._build_singly(piece, build, request, removals) if batches is None else batches

    def removals(self, tasks: Sequence[ScanTask] | None = None) -> pa.Table:
        """See `FileScan.removals`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        asked = [task for task in (self.tasks if tasks is None else tasks) if task.removes]
        committed = [task for task in asked if task.line[1] in ("commit", "compacted")]
        found = [super().removals()]
        for kind, of_kind in (("remove", asked), ("add", committed)):
            for run in self._load(of_kind, kind, _KEYS):
                if isinstance(run, ActionRows):
                    identity, order = run.identify(), run.order
                else:
                    identity = pa.array([encode_key(action.key) for _, action in run], pa.binary())
                    order = pa.array([number for number, _ in run], pa.int64())
                order = pc.subtract(order, 1) if kind == "add" else order
                found.append(pa.table({"identity": identity, "order": order}))
        last = pa.concat_tables(found).group_by("identity").aggregate([("order", "max")])
        return last.select(["identity", "order_max"]).rename_columns(["identity", "order"])

    def conclude(self) -> bool:
        """See `FileScan.conclude`: where something cannot be read, another checkpoint may have it."""
        return self.is_whole

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """See `FileScan.encode`."""
        import pyarrow as pa

        keys: Iterator[Any] = (file.identity for file in files)
        return pa.array([encode_key((path, vector or "")) for path, vector in keys], pa.binary())

    def with_tasks(self, tasks: Sequence[ScanTask]) -> LogScan:
        """See `FileScan.with_tasks`."""
        return LogScan(self.context, self.columns, tasks, self.version)

    def read_action(self, task: ScanTask, number: int) -> Action:
        """Read the add of a number in a file of the log. Raises `LakeError`."""
        version = task.line[0]
        if task.path.endswith(".parquet"):
            return read_row(self.context.open_columns(task.path), "add", number, version)
        return self.context.read(task.path, version).actions[number]

    def _load(
        self, tasks: Iterable[ScanTask], kind: str, needs: Collection[str]
    ) -> Iterator[ActionRows | Numbered]:
        """Load actions of a kind, in order; those of commits in large runs. One that cannot be read is refused."""
        waiting: list[ActionRows] = []
        count = 0  # of the rows that wait
        for task in tasks:
            is_stored = task.path.endswith(".parquet")
            if waiting and (is_stored or count >= BATCH_ROWS):
                yield join_rows(waiting)
                waiting, count = [], 0
            try:
                if is_stored:
                    yield from self._load_stored(task, kind, needs)
                    continue
                numbered = self._list_actions(task, kind)
                try:
                    if numbered:
                        columns = type_actions([action for _, action in numbered], needs)
                        waiting.append(_place(task, [number for number, _ in numbered], columns))
                        count += len(numbered)
                except NotColumnar:
                    if waiting:
                        yield join_rows(waiting)
                        waiting, count = [], 0
                    yield [(_number(task, number), action) for number, action in numbered]
            except LakeError as error:
                self.is_whole = False
                self.refused[task.path] = error.without_frames()
                self.findings.add_error(error, task.path, (self.version,))
        if waiting:
            yield join_rows(waiting)

    def _load_stored(
        self, task: ScanTask, kind: str, needs: Collection[str]
    ) -> Iterator[ActionRows | Numbered]:
        last = -1
        try:
            for numbers, columns in read_stored(self.context.open_columns(task.path), kind, needs):
                yield _place(task, numbers, columns)
                last = numbers[-1].as_py()
        except NotColumnar:
            yield [
                (_number(task, number), action)
                for number, action in self._list_actions(task, kind)
                if number > last
            ]

    def _list_actions(self, task: ScanTask, kind: str) -> Numbered:
        """List the actions of a kind with their numbers. Raises `LakeError` also where some of them are damaged."""
        held = self.context.read(task.path, task.line[0])
        if held.errors:
            raise held.errors[0]
        is_stored = task.path.endswith(".parquet")
        return [
            (action.position if is_stored else number, action)
            for number, action in enumerate(held.actions)
            if action.kind == kind
        ]

    def _build(
        self, names: Sequence[str], request: ScanRequest, removals: pa.Table | None, rows: Rows
    ) -> tuple[Rows, list[FileBatch] | None]:
        """Build the batch of some rows where one of them is live; give None for it where they cannot be shown by column."""
        if not isinstance(rows, ActionRows):
            return rows, None
        live, identity = rows, None
        try:
            if request.identity or removals is not None:
                identity = rows.identify()
                mask = find_live(identity, rows.order, removals)
                if mask is not None:
                    live = rows.change(lambda array: array.filter(mask))
                    identity = identity.filter(mask)
            return rows, [self._show(live, names, request, identity)] if len(live) else []
        except (NotColumnar, UnicodeError):  # a checkpoint may have text that is none
            return rows, None

    def _show(
        self, rows: ActionRows, names: Sequence[str], request: ScanRequest, identity: pa.Array | None
    ) -> FileBatch:
        leaves = self.context.columns.leaves
        if request.leaves is not None:
            leaves = tuple(leaf for leaf in leaves if leaf.name in request.leaves)
        shown = {name for name, _ in self.columns.stats}
        grouped, stats = [name for name in names if name in STATS], dict[str, dict[str, Any]]()
        counts = None
        if grouped:
            counts, stats = build_stats(rows, [leaf for leaf in leaves if leaf.name in shown], grouped)
        elif "record_count" in names:
            counts = count_records(rows)
        plain = build_plain(self.context, self.columns, rows, names, counts)
        partitions = list_partitions(self.context, rows) if request.partitions else None
        return FileBatch(len(rows), plain, stats, identity, rows.order, partitions)

    def _build_singly(
        self, rows: Rows, build: Build, request: ScanRequest, removals: pa.Table | None
    ) -> Iterator[FileBatch]:
        """Build by halves what `build` refused, and in the end the batch of actions that are read one by one."""
        import pyarrow as pa

        if isinstance(rows, ActionRows):
            half = len(rows) // 2
            if half >= _FEW:
                for part in (rows.slice(0, half), rows.slice(half, len(rows) - half)):
                    _, batches = build(part)
                    yield from (
                        self._build_singly(part, build, request, removals) if batches is None else batches
                    )
                return
            tasks = {task.position: task for task in self.tasks}
            rows = [
                (order, self.read_action(tasks[order >> ORDER_BITS], order & ((1 << ORDER_BITS) - 1)))
                for order in rows.order.to_pylist()
            ]
        identity = pa.array([encode_key(action.key) for _, action in rows], pa.binary())
        order = pa.array([number for number, _ in rows], pa.int64())
        live = find_live(identity, order, removals)
        if live is not None:
            rows = [pair for pair, is_live in zip(rows, live.to_pylist(), strict=True) if is_live]
            identity, order = identity.filter(live), order.filter(live)
        if rows:
            files = [make_file(action, self.context) for _, action in rows]
            batch = batch_files(files, self.columns, request)
            yield replace(batch, identity=identity, order=order, files=files)


def _number(task: ScanTask, number: int) -> int:
    return task.position << ORDER_BITS | number


def _place(task: ScanTask, numbers: Any, columns: Mapping[str, pa.Array]) -> ActionRows:
    """Say of some actions of a file of the log where they stand, and which version they are of."""
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.add(pa.array(numbers, pa.int64()), _number(task, 0))
    is_committed = task.line[1] in ("commit", "compacted")
    version = pa.scalar(task.line[0] if is_committed else None, pa.int64())
    count = len(order)
    return ActionRows(order, pa.repeat(pa.scalar(task.path), count), pa.repeat(version, count), columns)


def _choose_needs(names: Sequence[str], request: ScanRequest, removals: pa.Table | None) -> set[str]:
    needs = set(names)
    if {"record_count", *STATS} & needs:
        needs.add("stats")
    if request.partitions or {"partition", "partition_values"} & needs:
        needs.add("partition")
    if {"version", "snapshot_id"} & needs:
        needs.add("default_row_commit_version")
    if request.identity or removals is not None:
        needs.add("vector_id")
    return needs
