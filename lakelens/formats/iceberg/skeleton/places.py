"""Where the files of a skeleton are: every recorded path in place of another, below one mark that stands for the location.

    metadata/vN.metadata.json            metadata/snap-SNAPSHOT-1-f000001.avro      metadata/f000002-m0.avro
    data/f000003.parquet                 numbers are given in the order of the recorded paths

Directories of partitions are not kept: they are no part of the format. Two spellings of a scheme stay two (`file:/…` and
`file:///…` are different paths to readers that compare text), but all are of this machine, as the skeleton is.
"""

from __future__ import annotations

import posixpath
import re

from lakelens.formats.iceberg.metadata.snapshot_index import parse_snapshot_id
from lakelens.io.relocation import split_location
from lakelens.model.skeleton.names import Names

#: stands for the table's location until it is written: no text of a skeleton has it otherwise
MARK = "\ue000lakelens\ue001"
_SPELLINGS = ("", "file:", "file://")
_ENDINGS = frozenset(("avro", "parquet", "orc", "puffin", "stats", "metadata", "json", "gz", "zst", "snappy"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(/*)")


class PlaceBook:
    """The recorded paths of one table and those in their place."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._spellings: dict[str, str] = {"": ""}
        #: of each recorded path of a manifest list or manifest where it is below the skeleton
        self.metadata: dict[str, str] = {}

    def spell(self, recorded: str) -> str:
        """The table's location, spelled as a recorded one: with or without scheme."""
        found = _SCHEME.match(recorded)
        key = "" if found is None else f"{found[1].lower()}:{'//' if len(found[2]) > 1 else ''}"
        if key not in self._spellings:
            usual = {"file:": "file:", "file://": "file://"}.get(key)
            taken = self._spellings.values()
            free = next((one for one in ("file:", "file://") if one not in taken), "file://")
            self._spellings[key] = usual or free
        return self._spellings[key] + MARK

    def name_list(self, recorded: str, snapshot_id: object) -> str:
        """A manifest list: the snapshot id in its name stays, which shows an id that was rounded."""
        number = parse_snapshot_id(posixpath.basename(recorded))
        if number is None:
            number = snapshot_id if isinstance(snapshot_id, int) else 0
        return self._place(recorded, f"metadata/snap-{number}-1-{self._names.file(recorded)}.avro")

    def name_manifest(self, recorded: str) -> str:
        """A manifest."""
        ending = "parquet" if recorded.endswith(".parquet") else "avro"
        return self._place(recorded, f"metadata/{self._names.file(recorded)}-m0.{ending}")

    def _place(self, recorded: str, relative: str) -> str:
        self.metadata.setdefault(recorded, relative)
        return f"{self.spell(recorded)}/{self.metadata[recorded]}"

    def name_file(self, recorded: str) -> str:
        """A data or delete file."""
        return f"{self.spell(recorded)}/data/{self._names.file(_locate(recorded))}{_find_ending(recorded)}"

    def name_cut(self, recorded: str) -> str:
        """A path that may be cut short: a known one as it is named, any other where it stands among the known ones."""
        if self._names.knows_file(_locate(recorded)):
            return self.name_file(recorded)
        return f"{self.spell(recorded)}/data/{self._names.stand(_locate(recorded))}"


def list_key(recorded: str) -> str:
    """What a data file's path is numbered by: its path without scheme and host."""
    return _locate(recorded)


def _locate(recorded: str) -> str:
    return split_location(recorded)[1]


def _find_ending(recorded: str) -> str:
    ending = posixpath.basename(recorded).rpartition(".")[2].lower()
    return f".{ending}" if ending in _ENDINGS else ""
