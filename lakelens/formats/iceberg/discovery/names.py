"""What file names say: metadata versions, and what a file is for.

    vN[.gz].metadata.json             tables without a catalog, N from 1
    NNNNN-UUID[.gz].metadata.json     tables of a catalog, from 00000
    …metadata.json.gz, .zst           compressed files are named either way
    UUID.metadata.json                left over by a commit that did not finish
    snap-ID-ATTEMPT-UUID.avro         manifest list          UUID-mK.avro   manifest

Names only guide; what a file holds decides. No section of the specification fixes them except "File System Tables".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lakelens.formats.iceberg.metadata.snapshot_index import parse_snapshot_id

_ZIP = r"\.(?:gz|gzip|zst|zstd)"
_ENDING = rf"(?:{_ZIP})?\.metadata\.json(?:{_ZIP})?"
_HADOOP = re.compile(rf"v(\d+){_ENDING}", re.IGNORECASE)
_CATALOG = re.compile(rf"(\d+)-.+?{_ENDING}", re.IGNORECASE)
_UUID = re.compile(rf"[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{_ENDING}", re.IGNORECASE)
_ANY = re.compile(rf".+{_ENDING}|metadata\.json(?:{_ZIP})?", re.IGNORECASE)
_MANIFEST = re.compile(r".+-m\d+\.(?:avro|parquet)", re.IGNORECASE)

Naming = Literal["hadoop", "catalog", "leftover", "other"]


@dataclass(frozen=True, slots=True)
class MetadataName:
    """The name of a metadata document: how it is named and the version number in it (None where there is none)."""

    name: str
    naming: Naming
    number: int | None = None


def parse_metadata_name(name: str) -> MetadataName | None:
    """What the name of a file says of the metadata version it holds; None for a name of another kind.

    >>> parse_metadata_name("v3.gz.metadata.json")
    MetadataName(name='v3.gz.metadata.json', naming='hadoop', number=3)
    >>> parse_metadata_name("00002-2f2b1a4e.metadata.json").number, parse_metadata_name("a.json")
    (2, None)
    """
    if matched := _HADOOP.fullmatch(name):
        return MetadataName(name, "hadoop", int(matched[1]))
    if _UUID.fullmatch(name):
        return MetadataName(name, "leftover")
    if matched := _CATALOG.fullmatch(name):
        return MetadataName(name, "catalog", int(matched[1]))
    return MetadataName(name, "other") if _ANY.fullmatch(name) else None


def is_hint(name: str) -> bool:
    """Whether a file is a version hint, by its proper name or one close to it."""
    return name.lower().replace("_", "-").startswith("version-hint")


def guess_role(relative_path: str) -> str:
    """What a file is for, judged by its name alone.

    >>> guess_role("metadata/snap-1-1-x.avro"), guess_role("data/.00000-1.parquet.crc")
    ('manifest list', 'checksum')
    """
    folder, _, name = relative_path.rpartition("/")
    lower = name.lower()
    if lower.endswith(".crc"):
        return "checksum"
    if is_hint(name):
        return "version hint"
    if parse_metadata_name(name) is not None:
        return "table metadata"
    if parse_snapshot_id(name) is not None:
        return "manifest list"
    if lower.endswith(".stats"):
        return "statistics"
    if lower.startswith("partition-stats"):
        return "partition statistics"
    if lower.endswith(".puffin"):
        return "deletion vectors" if "delete" in lower or "/metadata" not in f"/{folder}" else "statistics"
    if _MANIFEST.fullmatch(name) and "metadata" in folder.split("/"):
        return "manifest"
    return _guess_data_role(lower)


def _guess_data_role(lower: str) -> str:
    stem, _, ending = lower.rpartition(".")
    if ending not in ("parquet", "orc", "avro"):
        return "unknown"
    if "eq-delete" in stem or "equality-delete" in stem:
        return "equality delete"
    return "position delete" if stem.endswith(("-deletes", "-pos-deletes")) else "data"
