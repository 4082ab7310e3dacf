"""The chain of an Iceberg table as a map: pointer, metadata, manifest list, manifests, files.

See "Overview" of the table specification. Counts are those of the manifest list: of a big table only the manifests that one
of the two states names alone are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.changes import count_line
from lakelens.formats.iceberg.discovery.versions import is_hint
from lakelens.formats.iceberg.map_head import IcebergHead
from lakelens.model.charts import (
    MANY_FILES,
    Box,
    Chart,
    Since,
    State,
    Tally,
    Tier,
    choose_boxes,
    count_noun,
    last_name,
)
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable

_MANIFESTS = ("Avro (Parquet", "in v4), entries")
_FILES = ("Parquet, ORC or", "Avro; Puffin")
_NOUNS = {
    "data": "data file",
    "deletes": "delete",
}
_BY = {"position_deletes": "by position", "equality_deletes": "by value"}
_VECTOR = "deletion_vector"


@dataclass(frozen=True)
class Held:
    """The live files of some manifests: of each content how many, those that are new, and what went."""

    live: dict[str, Tally]
    new: dict[str, Tally]
    gone: int
    error: LakeError | None = None


class IcebergMap(IcebergHead):
    """Draws the chain of one snapshot, with what the change made new."""

    def draw(self) -> Chart:
        """The chart."""
        manifests, files = self._draw_manifests()
        tiers = (self.draw_pointer(), self.draw_metadata(), self.draw_lists(), manifests, files)
        counted = (
            ("data file", self._count_new("data")),
            ("delete file", self._count_new("position_deletes", "equality_deletes", "deletion_vector")),
            ("manifest", sum(self.is_new(one) for one in self.manifests)),
            ("list", int(self.state == "new" and self.has_list)),
            ("metadata file", len(self.new_metadata)),
        )
        stored = tuple(
            rows for one in self.held if (tally := one.live.get("data")) and (rows := tally.rows) is not None
        )
        gone = sum(one.gone for one in self.held)
        changed = int(tiers[0].boxes[0].state == "changed")
        return Chart(
            tiers,
            stored=stored,
            counted_new=counted,
            changed=changed,
            gone=gone,
        )

    @cached_property
    def _added(self) -> dict[str, dict[str, Tally]] | None:
        """The files that the change added, by manifest and content; None where only the lists count them."""
        compared = self.since.compare()
        if compared is None:
            return None
        found: dict[str, dict[str, Tally]] = {}
        columns = ("manifest", "content", "record_count", "own_size_bytes", "path")
        for manifest, content, rows, size, path in compared.added.pick(*columns):
            tally = found.setdefault(manifest, {}).setdefault(content, Tally())
            tally.add(1, rows, size, (path,) if content == _VECTOR else ())
        return found

    @cached_property
    def is_small(self) -> bool:
        """Whether there are few enough files to look at each."""
        counts = [one.count_entries() for one in self.manifests]
        return len(counts) <= MANY_FILES and sum(n or 0 for n in counts) <= MANY_FILES

    def _hold(self, manifests: Sequence[IcebergManifest]) -> Held:
        """What some manifests hold."""
        live: dict[str, Tally] = {}
        new: dict[str, Tally] = {}
        error: LakeError | None = None
        for manifest in manifests:
            damage = manifest.walk()[1] if self.is_small else None
            error = error or damage
            for content, tally in self._count_live(manifest, damage):
                live.setdefault(content, Tally()).merge(tally)
            for content, tally in self._count_added(manifest):
                new.setdefault(content, Tally()).merge(tally)
        gone = sum((one.deleted_files_count or 0) for one in manifests if self.is_new(one))
        return Held(live, new, gone, error)

    def _count_live(self, manifest: IcebergManifest, damage: LakeError | None) -> Iterator[tuple[str, Tally]]:
        counted = count_line(manifest)
        if not self.is_small or damage is not None:
            content = "data" if manifest.content == "data" else "deletes"
            if counted.files:
                yield content, Tally(counted.files, counted.rows, None)
            return
        for entry in manifest.entries:
            if entry.is_live:
                file = entry.file
                paths = {file.path} if file.content == _VECTOR else set()
                yield file.content, Tally(1, file.record_count, file.own_size_bytes, paths)

    def _count_added(self, manifest: IcebergManifest) -> Iterable[tuple[str, Tally]]:
        if self._added is not None:
            return self._added.get(manifest.path, {}).items()
        if not self.is_new(manifest):
            return ()
        if not self.since.is_known:  # what it says of itself
            content = "data" if manifest.content == "data" else "deletes"
            tally = Tally(manifest.added_files_count or 0, manifest.added_rows_count, None)
            return ((content, tally),) if tally.files else ()
        error = manifest.walk()[1] if self.is_small else None
        return tuple(self._count_live(manifest, error))

    def _count_new(self, *contents: str) -> int:
        wanted = {*contents, *(("deletes",) if "data" not in contents else ())}
        found = [tally for one in self.held for content, tally in one.new.items() if content in wanted]
        puffins = set().union(*(tally.paths for tally in found))
        return len(puffins) + sum(tally.files for tally in found if not tally.paths)

    # --- manifests and files -------------------------------------------------------------------------------------------

    @cached_property
    def _groups(self) -> list[list[IcebergManifest]]:
        """The manifests of each box, at most four: new before kept, data before deletes."""
        new = [one for one in self.manifests if self.is_new(one)]
        kept = [one for one in self.manifests if not self.is_new(one)]
        sorted_ = [
            sorted((one for one in some if one.content == content), key=_measure, reverse=True)
            for some in (new, kept)
            for content in ("data", "deletes")
        ]
        return [list(sorted_[group][first:end]) for group, first, end in choose_boxes(sorted_)]

    @cached_property
    def held(self) -> list[Held]:
        """What the manifests of each box hold."""
        return [self._hold(group) for group in self._groups]

    def _draw_manifests(self) -> tuple[Tier, Tier]:
        above, below = [], []
        for place, (group, held) in enumerate(zip(self._groups, self.held, strict=True)):
            above.append(self._draw_manifest(group, held))
            below.append(self._draw_files(place, group, held))
        if not above:
            why = (
                "the list cannot be read"
                if any(one.walk()[1] for one in self.snapshot.manifest_lists)
                else ""
            )
            none = Box(
                "no manifest", "absent" if why else "kept", (why,) if why else (), 0, names_files=False
            )
            return Tier("manifests", (none,), _MANIFESTS), Tier(
                "files", (Box("no file", none.state, (), 0, False),), _FILES
            )
        self._refer(below)
        return Tier("manifests", tuple(above), _MANIFESTS), Tier("files", tuple(below), _FILES)

    def _draw_manifest(self, group: Sequence[IcebergManifest], held: Held) -> Box:
        first = group[0]
        is_new = self.is_new(first)
        counts = (
            ("ADDED", sum(one.added_files_count or 0 for one in group)),
            ("EXISTING", sum(one.existing_files_count or 0 for one in group)),
            ("DELETED", sum(one.deleted_files_count or 0 for one in group)),
        )
        said = ", ".join(f"{number:,} {word}" for word, number in counts if number)
        if not is_new:
            said = count_noun(sum(tally.files for tally in held.live.values()), "file")
        name = last_name(first.path) if len(group) == 1 else f"{len(group):,} manifests"
        if len(group) > 1:
            singles = [others[0] for others in self._groups if len(others) == 1]
            # beside a manifest of the same kind that has a box of its own
            if any(one.content == first.content and self.is_new(one) == is_new for one in singles):
                name = f"{len(group):,} more"
        state: State = "unread" if held.error is not None else "new" if is_new else "kept"
        lines = (said or "no entry", first.content)
        if held.error is not None:
            lines = ("cannot be read" if len(group) == 1 else "one cannot be read", first.content)
        return Box(
            name,
            state,
            lines,
            len(group),
            len(group) == 1,
            first.path,
            field="manifest_path",
        )

    def _draw_files(self, place: int, group: Sequence[IcebergManifest], held: Held) -> Box:
        shown = held.new or held.live
        state: State = "new" if held.new else "kept"
        if not shown and held.gone:
            words, name = ("no longer in this state",), count_noun(held.gone, "file")
            return Box(name, "gone", words, held.gone, False, None, (place,))
        if not shown:
            return Box("no file", "kept", (), 0, False, None, (place,))
        if held.error is not None:
            state = "unread"
        total = Tally()
        for tally in shown.values():
            total.merge(tally)
        lines = [count_noun(total.rows, "row") if total.rows is not None else "rows not counted"]
        kept = sum(tally.files for tally in held.live.values()) - total.files if held.new else 0
        if kept > 0:
            lines.append(f"and {kept:,} kept")
        elif held.error is not None:
            lines.append("as the list counts them")
        elif held.gone:
            lines.append(f"{held.gone:,} gone")
        elif total.bytes is not None:
            lines.append(f"{format_size(total.bytes)}{' of blobs' if total.paths else ''}")
        by = [_BY[kind] for kind in shown if kind in _BY]
        if by:
            lines.insert(1, " and ".join(by))
        if total.paths:
            lines.insert(0, count_noun(total.files, "deletion vector"))
        name, count = _name_files(shown, total)
        return Box(name, state, tuple(lines[:3]), count, False, None, (place,), field="file_path")

    def _refer(self, below: list[Box]) -> None:
        """Have each box of deletes refer to the data that it reaches: the nearest box of data where several are."""
        data = [n for n, held in enumerate(self.held) if "data" in held.live]
        for place, held in enumerate(self.held):
            kinds = [kind for kind in held.live if kind != "data"]
            if not kinds or not data or below[place].state == "gone":
                continue
            target = self._find_reached(self._groups[place], data)
            word = (
                "referenced_data_file: which rows to leave out"
                if kinds == ["deletion_vector"]
                else "deletes rows of"
            )
            below[place] = replace(below[place], refers_to=target, reference=word)

    def _find_reached(self, group: Sequence[IcebergManifest], data: Sequence[int]) -> int:
        """The place of the box that has most of the files that deletes name."""
        if not self.is_small or any(held.error for held in self.held):
            return data[-1]
        named = {
            getattr(entry.file, "referenced_data_file", None)
            for one in group
            for entry in one.entries
            if entry.is_live
        }
        hits = {
            place: sum(
                entry.file.recorded_path in named for one in self._groups[place] for entry in one.entries
            )
            for place in data
        }
        return max(data, key=lambda place: (hits[place], place))


def _measure(manifest: IcebergManifest) -> int:
    return (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)


def _name_files(shown: dict[str, Tally], total: Tally) -> tuple[str, int]:
    """What some files are called, by their kind where it is one, and how many they are."""
    puffins = len(total.paths)
    files = total.files if not puffins else puffins + sum(t.files for t in shown.values() if not t.paths)
    if len(shown) > 1:
        return count_noun(files, "delete file"), files
    return count_noun(
        files, "Puffin file" if puffins else _NOUNS.get(next(iter(shown)), "delete file")
    ), files


def find_hint(files: Sequence[str]) -> str | None:
    """The version hint among the files that made the table certain; None where there is none."""
    return next((path for path in files if is_hint(last_name(path))), None)


def draw_chart(table: IcebergTable, since: Since) -> Chart:
    """Draw the chart of a table; of one without a commit its metadata."""
    path, text = find_hint(table.evidence.files), None
    if path is not None:
        try:
            text = str(table.storage.read_document(path)).strip()
        except LakeError:
            text = "nothing that can be read"
    hint = None if path is None or text is None else (path, text)
    if since.after is None:
        path = table.metadata_path
        box = Box(last_name(path), "kept", ("nothing was committed yet",), path=path)
        return Chart((Tier("table metadata", (box,), ("JSON, whole", "each time")),))
    return IcebergMap(table, since, hint).draw()
