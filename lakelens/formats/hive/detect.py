"""Whether a directory may be read as a Hive-style table. Nothing in it can make that certain: it holds data files only.

The directory is listed, and below it at most a few directories along the first partitions; of files whose name shows no
format at most a few are opened for their magic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lakelens.errors import LakeError, NotATable, Unsupported
from lakelens.formats.base import Candidate
from lakelens.formats.hive.names import (
    describe_directory,
    is_hidden,
    parse_acid_directory,
    parse_file_name,
    parse_partition_directory,
)
from lakelens.io.ahead import fetch_below
from lakelens.io.store import ObjectInfo
from lakelens.model.storage import OWN_DIRECTORIES, Evidence

_MAX_LISTINGS = 8
_MAX_SNIFFED = 4
_BINARY = frozenset({"parquet", "orc", "avro"})
_RECOGNISED = _BINARY | {"sequencefile", "rcfile"}
# part of a Paimon table, wherever an external path has put it
_PAIMON_BUCKET = re.compile(r"bucket-(?:\d+|postpone)")
# files of the other formats' metadata directories, which alone are no table
_FOREIGN_NAMES = ("manifest-", "snap-", "snapshot-", "schema-", "index-", "stat-", "changelog-")
_HINT = 'format="hive" lists its files as if it were a plain directory of data files'


def detect_hive(place: Candidate) -> Evidence | None:
    """Detect why this place may be a Hive-style table; None when nothing says so.

    Raises `Unsupported` where a log says which files are live, unless the format was asked for by name.
    """
    if not place.info.is_dir:
        if place.forced:
            raise NotATable("a Hive table is a directory, this is a file", path=place.path)
        return None
    others = {}
    for name, own in OWN_DIRECTORIES.items():
        if own.decides and name in place.children and place.children[name].is_dir:
            others[own.title] = f"it has a {name} directory, whose log says which of its files are live"
    if place.forced:
        reasons = _gather_reasons(place)[0] or ["the format was given"]
        return Evidence("hive", (*reasons, *others.values()), (), 0.4, others=tuple(others))
    for name, reason in others.items():
        raise Unsupported(f"a {name} table: {reason}", path=place.path, hint=_HINT)
    reasons, files = _gather_reasons(place)
    if not reasons:
        return None
    return Evidence("hive", tuple(reasons), tuple(files), 0.4 if len(reasons) > 1 else 0.3)


def _gather_reasons(place: Candidate) -> tuple[list[str], list[str]]:
    if _PAIMON_BUCKET.fullmatch(place.info.name):
        return [], []
    if any(name.endswith((".metadata.json", ".metadata.json.gz")) for name in place.children):
        return [], []
    reasons: list[str] = []
    files: list[str] = []
    names = [name for name, child in place.children.items() if child.is_dir]
    partitions = [
        name for name in names if describe_directory(name) is None and parse_partition_directory(name)
    ]
    acid = [name for name in names if parse_acid_directory(name)]
    visible = _visible_files(place.children.values())
    _judge_files(place, visible, reasons, files)
    if acid and not partitions:
        reasons.append(f"Hive ACID directories ({acid[0]})")
        files.append(place.child(acid[0]))
    if partitions or acid:
        fetch_below(place.store, place.path)
    if partitions:
        below = _look_below(place, partitions)
        if below is not None:
            reasons.insert(0, f"key=value directories ({partitions[0]}) with data files below")
            files.insert(0, below)
    if reasons and "_SUCCESS" in place.children:
        reasons.append("a _SUCCESS marker")
    return reasons, files


def _visible_files(children: Iterable[ObjectInfo]) -> list[ObjectInfo]:
    return [child for child in children if not child.is_dir and not is_hidden(child.name)]


def _judge_files(place: Candidate, visible: list[ObjectInfo], reasons: list[str], files: list[str]) -> None:
    """Files that are data by a format's extension, a writer's way of naming, or a magic."""
    candidates = [info for info in visible if not info.name.startswith(_FOREIGN_NAMES)]
    named = [info for info in candidates if parse_file_name(info.name).writer]
    binary = [info for info in candidates if parse_file_name(info.name).format in _BINARY]
    marked = "_SUCCESS" in place.children
    if named:
        reasons.append(f"files named as Spark or Hive names them ({named[0].name})")
        files.append(named[0].path)
    elif binary and 2 * len(binary) >= len(candidates):
        reasons.append(f"{parse_file_name(binary[0].name).format} files ({binary[0].name})")
        files.append(binary[0].path)
    elif marked and candidates and any(parse_file_name(info.name).format for info in candidates):
        reasons.append(f"data files beside a _SUCCESS marker ({candidates[0].name})")
        files.append(candidates[0].path)
    elif candidates and all("." not in info.name for info in candidates):
        for info in candidates[:_MAX_SNIFFED]:
            kind = _sniff(place, info)
            if kind is not None:
                reasons.append(f"a file without extension that holds {kind} ({info.name})")
                files.append(info.path)
                return


def _sniff(place: Candidate, info: ObjectInfo) -> str | None:
    from lakelens.formats.hive.contents import read_format

    try:
        kind = read_format(place.store, info.path)
    except LakeError:
        return None
    return kind if kind in _RECOGNISED else None


def _look_below(place: Candidate, partitions: list[str]) -> str | None:
    """A data file along the first partitions (any visible file: the key=value name above it is evidence already)."""
    pending = [place.child(name) for name in reversed(partitions)]
    for _ in range(_MAX_LISTINGS):
        if not pending:
            break
        try:
            children = place.store.list(pending.pop())
        except LakeError:
            continue
        visible = _visible_files(children)
        if visible:
            return visible[0].path
        folders = [child for child in children if child.is_dir and describe_directory(child.name) is None]
        pending.extend(
            child.path
            for child in reversed(folders)
            if parse_partition_directory(child.name) or parse_acid_directory(child.name)
        )
    return None
