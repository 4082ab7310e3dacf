"""Histories made up at random: commits, merges of manifests, rollbacks. The cheap comparison tells what whole sets tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.formats.iceberg.changes import IcebergComparison
from lakelens.formats.paimon.changes import PaimonComparison, list_deltas
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import merge_entries
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.manifest import Entry

# a step: how many files to add, which of the live ones to remove, whether manifests are merged first, how far to go back
steps = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.lists(st.integers(0, 9), max_size=3),
        st.sampled_from(["", "", "pairs", "all", "keep deletes"]),
        st.integers(0, 6),
    ),
    min_size=2,
    max_size=9,
)


def make_file(number: int) -> PaimonDataFile:
    context: Any = None
    raw = {"_FILE": {"_FILE_NAME": f"f{number}", "_ROW_COUNT": 1}, "_BUCKET": 0}
    manifest: Any = SimpleNamespace(content="data", path="m")
    return PaimonDataFile(raw, manifest, context, 0)


class FakeManifest:
    """A manifest of either format: its name and its entries."""

    made = 0
    context = SimpleNamespace(store=None)

    def __init__(self, entries: list[Entry]) -> None:
        FakeManifest.made += 1
        self.path = self.recorded_path = f"m{FakeManifest.made}"
        self.entries, self.content = entries, "data"
        self.num_added_files = sum(entry.is_live for entry in entries)
        self.num_deleted_files = len(entries) - self.num_added_files
        self.added_files_count, self.existing_files_count = self.num_added_files, 0
        self.added_rows_count, self.existing_rows_count = self.num_added_files, 0


@dataclass
class FakePaimon:
    """A snapshot with its two lists, in a chain of which `chain` knows the commits by number."""

    id: int
    base: list[FakeManifest]
    delta: FakeManifest
    chain: dict[int, FakePaimon] = field(repr=False)

    def __post_init__(self) -> None:
        entries = [entry for manifest in (*self.base, self.delta) for entry in manifest.entries]
        live = merge_entries(entries).live
        self.files = FileSet(lambda: [entry.file for entry in live.values()], FileColumns)
        self.record_count = len(live)
        self.delta_record_count = self.delta.num_added_files - self.delta.num_deleted_files
        lists = (("base", self.base), ("delta", [self.delta]))
        self.manifest_lists = [
            SimpleNamespace(role=role, manifests=held, path=role, is_read=True) for role, held in lists
        ]

    def list_chain(self, older: FakePaimon) -> tuple[FakePaimon, ...]:
        if self.chain.get(older.id) is not older or self.chain.get(self.id) is not self:
            return ()
        return tuple(self.chain[number] for number in range(older.id + 1, self.id + 1))

    context = SimpleNamespace(store=None)

    def fetch_near(self, *compared: FakePaimon) -> None:
        """Nothing is far."""

    def see(self, found: DataFile) -> DataFile:
        return found


def merge(manifests: list[FakeManifest], how: str) -> list[FakeManifest]:
    """Manifests written anew: two by two or all into one, with what cancels out left out, or with every entry kept."""
    if not how or not manifests:
        return manifests
    size = 2 if how == "pairs" else len(manifests)
    merged = []
    for start in range(0, len(manifests), size):
        entries = [entry for one in manifests[start : start + size] for entry in one.entries]
        if how != "keep deletes":
            folded = merge_entries(entries)
            entries = [*folded.dangling, *folded.live.values()]
        merged.append(FakeManifest(entries))
    return merged


def build_paimon(told: Any) -> list[FakePaimon]:
    """Every snapshot that was ever there; those that a rollback removed are no part of the chain any more."""
    chain: dict[int, FakePaimon] = {}
    ever: list[FakePaimon] = []
    number = 0
    for adds, removes, how, back in told:
        for _ in range(back if back < 3 and len(chain) > back else 0):
            chain.popitem()
        last = chain[max(chain)] if chain else None
        before = [] if last is None else [*last.base, last.delta]
        live = [] if last is None else list(last.files)
        gone = {
            live[position % len(live)].identity: live[position % len(live)] for position in removes if live
        }
        entries = [Entry("DELETE", None, None, found) for found in gone.values()]
        for _ in range(adds):
            number += 1
            entries.append(Entry("ADD", None, None, make_file(number)))
        made = FakePaimon(len(chain) + 1, merge(before, how), FakeManifest(entries), chain)
        chain[made.id] = made
        ever.append(made)
    return ever


def tell(files: Any) -> set[Any]:
    return {found.identity for found in files}


@pytest.mark.exhaustive
@settings(max_examples=150)
@given(steps)
def test_paimon_histories(told: Any) -> None:
    ever: Any = build_paimon(told)
    for before in ever:
        for after in ever:
            found = PaimonComparison(before, after)
            assert tell(found.added) == tell(after.files) - tell(before.files)
            assert tell(found.removed) == tell(before.files) - tell(after.files)
            assert tell(found.kept) == tell(after.files) & tell(before.files)


@settings(max_examples=100)
@given(steps)
def test_deltas_are_taken_only_within_one_chain(told: Any) -> None:
    ever: Any = build_paimon(told)
    for before in ever:
        for after in ever:
            if before.id >= after.id:
                continue
            deltas = list_deltas(before, after)
            is_chained = before.chain.get(before.id) is before and after.chain.get(after.id) is after
            assert (deltas is not None) == is_chained
            if deltas is not None:
                live = merge_entries(
                    [e for m in (*before.base, before.delta, *deltas) for e in m.entries]
                ).live
                assert set(live) == tell(after.files)


@dataclass
class FakeIceberg:
    """A snapshot that names manifests whose entries are all of one status."""

    manifests: list[FakeManifest]

    def __post_init__(self) -> None:
        self.files = FileSet(lambda: self.list_live(self.manifests), FileColumns)

    def list_live(self, manifests: list[FakeManifest]) -> list[DataFile]:
        return [entry.file for manifest in manifests for entry in manifest.entries if entry.is_live]

    def list_files(self, manifests: list[FakeManifest]) -> FileSet:
        return FileSet(lambda: self.list_live(manifests), FileColumns)

    def count(self, key: str) -> int | None:
        return None


def build_iceberg(told: Any) -> list[FakeIceberg]:
    ever: list[FakeIceberg] = []
    number = 0
    for adds, removes, how, back in told:
        parent = (
            ever[-1 - back] if back < len(ever) else None
        )  # of any earlier snapshot: a branch, or a rollback
        manifests = list(parent.manifests) if parent is not None else []
        live = [] if parent is None else list(parent.files)
        gone = {live[position % len(live)].identity for position in removes if live}
        kept = []
        for manifest in manifests:
            if any(entry.file.identity in gone and entry.is_live for entry in manifest.entries):
                manifest = FakeManifest(
                    [_rewrite(entry, gone) for entry in manifest.entries if entry.is_live]
                )
            kept.append(manifest)
        if how:
            entries = [e for m in kept for e in m.entries if e.is_live]
            kept = [FakeManifest(entries)]
        names = range(number, number := number + adds)
        added = [Entry("ADDED", None, None, make_file(name)) for name in names]
        ever.append(FakeIceberg([*kept, FakeManifest(added)] if added else kept))
    return ever


def _rewrite(entry: Entry, gone: set[Any]) -> Entry:
    return Entry("DELETED" if entry.file.identity in gone else "EXISTING", None, None, entry.file)


@settings(max_examples=150)
@given(steps)
def test_iceberg_histories(told: Any) -> None:
    ever: Any = build_iceberg(told)
    for before in ever:
        for after in ever:
            found = IcebergComparison(before, after)
            assert tell(found.added) == tell(after.files) - tell(before.files)
            assert tell(found.removed) == tell(before.files) - tell(after.files)
            counted = found.count_kept()
            assert sum(part.files or 0 for part in counted.values()) == len(
                tell(after.files) & tell(before.files)
            )
