"""What each state of a table needs, reckoned with sets of paths from the public objects alone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lakelens.model.table import Table


def list_sizes(root: Path) -> dict[str, int]:
    """Every file below a directory with its bytes."""
    return {str(path): path.stat().st_size for path in root.rglob("*") if path.is_file()}


def list_needed(snapshot: Any, roles: Iterable[str] = ("all", "base", "delta", "changelog")) -> set[str]:
    """The paths of all that a snapshot needs, but for statistics of Iceberg."""
    needed = set()
    chosen = set(roles)
    folder = posixpath.dirname(snapshot.manifest_lists[0].path) if len(snapshot.manifest_lists) else ""
    for listed in snapshot.manifest_lists:
        if listed.role in chosen:
            needed |= {listed.path, *(manifest.path for manifest in listed.manifests)}
    for file in snapshot.files:
        needed |= {file.path, *_list_beside(file)}
    if "changelog" in chosen:
        for file in getattr(snapshot, "changelog_files", ()):
            needed |= {file.path, *_list_beside(file)}
    if getattr(snapshot, "index_manifest", None):
        needed |= {f"{folder}/{snapshot.index_manifest}", *(index.path for index in snapshot.index_files)}
    document = getattr(snapshot, "document", None)
    if document is not None and document.statistics:
        needed.add(f"{posixpath.dirname(folder)}/statistics/{document.statistics}")
    return needed


def _list_beside(file: Any) -> set[str]:
    folder = posixpath.dirname(file.path)
    return {f"{folder}/{name}" for name in getattr(file, "extra_files", None) or ()}


def list_iceberg_states(table: Table) -> dict[str, set[str]]:
    """By name of each snapshot of an Iceberg table what it needs, the statistics about it too."""
    states: dict[str, set[str]] = {}
    for snapshot in table.snapshots:
        name = f"snapshot {snapshot.id}"
        states[name] = list_needed(snapshot)
        for one in snapshot.statistics:
            states[name].add(one.path)
    return states


def list_paimon_states(table: Any) -> dict[str, set[str]]:
    """By name of each state of a Paimon table, tags, branches and changelogs too, what it needs and its own document."""
    states: dict[str, set[str]] = {}
    root = table.location
    for ref in table.refs.branches:
        is_main = ref.name == "main"
        branch = table.branch(ref.name)
        home = "" if is_main else f"{ref.name}: "
        folder = root if is_main else f"{root}/branch/branch-{ref.name}"
        roles = ("base", "delta", "changelog") if is_main else ("base", "delta")
        for snapshot in branch.snapshots:
            needed = list_needed(snapshot, roles)
            states[f"{home}snapshot {snapshot.id}"] = needed | {f"{folder}/snapshot/snapshot-{snapshot.id}"}
        for tag in branch.refs.tags:
            needed = list_needed(branch.snapshot(tag.name), ("base", "delta"))
            states[f"{home}tag {tag.name}"] = needed | {f"{folder}/tag/tag-{tag.name}"}
        for snapshot in branch.changelogs:
            needed = set()
            for listed in snapshot.manifest_lists:
                if listed.role == "changelog":
                    needed |= {listed.path, *(manifest.path for manifest in listed.manifests)}
            for file in snapshot.changelog_files:
                needed |= {file.path, *_list_beside(file)}
            states[f"{home}changelog {snapshot.id}"] = needed | {
                f"{folder}/changelog/changelog-{snapshot.id}"
            }
    return states
