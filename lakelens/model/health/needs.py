"""What a reader of a table of any format must know: the types of its columns, the formats and codecs of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.model.health.measure import Need, count

if TYPE_CHECKING:
    from lakelens.model.health.figures import FileFigures
    from lakelens.model.schema import Schema
    from lakelens.model.snapshot import Snapshot

_MOST_NAMED = 3
# a file that comes later in a large set is not looked up for this alone
_NEAR = 64


def list_type_needs(schema: Schema, since: Mapping[str, str]) -> Iterator[Need]:
    """The types that not every reader knows, with the columns that have them; `since` says what brought each."""
    found: dict[str, list[str]] = {}
    for name, field in schema.walk():
        kind = str(field.type).split("(")[0].split("<")[0].strip().lower()
        if kind in since:
            found.setdefault(kind, []).append(name)
    for kind, names in found.items():
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        yield Need(f"type {kind}", ", ".join(names[:_MOST_NAMED]) + more, since[kind])


def list_file_needs(figures: FileFigures, snapshot: Snapshot | None) -> Iterator[Need]:
    """The formats of files, and the codecs that the footer of one data file names."""
    formats = figures.column("file_format")
    counted: Counter[str] = Counter()
    if formats is not None:
        for one in formats.value_counts().to_pylist():
            counted[one["values"] or "unknown"] += one["counts"]
    for name, number in counted.most_common():
        yield Need(f"{name} files", count(number, "file"))
    if formats is None and snapshot is not None and len(figures.data):
        yield Need(f"{snapshot.files[0].file_format} files", "as the name of one file says")
    if snapshot is None or not len(figures.data) or int(figures.data[0]) >= _NEAR:
        return
    try:
        codec = read_codec(snapshot, int(figures.data[0]))
    except LakeError:
        return  # a file that is gone is `check`'s to say
    if codec:
        yield Need(f"codec {codec}", "as the footer of one data file says")


def read_codec(snapshot: Snapshot, number: int) -> str:
    """The codecs that one file's footer names; empty where it names none. Raises `LakeError` when it cannot be read."""
    footer = snapshot.files[number].footer
    facts = footer.facts
    found = getattr(facts, "compression", None) or getattr(facts, "codec", None)
    if found is not None:
        return str(found).lower()
    columns = getattr(facts, "columns", ())
    named = dict.fromkeys(name for column in columns for name in getattr(column, "compression", ()))
    return ", ".join(str(name).lower() for name in named)
