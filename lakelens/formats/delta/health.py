"""The limits of a Delta table, the statements that help, and the figures of its log, its vectors and its tombstones.

Auto compaction of delta-spark takes files below 64 MiB, half of what it aims at, where a partition has 50 of them
(`autoCompact.minFileSize`, `.minNumFiles`); OPTIMIZE joins up to 1 GiB of a partition, and takes a file too of which more
than 5 % are deleted (`optimize.maxDeletedRowsRatio`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.delta.context import read_features
from lakelens.formats.delta.maintenance.commits import write_name
from lakelens.model.measures.figures import Reach
from lakelens.model.measures.measure import (
    Call,
    DocumentPart,
    Limit,
    Measure,
    Need,
    count,
    list_file_needs,
    list_type_needs,
)
from lakelens.model.measures.rules import MIB, HealthRules, name_source, read_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.formats.delta.version import DeltaSnapshot
    from lakelens.model.measures.figures import FileFigures
    from lakelens.model.measures.measure import DocumentParts

    Numbers = NDArray[np.int64]

_OUTPUT = 1 << 30  # bytes that OPTIMIZE joins
_FILE_SIZE = Limit(64 * MIB, "≥", "default", "autoCompact.minFileSize: half of 128 MiB")
_SMALL_FILES = Limit(50, "<", "default", "autoCompact.minNumFiles")
_DELETED = Limit(0.05, "≤", "default", "optimize.maxDeletedRowsRatio")
_CHECKPOINT = Limit(100 * MIB, "≤", "lakelens")
_TOMBSTONES = Limit(1, "≤", "lakelens")
_COVERED = Limit(1, "≥", "lakelens")
_CLUSTERED = Limit(0.8, "≥", "lakelens")
_TYPES = {"variant": "delta-spark 4.0", "timestamp_ntz": "delta-spark 2.4"}


class DeltaHealth:
    """What the rules of one version of a Delta table are made of."""

    def __init__(self, table: DeltaTable, snapshot: DeltaSnapshot | None) -> None:
        self.table, self.snapshot = table, snapshot

    def call(self, statement: str, why: str, procedure: str) -> Call:
        """A statement about the table, which a `{}` stands for."""
        return Call(statement.format(write_name(self.table)), why, procedure)

    @cached_property
    def clustering(self) -> tuple[str, ...]:
        """The clustering columns, by today's names; none where the table is not clustered."""
        return () if self.snapshot is None else tuple(name for _, name in self.snapshot.clustering)

    @property
    def sort_column(self) -> tuple[str, str] | None:
        """The first clustering column."""
        return (self.clustering[0], "clustering columns") if self.clustering else None

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """OPTIMIZE."""
        return (self.call("OPTIMIZE {}", "joins small files", "optimize"),)

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """OPTIMIZE, which clusters; with ZORDER BY where the table names no clustering columns."""
        order = "" if self.clustering else f" ZORDER BY (`{column.replace('`', '``')}`)"
        statement = "OPTIMIZE {}" + order.replace("{", "{{").replace("}", "}}")
        return (self.call(statement, "writes rows of near values together", "optimize"),)


