"""Which metadata file of a directory is the current one.

In this order (what path-based readers do, and the reading of catalog tables without their catalog):

1. `version-hint.text` holds N: vN, then vN+1 while it exists; a hint may also hold a file's name or its stem;
2. no hint that can be used: the highest vN;
3. no `vN` file: the highest NNNNN-UUID. Several of one number are commits that lost a race, all but one: taken is the
   one that no other file names in its `metadata-log` and that was updated last.

Every doubt is reported: in `how`, and in `notes`, which become findings of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from lakelens.codecs.numbers import parse_whole
from lakelens.errors import LakeError, Missing
from lakelens.formats.iceberg.metadata.document import parse_snapshot_id, peek_log
from lakelens.io.ahead import fetch
from lakelens.io.store import ObjectInfo, Store
from lakelens.lazy import dataclass

# What file names say: metadata versions, and what a file is for.
#
#     vN[.gz].metadata.json             tables without a catalog, N from 1
#     NNNNN-UUID[.gz].metadata.json     tables of a catalog, from 00000
#     …metadata.json.gz, .zst           compressed files are named either way
#     UUID.metadata.json                left over by a commit that did not finish
#     snap-ID-ATTEMPT-UUID.avro         manifest list          UUID-mK.avro   manifest
#
# Names only guide; what a file holds decides. No section of the specification fixes them except "File System Tables".

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
    """Parse what the name of a file says of the metadata version it holds; None for a name of another kind.

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
    """Check whether a file is a version hint, by its proper name or one close to it."""
    return name.lower().replace("_", "-").startswith("version-hint")


