"""`compact`: files of a bucket become fewer, or only change their level.

    primary key      `full`: all sorted runs to the highest level; otherwise the next pick by the table's own settings
    append, buckets  `full`: all files of a bucket; otherwise the first neighbours that are many enough
    append           bins of small files of each partition, full or not
    ordered          with `order_strategy`, of append tables without buckets: all files of each partition

The rules are in `universal`, `merge_tree` and `append_bins`. Spark's own call is always a full compaction. The commit
replaces files: older snapshots keep them, until they expire.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, LakeError, list_nearest
from lakelens.formats.paimon.maintenance.deletion import (
    AT,
    ENGINE,
    describe_engine,
    describe_fate,
    is_new_engine,
    list_beside,
    list_others,
    name_table,
    read_now,
    require_paimon,
    write_call,
)
from lakelens.formats.paimon.maintenance.estimates import (
    Estimate,
    FixedSizes,
    count_copied,
    count_merged,
    describe_data,
    estimate_group,
    list_metadata,
)
from lakelens.formats.paimon.maintenance.expire_snapshots import describe_automatic
from lakelens.formats.paimon.maintenance.picks import (
    AppendPacker,
    MergePlanner,
    MergeTask,
    Packed,
    list_runs,
    pick_full,
    pick_unit,
    read_append_files,
)
from lakelens.formats.paimon.maintenance.settings import Settings
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS
from lakelens.formats.paimon.metadata.partitions import format_value
from lakelens.formats.paimon.roles import name_index
from lakelens.model.maintenance import Assumption, Group, Option, Output, Piece, Procedure, Proposal
from lakelens.model.stats import list_terms

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.stats import Partition
    from lakelens.model.table import Table


# Partitions by the text of a call: `dt=2024-01-01,h=10;dt=2024-01-02` is one partition, and all of another day.


def parse_partitions(text: str) -> list[dict[str, str]]:
    """Parse the keys and values of each partition. Raises `LakeError`.

    Spark compares as SQL does: a text stands in quotes there.

    >>> parse_partitions("dt=a,h=1; dt='b'")
    [{'dt': 'a', 'h': '1'}, {'dt': 'b'}]
    """
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        pairs = [pair.partition("=") for pair in part.split(",")]
        if any(not sign for _, sign, _ in pairs):
            raise Corrupt("option partitions: not a partition", expected="key=value,…;…", seen=part)
        found.append(
            {key.strip(): re.sub(r"^(['\"])(.*)\1$", r"\2", value.strip()) for key, _, value in pairs}
        )
    return found


def parse_options(text: str) -> dict[str, str]:
    """Parse the options of a table that a call gives.

    >>> parse_options("target-file-size=16kb, file.format = orc")
    {'target-file-size': '16kb', 'file.format': 'orc'}
    """
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def choose_files(
    snapshot: PaimonSnapshot, values: Mapping[str, Any], branch: PaimonTable
) -> Iterable[PaimonDataFile]:
    """Choose the files of the partitions that are named, or that a predicate reads; all without. Raises `LakeError`."""
    text, where = values.get("partitions"), values.get("where")
    files = (file for file in snapshot.files if isinstance(file, PaimonDataFile))
    if text is not None and where is not None:
        raise LakeError("partitions and where cannot be used together: the engine refuses it")
    if where is not None:
        explained = branch.explain(where, snapshot=snapshot)
        others = {term.column for term in list_terms(explained.known)} - {*branch.partition_keys}
        if others:
            raise LakeError(
                f"option where: {min(others)} is no partition column, and the engine takes these alone"
            )
        return (file for file in explained.kept if isinstance(file, PaimonDataFile))
    if text is None:
        return files
    wanted = parse_partitions(text)
    for key in (key for one in wanted for key in one):
        if key not in branch.partition_keys:
            known = (
                list_nearest(key, branch.partition_keys) if branch.partition_keys else "the table has none"
            )
            raise LakeError(f"option partitions: {key} is no partition column", hint=known)
    columns = {column.name: column for column in branch.context.partitions.columns}

    def matches(partition: Partition, texts: Mapping[str, str]) -> bool:
        # Paimon writes a value as text in two forms
        return all(
            text
            in (
                format_value(partition.get(key), columns[key].type, legacy=legacy) for legacy in (False, True)
            )
            for key, text in texts.items()
        )

    return (file for file in files if any(matches(file.partition, texts) for texts in wanted))


Key = tuple[str, int]
_POSTPONED = -2


@dataclass
class Compaction:
    """What all compactions of one call do together."""

    beside: Mapping[str, tuple[str, ...]]
    reads: list[Piece] = field(default_factory=list)
    replaces: list[Piece] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    raised: list[PaimonDataFile] = field(default_factory=list)
    logged: list[list[PaimonDataFile]] = field(default_factory=list)
    index: list[Piece] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rewrite(self, name: str, files: Sequence[Packed], estimate: Estimate, why: str) -> None:
        """Files that become others."""
        pieces = [Piece(file.path, "data", file.size_bytes, why) for file in files]
        self.reads += pieces
        self.replaces += pieces
        self.replaces += [
            Piece(path, "sidecar", None, "beside a file that is replaced")
            for file in files
            for path in self.beside.get(file.path, ())
        ]
        self.estimates.append(estimate)
        size = sum(file.size_bytes or 0 for file in files)
        self.groups.append(Group(name, len(files), size, why, estimate.files))

    @property
    def entries(self) -> int:
        """How many entries the commit's manifest has."""
        outputs = sum(estimate.files for estimate in self.estimates)
        return len(self.reads) + outputs + 2 * len(self.raised)


