"""Exercises on the counts of a manifest list: how many files are live, without opening a manifest."""

from __future__ import annotations

from functools import partial
from typing import Any

from lakelens.model.snapshot import Snapshot
from lakelens.practice.answers import convert, is_same, read_fields
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong
from lakelens.practice.tables import open_sample

_HINTS = (
    "Each line stands for one manifest; the counts are of its entries.",
    "In Iceberg an entry that is added or existing is live; one that is deleted is only kept for the record.",
    "In Paimon base is everything before the commit, delta is the commit: files added less files deleted are live.",
)
_ICEBERG = ("content", "added_files_count", "existing_files_count", "deleted_files_count")
_PAIMON = ("_NUM_ADDED_FILES", "_NUM_DELETED_FILES")


def ask_counts(title: str, sample: str, place: int) -> Question:
    """Say how many data files of a snapshot are live, by its manifest lists."""
    snapshot = open_sample(sample).snapshots[place]
    lists = [one for one in snapshot.manifest_lists if one.role != "changelog"]
    found = [(part.role, manifest) for part in lists for manifest in part.manifests]
    names = _ICEBERG if any(name in found[0][1].raw for name in _ICEBERG) else _PAIMON
    lines = tuple(
        (role, str(number), *(str(one.raw.get(name)) for name in names))
        for number, (role, one) in enumerate(found, 1)
    )
    exhibit = Exhibit("The manifest lists, as stored", ("list", "line", *names), lines)
    return Question(
        title,
        "How many data files does this snapshot consist of?",
        "a whole number",
        f"the manifest lists of snapshot {snapshot.id} of the sample {sample}",
        (exhibit,),
        _HINTS,
        partial(_find_wrong, snapshot),
        partial(_work_out, snapshot),
    )


def _count(snapshot: Snapshot) -> int:
    return len(snapshot.files.where(content="data"))


def _list_parts(snapshot: Snapshot) -> list[tuple[str, int, int, int, bool]]:
    """Of each manifest the list, files added, existing and deleted, and whether it is about deletes."""
    lists = [one for one in snapshot.manifest_lists if one.role != "changelog"]
    return [
        (
            part.role,
            manifest.added_files_count or 0,
            manifest.existing_files_count or 0,
            manifest.deleted_files_count or 0,
            manifest.content == "deletes",
        )
        for part in lists
        for manifest in part.manifests
    ]


def _find_wrong(snapshot: Snapshot, answer: Any) -> Wrong | None:
    given = read_fields(answer, ["files"])
    if isinstance(given, Wrong):
        return Wrong("", "expected a whole number")
    right = _count(snapshot)
    if is_same(right, given[0]):
        return None
    number = None if given[0] is None else convert(right, given[0])
    if number is None:
        return Wrong("files", "expected a whole number")
    return Wrong("files", f"you said {number}, but {_find_mistake(snapshot, number)}")


def _find_mistake(snapshot: Snapshot, given: int) -> str:
    """Find what was counted, where that is a known mistake."""
    parts = _list_parts(snapshot)
    if any(is_delete for *_, is_delete in parts):
        live = sum(added + kept for _, added, kept, _, _ in parts)
        if given == live:
            return "some of these manifests list delete files: content 1 is deletes"
    if given == sum(added for _, added, _, _, _ in parts):
        return (
            "not every file that was added is live: look at the files that were deleted, and at existing ones"
        )
    if any(role == "delta" for role, *_ in parts):
        return "live are the files added by base and delta less those that they delete"
    return "live are the added and the existing files of the data manifests"


def _work_out(snapshot: Snapshot) -> Worked:
    steps = tuple(
        Step(
            f"line {number}",
            "not counted"
            if is_delete
            else f"+{added + kept}" + (f" −{gone}" if role != "all" and gone else ""),
            f"{role}: {added} added, {kept} existing, {gone} deleted" + (", of deletes" if is_delete else ""),
        )
        for number, (role, added, kept, gone, is_delete) in enumerate(_list_parts(snapshot), 1)
    )
    right = _count(snapshot)
    return Worked(
        right,
        (*steps, Step("files", str(right), "live data files")),
        snapshot.manifest_lists[-1].bytes_view(),
    )


def list_questions() -> tuple[Any, ...]:
    """List the makers of the exercises, from easy to hard."""
    return (
        partial(ask_counts, "inserts", "iceberg-basic", -1),
        partial(ask_counts, "manifests of deletes among them", "iceberg-merge-on-read", -1),
        partial(ask_counts, "base and delta of a compaction", "paimon", 3),
    )
