"""What `rewrite_data_files` would do: bin-packing.

    files     the data files of the branch, or those that `where` reads; chosen by size, by the number of their deletes
              (`delete_file_threshold`), by the share of their rows that deletes for one file take
              (`delete_ratio_threshold`, 0.3)
    groups    by partition; files of other specs than today's are one group with those whose partition values are all null
    outputs   what a task reads becomes a file: the splits of a group, packed up to the size of a split

The engine plans several manifests in parallel: the order of files among them is not fixed, and where a group is full, which
files are in it is not either. Follows `BinPackRewriteFilePlanner`, `RewriteDataFilesSparkAction`,
`SparkBinPackFileRewriteRunner` and `RewriteDataFilesCommitManager` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats.iceberg.deletes.matching import partition_key
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    estimate_list,
    find_dangling,
    find_dropped,
    find_oldest,
    find_unread,
    list_dropped_documents,
    make_piece,
    read_number,
    refuse,
    write_call,
)
from lakelens.formats.iceberg.maintenance.packing import (
    Estimate,
    FileGroup,
    InputFile,
    Limits,
    Rewritten,
    count_commits,
    find_share,
    measure_columns,
    read_input_files,
    spell_option,
)
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance import Assumption, Group, Output, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable

_TARGET = "write.target-file-size-bytes"
_LOOKBACK = "read.split.planning-lookback"
_ARGUMENTS = ("strategy", "sort_order", "where", "branch")
_NO_THRESHOLD = 2**31 - 1


@dataclass
class Rewrite:
    """One rewriting of a table's data files, planned."""

    table: IcebergTable
    values: Mapping[str, Any]
    groups: list[FileGroup] = field(default_factory=list)

    @cached_property
    def snapshot(self) -> IcebergSnapshot | None:
        """The state that is rewritten. Raises `Missing` for an unknown branch."""
        branch = self.values.get("branch")
        if branch in (None, "main"):
            return self.table.find_by_id(self._main) if self._main is not None else None
        ref = self.table.refs.get(branch)
        if ref is None or ref.snapshot_id is None:
            raise Missing(
                f"no branch {branch!r}",
                path=self.table.location,
                hint=f"one of {', '.join(self.table.refs.keys())}",
            )
        return self.table.find_by_id(ref.snapshot_id)

    @cached_property
    def _main(self) -> int | None:
        ref = self.table.refs.get("main")
        return None if ref is None else ref.snapshot_id

    @cached_property
    def limits(self) -> Limits:
        """The sizes that decide."""
        return Limits.read(self.values, read_number(self.table, _TARGET, 512 << 20))

    @cached_property
    def spec_id(self) -> int:
        """Today's partition spec, by which files are grouped."""
        return self.table._context.typed.default_spec_id or 0

    @cached_property
    def output_spec_id(self) -> int:
        """The partition spec that new files follow. Raises `LakeError` for one that there is not."""
        number: int = self.values.get("output_spec_id", self.spec_id)
        known = [spec.id for spec in self.table.specs]
        if number not in known:
            hint = f"one of {', '.join(map(str, known))}"
            raise LakeError(f"option output_spec_id: there is no spec {number}", hint=hint)
        return number

    def plan(self) -> None:
        """Find the groups."""
        if self.snapshot is None:
            return
        lookback = read_number(self.table, _LOOKBACK, 10)
        for name, files in self._divide().values():
            chosen = [
                file
                for file in files
                if self.limits.is_all
                or self.limits.is_odd(file.size_bytes or 0)
                or self._is_deleted(file) is not None
            ]
            for group in self.limits.pack(chosen, lambda file: file.size_bytes or 0):
                why: str | None = "rewrite_all"
                if not self.limits.is_all:
                    why = self.limits.explain_group([file.size_bytes or 0 for file in group])
                    why = why or next(filter(None, map(self._is_deleted, group)), None)
                if why is not None:
                    is_other = any(file.spec_id != self.output_spec_id for file in group)
                    self.groups.append(
                        FileGroup(group, name, why, is_other, self.limits, lookback, self._has_deletes)
                    )
        left = self.values.get("max_files_to_rewrite")
        if left is None:
            return
        for number, file_group in enumerate(self.groups):
            if left <= 0:
                del self.groups[number:]
                return
            file_group.files = file_group.files[:left]
            left -= len(file_group.files)

    @cached_property
    def candidates(self) -> FileSet:
        """The files from which those that are rewritten are taken."""
        assert self.snapshot is not None
        where = self.values.get("where")
        if where is None and not self._has_deletes:
            return self.snapshot.files
        if where is None:
            return self.snapshot.files.choose(lambda content: content == "data", "content")
        kept: FileSet = self.table.explain(where, snapshot=self.snapshot).kept
        return kept

    @cached_property
    def is_read_by_column(self) -> bool:
        """Whether no file is made of those that are rewritten: there are many, and nothing deletes rows of them."""
        is_all = self.values.get("where") is None and not self._has_deletes
        return is_all and self.candidates.rows is not None

    def _divide(self) -> dict[Hashable, tuple[str, list[Rewritten]]]:
        """Divide the files by partition, in the order of their manifests."""
        candidates: Iterable[Any] = self.candidates
        if self.is_read_by_column:
            candidates = read_input_files(self.candidates)
        elif self.candidates.rows is not None:
            # what is asked of each file that is packed, read for all of them
            candidates = map(_keep_offsets, candidates, self.candidates.pick("split_offsets"))
        divided: dict[Hashable, tuple[str, list[Rewritten]]] = {}
        # files of one partition that are read together share one object, which `divided` holds
        known: dict[tuple[int, int | None], list[Rewritten]] = {}
        for file in candidates:
            place = id(file.partition), file.spec_id
            if place not in known:
                key: Hashable = ()
                name = ""
                if file.spec_id == self.spec_id:
                    values = partition_key(file)[1]  # type: ignore[index]
                    key = () if all(value is None for _, value in values) else values
                    name = str(file.partition)
                known[place] = divided.setdefault(key, (name, []))[1]
            known[place].append(file)
        return divided

    @cached_property
    def _has_deletes(self) -> bool:
        return self.snapshot is not None and bool(self.snapshot.delete_index)

    def _is_deleted(self, file: Rewritten) -> str | None:
        """Say why a file is rewritten for its deletes; None where it is not."""
        if not self._has_deletes:
            return None
        deletes = file.deletes
        most = self.values.get("delete_file_threshold", _NO_THRESHOLD)
        if len(deletes) >= most:
            return f"a file has {len(deletes):,} deletes, of at most {most - 1:,}"
        if not deletes or not file.record_count:
            return None
        share = 1 - find_share(file)
        limit = self.values.get("delete_ratio_threshold", 0.3)
        return (
            f"a file has {share:.0%} of its rows deleted, of less than {limit:.0%}"
            if share >= limit
            else None
        )

    @cached_property
    def files(self) -> list[Rewritten]:
        """The files that are rewritten."""
        return [file for group in self.groups for file in group.files]

    @property
    def reads(self) -> FileSet:
        """The same as a set."""
        assert self.snapshot is not None
        if self.is_read_by_column:
            return self.candidates.take([file.number for file in self.files if isinstance(file, InputFile)])
        made = self._made
        return FileSet(lambda: made, self.snapshot.describe_known_columns)

    @property
    def _made(self) -> list[IcebergDataFile]:
        """The same where none is read by column, as in every state that has deletes."""
        return cast("list[IcebergDataFile]", self.files)

    @cached_property
    def deletes(self) -> list[IcebergDataFile]:
        """The delete files of the state."""
        if self.snapshot is None or not self._has_deletes:
            return []
        files = self.snapshot.files.choose(lambda content: content != "data", "content")
        return cast("list[IcebergDataFile]", list(files))

    @cached_property
    def dropped(self) -> list[tuple[IcebergDataFile, str]]:
        """The delete files that the rewriting commits drop."""
        if not self.files or not self.deletes or self.snapshot is None:
            return []
        gone: dict[str, set[str]] = {}
        for file in self._made:
            if file.manifest is not None:
                gone.setdefault(file.manifest, set()).add(file.file_path)
        oldest = find_oldest(self.table, self.snapshot, gone)
        return find_dropped(self.deletes, oldest, {file.file_path for file in self._made})

    @cached_property
    def dangling(self) -> list[tuple[IcebergDataFile, str]]:
        """The delete files that `remove_dangling_deletes` drops after that."""
        if not self.values.get("remove_dangling_deletes") or self.snapshot is None or not self.deletes:
            return []
        rewritten = {file.file_path for file in self._made}
        live: Any = self.snapshot.files.choose(lambda content: content == "data", "content")
        reached = {
            getattr(match.file, "identity", None)
            for file in live
            if file.file_path not in rewritten
            for match in file.deletes
        }
        already = {file.identity for file, _ in self.dropped}
        left = [file for file in self.deletes if file.identity not in already]
        if any(group.is_respecified for group in self.groups):
            # new files may be in any partition of today's spec: only deletes for one file are certain
            reached.update(
                file.identity for file in left if file.target is None and file.spec_id == self.spec_id
            )
        # the partitions of the new files, as far as they are known, each with their sequence number
        number = self.snapshot.sequence_number or 0
        if not self.values.get("use_starting_sequence_number", True):
            number = self.table.last_sequence_number + 1
        own = [file for file in self._made if file.spec_id == self.output_spec_id]
        return find_dangling(left, reached, {(partition_key(file), number) for file in own})