class Compactor:
    """Plans the compaction of one branch."""

    def __init__(
        self,
        branch: PaimonTable,
        snapshot: PaimonSnapshot,
        beside: Mapping[str, tuple[str, ...]],
        is_full: bool,
        is_new: bool,
        values: Mapping[str, Any],
    ) -> None:
        self.branch = branch
        self.is_full = is_full
        self.is_new = is_new
        self.order = describe_order(values)
        options = {**branch.context.options, **parse_options(values.get("options", ""))}
        self.settings = Settings(options, bool(branch.primary_keys))
        self.done = Compaction(beside)
        self._sizes = FixedSizes()
        self._indexes = {
            str(one["data_file"]): file
            for file in snapshot.index_files
            if file.index_type == DELETION_VECTORS
            for one in file.ranges
        }

    def find_deleted(self, name: str) -> int | None:
        """Find how many rows of a file its vector deletes; None where nothing says so."""
        file = self._indexes.get(name)
        if file is None:
            return 0
        ranges = [one for one in file.ranges if one["data_file"] == name]
        return ranges[-1]["cardinality"] if ranges else 0

    def run(self, chosen: Iterable[Packed]) -> Compaction:
        """Plan all buckets."""
        buckets: dict[Key, list[Packed]] = {}
        for file in chosen:
            buckets.setdefault((str(file.partition), file.bucket or 0), []).append(file)
        for key in sorted(buckets):
            name = " ".join(part for part in (key[0], f"bucket {key[1]}") if part)
            if key[1] == _POSTPONED:
                self.done.notes.append(
                    f"{name}: rows that wait for a bucket are not compacted by these rules."
                )
            elif self.settings.has_keys:
                self._merge_bucket(name, [file for file in buckets[key] if isinstance(file, PaimonDataFile)])
            elif self.branch.bucket > 0:
                self._pack(name, buckets[key], in_bucket=True)
            else:
                self._pack(key[0] or "the table", buckets[key], in_bucket=False)
        return self.done

    # -- append tables ------------------------------------------------------------------------------------------------

    def _pack(self, name: str, files: Sequence[Packed], *, in_bucket: bool) -> None:
        indexes = {data: index.path for data, index in self._indexes.items()}
        packer = AppendPacker(self.settings, indexes, self.is_new)
        if self.order:
            bins = [list(files)]
        else:
            bins = packer.pack_bucket(files, self.is_full) if in_bucket else packer.pack_partition(files)
        for held in bins:
            rows = count_copied(held, self.find_deleted)
            estimate = estimate_group(held, rows, self.settings.target_size, self._sizes)
            why = f"{len(held):,} files, {sum((file.size_bytes or 0) for file in held):,} bytes"
            why = self.order or why
            self.done.rewrite(name, held, estimate, why)
            self._drop_vectors(held)
        if packer.ties:
            self.done.notes.append(
                f"{name}: files of one size are at the edge of a bin; which of them goes into it depends on hashes."
            )

    def _drop_vectors(self, files: Sequence[Packed]) -> None:
        """Drop the index files whose data files are rewritten."""
        found = {
            index.path: index for file in files if (index := self._indexes.get(file.file_name)) is not None
        }
        self.done.index += [
            Piece(path, name_index(index.index_type), index.size_bytes, "its data files are rewritten")
            for path, index in found.items()
        ]

    # -- primary keys -------------------------------------------------------------------------------------------------

    def _merge_bucket(self, name: str, files: Sequence[PaimonDataFile]) -> None:
        runs = list_runs(files)
        levels = max(self.settings.levels, runs[-1].level + 1)
        planner = MergePlanner(self.settings, frozenset(self._indexes), self.is_new)
        unit = (
            pick_full(runs, levels) if self.is_full else pick_unit(runs, levels, self.settings, self.is_new)
        )
        if unit is None:
            # Files of the highest level with deletion vectors, which 2.0 rewrites in a full compaction.
            deleted = [file for file in files if file.file_name in self._indexes]
            if self.is_full and self.is_new and self.settings.has_vectors and deleted:
                self._take(name, planner.plan_alone(deleted, levels - 1), "full: it has a deletion vector")
            return
        task = planner.plan(runs, unit.count, unit.level, levels)
        self._take(name, task, unit.why)

    def _take(self, name: str, task: MergeTask, why: str) -> None:
        for files in task.merged:
            rows = count_merged(files, task.drops_deletes, self.find_deleted)
            estimate = estimate_group(files, rows, self.settings.target_size, self._sizes)
            self.done.rewrite(name, files, estimate, why)
            self._drop_vectors(files)
        for file in task.raised:
            self.done.raised.append(file)
            reason = f"only its level changes: {file.level} to {task.level}"
            self.done.groups.append(Group(name, 1, file.size_bytes or 0, reason, 1))
        self.done.logged += task.changelogs


