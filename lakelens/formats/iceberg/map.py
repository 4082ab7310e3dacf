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
from lakelens.formats.iceberg.discovery.versions import is_hint
from lakelens.formats.iceberg.manifests.manifest import count_line
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
    count_words,
    last_name,
)
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.storage import MetadataLogEntry

_POINTER = ("a fixed name, or", "a row in a catalog")
_METADATA = ("JSON, whole", "each time")
_LIST = ("Avro, one a", "snapshot")
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


class IcebergMap:
    """Draws the chain of one snapshot, with what the change made new."""

    def __init__(self, table: IcebergTable, since: Since, hint: tuple[str, str] | None) -> None:
        self.table, self.since, self.hint = table, since, hint
        self.snapshot: IcebergSnapshot = since.after  # type: ignore[assignment]
        self.is_current = table.current is not None and self.snapshot.id == table.current.id

    def draw(self) -> Chart:
        """Draw the chart."""
        manifests, files = self._draw_manifests()
        tiers = (self._draw_pointer(), self._draw_metadata(), self._draw_lists(), manifests, files)
        counted = (
            ("data file", self._count_new("data")),
            ("delete file", self._count_new("position_deletes", "equality_deletes", "deletion_vector")),
            ("manifest", sum(self.is_new(manifest) for manifest in self.manifests)),
            ("list", int(self.state == "new" and self._has_list)),
            ("metadata file", len(self._new_metadata)),
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

    @property
    def state(self) -> State:
        """The state of what the snapshot itself brought."""
        same = self.since.before is not None and self.since.before.is_same(self.snapshot)
        return self.since.state_of(self.snapshot.path, "kept" if same else "new")

    @cached_property
    def manifests(self) -> Sequence[IcebergManifest]:
        """The manifests, each once."""
        return tuple(dict.fromkeys(self.snapshot.manifests))

    @cached_property
    def _old(self) -> set[str] | None:
        before = self.since.before
        if before is not None:
            return {manifest.recorded_path for manifest in before.manifests}
        return set() if self.since.is_known else None

    def is_new(self, manifest: IcebergManifest) -> bool:
        """Check whether the change brought a manifest."""
        if self._old is None:
            found: State = "new" if manifest.added_snapshot_id == self.snapshot.id else "kept"
        else:
            found = "kept" if manifest.recorded_path in self._old else "new"
        return self.since.state_of(manifest.path, found) == "new"

    # --- what is above the manifests -----------------------------------------------------------------------------------

    def _draw_pointer(self) -> Tier:
        new = self.is_current and bool(self._new_metadata)
        if self.table.catalog is not None:
            words = "switched, all or nothing" if new else "names the metadata file"
            box = Box("a row in the catalog", "changed" if new else "kept", (words,), names_files=False)
            return Tier(
                "pointer", (box,), _POINTER, ("the one pointer that counts: the file's", "name says nothing")
            )
        if self.hint is not None:
            path, text = self.hint
            said = [f"says {text}"]
            log = self._log
            if new and log and text.isdecimal() and int(text) > 1:
                said.append(f"said {int(text) - 1}")
            state = self.since.state_of(path, "changed" if new and log else "new" if new else "kept")
            remark = (
                "only a hint: a reader then tries the next number",
                "itself. With a catalog its row is switched instead",
            )
            return Tier(
                "pointer", (Box(last_name(path), state, (", ".join(said),), path=path),), _POINTER, remark
            )
        box = Box("a row in a catalog", "absent", ("no version hint is here",), names_files=False)
        remark = (
            "the newest metadata file is taken instead: only",
            "the catalog knows for certain which is current",
        )
        return Tier("pointer", (box,), _POINTER, remark)

    @cached_property
    def _log(self) -> Sequence[MetadataLogEntry]:
        return self.table.metadata_log

    @cached_property
    def _new_metadata(self) -> Sequence[str]:
        """The metadata files that are new since the state before; a trace sees those of changes that commit no snapshot."""
        own = self.table.metadata_path
        if not self.is_current:
            return ()
        if self.since.touched is not None:
            paths = [*(entry.path for entry in self._log), own]
            return [path for path in paths if self.since.state_of(path, "kept") == "new"]
        if self.state != "new":
            return ()
        before = self.since.before.committed_at if self.since.before is not None else None
        moment = self.snapshot.committed_at if before is None else before
        logged = [] if moment is None else [one.path for one in self._log if one.timestamp >= moment]
        # the first file since the snapshot before is the one that committed it
        return [*logged[before is not None :], own]

    def _draw_metadata(self) -> Tier:
        table = self.table
        path = table.metadata_path
        held = [
            ("snapshot", table.snapshot_count),
            ("schema", len(table.schemas)),
            ("spec", len(table.specs)),
            ("ref", len(table.refs)),
        ]
        since = set(self._new_metadata)
        extra = [one for one in self._log if one.path in since and one.path != path]
        older = [one for one in self._log if one.path not in since]
        state: State = self.since.state_of(path, "new" if path in since else "kept")
        lines = [count_words(held)]
        if self._log:
            number = len(self._log)
            lines.append(f"metadata-log names {number:,} before it")
        boxes = [Box(last_name(path), state, tuple(lines), path=path, field="metadata_location")]
        boxes += _stack_metadata(extra, "new", "written since, too")
        boxes += _stack_metadata(older, "kept", "no longer current")
        return Tier("table metadata", tuple(boxes), _METADATA, (), True)

    @property
    def _has_list(self) -> bool:
        return self.snapshot.path is not None

    def _draw_lists(self) -> Tier:
        snapshot, new = self.snapshot, sum(self.is_new(manifest) for manifest in self.manifests)
        errors = [error for one in snapshot.manifest_lists if (error := one.walk()[1]) is not None]
        lines = [
            f"{count_noun(len(self.manifests), 'line')}, {new:,} new",
            f"sequence number {snapshot.sequence_number}",
        ]
        if errors:
            lines = ["cannot be read", "what it names is not known"]
        state: State = "unread" if errors else self.state
        if self._has_list:
            name = last_name(snapshot.path or "")
            boxes = [Box(name, state, tuple(lines), path=snapshot.path, field="manifest-list")]
        else:
            words = (
                f"{count_noun(len(self.manifests), 'manifest')}, {new:,} new",
                "version 1 without a list",
            )
            boxes = [Box("in the metadata itself", self.state, words, names_files=False, field="manifests")]
        older = self.table.snapshot_count - 1
        if older > 0:
            others = "older list" if self.is_current else "other list"
            lines = ["one a snapshot: time travel", "until expire_snapshots"]
            boxes.append(
                Box(
                    count_noun(older, others),
                    "kept",
                    tuple(lines),
                    older,
                    names_files=False,
                )
            )
        sketches = list(snapshot.statistics)
        if sketches:
            name = (
                last_name(sketches[0].path) if len(sketches) == 1 else f"{len(sketches):,} statistics files"
            )
            count, path = len(sketches), sketches[0].path
            lines = ["sketches of values"]
            boxes.append(Box(name, self.state, tuple(lines), count, count == 1, path, field="statistics"))
        return Tier("manifest list", tuple(boxes), _LIST, (), True)

    # --- what manifests hold -------------------------------------------------------------------------------------------

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
    def _is_small(self) -> bool:
        """Whether there are few enough files to look at each."""
        counts = [manifest.count_entries() for manifest in self.manifests]
        return len(counts) <= MANY_FILES and sum(n or 0 for n in counts) <= MANY_FILES

    def _hold(self, manifests: Sequence[IcebergManifest]) -> Held:
        """Count what some manifests hold."""
        live: dict[str, Tally] = {}
        new: dict[str, Tally] = {}
        error: LakeError | None = None
        for manifest in manifests:
            damage = manifest.walk()[1] if self._is_small else None
            error = error or damage
            for content, tally in self._count_live(manifest, damage):
                live.setdefault(content, Tally()).merge(tally)
            for content, tally in self._count_added(manifest):
                new.setdefault(content, Tally()).merge(tally)
        gone = sum((one.deleted_files_count or 0) for one in manifests if self.is_new(one))
        return Held(live, new, gone, error)

    def _count_live(self, manifest: IcebergManifest, damage: LakeError | None) -> Iterator[tuple[str, Tally]]:
        counted = count_line(manifest)
        if not self._is_small or damage is not None:
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
        error = manifest.walk()[1] if self._is_small else None
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
        new = [manifest for manifest in self.manifests if self.is_new(manifest)]
        kept = [manifest for manifest in self.manifests if not self.is_new(manifest)]
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
            ("ADDED", sum(manifest.added_files_count or 0 for manifest in group)),
            ("EXISTING", sum(manifest.existing_files_count or 0 for manifest in group)),
            ("DELETED", sum(manifest.deleted_files_count or 0 for manifest in group)),
        )
        said = ", ".join(f"{number:,} {word}" for word, number in counts if number)
        if not is_new:
            said = count_noun(sum(tally.files for tally in held.live.values()), "file")
        name = last_name(first.path) if len(group) == 1 else f"{len(group):,} manifests"
        if len(group) > 1:
            singles = [others[0] for others in self._groups if len(others) == 1]
            # beside a manifest of the same kind that has a box of its own
            if any(
                manifest.content == first.content and self.is_new(manifest) == is_new for manifest in singles
            ):
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
        """Find the place of the box that has most of the files that deletes name."""
        if not self._is_small or any(held.error for held in self.held):
            return data[-1]
        named = {
            getattr(entry.file, "referenced_data_file", None)
            for manifest in group
            for entry in manifest.entries
            if entry.is_live
        }
        hits = {
            place: sum(
                entry.file.recorded_path in named
                for manifest in self._groups[place]
                for entry in manifest.entries
            )
            for place in data
        }
        return max(data, key=lambda place: (hits[place], place))


def _stack_metadata(log: Sequence[MetadataLogEntry], state: State, words: str) -> list[Box]:
    """A box of older metadata files, under the name of the last; none for none."""
    if not log:
        return []
    last, count = log[-1], len(log)
    lines = (f"and {count - 1:,} older", words) if count > 1 else (words,)
    return [
        Box(
            last_name(last.path),
            state,
            lines,
            count,
            path=last.path,
            parents=(),
            is_joined=True,
        )
    ]


def _measure(manifest: IcebergManifest) -> int:
    return (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)


def _name_files(shown: dict[str, Tally], total: Tally) -> tuple[str, int]:
    """Name what some files are called, by their kind where it is one, and how many they are."""
    puffins = len(total.paths)
    files = total.files if not puffins else puffins + sum(t.files for t in shown.values() if not t.paths)
    if len(shown) > 1:
        return count_noun(files, "delete file"), files
    return count_noun(
        files, "Puffin file" if puffins else _NOUNS.get(next(iter(shown)), "delete file")
    ), files


def find_hint(files: Sequence[str]) -> str | None:
    """Find the version hint among the files that made the table certain; None where there is none."""
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
