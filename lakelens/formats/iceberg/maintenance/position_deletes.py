"""What `rewrite_position_delete_files` would do.

    files     position delete files and deletion vectors of the current state, chosen by size
    v3        only where a position delete file is left that is no vector: then all become vectors
    groups    by partition, whatever the spec
    outputs   one file a data file and task (`write.delete.granularity` file, the default), or one a task (partition); of
              deletes whose data file is gone nothing is written

Follows `BinPackRewritePositionDeletePlanner`, `RewritePositionDeleteFilesSparkAction` and `SparkRewritePositionDeleteRunner`
of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from lakelens.caching import cached_property
from lakelens.formats.iceberg.deletes.matching import partition_key
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    estimate_list,
    find_dropped,
    find_oldest,
    find_unread,
    list_dropped_documents,
    make_piece,
    read_number,
    refuse,
    write_call,
)
from lakelens.formats.iceberg.maintenance.packing import Limits, count_commits, spell_option
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance import Assumption, Group, Output, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable

_TARGET = "write.delete.target-file-size-bytes"
_GRANULARITY = "write.delete.granularity"
#: A position delete file of one row takes about this much; a vector of one less.
_SMALLEST, _SMALLEST_VECTOR = 900, 465


class DeleteRewrite:
    """One rewriting of a table's position deletes, planned."""

    def __init__(self, table: IcebergTable, values: Mapping[str, Any]) -> None:
        self.table = table
        self.values = values
        self.limits = Limits.read(values, read_number(table, _TARGET, 64 << 20))
        ref = table.refs.get("main")
        number = None if ref is None else ref.snapshot_id
        self.snapshot: IcebergSnapshot | None = None if number is None else table.find_by_id(number)
        self.becomes_vectors = (table.format_version or 1) >= 3
        self.groups: list[tuple[str, list[IcebergDataFile], str]] = list(self._plan())

    @cached_property
    def deletes(self) -> list[IcebergDataFile]:
        """The delete files of the state, those by value too."""
        if self.snapshot is None:
            return []
        files = self.snapshot.files.choose(lambda content: content != "data", "content")
        return cast("list[IcebergDataFile]", list(files))

    def _plan(self) -> Iterator[tuple[str, list[IcebergDataFile], str]]:
        chosen = [file for file in self.deletes if file.content != "equality_deletes"]
        if self.becomes_vectors and all(file.content == "deletion_vector" for file in chosen):
            return
        divided: dict[Hashable, list[IcebergDataFile]] = {}
        for file in chosen:
            values = partition_key(file)[1]  # type: ignore[index]
            key = tuple(sorted((item for item in values if item[1] is not None), key=str))
            divided.setdefault(key, []).append(file)
        for files in divided.values():
            wanted = [file for file in files if self.limits.is_all or self.limits.is_odd(measure(file))]
            for group in self.limits.pack(wanted, measure):
                why = (
                    "rewrite_all" if self.limits.is_all else self.limits.explain_group([*map(measure, group)])
                )
                if why is not None:
                    yield str(group[0].partition), group, why

    @cached_property
    def files(self) -> list[IcebergDataFile]:
        """The files that are rewritten."""
        return [file for _, files, _ in self.groups for file in files]

    @cached_property
    def dropped(self) -> list[tuple[IcebergDataFile, str]]:
        """The delete files that the commit drops for their age, in the manifests that it writes again."""
        if not self.files or self.snapshot is None:
            return []
        chosen = {file.identity for file in self.files}
        manifests = {file.manifest for file in self.files if file.manifest is not None}
        oldest = find_oldest(self.table, self.snapshot, {})
        others = (file for file in self.deletes if file.identity not in chosen)
        return find_dropped(others, oldest, (), manifests)

    @cached_property
    def reached(self) -> dict[Hashable, set[str]]:
        """The live data files that each of the rewritten files reaches."""
        found: dict[Hashable, set[str]] = {file.identity: set() for file in self.files}
        if self.snapshot is None or not found:
            return found
        live = self.snapshot.files.choose(lambda content: content == "data", "content")
        for file in cast("Iterator[IcebergDataFile]", iter(live)):
            for match in file.deletes:
                identity = getattr(match.file, "identity", None)
                if identity in found:
                    found[identity].add(file.file_path)
        return found

    def count_outputs(self) -> int:
        """Count how many files come out at the most, as far as metadata says which data files the deletes are for."""
        by_file = self.becomes_vectors or self.table.properties.get(_GRANULARITY, "file").lower() == "file"
        count = 0
        for _, files, _ in self.groups:
            targets = set().union(*(self.reached[file.identity] for file in files))
            tasks = max(
                1, -(-sum(map(measure, files)) // self.limits.find_split_size(sum(map(measure, files))))
            )
            count += len(targets) if by_file else min(len(targets), tasks)
        return count

    @property
    def is_certain(self) -> bool:
        """Whether each of the files says itself which data file it is for, and that one is live."""
        return all(file.target is not None and self.reached[file.identity] for file in self.files)


def measure(file: IcebergDataFile) -> int:
    """Measure the bytes of a delete file; of a vector those of its blob."""
    return file.own_size_bytes or 0


def plan_position_deletes(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    rewrite = DeleteRewrite(table, values)
    options = {spell_option(name): value for name, value in values.items()}
    call = write_call(table.name, "rewrite_position_delete_files", {"options": options} if options else {})
    unread = find_unread(table, rewrite.snapshot)
    if unread is not None:
        return refuse(table, call, unread, fails=True)
    commits = count_commits(len(rewrite.groups), values)
    files, snapshot = rewrite.files, rewrite.snapshot
    notes = []
    assumptions = [*assume(table)]
    if rewrite.files and not rewrite.is_certain:
        words = "Which data files the deletes are for is in the delete files, which were not read: fewer may come out."
        assumptions.append(Assumption(words, is_known=False))
    if rewrite.files:
        notes.append(
            "Nothing is deleted: older snapshots keep the files that were rewritten until they expire."
        )
        notes.append("Deletes of rows whose data file is gone are left out.")
    elif rewrite.becomes_vectors:
        notes.append(
            "Format version 3: vectors are not rewritten; only position delete files of version 2 would be."
        )
    return Proposal(
        changes="The rows do not change." if files else "Nothing is rewritten.",
        call=call,
        reads=FileSet(lambda: files, snapshot.describe_known_columns)
        if snapshot is not None and files
        else (),
        replaces=[
            *(make_piece(file, "rewritten") for file in files),
            *(make_piece(file, why) for file, why in rewrite.dropped),
        ],
        writes=_list_outputs(rewrite, commits) if commits else (),
        deletes=list_dropped_documents(table, commits) if commits else (),
        groups=[
            Group(name, len(found), sum(map(measure, found)), why) for name, found, why in rewrite.groups
        ],
        assumptions=assumptions,
        notes=notes,
    )


def _list_outputs(rewrite: DeleteRewrite, commits: int) -> list[Output]:
    most = rewrite.count_outputs()
    inputs = sum(map(measure, rewrite.files))
    smallest = _SMALLEST_VECTOR if rewrite.becomes_vectors else _SMALLEST
    per_file = inputs // max(len(rewrite.files), 1)
    size = most * (smallest if rewrite.becomes_vectors else max(min(per_file, smallest * 2), smallest // 2))
    least_files = most if rewrite.is_certain else 0
    role = "deletion vectors" if rewrite.becomes_vectors else "position delete"
    note = "one a data file" if most != 1 else "one"
    outputs = [
        Output(
            role,
            most,
            size,
            True,
            0 if not least_files else size // 4,
            size * 2 + inputs,
            least_files,
            most,
            note,
        )
    ]
    held = 0 if rewrite.snapshot is None else len(rewrite.snapshot.manifests)
    manifests = len({file.manifest for file in rewrite.files}) + 1
    outputs.append(
        Output("manifest", manifests, None, True, None, None, 1, None, "changed ones, and that of new files")
    )
    outputs.append(estimate_list(rewrite.snapshot, held + 1, commits))
    outputs.append(estimate_document(rewrite.table, commits=commits, snapshots=commits))
    return outputs