def plan_compaction(table: Table, values: Mapping[str, Any]) -> Proposal:
    """Plan what `compact` would do."""
    branch = require_paimon(table)
    is_full, is_new = values.get("full", True), is_new_engine(branch, values)
    assumptions = [
        Assumption(
            f"No commit happens in between; this was planned on snapshot {branch.context.pointer.latest}."
        ),
        describe_engine(is_new),
    ]
    arguments = {
        "table": name_table(branch),
        "partitions": values.get("partitions"),
        "compact_strategy": None if is_full else "minor",
        **{name: values.get(name) for name in ("order_strategy", "order_by", "where", "options")},
    }
    call, dialect = write_call("compact", arguments), "Spark SQL" if is_full else "Flink SQL"
    changes = "The rows do not change; older snapshots keep the files that are replaced."
    snapshot = branch.current
    if snapshot is None:
        return Proposal(changes, call, dialect, notes=["There is no snapshot."], assumptions=assumptions)
    if snapshot.id != branch.context.pointer.latest:
        refusal = f"snapshot {branch.context.pointer.latest} cannot be read: the engine fails"
        return Proposal(changes, call, dialect, refusal=refusal, assumptions=assumptions)
    chosen, beside = _read_chosen(branch, snapshot, values)
    if snapshot.is_incomplete:
        refusal = "manifests of the current snapshot cannot be read: the engine fails"
        return Proposal(changes, call, dialect, refusal=refusal, assumptions=assumptions)
    refused = _refuse_order(branch, values) or _find_rescaled(branch, chosen)
    if refused is not None:
        return Proposal(changes, call, dialect, refusal=refused, assumptions=assumptions)
    compactor = Compactor(branch, snapshot, beside, is_full, is_new, values)
    done = compactor.run(chosen)
    if not is_full:
        assumptions.append(
            Assumption("One pick: a writer that waits for it picks again, from what is there then.")
        )
    why = "compactions take no snapshot away"
    return Proposal(
        changes,
        call,
        dialect,
        reads=tuple(done.reads),
        replaces=(*done.replaces, *list({piece.path: piece for piece in compactor.done.index}.values())),
        writes=tuple(_list_outputs(compactor)),
        kept=(
            *(
                describe_fate(branch, branch.find_numbered(number), number, why)
                for number in branch.context.pointer.ids
            ),
            *list_others(branch, frozenset()),
        ),
        groups=tuple(done.groups),
        assumptions=assumptions,
        notes=(
            *_list_notes(compactor),
            *describe_automatic(branch, read_now(values), is_new, ahead=1 if done.entries else 0),
        ),
    )


