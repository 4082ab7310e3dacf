"""The footers of data files: whether they have as many rows as their entries record.

Of at most a thousand files every footer is read; of more a sample, the same one each time. What was left out is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from lakelens.errors import LakeError, Unsupported
from lakelens.model.check.survey import Survey
from lakelens.model.storage import KNOWN_FORMATS
from lakelens.progress import read_each

if TYPE_CHECKING:
    pass

#: Data files of which every footer is read.
MOST_FOOTERS = 1_000
_FORMATS = ("parquet", "orc", "avro")


class Described(NamedTuple):
    """A file as its entries describe it."""

    path: str
    file_format: str
    record_count: int | None
    content: str
    size_bytes: int | None = None


def list_described(
    survey: Survey, lost: Collection[str], formats: Collection[str] = _FORMATS
) -> list[Described]:
    """The files of live entries that are not `lost`, each once, of some formats; deletion vectors are left out."""
    import pyarrow as pa

    if not survey.entries.num_rows or not survey.needed.any():
        return []
    live = survey.entries.filter(pa.array(survey.needed))
    keys = ["path", "file_format", "record_count", "content"]
    files = live.group_by(keys, use_threads=False).aggregate([("size_bytes", "max")])
    columns = [files[name].to_pylist() for name in (*keys, "size_bytes_max")]
    described = (Described(*row) for row in zip(*columns, strict=True))
    return [
        one
        for one in described
        if one.content != "deletion_vector" and one.file_format in formats and one.path not in lost
    ]


def check_footers(survey: Survey, lost: Collection[str]) -> None:
    """Compare the rows that entries record with the files' own."""
    storage = survey.table.storage
    _leave_known(survey, lost)
    files = list_described(survey, lost)
    if storage is None or not files:
        return
    chosen = files
    if len(files) > MOST_FOOTERS:
        chosen = Random(0).sample(files, MOST_FOOTERS)
        what = f"the footers of {len(files) - MOST_FOOTERS:,} of {len(files):,} data files"
        survey.ledger.leave(what, f"a sample of {MOST_FOOTERS:,} was read")
    noun = "file's own footer" if len(chosen) == 1 else "files' own footers"
    line = survey.ledger.line("rows of files", "entries", f"{len(chosen):,} {noun}")
    unread = Counter[str]()
    found = read_each(
        chosen,
        lambda file: storage.read_footer(file.path, file.file_format).facts,
        "footers",
        lambda files: storage.follow(files, lambda file: (file.path, file.size_bytes)),
    )
    for file, read in found:
        if isinstance(read, Unsupported):
            unread[read.reason] += 1
        elif isinstance(read, LakeError):
            code, users = type(read).__name__.lower(), partial(survey.list_users, file.path)
            line.differ("error", code, read.path or file.path, read.reason, users)
        elif file.record_count == read.num_rows or file.record_count is None:
            line.agree()
        else:
            users = partial(survey.list_users, file.path)
            what = "rows of the file"
            line.compare(file.record_count, read.num_rows, "record-count", file.path, what, users, "error")
    for reason, number in unread.items():
        survey.ledger.leave(f"the footers of {number:,} data file{'s' * (number != 1)}", reason)


def _leave_known(survey: Survey, lost: Collection[str]) -> None:
    """Say of which files the rows were not looked at because their format is not decoded: that is no damage."""
    counts = Counter(one.file_format for one in list_described(survey, lost, KNOWN_FORMATS))
    for name, number in counts.items():
        what = f"what {number:,} {name} file{'s' * (number != 1)} hold{'s' * (number == 1)}"
        survey.ledger.leave(what, f"lakelens knows {KNOWN_FORMATS[name]} and does not decode it")
