"""The partitions that a metastore has registered, compared with what is in storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.hive.names import parse_partition_directory
from lakelens.formats.hive.read import UNREGISTERED, Found, Pairs, walk_table
from lakelens.io.relocation import split_location
from lakelens.io.store import Store, find_info
from lakelens.lazy import dataclass
from lakelens.model.finding import Findings


@dataclass(frozen=True, slots=True)
class Registered:
    """One partition that the metastore knows: its name, its texts, and the path that its location means."""

    name: str
    pairs: Pairs
    path: str | None


def list_registered(catalog: Mapping[str, Any], access: TableAccess) -> list[Registered]:
    """List the partitions of the metastore's facts. A location written as a URI is decoded where only that exists."""
    found = []
    for partition in catalog.get("partitions", ()):
        name = str(partition["name"])
        pairs = tuple(p for part in name.split("/") if (p := parse_partition_directory(part)) is not None)
        location = partition.get("location")
        found.append(Registered(name, pairs, None if location is None else _place(str(location), access)))
    return found


def _place(location: str, access: TableAccess) -> str:
    path = access.locator.in_store(split_location(location)[1])
    if "%" in location and find_info(access.store, path) is None:
        decoded = unquote(path)
        path = decoded if find_info(access.store, decoded) is not None else path
    access.expect(path)  # one that is elsewhere has a finding of its own
    return path


def walk_registered(
    store: Store, root: str, registered: Sequence[Registered], findings: Findings
) -> Iterator[Found]:
    """Walk the files of registered partitions outside of the table's directory."""
    for partition in registered:
        if partition.path is None or is_below(partition.path, root):
            continue
        message = f"partition {partition.name} is outside of the table's directory"
        findings.add("note", "partition-elsewhere", partition.path, message)
        try:
            yield from walk_table(
                store, partition.path, findings, pairs=partition.pairs, prefix=partition.path + "/"
            )
        except LakeError as error:
            findings.add("warning", "partition-missing", partition.path, f"registered, but {error.message}")


def compare_partitions(
    found: Sequence[Found],
    registered: Sequence[Registered],
    count: int,
    root: str,
    store: Store,
    findings: Findings,
) -> list[Found]:
    """Compare the files with those of unregistered partitions marked: a reader that asks the metastore does not see them.

    When the metastore has more partitions than it was asked for, none is compared.
    """
    if count > len(registered):
        message = f"the metastore has {count} partitions, {len(registered)} of them were read"
        findings.add("note", "partitions-sampled", root, message)
        return list(found)
    known = {_normalise(partition.pairs) for partition in registered}
    marked = []
    for one in found:
        if one.is_data and _normalise(one.pairs) not in known:
            name = "/".join("=".join(pair) for pair in one.pairs) or "the table's own directory"
            message = f"{name} is not registered in the metastore: queries do not see its files"
            findings.add("warning", "partition-unregistered", one.path.rsplit("/", 1)[0], message)
            one = replace(one, role=UNREGISTERED, is_data=False)
        marked.append(one)
    for partition in registered:
        inside = partition.path is not None and is_below(partition.path, root)
        if inside and partition.path is not None and find_info(store, partition.path) is None:
            message = f"partition {partition.name} is registered, but its directory does not exist"
            findings.add("warning", "partition-missing", partition.path, message)
    return marked


def is_below(path: str, root: str) -> bool:
    """Check whether a path is a directory or something in it.

    >>> is_below("/t/k=1", "/t"), is_below("/t2", "/t")
    (True, False)
    """
    return path == root or path.startswith(root.rstrip("/") + "/")


def _normalise(pairs: Pairs) -> frozenset[tuple[str, str]]:
    return frozenset((key.casefold(), text) for key, text in pairs)
