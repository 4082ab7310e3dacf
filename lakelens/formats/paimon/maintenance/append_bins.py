"""Which files of an append table a compaction takes together.

    no buckets    small files (below 7/10 of `target-file-size`), and those with deletion vectors, of each partition: the
                  smallest first, until a bin is full; files whose vectors share an index file stay together
    buckets       in order of their records: for a full compaction all but leading large ones, where more are small than
                  not; for the next pick the first neighbours that are many enough

A bin is full at `target-file-size` with 5 files (`compaction.min.file-num`), or at 50 files (`compaction.max.file-num`);
from 1.0 on at twice the target, with 4 MB (`source.split.open-file-cost`) for each file, and what is left over is taken
where there are 5 files. Follows `UnawareAppendTableCompactionCoordinator` and `BucketedAppendCompactManager` of Paimon 0.9,
and `AppendCompactCoordinator` of 2.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lakelens.formats.paimon.maintenance.settings import Settings
from lakelens.formats.paimon.splits import parse_size

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile

_LEAST_FULL = 3
Bin = list["PaimonDataFile"]


class AppendPacker:
    """Packs the files of one append table. `vectors` has the index file of each data file with a deletion vector, by name.

    `ties` is set where files of one size could be packed in another order than the engine's, which depends on hashes.
    """

    def __init__(self, settings: Settings, vectors: Mapping[str, str], is_new: bool) -> None:
        self._settings = settings
        self._vectors = vectors
        self._is_new = is_new
        self.ties = False

    def pack_partition(self, files: Sequence[PaimonDataFile]) -> list[Bin]:
        """The bins of a partition of a table without buckets."""
        chosen = [file for file in files if self._is_chosen(file)]
        if not self._settings.has_vectors:
            return self._pack(chosen)
        groups: dict[str, Bin] = {}
        rest: Bin = []
        for file in chosen:
            index = self._vectors.get(file.file_name)
            (rest if index is None else groups.setdefault(index, [])).append(file)
        bins = list(groups.values())
        if self._is_new:
            bins = self._join_groups(bins)
        return bins + (self._pack(rest) if len(rest) > 1 else [])

    def _is_chosen(self, file: PaimonDataFile) -> bool:
        is_small = (file.size_bytes or 0) < self._settings.small_size
        return is_small or (self._settings.has_vectors and file.file_name in self._vectors)

    def _pack(self, files: Sequence[PaimonDataFile]) -> list[Bin]:
        ordered = sorted(files, key=lambda file: file.size_bytes or 0)
        bins: list[Bin] = []
        filling: Bin = []
        for place, file in enumerate(ordered):
            filling.append(file)
            if self._is_full(filling):
                bins.append(filling)
                filling = []
                after = ordered[place + 1 : place + 2]
                self.ties |= bool(after) and after[0].size_bytes == file.size_bytes
        if self._is_new and len(filling) >= self._least:
            return [*bins, filling]
        if filling and bins:
            self.ties |= filling[0].size_bytes == bins[-1][-1].size_bytes
        return bins

    @property
    def _least(self) -> int:
        return self._settings.number("compaction.min.file-num", 5)

    def _is_full(self, files: Sequence[PaimonDataFile]) -> bool:
        size, target = sum(file.size_bytes or 0 for file in files), self._settings.target_size
        if self._is_new:
            cost = self._settings.read("source.split.open-file-cost", 4 << 20, parse_size)
            return len(files) > 1 and size + cost * len(files) >= target * 2
        most = self._settings.number("compaction.max.file-num", 50)
        return (size >= target and len(files) >= self._least) or len(files) >= most

    def _join_groups(self, groups: Sequence[Bin]) -> list[Bin]:
        """Groups of files that share index files, joined until a bin is full (2.0)."""
        bins: list[Bin] = []
        filling: Bin = []
        for group in sorted(groups, key=lambda held: sum(file.size_bytes or 0 for file in held)):
            filling = filling + group
            if self._is_full(filling):
                bins.append(filling)
                filling = []
        return [*bins, filling] if filling else bins

    def pack_bucket(self, files: Sequence[PaimonDataFile], is_full: bool) -> list[Bin]:
        """What is compacted of a bucket: one bin or none."""
        ordered = sorted(files, key=lambda file: file.min_sequence_number or 0)
        if not self._is_new:
            ordered = list(_drop_twins(ordered))
        found = self._take_all(ordered) if is_full else self._take_next(ordered)
        return [found] if found else []

    def _take_all(self, files: Sequence[PaimonDataFile]) -> Bin:
        has_vectors, target = self._settings.has_vectors, self._settings.target_size
        if not files or (not has_vectors and len(files) < _LEAST_FULL):
            return []
        start = next(
            (
                place
                for place, file in enumerate(files)
                if (file.size_bytes or 0) < target or (has_vectors and file.file_name in self._vectors)
            ),
            len(files),
        )
        chosen = list(files[start:])
        if has_vectors:
            return chosen
        small = sum((file.size_bytes or 0) < target for file in chosen)
        return chosen if small > len(chosen) - small and len(chosen) >= _LEAST_FULL else []

    def _take_next(self, files: Sequence[PaimonDataFile]) -> Bin:
        target, least = self._settings.target_size, self._least
        most = self._settings.number("compaction.max.file-num", 5)
        chosen: Bin = []
        for file in files:
            chosen.append(file)
            size = sum(one.size_bytes or 0 for one in chosen)
            if self._is_new:
                is_done, is_over = len(chosen) >= least, size >= target * 2
            else:
                is_over = size >= target
                is_done = (is_over and len(chosen) >= least) or len(chosen) >= most
            if is_done:
                return chosen
            if is_over:
                chosen.pop(0)
        return []


def _drop_twins(files: Sequence[PaimonDataFile]) -> Iterator[PaimonDataFile]:
    """Of several files with one first record 0.9 sees one alone."""
    seen: set[int | None] = set()
    for file in files:
        if file.min_sequence_number not in seen:
            seen.add(file.min_sequence_number)
            yield file
