"""The manifests and manifest lists of a table as stored, each read once; what cannot be read is known by its error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakelens.errors import LakeError, Missing
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.manifests.containers import Header, ParquetHeader, decode_head, iterate_records


@dataclass
class StoredFile:
    """One file: its header and records; `size` is None for one that is not there, `error` what stopped the reading."""

    recorded: str
    size: int | None = None
    header: Header | None = None
    records: list[dict[str, Any]] = field(default_factory=list, repr=False)
    error: LakeError | None = None

    @property
    def record(self) -> Mapping[str, Any]:
        """The schema of its records; empty where it has none."""
        return {} if self.header is None else self.header.record

    @property
    def is_parquet(self) -> bool:
        """Whether its records are in a Parquet file."""
        return isinstance(self.header, ParquetHeader)

    def read_json(self, key: str) -> Any:
        """An entry of the header that is JSON; None where it is not."""
        stored = {} if self.header is None else self.header.metadata
        try:
            return json.loads(stored[key])
        except (KeyError, ValueError, RecursionError):
            return None

    def read_number(self, key: str) -> int | None:
        """An entry of the header that is a whole number."""
        found = self.read_json(key)
        return found if isinstance(found, int) and not isinstance(found, bool) else None


def read_file(context: TableContext, recorded: str) -> StoredFile:
    """A file, as far as it can be read."""
    made = StoredFile(recorded)
    try:
        path, data = context.access.read_recorded(recorded, here=True)
        made.size = len(data)
        made.header = decode_head(data, path)
        made.records.extend(iterate_records(data, path, made.header))
    except Missing:
        pass
    except LakeError as error:
        made.error = error
    return made


def read_files(context: TableContext, recorded: Iterable[str]) -> dict[str, StoredFile]:
    """Several files, by their recorded paths."""
    return {one: read_file(context, one) for one in dict.fromkeys(recorded)}