def join_files(counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Join what OPTIMIZE joins: two files of a partition or more, up to 1 GiB each.

    >>> import numpy as np
    >>> [found.tolist() for found in join_files(np.array([1, 3]), np.array([5, 2 << 30]))]
    [[0, 3], [0, 2]]
    """
    import numpy as np

    takes = counts >= 2
    made = np.maximum(-(-sizes // _OUTPUT), 1)
    return np.where(takes, counts, 0), np.where(takes, np.minimum(made, counts), 0)


def find_reach(figures: FileFigures) -> Reach | None:
    """Find which files have a vector; None where none has one."""
    import numpy as np

    column = figures.column("deleted_rows")
    if column is None or column.null_count == len(column):
        return None
    deleted = figures.numbers("deleted_rows")[figures.data]
    known = np.minimum(np.maximum(deleted, 0), figures.rows[figures.data])
    deletes = (deleted >= 0).astype(np.int64)
    return Reach.add_up(figures, deletes, known, int(deletes.sum()))


def measure_vectors(
    rules: DeltaHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Measure the share of deleted rows of the worst file, and of the table."""
    import numpy as np

    if reach is None or not len(figures.data):
        return
    rows = figures.rows[figures.data]
    shares = reach.known / np.maximum(rows, 1)
    worst = int(np.argmax(shares))
    beyond = int(np.count_nonzero(shares > _DELETED.value))
    calls = (rules.call("REORG TABLE {} APPLY (PURGE)", "writes files again without deleted rows", "reorg"),)
    advice = f"OPTIMIZE writes {count(beyond, 'file')} again without deleted rows" if beyond else ""
    paths = figures.column("path")
    place = "" if paths is None else str(paths[int(figures.data[worst])].as_py()).rsplit("/", 1)[-1]
    name = "deleted rows, worst file"
    yield Measure(
        name, "deletes", float(shares[worst]), "share", _DELETED, advice, calls if beyond else (), place
    )


def measure_log(
    rules: DeltaHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Measure what a reader of the log reads, the checkpoint and the commits after it, and what it keeps of lost files."""
    snapshot = rules.snapshot
    if snapshot is None:
        return
    state = snapshot.state
    last = -1 if state.checkpoint is None else state.checkpoint.version
    figure = read_number("interval", "delta.checkpointInterval", 10, snapshot.configuration)
    limit = Limit(max(figure.value, 1), "≤", name_source(figure), figure.property)
    value = snapshot.id - last
    advice = ""
    if not limit.keeps(value):
        advice = "every reader reads them one by one: no writer has written a checkpoint when it was due"
    yield Measure("commits since the last checkpoint", "metadata", value, "count", limit, advice)
    if state.checkpoint is not None:
        size = sum(info.size for info in state.checkpoint.files)
        advice = ""
        if not _CHECKPOINT.keeps(size):
            advice = "fewer files make it smaller, and V2 checkpoints are read in parts"
        calls = rules.call_join(figures) if advice else ()
        yield Measure("checkpoint, size", "metadata", size, "bytes", _CHECKPOINT, advice, calls)
    number, live = len(state.tombstones), len(state.files)
    share = number / max(live, 1)
    calls = (rules.call("VACUUM {}", "deletes files whose retention is over", "vacuum"),)
    advice = ""
    if not _TOMBSTONES.keeps(share):
        advice = (
            f"{count(number, 'removed file')} beside {live:,} live: checkpoints leave out the expired ones, "
            "VACUUM deletes their files"
        )
    name = "tombstones for a live file"
    yield Measure(name, "metadata", share, "times", _TOMBSTONES, advice, calls if advice else ())


def measure_statistics(
    rules: DeltaHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Measure how many live files say how many rows they have, and, of a clustered table, how many are clustered."""
    import numpy as np

    total = len(figures.data)
    if not total:
        return
    counts = figures.column("record_count")
    known = 0 if counts is None else int(counts.take(figures.data).is_valid().to_numpy(False).sum())
    advice = (
        ""
        if known == total
        else f"{count(total - known, 'file')} without statistics: no predicate skips them"
    )
    calls = rules.call_join(figures) if advice else ()
    yield Measure("files with statistics", "columns", known / total, "share", _COVERED, advice, calls)
    providers = figures.column("clustering_provider")
    if not rules.clustering or providers is None:
        return
    is_clustered = providers.take(figures.data).is_valid().to_numpy(False)
    sizes = np.maximum(figures.numbers("size_bytes")[figures.data], 0)
    share = float(sizes[is_clustered].sum() / max(int(sizes.sum()), 1))
    advice = "" if _CLUSTERED.keeps(share) else "OPTIMIZE clusters what was written since it last ran"
    calls = rules.call_sort(rules.clustering[0]) if advice else ()
    yield Measure("clustered bytes", "columns", share, "share", _CLUSTERED, advice, calls)


def list_parts(rules: DeltaHealth) -> Iterator[DocumentPart]:
    """List what the log is made of: the checkpoint and the commits that a reader reads, and what is kept of older ones."""
    log = rules.table._context.log
    state = None if rules.snapshot is None else rules.snapshot.state
    newest = None if state is None else state.checkpoint
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    last = -1 if newest is None else newest.version
    groups = [
        ("commits after the checkpoint", [info for number, info in log.commits.items() if number > last]),
        ("older commits", [info for number, info in log.commits.items() if number <= last]),
        ("compacted commits", list(log.compacted.values())),
        ("version checksums", list(log.checksums.values())),
    ]
    for held in log.checkpoints.values():
        for checkpoint in held:
            name = "checkpoint" if checkpoint is newest else "older checkpoints"
            groups.append((name, list(checkpoint.files)))
    for name, infos in groups:
        counts[name] += len(infos)
        sizes[name] += sum(info.size for info in infos)
    for name, size in sizes.most_common():
        if counts[name]:
            yield DocumentPart("_delta_log", name, counts[name], size)


def list_needs(rules: DeltaHealth, figures: FileFigures) -> Iterator[Need]:
    """List what a reader must know: the protocol's reader version and features, and what files have."""
    protocol = {} if rules.snapshot is None else rules.snapshot.protocol
    version = protocol.get("minReaderVersion")
    yield Need(f"reader version {version}", "as the protocol says")
    named = protocol.get("readerFeatures")
    features = read_features()
    for name in named if isinstance(named, list | tuple) else ():
        since = features.get(str(name), {}).get("since")
        yield Need(str(name), "a reader feature of the protocol", f"delta-spark {since}" if since else "")
    mode = rules.table._context.configuration.get("delta.columnMapping.mode", "none")
    if mode != "none":
        yield Need(f"columns mapped by {mode}", "of files, partition values and statistics")
    yield from list_type_needs(rules.table.schema, _TYPES)
    try:
        yield from list_file_needs(figures, rules.snapshot)
    except LakeError:
        return


def make_rules(table: DeltaTable, snapshot: DeltaSnapshot | None) -> HealthRules:
    """Make the rules of one version of a table: see `HealthRules`."""
    own = DeltaHealth(table, snapshot)
    return HealthRules(
        table,
        snapshot,
        file_size=_FILE_SIZE,
        small_files=_SMALL_FILES,
        columns=("deleted_rows", "clustering_provider", "path"),
        join_files=join_files,
        joins_exactly=False,
        call_join=own.call_join,
        explain_no_call=lambda figures: "OPTIMIZE joins nothing in them",
        sort_column=own.sort_column,
        call_sort=own.call_sort,
        find_reach=find_reach,
        measures=tuple(
            partial(measure, own) for measure in (measure_vectors, measure_log, measure_statistics)
        ),
        list_parts=partial(list_parts, own),
        list_needs=partial(list_needs, own),
    )