def _keep_offsets(file: IcebergDataFile, picked: tuple[Any, ...]) -> IcebergDataFile:
    file.__dict__["split_offsets"] = picked[0]
    return file


def plan_data_files(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    strategy = values.get("strategy", "binpack")
    if strategy not in ("binpack", "sort"):
        raise Corrupt("option strategy: the value does not fit", expected="binpack or sort", seen=strategy)
    rewrite = Rewrite(table, values)
    rewrite.plan()
    _ = rewrite.deletes
    arguments = {name: values[name] for name in _ARGUMENTS if name in values}
    options = {spell_option(name): value for name, value in values.items() if name not in _ARGUMENTS}
    call = write_call(
        table.name, "rewrite_data_files", {**({"options": options} if options else {}), **arguments}
    )
    unread = find_unread(table, rewrite.snapshot)
    if unread is not None:
        return refuse(table, call, unread, fails=True)
    commits = count_commits(len(rewrite.groups), values) + bool(rewrite.dangling)
    replaced = [make_piece(file, "rewritten") for file in rewrite.files]
    notes = []
    if rewrite.files:
        notes.append(
            "Nothing is deleted: older snapshots keep the files that were rewritten until they expire."
        )
    if rewrite.values.get("strategy") == "sort":
        notes.append("How well sorted values are compressed is not known: sorted files are often smaller.")
    return Proposal(
        changes="The rows do not change." if rewrite.files else "Nothing is rewritten.",
        call=call,
        reads=rewrite.reads if rewrite.files else (),
        replaces=replaced + [make_piece(file, why) for file, why in (*rewrite.dropped, *rewrite.dangling)],
        writes=_list_outputs(rewrite, commits) if commits else (),
        deletes=list_dropped_documents(table, commits) if commits else (),
        groups=[
            Group(g.name, len(g.files), g.size, g.why, None if g.is_respecified else g.outputs)
            for g in rewrite.groups
        ],
        assumptions=(*assume(table), *_assume_more(rewrite)),
        notes=notes,
    )


def _list_outputs(rewrite: Rewrite, commits: int) -> list[Output]:
    snapshot = rewrite.snapshot
    row_ids = (rewrite.table.format_version or 1) >= 3
    is_asked = rewrite.groups and not rewrite.is_read_by_column
    columns = measure_columns(rewrite.candidates) if is_asked else {}
    size = Estimate.add(group.estimate(row_ids, columns) for group in rewrite.groups)
    files = sum(group.outputs for group in rewrite.groups)
    is_open = rewrite.values.get("strategy") == "sort" or any(
        group.is_respecified for group in rewrite.groups
    )
    least = sum(
        (1 if group.is_respecified else group.outputs)
        if group.outputs and not group.has_equality_deletes
        else 0
        for group in rewrite.groups
    )
    note = "what one task reads becomes one file"
    outputs = []
    if rewrite.groups:
        most = None if is_open else files
        note = "a shuffle decides how many" if is_open else note
        outputs.append(
            Output(
                "data",
                files,
                size.size,
                True,
                size.least,
                None if is_open else size.most,
                least,
                most,
                note,
            )
        )
    held = 0 if snapshot is None else len(snapshot.manifests)
    # the manifests of the files that leave the state, which are written again, and one of the new files
    left = (*rewrite.files, *(file for file, _ in rewrite.dropped), *(file for file, _ in rewrite.dangling))
    manifests = len({file.manifest for file in left}) + any(group.outputs for group in rewrite.groups)
    outputs.append(
        Output("manifest", manifests, None, True, None, None, 1, None, "changed ones, and those of new files")
    )
    outputs.append(estimate_list(snapshot, held + 1, commits))
    outputs.append(estimate_document(rewrite.table, commits=commits, snapshots=commits))
    return outputs


def _assume_more(rewrite: Rewrite) -> Iterator[Assumption]:
    if any(group.has_equality_deletes for group in rewrite.groups):
        yield Assumption(
            "How many rows equality deletes take is not counted: the new files may be smaller.",
            is_known=False,
        )
    if any(group.is_respecified for group in rewrite.groups):
        words = "Files of an older partition spec are written by today's: into how many partitions only their rows say."
        yield Assumption(words, is_known=False)
    if "max_files_to_rewrite" in rewrite.values:
        words = "Which files are taken first depends on the engine's order of partitions, which is not fixed."
        yield Assumption(words, is_known=False)
    if "where" in rewrite.values:
        yield Assumption(
            "where chooses files, not rows: all rows of a file that may hold one that fits are rewritten."
        )
    yield Assumption("The engine runs with its own defaults: one task writes one file.")
