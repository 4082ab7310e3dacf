"""From entries to files: the live set of a snapshot, folded exactly as the engine does.

The entries of the base list, then of the delta list, each manifest in list order, each entry in file order: ADD inserts,
DELETE removes. Seven fields identify a file (partition, bucket, level, name, extra files, embedded index, external
path), so that a compaction that only raises a file's level deletes and adds it again. See "Snapshot" of the specification.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from lakelens.model.manifest import Entry


@dataclass(slots=True)
class MergedEntries:
    """`live` entries by identity, `repeated` ADDs of a live file, `dangling` DELETEs of unknown ones."""

    live: dict[Hashable, Entry] = field(default_factory=dict)
    repeated: list[Entry] = field(default_factory=list)
    dangling: list[Entry] = field(default_factory=list)


def merge_entries(entries: Iterable[Entry]) -> MergedEntries:
    """Fold entries into the files that are left."""
    merged = MergedEntries()
    for entry in entries:
        identity = entry.file.identity
        if entry.is_live:
            if identity in merged.live:
                merged.repeated.append(entry)
            merged.live[identity] = entry
        elif merged.live.pop(identity, None) is None:
            merged.dangling.append(entry)
    return merged