def guess_role(relative_path: str) -> str:
    """Guess what a file is for, judged by its name alone.

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
    stem, _, ending = lower.rpartition(".")
    if ending not in ("parquet", "orc", "avro"):
        return "unknown"
    if "eq-delete" in stem or "equality-delete" in stem:
        return "equality delete"
    return "position delete" if stem.endswith(("-deletes", "-pos-deletes")) else "data"


HINT_NAME = "version-hint.text"
_PREFERENCE = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """The metadata file that is current, why, which others there are, and what is odd (severity, code, path, text)."""

    path: str
    how: str
    candidates: tuple[str, ...] = ()
    notes: tuple[tuple[str, str, str, str], ...] = ()
    hint_path: str | None = None


@dataclass
class MetadataFolder:
    """The metadata files of one directory; where it may not be listed (`refused`), those that are known by their names."""

    store: Store
    path: str
    children: Mapping[str, ObjectInfo]
    notes: list[tuple[str, str, str, str]] = field(default_factory=list)
    refused: LakeError | None = None

    def __post_init__(self) -> None:
        parsed = (parse_metadata_name(name) for name, info in self.children.items() if not info.is_dir)
        self.names = [name for name in parsed if name is not None and not name.name.startswith(".")]

    @property
    def has_tables(self) -> bool:
        """Whether any file here is named like table metadata."""
        return bool(self.names)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The paths of all metadata files, newest number first."""
        ordered = sorted(
            self.names, key=lambda n: (-1 if n.number is None else n.number, n.name), reverse=True
        )
        return tuple(self.place(name.name) for name in ordered)

    def place(self, name: str) -> str:
        """Place the path of a file of this directory."""
        return f"{self.path.rstrip('/')}/{name}"

    def choose(self) -> VersionChoice:
        """Choose the current version by the rules above. Raises `Missing` when nothing here is named like metadata."""
        hint = self._read_hint()
        chosen = self._follow_hint(hint) if hint else None
        if chosen is None:
            chosen = self._choose_highest()
        name, how = chosen
        numbered = [n.name for n in self.names if n.naming == "catalog"]
        parsed = parse_metadata_name(name)
        if numbered and parsed is not None and parsed.naming == "hadoop":
            # a table that was registered in a catalog keeps its old files, and path-based readers take those
            message = f"a catalog has written metadata here too, {max(numbered)}; it may be the newer one"
            self._note("warning", "two-namings", name, message)
        return self._finish(name, how)

    def pick(self, version: int | str) -> VersionChoice:
        """Pick an asked-for version: a number, a file name, a stem or a path. Raises `Missing` naming what there is."""
        found = self._find_version(version)
        if found is None:
            known = ", ".join(path.rsplit("/", 1)[-1] for path in self.candidates[:5])
            hint = f"one of {known or 'none'}"
            raise Missing(f"no metadata version {version!r}", path=self.path, hint=hint)
        return self._finish(found, f"version {version!r} was asked for")

    def take(self, path: str, how: str) -> VersionChoice:
        """Take a metadata file as the choice, for a reason."""
        others = tuple(other for other in self.candidates if other != path)
        notes = [*self.notes]
        if self.refused is not None:
            message = "the directory may not be listed: whether it has other metadata documents is not known"
            notes.append(("note", "not-listed", self.path, message))
        return VersionChoice(path, how, others, tuple(notes))

    def find_newer(self, path: str) -> str | None:
        """The metadata file of the highest number above that of another one, of the same naming, by the names alone."""
        known = parse_metadata_name(path.rsplit("/", 1)[-1])
        if known is None or known.number is None:
            return None
        newest = max(self._numbers(known.naming), default=known.number)
        names = sorted(
            name.name for name in self.names if name.naming == known.naming and name.number == newest
        )
        return self.place(names[-1]) if newest > known.number else None

    def step_back(self, choice: VersionChoice) -> VersionChoice | None:
        """What is current while a chosen document of a catalog is still being written: the one before, if there is one."""
        chosen = choice.path.rsplit("/", 1)[-1]
        name = parse_metadata_name(chosen)
        if name is None or name.naming != "catalog" or name.number is None:
            return None
        before = max((number for number in self._numbers("catalog") if number < name.number), default=-1)
        found, _ = self._catalog_file(before)
        if found is None:
            return None
        message = f"the document is not complete: it is being written, or was left so. Opened is the one before, {found}"
        self._note("warning", "metadata-unfinished", chosen, message)
        return self._finish(found, f"{choice.how}; {chosen} is not complete, so the one before was taken")

    def _finish(self, name: str, how: str) -> VersionChoice:
        hint = self.place(HINT_NAME) if HINT_NAME in self.children else None
        return replace(self.take(self.place(name), how), hint_path=hint)

    def _find_version(self, version: int | str) -> str | None:
        number = parse_whole(version.strip()) if isinstance(version, str) else version
        if number is None:
            wanted = str(version).strip().rsplit("/", 1)[-1]
            if wanted in self.children:
                return wanted
            return next((n.name for n in self.names if n.name.startswith(wanted + ".")), None)
        return self._hadoop_file(number) or self._catalog_file(number)[0]

    def _note(self, severity: str, code: str, name: str, message: str) -> None:
        self.notes.append((severity, code, self.place(name), message))

    # --- the hint ------------------------------------------------------------------------------------------------------

    def _read_hint(self) -> str | None:
        names = sorted(name for name in self.children if is_hint(name) and not name.endswith(".crc"))
        if not names:
            return None
        self._hint_name = name = HINT_NAME if HINT_NAME in names else names[0]
        if name != HINT_NAME:
            self._doubt_hint(f"the version hint is misnamed; readers look for {HINT_NAME}")
        try:
            text = self.store.read_range(self.place(name), 0, 4096).decode("utf-8-sig").strip().strip("\0")
        except (LakeError, UnicodeDecodeError) as error:
            self._doubt_hint(f"the version hint cannot be read: {error}")
            return None
        if not text:
            self._doubt_hint("the version hint is empty")
        return text or None

    def _doubt_hint(self, message: str) -> None:
        self._note("warning", "version-hint", self._hint_name, message)

    def _follow_hint(self, text: str) -> tuple[str, str] | None:
        number = parse_whole(text)
        if number is not None:
            return self._follow_number(number)
        wanted = text.rsplit("/", 1)[-1]
        for candidate in self.names:
            if candidate.name == wanted or candidate.name.startswith(wanted + "."):
                return candidate.name, f"{self._hint_name} names {candidate.name}"
        self._doubt_hint(f"the version hint holds {text[:80]!r}, which names no metadata file here")
        return None

    def _follow_number(self, number: int) -> tuple[str, str] | None:
        how = f"{self._hint_name} says {number}"
        first = self._hadoop_file(number)
        if first is None:
            return self._follow_catalog_number(number, how)
        last = number
        while self._hadoop_file(last + 1) is not None:
            last += 1
        if last != number:
            how += f", and the versions up to {last} follow it"
            message = f"the version hint says {number}, the newest version is {last}"
            self._note("note", "stale-version-hint", self._hint_name, message)
        newest = max(self._numbers("hadoop"))
        if newest > last:
            message = f"version {last} was reached from the hint, but there is a version {newest} after a gap"
            self._note("warning", "version-gap", HINT_NAME, message)
        return self._hadoop_file(last) or first, how

    def _follow_catalog_number(self, number: int, how: str) -> tuple[str, str] | None:
        """Follow a hint beside files that only a catalog numbers: followed when it names the newest of them."""
        found, _ = self._catalog_file(number)
        if found is None or self._numbers("hadoop"):
            self._doubt_hint(f"the version hint says {number}, but there is no such version")
            return None
        newest = max(self._numbers("catalog"))
        if newest == number:
            return found, how
        self._doubt_hint(f"the version hint says {number}, but there is a version {newest}")
        return None

    # --- numbers -------------------------------------------------------------------------------------------------------

    def _choose_highest(self) -> tuple[str, str]:
        number = max(self._numbers("hadoop"), default=-1)
        if name := self._hadoop_file(number):
            return name, f"no version hint could be used; v{number} is the highest number"
        name, how = self._catalog_file(max(self._numbers("catalog"), default=-1))
        if name:
            return name, f"{how}; which file is current only the table's catalog knows for certain"
        return self._choose_unnumbered()

    def _numbers(self, naming: str) -> list[int]:
        return [n.number for n in self.names if n.naming == naming and n.number is not None]

    def _hadoop_file(self, number: int) -> str | None:
        found = [n.name for n in self.names if n.naming == "hadoop" and n.number == number]
        if len(found) > 1:
            message = f"version {number} is there {len(found)} times: {', '.join(sorted(found))}"
            note = ("note", "duplicate-version", self.place(min(found)), message)
            if note not in self.notes:
                self.notes.append(note)
        return min(found, key=_rank_ending, default=None)

    def _catalog_file(self, number: int) -> tuple[str | None, str]:
        found = [n for n in self.names if n.naming == "catalog" and n.number == number]
        if len(found) <= 1:
            how = f"{number:05d} is the highest number, without a version hint"
            return (found[0].name if found else None), how
        chosen, how = self._choose_among(found)
        message = f"{len(found)} files have the number {number:05d}: {how}"
        self._note("note", "duplicate-version", chosen, message)
        return chosen, f"of {len(found)} files with the highest number {number:05d} the one that {how}"

    def _choose_unnumbered(self) -> tuple[str, str]:
        """Only names without a number: a misnamed document goes before what an unfinished commit left over."""
        others = [n for n in self.names if n.naming == "other"] or [
            n for n in self.names if n.naming == "leftover"
        ]
        if not others:
            raise Missing("no metadata file", path=self.path, hint="is the metadata kept somewhere else?")
        chosen, how = self._choose_among(others) if len(others) > 1 else (others[0].name, "is the only one")
        message = "the metadata file is named like no version of any catalog"
        self._note("warning", "metadata-name", chosen, message)
        return chosen, f"no metadata file has a version number; taken is the one that {how}"

    def _choose_among(self, names: Iterable[MetadataName]) -> tuple[str, str]:
        """Choose the one that no other file's log names, and of those the one that was updated last."""
        rivals = [name.name for name in names]
        # Files of the next number, whose logs name the winner of this one.
        numbers = {n.number for n in self.names if n.name in set(rivals) and n.number is not None}
        neighbours = [n.name for n in self.names if n.naming == "catalog" and (n.number or 0) - 1 in numbers]
        fetch(self.store, documents=[self.place(name) for name in (*rivals, *neighbours)])
        headers = {name: self._peek(name) for name in rivals}
        peeked = [*headers.values(), *map(self._peek, neighbours)]
        logged = {past for header in peeked if header is not None for past in header[1]}
        free = [name for name in headers if name not in logged and headers[name]] or list(headers)

        def updated(name: str) -> tuple[float, str]:
            moment, _ = headers[name] or (None, ())
            return (moment if isinstance(moment, int | float) else -1, name)

        chosen = max(free, key=updated)
        how = "no other file logs as its past" if len(free) == 1 else "was updated last"
        return chosen, how

    def _peek(self, name: str) -> tuple[Any, list[str]] | None:
        """Peek when a file was updated, and the names of the earlier ones it logs; None where it is no document."""
        try:
            moment, logged = peek_log(self.store.read(self.place(name)), self.place(name))
        except LakeError as error:
            message = f"passed over when choosing the version: {error.reason}"
            self._note("warning", "metadata-unreadable", name, message)
            return None
        return moment, [file.rsplit("/", 1)[-1] for file in logged]


def _rank_ending(name: str) -> tuple[int, str]:
    for rank, ending in enumerate(_PREFERENCE):
        stem = name[: -len(ending)]
        if name.lower().endswith(ending) and "." not in stem:
            return rank, name
    return len(_PREFERENCE), name