def _read_chosen(
    branch: PaimonTable, snapshot: PaimonSnapshot, values: Mapping[str, Any]
) -> tuple[Sequence[Packed], Mapping[str, tuple[str, ...]]]:
    """Read the files that are compacted, and the paths of those beside them; by column where that says all of them."""
    is_part = "partitions" in values or "where" in values
    many = None if branch.primary_keys or is_part else read_append_files(snapshot)
    if many is not None:
        folders = ((file, file.path.rpartition("/")[0]) for file in many if file.extra_files)
        beside = {
            file.path: tuple(f"{folder}/{name}" for name in file.extra_files) for file, folder in folders
        }
        return many, beside
    files = list(choose_files(snapshot, values, branch))
    return files, {} if snapshot.is_incomplete else list_beside(snapshot)


def describe_order(values: Mapping[str, Any]) -> str:
    """Describe the order in which files are written again; empty where they are only joined."""
    strategy, columns = str(values.get("order_strategy", "none")).lower(), values.get("order_by", "")
    return "" if strategy == "none" else f"{strategy} by {columns}"


def _refuse_order(branch: PaimonTable, values: Mapping[str, Any]) -> str | None:
    """Find why the engine refuses to order rows."""
    if not describe_order(values):
        return "order_by needs an order_strategy" if values.get("order_by") else None
    if branch.primary_keys or branch.bucket > 0:
        return "the engine orders append tables without buckets alone"
    columns = [name.strip() for name in values.get("order_by", "").split(",") if name.strip()]
    known = [field.name for field in branch.schema.fields]
    lost = [name for name in columns if name not in known]
    if lost or str(values["order_strategy"]).lower() not in ("order", "zorder", "hilbert"):
        return f"there is no {'column ' + lost[0] if lost else 'order ' + values['order_strategy']}"
    placed = [name for name in columns if name in branch.partition_keys]
    if placed:
        return f"{placed[0]} is a partition column: the files of a partition have one value of it"
    return None if columns else "order_strategy needs order_by"


def _find_rescaled(branch: PaimonTable, files: Sequence[Packed]) -> str | None:
    """Find why the engine refuses: files were written for another number of buckets than the table's option has."""
    number = branch.bucket
    for file in files if number > 0 else ():
        if file.total_buckets is not None and file.total_buckets not in (number, 0):
            where = str(file.partition) or "the table"
            return f"{where} has files of {file.total_buckets} buckets, the option says {number}: INSERT OVERWRITE first"
    return None


def _list_outputs(compactor: Compactor) -> Iterable[Output]:
    done = compactor.done
    if not done.reads and not done.raised:
        return
    if done.estimates:
        yield describe_data(done.estimates)
    if done.logged:
        size = sum(file.size_bytes or 0 for group in done.logged for file in group)
        number = len(done.logged)
        note = "as many rows as the merge changes"
        yield Output("changelog data", number, size, least=0, least_files=0, most_files=number, note=note)
    yield from list_metadata(
        compactor.branch, done.entries, "COMPACT", index=bool(done.index), changelog=bool(done.logged)
    )


def _list_notes(compactor: Compactor) -> Iterable[str]:
    done, settings = compactor.done, compactor.settings
    yield from settings.doubts.values()
    yield from done.notes
    if compactor.order and done.reads:
        yield "How well ordered values are compressed is not known: ordered files are often smaller."
    if done.raised:
        number = len(done.raised)
        which = "1 file changes its level" if number == 1 else f"{number:,} files change their level"
        yield f"{which} alone: they are not rewritten, and no byte of them is read."
    if not done.reads and not done.raised:
        yield "Nothing is to be compacted: no commit is made."
    elif settings.has_keys and settings.read("record-level.expire-time", "", str):
        yield "Rows past record-level.expire-time are dropped: how many is not known."


PROCEDURE = Procedure(
    "compact",
    "Compact",
    "files of a bucket become fewer, or change their level",
    (
        Option("full", "boolean", "all files, not the next pick by the table's own settings", "true"),
        Option("partitions", "text", "those alone, as 'dt=2024-01-01,h=10;dt=2024-01-02'", "all"),
        Option("where", "predicate", "only partitions for which this holds", "all"),
        Option("order_strategy", "text", "in which order rows are written: order, zorder, hilbert", "none"),
        Option("order_by", "text", "the columns of the order, as 'a,b'"),
        Option("options", "text", "options of the table for this call, as 'target-file-size=64mb'"),
        ENGINE,
        AT,
    ),
    plan_compaction,
    parameters=("partitions", "order_strategy", "order_by", "where", "options", "partition_idle_time"),
)
