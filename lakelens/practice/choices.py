"""Exercises in which some lines of a listing are chosen: manifests that a reader may skip, files that it opens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from lakelens.model.datafile import DataFile
from lakelens.practice.answers import format_answer, read_numbers
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong
from lakelens.practice.tables import find_current, open_sample

_MANIFEST_HINTS = (
    "A manifest is skipped only where the list proves that none of its files has a row that fits.",
    "The proof is the range of each partition field; the specification of the transform makes a range of the column of it.",
    "A manifest written with another partitioning, whose fields say nothing about the column, must be read.",
)
_FILE_HINTS = (
    "A file is left out only where its partition or its bounds prove that no row fits.",
    "Compare the condition with lower and upper: where the ranges overlap the file is opened, whether or not a row fits.",
    "A file without bounds must be opened, unless its partition or its null count decides.",
)


@dataclass(frozen=True, slots=True)
class Choice:
    """Lines of a listing by number: which are right, and what decides for each of them."""

    right: frozenset[int]
    reasons: Mapping[int, str]
    noun: str
    verb: str

    def find_wrong(self, answer: Any) -> Wrong | None:
        """Find the first line that an answer has wrong."""
        given = read_numbers(answer, f"the numbers of the {self.noun}s")
        if isinstance(given, Wrong):
            return given
        unknown = [number for number in given if number not in self.reasons]
        if unknown:
            return Wrong("", f"there is no {self.noun} {unknown[0]}: they are 1 to {len(self.reasons)}")
        if wrong := sorted(set(given) - self.right):
            return Wrong(f"{self.noun} {wrong[0]}", f"it is not {self.verb}: {self.reasons[wrong[0]]}")
        if self.right - set(given):
            named = "none is not all: " if not given else "those are right, and not all: "
            return Wrong("", f"{named}try the condition on what is known of each other {self.noun}")
        return None

    def work(self) -> Worked:
        """Each line with what decides."""
        steps = tuple(
            Step(f"{self.noun} {number}", self.verb if number in self.right else f"not {self.verb}", why)
            for number, why in sorted(self.reasons.items())
        )
        return Worked(sorted(self.right), steps)


def _list_reasons(sample: str, where: str, level: str) -> dict[str, tuple[str, str]]:
    """By path: the decision and what decided, as `table.explain` gives them."""
    found = {}
    for row in open_sample(sample).explain(where).to_arrow().to_pylist():
        if row["level"] == level:
            found[row["path"]] = (row["decision"], _format_reason(row))
    return found


def _format_reason(row: Mapping[str, Any]) -> str:
    reason, column = row["reason"], row["column"]
    known = f"{row['lower']} to {row['upper']}" if row["lower"] is not None else "no range"
    if reason == "no_statistics":
        return f"nothing is recorded about {column} that could decide"
    if reason == "merged":
        return f"{column} is {known}, but another file may hold another version of its keys: they are merged"
    if reason in ("overlaps", "all_match"):
        return f"{column} is {known}, and `{row['term']}` may be true there"
    if reason == "nulls" or row["lower"] is None:
        return f"{column} has only nulls, or its partition does: `{row['term']}` is never true there"
    return f"{column} is {known} ({reason}), and `{row['term']}` is never true there"


def ask_manifests(title: str, sample: str, where: str) -> Question:
    """Say which manifests of data files a reader may skip, by the partition ranges of the manifest list."""
    table = open_sample(sample)
    manifests = [manifest for manifest in find_current(table).manifests if manifest.content == "data"]
    decided = _list_reasons(sample, where, "manifest")
    lines, reasons, right = [], {}, set()
    for number, one in enumerate(manifests, 1):
        decision, reasons[number] = decided[one.path]
        right |= {number} if decision == "skipped" else set()
        spec = next(spec for spec in table.specs if spec.id == one.spec_id)
        fields = ", ".join(f"{field.name} = {field.transform}({field.source_name})" for field in spec.fields)
        ranges = "; ".join(
            f"{part.name} {format_answer(part.lower)} to {format_answer(part.upper)}"
            for part in one.partition_summary
        )
        lines.append((str(number), fields, ranges))
    exhibit = Exhibit("The data manifests of the list", ("manifest", "partitioning", "ranges"), tuple(lines))
    choice = Choice(frozenset(right), reasons, "manifest", "skipped")
    return Question(
        title,
        f"Which of these manifests may a reader skip unread, for WHERE {where}?",
        "the numbers of the manifests that are skipped, as a list or a set; [] for none",
        f"the manifest list of snapshot {find_current(table).id} of the sample {sample}",
        (exhibit,),
        _MANIFEST_HINTS,
        choice.find_wrong,
        choice.work,
    )


def ask_files(title: str, sample: str, where: str) -> Question:
    """Say which data files a reader opens, by their partitions and bounds."""
    table = open_sample(sample)
    explanation = table.explain(where)
    kept = {one.path for one in explanation.kept}
    decided = _list_reasons(sample, where, "file") | _list_by_manifest(sample, where)
    columns = [
        field.name for field in table.schema.fields if re.search(rf"\b{re.escape(field.name)}\b", where)
    ]
    lines, reasons, right = [], {}, set()
    for number, one in enumerate(find_current(table).files.where(content="data"), 1):
        right |= {number} if one.path in kept else set()
        reasons[number] = decided.get(one.path, ("", "its partition or its bounds decide"))[1]
        lines.append(
            (str(number), str(one.partition) or "none", *(_format_bounds(one, name) for name in columns))
        )
    exhibit = Exhibit("The data files", ("file", "partition", *columns), tuple(lines))
    choice = Choice(frozenset(right), reasons, "file", "opened")
    return Question(
        title,
        f"Which of these files does a reader open, for WHERE {where}?",
        "the numbers of the files that are opened, as a list or a set; [] for none",
        f"the data files of the sample {sample}",
        (exhibit,),
        _FILE_HINTS,
        choice.find_wrong,
        choice.work,
    )


def _list_by_manifest(sample: str, where: str) -> dict[str, tuple[str, str]]:
    """List the files of skipped manifests, each with what decided for its manifest."""
    table = open_sample(sample)
    decided = {
        path: held for path, held in _list_reasons(sample, where, "manifest").items() if held[0] == "skipped"
    }
    return {
        one.path: (decided[one.manifest][0], f"its manifest is skipped: {decided[one.manifest][1]}")
        for one in find_current(table).files.where(content="data")
        if one.manifest in decided
    }


def _format_bounds(file: DataFile, name: str) -> str:
    bounds = file.bounds.get(name)
    if bounds is None or bounds.lower is None:
        count = (
            "" if bounds is None or not bounds.nulls else f", {bounds.nulls} of {bounds.values} values null"
        )
        return f"no bounds{count}"
    return f"{format_answer(bounds.lower)} to {format_answer(bounds.upper)}"


def list_manifest_questions() -> tuple[Any, ...]:
    """List the makers of the exercises about manifests."""
    return (
        partial(ask_manifests, "one range", "iceberg-planning", "ts >= '2024-03-05'"),
        partial(ask_manifests, "several partitionings", "iceberg-partition-evolution", "part = 'a'"),
        partial(ask_manifests, "a column that no range is about", "iceberg-partition-evolution", "id > 5"),
    )


def list_file_questions() -> tuple[Any, ...]:
    """List the makers of the exercises about files, from easy to hard."""
    return (
        partial(ask_files, "one number", "iceberg-basic", "id = 3"),
        partial(ask_files, "a range", "iceberg", "id > 17"),
        partial(ask_files, "directories alone", "hive", "n = '1'"),
        partial(
            ask_files,
            "several partitionings, and a null",
            "iceberg-partition-evolution",
            "ts >= '2024-01-05'",
        ),
        partial(ask_files, "two conditions", "iceberg", "p = 0 AND id > 10"),
        partial(ask_files, "a primary key", "paimon", "n = 30"),
    )
