"""Manifests compared by recorded location."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

from lakelens.errors import LakeError
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import Snapshot


class ManifestChanges:
    """Manifests by what happened to them: `kept`, `new`, `dropped`. The kept ones are never read."""

    def __init__(
        self,
        kept: tuple[Manifest, ...] = (),
        new: tuple[Manifest, ...] = (),
        dropped: tuple[Manifest, ...] = (),
    ) -> None:
        self.kept, self.new, self.dropped = kept, new, dropped

    @cached_property
    def taken(self) -> Mapping[str, Mapping[str, int]]:
        """How many live files each new manifest took over from which dropped ones, by path; reads those manifests.

        A manifest that cannot be read takes nothing over.
        """
        holders = {file: manifest.path for manifest in self.dropped for file in _list_live(manifest)}
        found = {}
        for manifest in self.new:
            counts = Counter(holders[file] for file in _list_live(manifest) if file in holders)
            if counts:
                found[manifest.path] = dict(counts)
        return found

    @cached_property
    def rewrites(self) -> Mapping[str, tuple[str, ...]]:
        """Which dropped manifests' live files each new one took over, by path; reads the new and dropped manifests."""
        return {path: tuple(sources) for path, sources in self.taken.items()}

    @property
    def entry_count(self) -> int:
        """How many entries the new and dropped manifests have, by the counts of their lists: what `rewrites` reads."""
        return sum(
            (one.added_files_count or 0) + (one.existing_files_count or 0) + (one.deleted_files_count or 0)
            for one in (*self.new, *self.dropped)
        )

    def __repr__(self) -> str:
        return f"<ManifestChanges +{len(self.new)} -{len(self.dropped)} ={len(self.kept)}>"


def diff_manifests(before: Snapshot | None, after: Snapshot) -> ManifestChanges:
    """Manifests kept, new and dropped; the same manifest is the one with the same recorded location."""
    old = {m.recorded_path: m for m in before.manifests} if before is not None else {}
    new = {m.recorded_path: m for m in after.manifests}
    return ManifestChanges(
        kept=tuple(manifest for path, manifest in new.items() if path in old),
        new=tuple(manifest for path, manifest in new.items() if path not in old),
        dropped=tuple(manifest for path, manifest in old.items() if path not in new),
    )


def _list_live(manifest: Manifest) -> Sequence[Hashable]:
    """The identities of the live files; none of a manifest that cannot be read: its damage shows with its files."""
    try:
        return [entry.file.identity for entry in manifest.entries if entry.is_live]
    except LakeError:
        return ()
