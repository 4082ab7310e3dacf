"""One bucket of a primary-key table as it is drawn: its levels, their sorted runs over the range of the keys.

The bucket is the one in which the change touched most. See "LSM Trees" and "Sorted Runs" of the Paimon documentation: a file
of level 0 is a sorted run of its own; all files of another level are one together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.metadata.layout import name_bucket
from lakelens.model.charts import Box, Bucket, Level, Run, State, count_noun

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.comparison import FileComparison
    from lakelens.model.datafile import DataFile

_MOST_RUNS = 5  # of level 0
_MOST_FILES = 200  # of a bucket whose keys are looked at
_LONGEST_KEY = 40

Place = tuple[str, int | None]


def draw_bucket(
    table: PaimonTable,
    snapshot: PaimonSnapshot,
    before: PaimonSnapshot | None,
    compared: FileComparison | None,
) -> Bucket | None:
    """Draw the bucket that changed most, with its levels; None where there is no live file."""
    live: list[Place] = list(snapshot.files.pick("partition", "bucket"))
    if compared is None:
        changed: Counter[Place] = Counter(snapshot.delta_files.pick("partition", "bucket"))
        added, removed = snapshot.delta_files, snapshot.removed_files
    else:
        added, removed = compared.added, compared.removed
        changed = Counter([*added.pick("partition", "bucket"), *removed.pick("partition", "bucket")])
    known = set(live) | set(changed)
    if not known:
        return None
    chosen = min(known, key=lambda place: (-changed[place], place[0], place[1] or 0))
    files = _take(snapshot.files, chosen)
    new = {(file.file_name, file.level) for file in _take(added, chosen)}
    gone = _take(removed, chosen)
    total = len(set(live))
    others = len(changed) - (chosen in changed)
    kept = total - len([place for place in changed if place in set(live)]) - (chosen not in changed)
    counts = ((others, f"{others:,} more changed"), (kept, f"{kept:,} more kept"))
    rest = ", ".join(words for number, words in counts if number > 0) or "the only bucket"
    partitions = len({place[0] for place in live})
    notes = (f"of {total:,}", f"in {partitions:,} partitions") if partitions > 1 else (f"of {total:,}",)
    keys = _rank_keys([*files, *gone])
    levels = tuple(_draw_levels(files, new, gone, keys))
    # the lowest level of which rows are marked deleted
    marked = [n for n, level in enumerate(levels) if any("marked" in run.words for run in level.runs)]
    return Bucket(
        "/".join(part for part in (chosen[0], name_bucket(chosen[1] or 0)) if part),
        notes,
        rest,
        levels,
        _say_key(keys[0] if keys else None),
        _say_key(keys[-1] if len(keys) > 1 else None),
        tuple(_draw_beside(snapshot, before, chosen, marked[-1] if marked else None)),
    )


def _take(files: Any, chosen: Place) -> list[PaimonDataFile]:
    """Take the files of a bucket."""
    numbers = [n for n, place in enumerate(files.pick("partition", "bucket")) if place == chosen]
    found: Iterable[DataFile] = files.take(numbers)
    return [one for one in found if isinstance(one, PaimonDataFile)]


def _rank_keys(files: Sequence[PaimonDataFile]) -> list[tuple[Any, ...]]:
    """Rank the smallest and greatest keys of the files in order; none where they cannot be compared, or are many."""
    if len(files) > _MOST_FILES:
        return []
    try:
        found = {key for file in files for key in _find_keys(file) if key is not None}
        return sorted(found)
    except TypeError:
        return []


def _find_keys(file: PaimonDataFile) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    from lakelens.errors import LakeError

    try:
        low, high = file.min_key, file.max_key
    except LakeError:
        return None, None
    return (None if low is None else tuple(low.values), None if high is None else tuple(high.values))


def _place_run(files: Sequence[PaimonDataFile], keys: Sequence[tuple[Any, ...]]) -> tuple[float, float]:
    """From where to where some files reach: by the rank of their keys, each range a part of 1."""
    ends = [key for file in files for key in _find_keys(file) if key is not None and key in keys]
    if not ends:
        return 0.0, 1.0
    steps = max(len(keys), 2)
    low, high = keys.index(min(ends)), keys.index(max(ends))
    return round(low / steps, 4), round((high + 1) / steps, 4)


def _draw_levels(
    files: Sequence[PaimonDataFile],
    new: set[tuple[str, int | None]],
    gone: Sequence[PaimonDataFile],
    keys: Sequence[tuple[Any, ...]],
) -> Iterable[Level]:
    """Draw every level from 0 to the highest; empty ones that follow each other are one."""
    last = max((file.level or 0 for file in (*files, *gone)), default=0)
    levels = []
    for number in range(last + 1):
        here = [file for file in files if (file.level or 0) == number]
        # a compaction records what it took in no order that lasts
        left = sorted((one for one in gone if (one.level or 0) == number), key=_find_age)
        runs = [*_draw_runs(here, number, new, keys, gone), *_draw_gone(left, files, keys)]
        levels.append(Level(str(number), tuple(runs), _sum_rows(here)))
    for is_empty, some in groupby(levels, key=lambda level: not level.runs):
        group = list(some)
        if is_empty and len(group) > 1:
            yield Level(f"{group[0].name} to {group[-1].name}")
        else:
            yield from group


def _find_age(file: PaimonDataFile) -> tuple[int, str]:
    return file.max_sequence_number or 0, file.file_name


def _draw_runs(
    here: Sequence[PaimonDataFile],
    number: int,
    new: set[tuple[str, int | None]],
    keys: Sequence[tuple[Any, ...]],
    gone: Sequence[PaimonDataFile],
) -> Iterable[Run]:
    raised = {one.file_name for one in gone}
    fresh = [one for one in here if (one.file_name, one.level) in new]
    kept = [one for one in here if (one.file_name, one.level) not in new]
    for some, state in ((fresh, "new"), (kept, "kept")):
        shown = some[:_MOST_RUNS] if number == 0 or len(some) == 1 else []
        for one in shown:
            words = "new, the same file" if one.file_name in raised and state == "new" else state
            yield _draw_file(one, state, words + _say_deleted(one), keys)  # type: ignore[arg-type]
        rest = some[len(shown) :]
        if rest:
            start, end = _place_run(rest, keys)
            words = state if number == 0 else f"{state}, one sorted run"
            name = f"{len(rest):,} more files" if shown else count_noun(len(rest), "file")
            yield Run(name, state, words, start, end, _sum_rows(rest), len(rest))  # type: ignore[arg-type]


def _draw_file(one: PaimonDataFile, state: State, words: str, keys: Sequence[tuple[Any, ...]]) -> Run:
    start, end = _place_run((one,), keys)
    return Run(one.file_name, state, words, start, end, one.row_count)


def _say_deleted(one: PaimonDataFile) -> str:
    """Say how many of its rows are marked deleted, where the index manifest says so."""
    known = [match.cardinality for match in one.deletes]
    if not known:
        return ""
    if None in known:
        return ", some rows marked deleted"
    return f", {sum(n or 0 for n in known):,} of {one.row_count or 0:,} rows marked deleted"


def _draw_gone(
    left: Sequence[PaimonDataFile], files: Sequence[PaimonDataFile], keys: Sequence[tuple[Any, ...]]
) -> Iterable[Run]:
    """Say what is no longer in a level, dashed."""
    now = {file.file_name: file.level for file in files}
    for one in left[:3]:
        words = (
            f"gone, now in level {now[one.file_name]}" if one.file_name in now else "gone, merged into others"
        )
        yield _draw_file(one, "gone", words, keys)
    if len(left) > 3:
        start, end = _place_run(left[3:], keys)
        yield Run(
            f"{len(left) - 3:,} more files", "gone", "gone", start, end, _sum_rows(left[3:]), len(left) - 3
        )


def _sum_rows(files: Sequence[PaimonDataFile]) -> int | None:
    rows = [file.row_count for file in files]
    return None if None in rows else sum(row or 0 for row in rows)


def _draw_beside(
    snapshot: PaimonSnapshot, before: PaimonSnapshot | None, chosen: Place, marked: int | None
) -> Iterable[Box]:
    """Draw the changelog files of the commit and the index files of the bucket."""
    changelog = _take(snapshot.changelog_files, chosen) if snapshot.changelog_files else []
    if changelog:
        rows = _sum_rows(changelog)
        name = changelog[0].file_name if len(changelog) == 1 else count_noun(len(changelog), "changelog file")
        words = (f"{count_noun(rows, 'row')} for streams",) if rows is not None else ()
        yield Box(name, "new", words, len(changelog), len(changelog) == 1)
    old = {file.recorded_path for file in before.index_files} if before is not None else set()
    found = [file for file in snapshot.index_files if (str(file.partition), file.bucket) == chosen]
    for one in found[:2]:
        said = f"{one.index_type.replace('_', ' ').lower()}: {count_noun(one.row_count or 0, 'entry')}"
        state: State = "kept" if one.recorded_path in old else "new"
        yield Box(f"index/{one.path.rpartition('/')[2]}", state, (said,), path=one.path, refers_to=marked)


def _say_key(key: tuple[Any, ...] | None) -> str:
    """Say a key as its first values read."""
    if key is None:
        return ""
    said = ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in key)
    return said if len(said) <= _LONGEST_KEY else f"{said[:_LONGEST_KEY]}…"
