"""One `FileBatch` of the entries of some manifests: every column of the contract that is wanted, by Arrow's kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import FURTHER, TableContext
from lakelens.formats.iceberg.manifests.manifest import STATUS
from lakelens.formats.iceberg.scan.entries import EntryColumns, check_types, inherit
from lakelens.formats.iceberg.scan.partitions import PartitionColumns
from lakelens.formats.iceberg.scan.stats import build_stats, check_lists, find_targets
from lakelens.io.relocation import Locator, split_location
from lakelens.model.arrow import arrow_type, map_distinct, text_array
from lakelens.model.scan.columnar import NotColumnar, Part, join_parts, number_entries, number_parts
from lakelens.model.scan.files_to_arrow import STATS, list_columns
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

_CONTENTS = ("data", "position_deletes", "equality_deletes", "deletion_vector")
_DELETED = 2


def build_batch(context: TableContext, parts: Sequence[Part], request: ScanRequest) -> FileBatch:
    """The live files of a run of one partition spec; every entry where entries are asked for. Raises `NotColumnar`."""
    manifest = parts[0].manifest
    entries = EntryColumns(join_parts(parts), manifest.header, manifest.manifest.path)
    check_types(entries)
    check_lists(entries)
    columns = _Columns(context, entries, parts, request)
    batch = columns.build()
    for part, following in zip(parts, columns.inherited.next_row_ids, strict=True):
        part.manifest.next_row_id = following
    return batch


class _Columns:
    def __init__(
        self, context: TableContext, entries: EntryColumns, parts: Sequence[Part], request: ScanRequest
    ) -> None:
        import pyarrow as pa

        self.context, self.entries, self.parts, self.request = context, entries, parts, request
        self.inherited = inherit(entries, parts)
        live = self.inherited.status != _DELETED
        self.keep: pa.Array | None = None if request.entries or live.all() else pa.array(live)
        self.rows = entries.rows if self.keep is None else int(live.sum())

    def build(self) -> FileBatch:
        import pyarrow as pa

        request = self.request
        wanted = request.columns
        if wanted is None:
            wanted = tuple(list_columns(self.context.describe_columns(), stats=request.stats))
        plain = {name: self.build_column(name) for name in wanted if name not in STATS and name != "status"}
        if request.entries and request.wants("status"):
            plain["status"] = self.build_status()
        asked = [name for name in wanted if name in STATS]
        stats = {}
        if asked:
            stats = build_stats(
                self.entries, self.keep, self.context.columns, asked, self.report, request.leaves
            )
        partitions = self.partitions.list_distinct() if request.partitions else None
        if not request.identity:
            return FileBatch(self.rows, plain, stats, partitions=partitions)
        identity = encode_identity(self.recorded, self.take_file("content_offset", "int64"))
        order = self.keep_rows(pa.array(number_entries(self.parts)))
        return FileBatch(self.rows, plain, stats, identity, order, partitions)

    def build_column(self, name: str) -> pa.Array:
        import pyarrow as pa

        if name in _BUILDERS:
            return _BUILDERS[name](self)
        if name in ("bucket", "level"):
            return pa.nulls(self.rows, pa.int32())
        if name == "schema_id":
            return pa.nulls(self.rows, pa.int64())
        kind = arrow_type(dict(FURTHER)[name])
        return self.take_list(name, kind) if pa.types.is_list(kind) else self.take_file(name, kind)

    def keep_rows(self, array: pa.Array) -> pa.Array:
        """The rows that are wanted, in memory of their own: any piece of a decoded group keeps all of it in memory."""
        import pyarrow as pa

        if self.keep is not None:
            return array.filter(self.keep)
        if len(array) < self.entries.rows or array.offset:
            return pa.concat_arrays([array, array[:0]])
        return array.copy_to(pa.default_cpu_memory_manager())

    def take_file(self, name: str, kind: str | pa.DataType) -> pa.Array:
        import pyarrow as pa

        return self.keep_rows(self.entries.file(name, getattr(pa, kind)() if isinstance(kind, str) else kind))

    def take_list(self, name: str, kind: pa.DataType) -> pa.Array:
        import pyarrow as pa

        stored = self.entries.get(name)
        if stored is None or pa.types.is_null(stored.type):
            return pa.nulls(self.rows, kind)
        if not pa.types.is_list(stored.type) or stored.type.value_type != kind.value_type:
            raise NotColumnar(f"{name} is {stored.type}")
        return self.keep_rows(stored).cast(kind)

    # --- columns -------------------------------------------------------------------------------------------------------

    @cached_property
    def recorded(self) -> pa.Array:
        return self.take_file("file_path", "string")

    @cached_property
    def paths(self) -> pa.Array:
        return locate_all(self.context.access.locator, self.recorded)

    @cached_property
    def file_format(self) -> pa.Array:
        """Lower case; guessed from the name where none is recorded."""
        import pyarrow as pa
        import pyarrow.compute as pc

        stored = self.take_file("file_format", "string")
        if not stored.null_count and not pc.any(pc.equal(stored, "")).as_py():
            return map_distinct(stored, str.lower, pa.string())
        pairs = zip(stored.to_pylist(), self.recorded.to_pylist(), strict=True)
        return pa.array([(text or path.rpartition(".")[2]).lower() for text, path in pairs], pa.string())

    @cached_property
    def content(self) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        code = self.take_file("content", "int32").fill_null(0)
        code = pc.if_else(pc.is_in(code, pa.array([1, 2], pa.int32())), code, pa.scalar(0, pa.int32()))
        if pc.any(pc.equal(code, 1)).as_py():
            offset = self.take_file("content_offset", "int64")
            vector = pc.or_(pc.equal(self.file_format, "puffin"), pc.is_valid(offset))
            code = pc.if_else(pc.and_(pc.equal(code, 1), vector), pa.scalar(3, pa.int32()), code)
        return pa.array(_CONTENTS, pa.string()).take(code)

    @cached_property
    def partitions(self) -> PartitionColumns:
        import pyarrow as pa

        stored = self.entries.get("partition")
        if stored is not None and not pa.types.is_struct(stored.type):
            raise NotColumnar(f"partition is {stored.type}")
        return PartitionColumns(
            self.context.specs,
            self.parts[0].manifest.spec_id,
            self.entries.reader,
            None if stored is None else self.keep_rows(stored),
            self.rows,
        )

    def build_spec_id(self) -> pa.Array:
        import pyarrow as pa

        number = self.parts[0].manifest.spec_id
        return pa.repeat(pa.scalar(number if abs(number) < 2**31 else None, pa.int32()), self.rows)

    def build_manifest(self) -> pa.Array:
        import pyarrow as pa

        places = text_array([part.task.path for part in self.parts])
        return places.take(self.keep_rows(pa.array(number_parts(self.parts))))

    def build_referenced_data_path(self) -> pa.Array:
        import pyarrow.compute as pc

        is_position = pc.equal(self.content, "position_deletes")
        recorded = self.take_file("referenced_data_file", "string")
        targets = find_targets(self.entries, self.keep, is_position, recorded)
        return locate_all(self.context.access.locator, targets)

    def build_status(self) -> pa.Array:
        import pyarrow as pa

        return pa.array([STATUS[code] for code in sorted(STATUS)]).take(pa.array(self.inherited.status))

    def report(self, row: int, error: LakeError) -> None:
        """Keep a bound that cannot be read as a finding of its file."""
        self.context.findings.add_error(error, self.paths[row].as_py())


_BUILDERS: dict[str, Callable[[_Columns], Any]] = {
    "content": lambda of: of.content,
    "path": lambda of: of.paths,
    "recorded_path": lambda of: of.recorded,
    "file_format": lambda of: of.file_format,
    "partition": lambda of: of.partitions.format(),
    "partition_values": lambda of: of.partitions.build(of.context.specs.model_columns()),
    "record_count": lambda of: of.take_file("record_count", "int64"),
    "size_bytes": lambda of: of.take_file("file_size_in_bytes", "int64"),
    "spec_id": _Columns.build_spec_id,
    "sequence_number": lambda of: of.keep_rows(of.inherited.sequence_number),
    "file_sequence_number": lambda of: of.keep_rows(of.inherited.file_sequence_number),
    "first_row_id": lambda of: of.keep_rows(of.inherited.first_row_id),
    "snapshot_id": lambda of: of.keep_rows(of.inherited.snapshot_id),  # of deleted ones: the entry's
    "manifest": _Columns.build_manifest,
    "referenced_data_path": _Columns.build_referenced_data_path,
}


def encode_identity(paths: pa.Array, offsets: pa.Array) -> pa.Array:
    """What `IcebergDataFile.identity` compares, as bytes: the path, then a vector's place, then whether it has one.

    >>> import pyarrow as pa
    >>> encode_identity(pa.array(["a"]), pa.array([None], pa.int64())).to_pylist()
    [b'a\\x00']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    stored = paths.cast(pa.binary())
    if offsets.null_count == len(offsets):
        return pc.binary_join_element_wise(stored, b"\0", b"")
    ends = [
        b"\0" if one is None else one.to_bytes(8, "big", signed=True) + b"\1" for one in offsets.to_pylist()
    ]
    return pc.binary_join_element_wise(stored, pa.array(ends, pa.binary()), b"")


