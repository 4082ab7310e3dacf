"""The head of an Iceberg table's map: the pointer, the metadata files, the manifest list, and what is new of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.model.charts import Box, Since, State, Tier, count_noun, count_words, last_name

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.storage import MetadataLogEntry

_POINTER = ("a fixed name, or", "a row in a catalog")
_METADATA = ("JSON, whole", "each time")
_LIST = ("Avro, one a", "snapshot")


class IcebergHead:
    """Draws the part of the chain of one snapshot that is above the manifests."""

    def __init__(self, table: IcebergTable, since: Since, hint: tuple[str, str] | None) -> None:
        self.table, self.since, self.hint = table, since, hint
        self.snapshot: IcebergSnapshot = since.after  # type: ignore[assignment]
        self.is_current = table.current is not None and self.snapshot.id == table.current.id

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
            return {one.recorded_path for one in before.manifests}
        return set() if self.since.is_known else None

    def is_new(self, manifest: IcebergManifest) -> bool:
        """Whether the change brought a manifest."""
        if self._old is None:
            found: State = "new" if manifest.added_snapshot_id == self.snapshot.id else "kept"
        else:
            found = "kept" if manifest.recorded_path in self._old else "new"
        return self.since.state_of(manifest.path, found) == "new"

    def draw_pointer(self) -> Tier:
        new = self.is_current and bool(self.new_metadata)
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
    def new_metadata(self) -> Sequence[str]:
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

    def draw_metadata(self) -> Tier:
        table = self.table
        path = table.metadata_path
        held = [
            ("snapshot", table.snapshot_count),
            ("schema", len(table.schemas)),
            ("spec", len(table.specs)),
            ("ref", len(table.refs)),
        ]
        since = set(self.new_metadata)
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
    def has_list(self) -> bool:
        return self.snapshot.path is not None

    def draw_lists(self) -> Tier:
        snapshot, new = self.snapshot, sum(self.is_new(one) for one in self.manifests)
        errors = [error for one in snapshot.manifest_lists if (error := one.walk()[1]) is not None]
        lines = [
            f"{count_noun(len(self.manifests), 'line')}, {new:,} new",
            f"sequence number {snapshot.sequence_number}",
        ]
        if errors:
            lines = ["cannot be read", "what it names is not known"]
        state: State = "unread" if errors else self.state
        if self.has_list:
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
