"""Walks a Hive-style directory: one listing for each directory, no file is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakelens.errors import LakeError
from lakelens.formats.hive.names import (
    AcidDirectory,
    FileName,
    describe_directory,
    describe_role,
    parse_acid_directory,
    parse_file_name,
    parse_partition_directory,
)
from lakelens.io.store import Links, ObjectInfo, Store
from lakelens.lazy import dataclass
from lakelens.model.finding import Findings

# column name and value text (escaped as in the path), in the order of the directories
Pairs = tuple[tuple[str, str], ...]

DATA = "data file"
EMPTY = "empty"
UNFINISHED = "unfinished write"
NESTED = "file in a subdirectory"
UNREGISTERED = "data file of an unregistered partition"


@dataclass(frozen=True, slots=True)
class Found:
    """One file below the table: as listed, its role, whether readers see it as data, its partition.

    `acid` is the transactional directory it is in.
    """

    info: ObjectInfo
    relative_path: str
    role: str
    is_data: bool
    pairs: Pairs = ()
    acid: AcidDirectory | None = None
    name: FileName = FileName()

    @property
    def path(self) -> str:
        """Where it is."""
        return self.info.path


@dataclass(frozen=True, slots=True)
class _Folder:
    """A directory still to be listed, with the facts in its name and its parents' names."""

    path: str
    relative_path: str
    pairs: Pairs = ()
    role: str | None = None
    nested: bool = False
    acid: AcidDirectory | None = None


def walk_table(
    store: Store,
    root: str,
    findings: Findings,
    *,
    registered: Mapping[str, Pairs] | None = None,
    pairs: Pairs = (),
    prefix: str = "",
) -> Iterator[Found]:
    """Walk every file below `root` with its role, in path order.

    `registered` are directories that a metastore names as partitions; `pairs` and `prefix` are for a partition
    outside of the table. A directory that cannot be listed becomes a finding.
    """
    pending, links = [_Folder(root, prefix, pairs)], Links.below(store, root)
    while pending:
        folder = pending.pop()
        try:
            children = store.list(folder.path)
        except LakeError as error:
            if folder.path == root:
                raise
            findings.add_error(error, folder.path)
            continue
        # ACID directories whose content a compaction took over, each with the directory that holds it now
        names = [child.name for child in children if child.is_dir]
        parsed = {name: acid for name in names if (acid := parse_acid_directory(name)) is not None}
        superseded = {
            name: winner
            for name, acid in parsed.items()
            for winner, other in parsed.items()
            if other.covers(acid)
        }
        below = []
        for child in children:
            if child.is_dir and links.may_enter(child):
                below.append(_enter(folder, child, registered or {}, superseded))
            elif not child.is_dir:
                yield _describe_file(folder, child)
        pending.extend(reversed(below))


def _enter(
    folder: _Folder, child: ObjectInfo, registered: Mapping[str, Pairs], superseded: Mapping[str, str]
) -> _Folder:
    name = child.name
    relative = f"{folder.relative_path}{name}/"
    role = folder.role or describe_directory(name)
    if child.path in registered:
        return _Folder(child.path, relative, registered[child.path], role)
    pair = parse_partition_directory(name)
    if pair is not None and role is None:
        return _Folder(child.path, relative, (*folder.pairs, pair), None, folder.nested)
    acid = parse_acid_directory(name)
    if acid is not None and role is None:
        words = f"ACID {acid.kind.replace('_', ' ')}"
        role = f"{words}, superseded by {superseded[name]}" if name in superseded else words
        return _Folder(child.path, relative, folder.pairs, role, folder.nested, acid)
    union = name.startswith(
        "HIVE_UNION_SUBDIR_"
    )  # what Hive on Tez makes of UNION ALL; readers do look there
    return _Folder(child.path, relative, folder.pairs, role, folder.nested or not union, folder.acid)


def _describe_file(folder: _Folder, info: ObjectInfo) -> Found:
    relative = folder.relative_path + info.name
    parsed = parse_file_name(info.name)
    own = describe_role(info.name)
    role, is_data = own, False
    if folder.acid is not None and folder.role is not None:
        is_length = info.name.endswith("_flush_length")
        role = "ACID flush length" if is_length else own or folder.role
        is_live = "superseded" not in folder.role and folder.acid.kind != "delete_delta"
        is_data = own is None and is_live and not is_length and not folder.nested
    elif folder.role is not None:
        role = own if own in ("checksum", "unfinished copy") else folder.role
    elif own is None:
        role = NESTED if folder.nested else DATA if info.size else EMPTY
        is_data = not folder.nested
    return Found(info, relative, role or DATA, is_data, folder.pairs, folder.acid, parsed)
