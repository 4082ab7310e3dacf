"""How many manifests there are, how well they separate partitions, and whether writing them again helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lakelens.model.facts.amounts import format_size
from lakelens.model.health.measure import Call, DocumentPart, Limit, Measure, count

if TYPE_CHECKING:
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.manifest import Manifest

_PER_PARTITION = Limit(4, "≤", "lakelens")


def measure_manifests(
    manifests: Sequence[Manifest], figures: FileFigures, limit: Limit, target: int, calls: tuple[Call, ...]
) -> Iterator[Measure]:
    """The number of manifests, and how many of them name the files of one partition.

    `target` is how large writers make a manifest, `calls` are the statements that write them again; they are given only
    where fewer manifests would do.
    """
    fewest = count_fewest(manifests, target)
    helps: tuple[Call, ...] = ()
    advice = ""
    if not limit.keeps(len(manifests)):
        helps = calls if fewest < len(manifests) else ()
        size = format_size(target)
        advice = (
            f"about {fewest:,} would do, of {size}" if helps else f"no fewer would do: they are of {size}"
        )
    yield Measure("manifests", "metadata", len(manifests), "count", limit, advice, helps)
    yield from _measure_separation(figures, fewest, calls)


def count_fewest(manifests: Iterable[Manifest], target: int) -> int:
    """How many manifests of a target size hold the same: at least one for each partitioning and content."""
    sizes: Counter[tuple[int | None, str]] = Counter()
    for manifest in manifests:
        sizes[manifest.spec_id, manifest.content] += max(manifest.size_bytes or 0, 1)
    return sum(-(-size // max(target, 1)) for size in sizes.values())


def _measure_separation(figures: FileFigures, fewest: int, calls: tuple[Call, ...]) -> Iterator[Measure]:
    """In how many manifests the files of one partition are: a reader of the partition opens them all."""
    numbers = figures.manifests_by_partition
    known = numbers[numbers > 0]
    if len(known) < 2:
        return
    mean = float(known.mean())
    worst = int(numbers.argmax())
    advice = ""
    helps: tuple[Call, ...] = ()
    if not _PER_PARTITION.keeps(mean):
        best = max(1.0, fewest / len(known))
        helps = calls if best < _PER_PARTITION.value else ()
        advice = "sorted by partition, each would be in " + (
            "one or two" if helps else f"about {best:,.0f} all the same"
        )
    place = str(figures.partitions[worst])
    name = "manifests that a partition is in, mean"
    yield Measure(name, "metadata", mean, "count", _PER_PARTITION, advice, helps, place)


def list_manifest_parts(manifests: Iterable[Manifest], document: str = "manifests") -> Iterator[DocumentPart]:
    """The manifests of a state by content: how many, and their bytes."""
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for manifest in manifests:
        counts[manifest.content] += 1
        sizes[manifest.content] += manifest.size_bytes or 0
    for content in counts:
        noun = "delete" if content == "deletes" else content
        yield DocumentPart(document, f"{noun} manifests", counts[content], sizes[content])


def find_emptied(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The manifests whose every entry only says that a file is gone."""
    return [
        manifest
        for manifest in manifests
        if manifest.deleted_files_count
        and not manifest.added_files_count
        and not manifest.existing_files_count
    ]


def say_emptied(emptied: Sequence[Manifest]) -> str:
    """What becomes of them: `FastAppend` keeps every manifest, the other commits only those with live files."""
    them = "it" if len(emptied) == 1 else "them"
    gone = sum(manifest.deleted_files_count or 0 for manifest in emptied)
    entries = count(gone, "entry", "entries")
    return f"{entries} of files that are gone; the next commit leaves {them} out, unless it is a fast append"
