"""The columns read from entries, and the entries of a format that does not read by column: read at once, then shipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.fileset import FileColumns
from lakelens.model.finding import Findings
from lakelens.model.scan.files_to_arrow import batch_entries, make_request
from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import Manifest

#: The columns of entries that a scan gives under the same name.
SCANNED = (
    "status",
    "content",
    "path",
    "file_format",
    "partition",
    "bucket",
    "level",
    "record_count",
    "size_bytes",
    "spec_id",
    "schema_id",
    "sequence_number",
    "snapshot_id",
    "manifest",
)
OWN_SIZE = "content_size_in_bytes"  # of a deletion vector, whose Puffin file holds others too


def request_entries(columns: FileColumns) -> ScanRequest:
    """The columns that an inventory reads from the entries of a manifest."""
    names = [*SCANNED, *(name for name, _ in columns.further if name == OWN_SIZE)]
    return make_request(columns, stats=False, wanted=names, entries=True, identity=True)


@dataclass(frozen=True)
class PreparedScan(FileScan):
    """A scan whose tasks carry their entries, or the error of a manifest that cannot be read."""

    columns: FileColumns
    tasks: tuple[ScanTask, ...]

    @property
    def findings(self) -> Findings:
        """None: a manifest that cannot be read raises."""
        return Findings()

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """The entries of the tasks. Raises the `LakeError` of one that could not be read."""
        for task in tasks:
            if isinstance(task.line, LakeError):
                raise task.line
            yield task.line

    def with_tasks(self, tasks: Sequence[ScanTask]) -> PreparedScan:
        """The same scan over other tasks."""
        return replace(self, tasks=tuple(tasks))


def prepare_scan(manifests: Iterable[Manifest], columns: FileColumns) -> PreparedScan:
    """Read the entries of manifests one by one."""
    tasks = [
        ScanTask(
            position, manifest.path, manifest.size_bytes or 0, line=_read_entries(manifest, columns, position)
        )
        for position, manifest in enumerate(manifests)
    ]
    return PreparedScan(columns, tuple(tasks))


def _read_entries(manifest: Manifest, columns: FileColumns, position: int) -> FileBatch | LakeError:
    try:
        numbered = list(enumerate(manifest.entries))
    except LakeError as error:
        return error
    return batch_entries(numbered, columns, request_entries(columns), position, _encode_identities)


def _encode_identities(files: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array([repr(file.identity).encode("utf-8", "backslashreplace") for file in files], pa.binary())