def encode_files(files: Sequence[Any]) -> pa.Array:
    """The identities of files that were decoded one by one."""
    import pyarrow as pa

    return encode_identity(
        text_array([file.file_path for file in files]),
        pa.array([file.content_offset for file in files], pa.int64()),
    )


_NAME = "\x01name"  # no directory and no root ends with it


def locate_all(locator: Locator, recorded: pa.Array) -> pa.Array:
    """`locator.locate` of each recorded location; null stays null.

    Where all are below one root, another one is put in its place. Else there is one answer for each directory, joined with
    the names: every rule of a locator looks at directories, so files of one directory go to one directory. Other locations
    are located one by one: relative ones, those without a name, those that are a root themselves, and those that no rule
    could place, which the locator keeps a list of.

    >>> import pyarrow as pa
    >>> locate_all(Locator("/now/t", ["file:/was/t"]), pa.array(["file:/was/t/data/a", None])).to_pylist()
    ['/now/t/data/a', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(recorded) - recorded.null_count:
        return recorded
    filled = recorded.drop_null() if recorded.null_count else recorded
    located = _replace_root(locator, filled)
    if located is None:
        located = _locate_by_folder(locator, filled)
    if not recorded.null_count:
        return located
    numbers = pc.cumulative_sum(recorded.is_valid().cast(pa.int64()))
    return located.take(pc.if_else(recorded.is_valid(), pc.subtract(numbers, 1), pa.scalar(None, pa.int64())))


def _replace_root(locator: Locator, recorded: pa.Array) -> pa.Array | None:
    """All locations at once where all are below one root, written alike; None where they are not."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    first = recorded[0].as_py()
    _, path = split_location(first)
    root = max((root for root in locator.roots if path.startswith(root + "/")), key=len, default=None)
    if root is None or any(other.strip("/").startswith(root.strip("/") + "/") for other in locator.roots):
        return None  # one root is in another
    name = path[len(root) + 1 :]
    now = locator.locate(first)  # the mapping has it from now on
    was = first.removesuffix(name)
    if not (now.endswith("/" + name) and was.endswith("/") and was != first):
        return None
    _, offsets, data = recorded.buffers()
    ends = np.frombuffer(offsets, np.int32, len(recorded) + 1, recorded.offset * 4)
    slashes = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] == ord("/")
    doubled = int(
        np.count_nonzero(slashes[1:] & slashes[:-1])
    )  # the locator takes several for one, and drops the last
    if doubled != len(re.findall("(?=//)", was)) * len(recorded) or slashes[ends[1:] - 1 - ends[0]].any():
        return None
    if not pc.all(pc.starts_with(recorded, was)).as_py():
        return None
    now = now.removesuffix(name)
    if now == was:
        return recorded
    return pc.binary_replace_slice(recorded.cast(pa.binary()), 0, len(was.encode()), now).cast(pa.string())


