"""Exercises on finding the current state of a table: by a hint, by a listing, by a log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lakelens.model.table import Table
from lakelens.practice.answers import convert, is_same, quote, unwrap
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong
from lakelens.practice.tables import find_current, open_changed, open_sample, open_version

_HINTS = (
    "A hint may be stale: it was written after the file that it names, or not at all.",
    "Paimon trusts LATEST only if there is no snapshot with the next number; else it lists the directory and takes the "
    "highest.",
    "Iceberg without a catalog: version-hint.text holds N, and vN+1 is taken while it exists; without a hint the highest "
    "number.",
)


def ask_metadata(title: str, sample: str) -> Question:
    """Say which metadata file of a listing without a hint is the current one."""
    table = open_sample(sample)
    return _ask_metadata(title, table, f"the directory metadata/ of the sample {sample}")


def ask_hint(title: str, sample: str, hint: str, gone: int) -> Question:
    """The same of a directory as path-based writers leave it: vN names, a hint that is behind, and one version lost."""
    table = open_changed(sample, _Renamed(hint, gone))
    origin = f"the sample {sample}, renamed as a path-based writer names its files; the hint is behind, v{gone} is lost"
    return _ask_metadata(title, table, origin)


class _Renamed:
    """Renames catalog metadata to vN, without one of them, and writes a hint."""

    def __init__(self, hint: str, gone: int) -> None:
        self.hint, self.gone = hint, gone

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Renamed) and (self.hint, self.gone) == (other.hint, other.gone)

    def __hash__(self) -> int:
        return hash((self.hint, self.gone))

    def __call__(self, place: Path) -> None:
        folder = place / "metadata"
        for number, path in enumerate(sorted(folder.glob("*.metadata.json")), 1):
            if number == self.gone:
                path.unlink()
            else:
                path.rename(folder / f"v{number}.metadata.json")
        (folder / "version-hint.text").write_text(self.hint)


class _Hinted:
    """Writes a stale LATEST hint."""

    def __init__(self, hint: str) -> None:
        self.hint = hint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hinted) and self.hint == other.hint

    def __hash__(self) -> int:
        return hash(self.hint)

    def __call__(self, place: Path) -> None:
        (place / "snapshot" / "LATEST").write_text(self.hint)


def _ask_metadata(title: str, table: Table, origin: str) -> Question:
    folder = Path(table.location) / "metadata"
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith((".metadata.json", ".text")))
    lines = tuple((name, (folder / name).read_text() if name.endswith(".text") else "") for name in names)
    right = Path(str(getattr(table, "metadata_path", ""))).name
    why = str(table.evidence.version_choice)
    return Question(
        title,
        "Which metadata file does a reader without a catalog open?",
        "the file's name, as a text",
        origin,
        (Exhibit("The directory metadata/", ("file", "content"), lines),),
        _HINTS,
        partial(_find_wrong, right, "metadata file", partial(_explain_file, names, dict(lines))),
        lambda: Worked(right, (Step("metadata file", right, why),)),
    )


def ask_snapshot(title: str, sample: str, hint: str | None = None) -> Question:
    """Say which snapshot of a Paimon table is the current one."""
    table = open_sample(sample) if hint is None else open_changed(sample, _Hinted(hint))
    folder = Path(table.location) / "snapshot"
    names = sorted(path.name for path in folder.iterdir())
    lines = tuple((name, (folder / name).read_text() if name.isupper() else "JSON") for name in names)
    stale = "" if hint is None else f", with LATEST set to {hint}"
    right, why = find_current(table).id, str(table.evidence.version_choice)
    return Question(
        title,
        "Which snapshot does a reader take as the current one?",
        "the snapshot's number",
        f"the directory snapshot/ of the sample {sample}{stale}",
        (Exhibit("The directory snapshot/", ("file", "content"), lines),),
        _HINTS,
        partial(
            _find_wrong, right, "snapshot", partial(_explain_number, names, dict(lines)["LATEST"].strip())
        ),
        lambda: Worked(right, (Step("snapshot", str(right), why),)),
    )


def ask_rollback(title: str, sample: str, version: int) -> Question:
    """Say which snapshot is current after a rollback: by the log, not by the newest commit."""
    table = open_version(sample, version)
    document: Any = table.metadata
    snapshots = tuple(
        (
            str(i),
            str(one["snapshot-id"]),
            str(one.get("parent-snapshot-id", "none")),
            str(one["timestamp-ms"]),
        )
        for i, one in enumerate(document["snapshots"], 1)
    )
    log = tuple((str(one["timestamp-ms"]), str(one["snapshot-id"])) for one in document["snapshot-log"])
    right = next(
        i for i, one in enumerate(document["snapshots"], 1) if one["snapshot-id"] == find_current(table).id
    )
    why = f"the last line of snapshot-log names {find_current(table).id}, and so does current-snapshot-id"
    return Question(
        title,
        "Which snapshot is the current one?",
        "its number in the list, 1 for the first line",
        f"metadata document {version} of the sample {sample}, without current-snapshot-id and refs",
        (
            Exhibit("snapshots", ("number", "snapshot-id", "parent-snapshot-id", "timestamp-ms"), snapshots),
            Exhibit("snapshot-log", ("timestamp-ms", "snapshot-id"), log),
        ),
        (
            "A rollback makes an older snapshot current again, and commits nothing.",
            "The log says which became current, and when.",
        ),
        partial(
            _find_wrong,
            right,
            "snapshot",
            partial(_explain_line, [line[1] for line in snapshots], log[-1][1]),
        ),
        lambda: Worked(right, (Step("snapshot", str(right), why),)),
    )


def _explain_file(names: Sequence[str], contents: Mapping[str, str], given: str) -> str:
    """Explain why a reader without a catalog does not open a metadata file."""
    if given not in names:
        is_part = any(given in name for name in names)
        return "give the whole name of one file" if is_part else "the listing has no such file"
    if given not in contents or given.endswith(".text"):
        return "the hint is no metadata file: it says a number"
    hint = contents.get("version-hint.text")
    if hint is None:
        return "without a hint the number decides, and this is not the one to take"
    if given == f"v{hint.strip()}.metadata.json":
        return "that is what the hint says, and it may be behind: is there a file of the next number?"
    return "the hint is followed upwards as long as there is a file of the next number, and no further"


def _explain_number(names: Sequence[str], latest: str, given: int) -> str:
    """Explain why a reader does not take a snapshot of Paimon for the current one."""
    if f"snapshot-{given}" not in names:
        return f"there is no snapshot-{given}"
    if str(given) == latest:
        return "that is what LATEST says: it is trusted only where there is no snapshot of the next number"
    return "LATEST counts if there is no snapshot of the next number; else the directory is listed"


def _explain_line(ids: Sequence[str], current: str, given: int) -> str:
    """Explain why a snapshot is not the one that a log names last."""
    if str(given) in ids:
        named = "" if str(given) == current else ", and the last line of snapshot-log names another one"
        return f"that is an id{named}: the number of its line is asked for"
    if not 1 <= given <= len(ids):
        return f"the list has lines 1 to {len(ids)}"
    return "the last line of snapshot-log names another one"


def _find_wrong(right: Any, noun: str, explain: Callable[[Any], str], answer: Any) -> Wrong | None:
    given = unwrap(answer)
    if isinstance(given, list | tuple) and len(given) == 1:
        given = given[0]
    if isinstance(right, str) and isinstance(given, str):
        given = given.rpartition("/")[2]
    if is_same(right, given):
        return None
    read = None if given is None else convert(right, given)
    if read is None:
        expected = "the file's name" if isinstance(right, str) else "a whole number"
        return Wrong(noun, f"expected {expected}, not {quote(given)}")
    return Wrong(noun, f"you said {quote(given)}; {explain(read)}")


def list_questions() -> tuple[Any, ...]:
    """List the makers of the exercises, from easy to hard."""
    return (
        partial(ask_metadata, "a listing without a hint", "iceberg-basic"),
        partial(ask_snapshot, "a hint that is right", "paimon"),
        partial(ask_snapshot, "a hint that is stale", "paimon", "2"),
        partial(ask_rollback, "after a rollback", "iceberg-rollback", 4),
        partial(ask_hint, "a hint that is behind, and a gap", "iceberg-basic", "1", 3),
    )
