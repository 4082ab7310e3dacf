"""One `FileBatch` of the entries of some manifests: every column of the contract that is wanted, by Arrow's kernels.

Each different value of a partition field is decoded and formatted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import FURTHER, TableContext
from lakelens.formats.iceberg.manifests.manifest import STATUS
from lakelens.formats.iceberg.manifests.records import EntryReader
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn, SpecBook, escape
from lakelens.formats.iceberg.scan.entries import EntryColumns, check_types, inherit
from lakelens.formats.iceberg.scan.stats import build_stats, check_lists, find_targets
from lakelens.io.relocation import Locator, split_location
from lakelens.model.arrow import arrow_type, make_struct, map_distinct, text_array, to_array
from lakelens.model.scan.columnar import NotColumnar, Part, join_parts, number_entries, number_parts
from lakelens.model.scan.files_to_arrow import STATS, list_columns
from lakelens.model.scan.plan import FileBatch, ScanRequest
from lakelens.model.stats import Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import Columns

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
        """Keep the rows that are wanted, in memory of their own: any piece of a decoded group keeps all of it in memory."""
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
    """Encode what `IcebergDataFile.identity` compares, as bytes: the path, then a vector's place, then whether it has one.

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
    """Encode the identities of files that were decoded one by one."""
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
    """Replace all locations at once where all are below one root, written alike; None where they are not."""
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
    """Locate what each directory becomes, with its slash; null where its files are located one by one."""
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


class PartitionColumns:
    """The partition tuples of some files of one spec: `stored` is the struct that manifests have (None: no fields)."""

    def __init__(
        self, specs: SpecBook, spec_id: int | None, reader: EntryReader, stored: pa.Array | None, rows: int
    ) -> None:
        columns = specs.columns(spec_id)
        if columns is None:
            raise NotColumnar("an unknown partition spec")
        if len({column.shown for column in columns}) < len(columns):
            raise NotColumnar("a partition spec with the same field twice")
        self.rows = rows
        self.columns = columns
        self._specs, self._spec_id = specs, spec_id
        self._kinds = dict(specs.model_columns())
        self._names = _find_names(reader.partition_record)
        if stored is not None and not hasattr(stored.type, "num_fields"):
            raise NotColumnar("a partition that is no record")
        self._stored = stored
        self._encoded: dict[str, tuple[pa.Array, list[Any]]] = {}
        self._decoded: dict[str, tuple[pa.Array, list[Any]]] = {}

    def format(self) -> pa.Array:
        """Format the partitions in their directory form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = [escape(column.name) for column in self.columns]
        if len(set(names)) < len(names):
            raise NotColumnar("a partition spec with the same name twice")
        if self._is_undivided:
            return pa.repeat(pa.scalar("", pa.string()), self.rows)
        pieces: list[Any] = []
        for number, (name, column) in enumerate(zip(names, self.columns, strict=True)):
            indices, values = self._decode(column)
            texts = pa.array([escape(column.render(value)) for value in values], pa.string())
            pieces += [f"{'/' if number else ''}{name}=", texts.take(indices)]
        return pc.binary_join_element_wise(*pieces, "")

    def build(self, fields: Columns) -> pa.Array:
        """Build the partitions as a struct of the unified fields; what this spec does not have is null."""
        import pyarrow as pa

        by_name = {column.shown: column for column in self.columns}
        kinds = [pa.field(name, arrow_type(kind)) for name, kind in fields]
        children = []
        for kind in kinds:
            column = by_name.get(kind.name)
            if column is None:
                children.append(pa.nulls(self.rows, kind.type))
            else:
                indices, values = self._decode(column)
                children.append(to_array(values, kind.type).take(indices))
        return make_struct(children, kinds, self.rows)

    def list_distinct(self) -> tuple[list[Partition], pa.Array]:
        """List the different partitions, as the record path builds them, and which of them each file has.

        Each different value of a field is formatted once.
        """
        import numpy as np
        import pyarrow as pa

        codes = np.zeros(self.rows, np.int64)
        for indices, values in map(
            self._encode, self.columns
        ):  # a null is one of the values, but has no number of its own
            numbers = indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
            _, codes = np.unique(codes * (len(values) + 1) + numbers, return_inverse=True)
        _, firsts = np.unique(codes, return_index=True)
        fields = [self._list_values(column, pa.array(firsts)) for column in self.columns]
        shown = [column.shown for column in self.columns]
        names = [escape(column.name) for column in self.columns if not self._is_undivided]
        nothing: list[tuple[Any, ...]] = [()] * len(firsts)
        found = [
            Partition(dict(zip(shown, values, strict=True)), dict(zip(names, texts, strict=False)))
            for values, texts in zip(
                list(zip(*(values for values, _ in fields), strict=True)) or nothing,
                list(zip(*(texts for _, texts in fields), strict=True)) or nothing,
                strict=True,
            )
        ]
        return found, pa.array(codes, pa.int64())

    def _list_values(self, column: PartitionColumn, places: pa.Array) -> tuple[list[Any], list[str]]:
        """List the values of a field that some files have, and how a directory words them."""
        indices, values = self._decode(column)
        chosen = indices.take(places).to_pylist()
        texts = [escape(column.render(value)) for value in values]
        null = escape(column.render(None))
        return (
            [None if place is None else values[place] for place in chosen],
            [null if place is None else texts[place] for place in chosen],
        )

    @property
    def _is_undivided(self) -> bool:
        """Whether files of the spec are in no directory of a partition."""
        return all(column.transform.name == "void" for column in self.columns)

    def _decode(self, column: PartitionColumn) -> tuple[pa.Array, list[Any]]:
        """Decode which value each file has, and the values; null is one of them."""
        if column.shown not in self._decoded:
            indices, stored = self._encode(column)
            self._decoded[column.shown] = indices, [column.to_value(value) for value in stored]
        return self._decoded[column.shown]

    def _encode(self, column: PartitionColumn) -> tuple[pa.Array, list[Any]]:
        """Encode which value each file has, and the values as they are stored."""
        if column.shown not in self._encoded:
            self._encoded[column.shown] = _encode(self._find(column), self.rows)
        return self._encoded[column.shown]

    def _find(self, column: PartitionColumn) -> pa.Array | None:
        name = self._names.get(column.field_id, self._names.get(column.name))
        if name is None or self._stored is None or self._stored.type.get_field_index(name) < 0:
            return None
        if not self._stored.null_count:
            return self._stored.field(name)
        return self._stored.flatten()[self._stored.type.get_field_index(name)]


def _find_names(record: Mapping[str, Any]) -> dict[int | str, str]:
    """Find what the Avro record calls each field, by field id, or by name where the ids were left out."""
    names: dict[int | str, str] = {}
    for field in record.get("fields", ()):
        number = field.get("field-id")
        names[number if isinstance(number, int) else field["name"]] = field["name"]
    return names


def _encode(stored: pa.Array | None, rows: int) -> tuple[pa.Array, list[Any]]:
    """Encode which of the different values each row has, and those values; compared bit by bit."""
    import pyarrow as pa

    if stored is None or pa.types.is_null(stored.type):
        return pa.repeat(pa.scalar(0, pa.int32()), rows), [None]
    kind = stored.type
    if pa.types.is_floating(kind):  # -0.0 is not 0.0, and has another text
        stored = stored.view(pa.int32() if pa.types.is_float32(kind) else pa.int64())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        raise NotColumnar(f"a partition value of type {kind}")
    encoded = stored.dictionary_encode("encode")
    values = encoded.dictionary.view(kind) if pa.types.is_floating(kind) else encoded.dictionary
    return encoded.indices, values.to_pylist()