def _locate_by_folder(locator: Locator, recorded: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = pc.split_pattern(recorded, "/", max_splits=1, reverse=True)
    if not pc.all(pc.equal(pc.list_value_length(pieces), 2)).as_py():
        paths = recorded.to_pylist()
        return pa.array([None if path is None else locator.locate(path) for path in paths], pa.string())
    flat = pieces.flatten()
    folders, names = flat[::2].dictionary_encode(), flat[1::2]
    places = _locate_folders(locator, folders, recorded)
    located = pc.binary_join_element_wise(places.take(folders.indices), names, "")
    # names of files that could be roots themselves, and no name at all
    odd_names = pa.array(["", *(root.rpartition("/")[2] for root in locator.roots)], pa.string())
    odd = pc.or_(pc.is_null(located), pc.is_in(names, odd_names))
    if pc.any(odd).as_py():
        mask = odd.to_pylist()
        texts = [
            locator.locate(was) if one else now
            for one, now, was in zip(mask, located.to_pylist(), recorded.to_pylist(), strict=True)
        ]
        located = pa.array(texts, pa.string())
    return located


def _locate_folders(locator: Locator, folders: pa.DictionaryArray, recorded: pa.Array) -> pa.Array:
    """What each directory becomes, with its slash; null where its files are located one by one."""
    import numpy as np
    import pyarrow as pa

    probe = deepcopy(locator)
    indices = folders.indices.to_numpy()
    _, first = np.unique(indices, return_index=True)
    places: list[str | None] = []
    for folder, row in zip(folders.dictionary.to_pylist(), first.tolist(), strict=True):
        now = _locate_folder(probe, folder)
        if now is not None:
            locator.locate(recorded[row].as_py())  # so that the mapping has it
        places.append(now)
    return pa.array(places, pa.string())


def _locate_folder(probe: Locator, folder: str) -> str | None:
    if folder.endswith("/") or not folder:
        return None
    known = len(probe.unmapped)
    location = f"{folder}/{_NAME}"
    now = probe.locate(location)
    if len(probe.unmapped) > known or not now.endswith("/" + _NAME):
        return None
    return now.removesuffix(_NAME) if split_location(location)[1].startswith("/") else None
