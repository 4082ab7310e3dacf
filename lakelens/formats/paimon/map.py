"""The chain of a Paimon table as a map: hints, snapshots and schema, lists, manifests, then one bucket or the files.

See "Snapshot", "Manifest" and "Data Files" of the Paimon specification, and `map_bucket` for the levels. Counts are those of
the lists; entries are read of few files, and of the manifests that one of the two states names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.paimon.map_bucket import draw_bucket
from lakelens.model.charts import MANY_FILES, Box, Chart, Since, State, Tally, Tier, count_noun, last_name
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.comparison import FileComparison
    from lakelens.model.datafile import IndexFile

_HINTS = ("a fixed name,", "may be stale")
_SNAPSHOTS = ("JSON, one a", "commit")
_LISTS = ("Avro, new with", "every commit")
_MANIFESTS = ("Avro, entries", "ADD and DELETE")
_WITH_INDEXES = ("Avro, entries;", "and index files")
_FILES = ("Parquet, ORC,", "Avro or other")
_FIELDS = {"base": "baseManifestList", "delta": "deltaManifestList", "changelog": "changelogManifestList"}
_HOLDS = {"base": "all before", "delta": "what it did", "changelog": "for streams"}
_ADVICE = (
    "A reader merges the levels by key: the highest sequence number wins.",
    "A reader skips level 0 and leaves out what is marked, so that no key is seen twice.",
)


class PaimonMap:
    """Draws the chain of one snapshot, with what the change made new."""

    def __init__(self, table: PaimonTable, since: Since) -> None:
        self.table, self.since = table, since
        self.snapshot: PaimonSnapshot = since.after  # type: ignore[assignment]
        self.before: PaimonSnapshot | None = since.before  # type: ignore[assignment]
        self.is_current = table.current is not None and table.current.is_same(self.snapshot)

    def draw(self) -> Chart:
        """Draw the chart."""
        tiers = [self._draw_hints(), self._draw_snapshots(), *self._draw_lists()]
        bucket = None
        stored: tuple[int, ...] = ()
        if self.table.primary_keys:
            bucket = draw_bucket(self.table, self.snapshot, self.before, self.compared)
        else:
            files, stored = self._draw_files()
            tiers.append(files)
        changed = sum(box.state == "changed" for tier in tiers for box in tier.boxes)
        gone = len(self._removed_paths - self._added_paths)
        advice = (_ADVICE[self.table.context.skips_level_0],) if bucket is not None else ()
        return Chart(tuple(tiers), bucket, stored=stored, counted_new=self._count_new(), changed=changed,
                     gone=gone, advice=advice)  # fmt: skip

    # --- the change ----------------------------------------------------------------------------------------------------

    @cached_property
    def state(self) -> State:
        """The state of what the snapshot itself brought."""
        same = self.before is not None and self.before.is_same(self.snapshot)
        return self.since.state_of(self.snapshot.path, "kept" if same else "new")

    @cached_property
    def compared(self) -> FileComparison | None:
        """The files compared with those before; None where some of either cannot be read."""
        compared = self.since.compare()
        before = self.before is not None and self.before.is_incomplete
        return None if self.snapshot.is_incomplete or before else compared

    @cached_property
    def _added_paths(self) -> set[str]:
        return set() if self.compared is None else {path for (path,) in self.compared.added.pick("path")}

    @cached_property
    def _removed_paths(self) -> set[str]:
        return set() if self.compared is None else {path for (path,) in self.compared.removed.pick("path")}

    @cached_property
    def _old_names(self) -> set[str]:
        """The lists, manifests and index files of the state before; of a lost one those of the snapshot's own base."""
        before = self.before
        if before is None:
            if self.since.is_known:
                return set()
            return {one.file_name for role, listed in self._listed if role == "base" for one in listed}
        names = {one.recorded_path or "" for one in before.manifest_lists}
        names |= {manifest.file_name for manifest in before.manifests}
        return names | {before.index_manifest or "", *(file.recorded_path for file in before.index_files)}

    def _state_of(self, path: str, name: str) -> State:
        return self.since.state_of(path, "kept" if name in self._old_names else "new")

    @cached_property
    def _listed(self) -> list[tuple[str, Sequence[PaimonManifest]]]:
        """The manifests of each list by its role; none of one that cannot be read."""
        return [(one.role, tuple(one.walk()[0])) for one in self.snapshot.manifest_lists]

    @property
    def _in_order(self) -> list[tuple[PaimonManifestList, tuple[str, Sequence[PaimonManifest]]]]:
        """The lists with their manifests: that of the commit's changes before that of all before it."""
        both = list(zip(self.snapshot.manifest_lists, self._listed, strict=True))
        return sorted(both, key=lambda pair: {"delta": 0, "base": 1}.get(pair[0].role, 2))

    @cached_property
    def _new_numbers(self) -> list[int]:
        """The snapshots that are new since the state before, the newest first."""
        if self.state != "new":
            return []
        last, ids = self.snapshot.id, self.table.context.pointer.ids
        if self.before is None:
            first = ids[0] if self.since.is_known and ids else last
        else:
            first = self.before.id + 1 if self.table.has_snapshot(self.before.id) else last
        return [number for number in reversed(ids) if first <= number <= last] or [last]

    @cached_property
    def _new_indexes(self) -> list[IndexFile]:
        return [
            file
            for file in self.snapshot.index_files
            if self._state_of(file.path, file.recorded_path or "") == "new"
        ]

    def _count_new(self) -> tuple[tuple[str, int], ...]:
        """Count the files that are new, by kind."""
        new_lists = [one for one in self.snapshot.manifest_lists if self._find_list_state(one) == "new"]
        manifests = {
            one.path
            for _, listed in self._listed
            for one in listed
            if self._state_of(one.path, one.file_name) == "new"
        }
        data = 0
        if self.compared is not None:
            data = len(self._added_paths - self._removed_paths)
        elif self.state == "new":
            data = len(self.snapshot.files) if self.since.is_known else len(self.snapshot.delta_files)
        changelog = len(self.snapshot.changelog_files) if self.state == "new" else 0
        index = self.snapshot.index_manifest
        has_index = index is not None and self._state_of(self._locate(index), index) == "new"
        return (
            ("data file", data),
            ("changelog file", changelog),
            ("index file", len({one.path for one in self._new_indexes})),
            ("manifest", len(manifests) + has_index),
            ("list", len(new_lists)),
            ("snapshot", len(self._new_numbers)),
            ("schema", int(self._find_schema_state() == "new") + len(self._waiting_schemas)),
        )

    def _locate(self, name: str) -> str:
        return self.table.context.layout.shared("manifest", name)

    def _find_list_state(self, listed: PaimonManifestList) -> State:
        return self._state_of(listed.path, listed.recorded_path or "")

    def _find_schema_state(self) -> State:
        same = self.before is not None and self.before.schema_id == self.snapshot.schema_id
        lost = self.before is None and not self.since.is_known
        path = self.table.context.layout.document("schema", self.snapshot.schema_id or 0)
        return self.since.state_of(path, "kept" if same or lost or self.state != "new" else "new")

    @cached_property
    def _waiting_schemas(self) -> list[str]:
        """Schemas that a trace saw coming, and that the snapshot does not name: the next commit may."""
        find = self.table.context.layout.document
        paths = [
            find("schema", schema.id or 0)
            for schema in self.table.schemas
            if schema.id != self.snapshot.schema_id
        ]
        return [path for path in paths if self.since.state_of(path, "kept") == "new"]

    # --- from the hints to the lists -----------------------------------------------------------------------------------

    def _draw_hints(self) -> Tier:
        number = self.snapshot.id
        remark = ("only a hint: a snapshot is there once its file is there",
                  f"(readers look whether snapshot-{number + 1} exists)")  # fmt: skip
        said = self.table.context.pointer.hints.get("LATEST")
        if said is None:
            box = Box("snapshot/LATEST", "absent", ("no hint is here",))
            return Tier("hints", (box,), _HINTS, ("the highest number in the folder counts",))
        path = f"{self.table.context.layout.folder('snapshot')}/LATEST"
        moved = self.is_current and self.state == "new" and said.strip() == str(number)
        words = f"says {said.strip()}"
        if moved and self.before is not None:
            words += f", said {self.before.id}"
        state: State = (
            "kept" if not moved else "new" if self.before is None and self.since.is_known else "changed"
        )
        if said.strip() != str(number) and self.is_current:
            words += ": stale"
        return Tier(
            "hints",
            (Box("snapshot/LATEST", self.since.state_of(path, state), (words,), path=path),),
            _HINTS,
            remark,
            True,
        )

    def _draw_snapshots(self) -> Tier:
        one, new = self.snapshot, self._new_numbers
        lines = [
            f"{one.operation or 'commit'} by {one.statement}" if one.statement else one.operation or "commit"
        ]
        lines.append(f"schemaId {one.schema_id}")
        if one.document.statistics is not None:
            lines.append("names statistics")
        boxes = [Box(last_name(one.path or f"snapshot-{one.id}"), self.state, tuple(lines), path=one.path)]
        if len(new) > 1:
            name = f"snapshot-{new[1]}" if len(new) == 2 else f"{len(new) - 1:,} more"
            between = [f"{new[-1]} to {new[1]}"] if len(new) > 2 else []
            between.append("its lists: not drawn" if len(new) == 2 else "lists not drawn")
            boxes.append(Box(name, "new", tuple(between), len(new) - 1, len(new) == 2, parents=()))
        known = {*new, one.id}
        older = [number for number in self.table.context.pointer.ids if number not in known]
        if older:
            name = f"{len(older):,} older" if self.is_current else f"{len(older):,} others"
            span = f"{older[0]} to {older[-1]}" if len(older) > 1 else f"snapshot-{older[0]}"
            boxes.append(
                Box(
                    name,
                    "kept",
                    (span, "each with lists"),
                    len(older),
                    False,
                    parents=(),
                )
            )
        schemas = len(self.table.schemas) - 1 - len(self._waiting_schemas)
        words = (
            ("named by schemaId", f"{count_noun(schemas, 'other')} kept")
            if schemas > 0
            else ("named by schemaId",)
        )
        name = f"schema-{one.schema_id}"
        boxes.append(Box(name, self._find_schema_state(), words, parents=()))
        boxes += [
            Box(last_name(path), "new", ("no snapshot", "names it yet"), path=path, parents=())
            for path in self._waiting_schemas[: 4 - len(boxes)]
        ]
        return Tier("snapshots", tuple(boxes), _SNAPSHOTS, (), True)

    def _draw_lists(self) -> list[Tier]:
        lists, manifests = [], []
        described = _MANIFESTS
        # what the commit did comes first
        for place, (listed, (role, held)) in enumerate(self._in_order):
            error = listed.walk()[1]
            state: State = "unread" if error is not None else self._find_list_state(listed)
            holds = _HOLDS[role] if role != "base" else f"{_HOLDS[role]} {self.snapshot.id}"
            said = [holds, count_noun(len(held), "line")] if error is None else ["cannot be read"]
            lines = tuple(said)
            lists.append(
                Box(f"{role} list", state, lines, names_files=False, path=listed.path, field=_FIELDS[role])
            )
            if held or error is not None:
                manifests.append(self._draw_manifests(place, role, held, error))
        if self.snapshot.index_manifest is not None:
            name = self.snapshot.index_manifest
            path, count = self._locate(name), len(self.snapshot.index_files)
            lines = ("complete each time", count_noun(count, "index file"))
            lists.append(
                Box(
                    "index manifest",
                    self._state_of(path, name),
                    lines,
                    names_files=False,
                    path=path,
                    field="indexManifest",
                )
            )
            if count:
                manifests.append(self._draw_indexes(len(lists) - 1))
                described = _WITH_INDEXES
        if not manifests:
            manifests = [Box("no manifest", "kept", (), 0, False)]
        return [Tier("lists", tuple(lists), _LISTS), Tier("manifests", tuple(manifests), described)]

    def _draw_manifests(
        self, place: int, role: str, manifests: Sequence[PaimonManifest], error: LakeError | None
    ) -> Box:
        """Draw the manifests of a list as one box: the new ones where there are any."""
        if error is not None:
            return Box("its manifests", "unread", ("not known",), 0, False, None, (place,), "_FILE_NAME")
        new = [
            manifest for manifest in manifests if self._state_of(manifest.path, manifest.file_name) == "new"
        ]
        shown = new or manifests
        state: State = "new" if new else "kept"
        lines = list(self._count_kinds(shown))
        if self._is_small and any(manifest.walk()[1] is not None for manifest in shown):
            state, lines = "unread", ["cannot be read" if len(shown) == 1 else "one cannot be read"]
        if new and len(new) < len(manifests):
            lines.append(f"{len(manifests) - len(new):,} more kept")
        name = last_name(shown[0].path) if len(shown) == 1 else f"{len(shown):,} manifests"
        return Box(name, state, tuple(lines[:3]), len(shown), len(shown) == 1, shown[0].path, (place,),
                   "_FILE_NAME", has_more=len(manifests) > 1)  # fmt: skip

    @cached_property
    def _is_small(self) -> bool:
        counts = [one.count_entries() or 0 for _, held in self._listed for one in held]
        return len(counts) <= MANY_FILES and sum(counts) <= MANY_FILES

    def _count_kinds(self, held: Sequence[PaimonManifest]) -> list[str]:
        """Count how many files some manifests add and delete, with the levels where the entries are few."""
        words = []
        for kind, counts in (
            ("ADD", [one.added_files_count for one in held]),
            ("DELETE", [one.deleted_files_count for one in held]),
        ):
            number = sum(count or 0 for count in counts)
            if number:
                words.append(f"{kind} {number:,}{self._say_levels(held, kind)}")
        return words or ["no entry"]

    def _say_levels(self, held: Sequence[PaimonManifest], kind: str) -> str:
        if not self._is_small or not self.table.primary_keys:
            return ""
        levels = sorted({e.file.level or 0 for one in held for e in one.walk()[0] if e.status == kind})
        said = ", ".join(map(str, levels[:4]))
        return f", level{'s' * (len(levels) > 1)} {said}" if levels else ""

    def _draw_indexes(self, place: int) -> Box:
        found, new = self.snapshot.index_files, self._new_indexes
        shown = new or list(found)
        kinds = sorted({one.index_type.replace("_", " ").lower() for one in shown})
        lines = [", ".join(kinds[:2])]
        if new and len(new) < len(found):
            lines.append(f"{len(found) - len(new):,} more kept")
        return Box(count_noun(len(shown), "index file"), "new" if new else "kept", tuple(lines), len(shown),
                   False, None, (place,), "_FILE_NAME", has_more=len(found) > 1)  # fmt: skip

    # --- the files of a table without a key ----------------------------------------------------------------------------

    def _draw_files(self) -> tuple[Tier, tuple[int, ...]]:
        live = _add_up(self.snapshot.files.pick("record_count", "own_size_bytes"))
        new, gone = Tally(), Tally()
        if self.compared is not None:
            new = _add_up(self.compared.added.pick("record_count", "own_size_bytes"))
            gone = _add_up(self.compared.removed.pick("record_count", "own_size_bytes"))
        elif self.state == "new":
            new = (
                live
                if self.since.is_known
                else _add_up(self.snapshot.delta_files.pick("record_count", "own_size_bytes"))
            )
        kept = Tally(live.files - new.files, _subtract(live.rows, new.rows), _subtract(live.bytes, new.bytes))
        boxes = []
        roles = [role for _, (role, held) in self._in_order if held]
        delta = roles.index("delta") if "delta" in roles else 0
        base = roles.index("base") if "base" in roles else 0
        shown: tuple[tuple[Tally, State, int], ...] = (
            (new, "new", delta),
            (kept, "kept", base),
            (gone, "gone", delta),
        )
        for tally, state, place in shown:
            if tally.files > 0:
                lines = [count_noun(tally.rows, "row") if tally.rows is not None else "rows not counted"]
                lines += [format_size(tally.bytes)] if tally.bytes is not None else []
                name = count_noun(tally.files, "data file")
                boxes.append(Box(name, state, tuple(lines), tally.files, False, None, (place,), "_FILE_NAME"))
        for role in [box.name for box in self._draw_lists()[0].boxes if box.state == "unread"]:
            boxes.append(Box(f"files of the {role}", "unread", ("not known",), 0, False, None, (base,)))
        if not boxes:
            boxes = [Box("no data file", "kept", (), 0, False)]
        stored = tuple(t.rows for t in (new, kept) if t.files > 0 and t.rows is not None)
        return Tier("files", tuple(boxes), _FILES), stored


def _add_up(picked: Iterable[tuple[Any, ...]]) -> Tally:
    """Files with their rows and bytes."""
    tally = Tally()
    for rows, size in picked:
        tally.add(1, rows, size)
    return tally


def _subtract(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else whole - part


def draw_chart(table: PaimonTable, since: Since) -> Chart:
    """Draw the chart of a table; of one without a commit its schema."""
    if since.after is None:
        path = table.schema.path
        box = Box(last_name(path or "schema"), "kept", ("nothing was committed yet",), path=path)
        return Chart((Tier("schema", (box,), ("JSON, one a", "change")),))
    return PaimonMap(table, since).draw()
