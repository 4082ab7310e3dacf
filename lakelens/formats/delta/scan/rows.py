"""The `add` and `remove` actions of files of the log as columns: of checkpoints as they are stored, of commits from records.

What cannot be shown by column as `DeltaFile` shows it is refused with `NotColumnar`: fields of other types than the
protocol's, vectors without a name. See "Add File and Remove File" and "Checkpoint Schema" of the Delta protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lakelens.codecs.numbers import read_number
from lakelens.codecs.text.objects import read_text
from lakelens.formats.delta.actions import Action, LogColumns, clean_path, name_vector
from lakelens.model.scan.columnar import NotColumnar

if TYPE_CHECKING:
    import pyarrow as pa

#: The fields that are whole numbers, by the names of the columns that show them.
NUMBERS = {
    "size_bytes": "size",
    "modified": "modificationTime",
    "base_row_id": "baseRowId",
    "default_row_commit_version": "defaultRowCommitVersion",
}
_TEXTS = {"clustering_provider": "clusteringProvider"}
_VECTOR = ("storageType", "pathOrInlineDv", "offset", "cardinality")
STATS = ("stats", "stats_parsed")
_PIECE_BYTES = 16 * 1024 * 1024
# a path that may identify its file by other letters than its own
_ODD = r"[%:]|^\./"


@dataclass(frozen=True)
class ActionRows:
    """Some actions of one kind: `order` is the place of each, `columns` what was asked for of them, by name.

    `path` is as recorded, `vector_id` the name of the vector, `partition` a map of texts, `stats` text, `stats_parsed` a
    struct. A column that is not there is null for all. `version` is null where the log does not say it.
    """

    order: pa.Array
    manifest: pa.Array
    version: pa.Array
    columns: Mapping[str, pa.Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.order)

    def change(self, change: Callable[[pa.Array], pa.Array]) -> ActionRows:
        """The same columns, each changed by a function."""
        columns = {name: change(array) for name, array in self.columns.items()}
        return ActionRows(change(self.order), change(self.manifest), change(self.version), columns)

    def slice(self, start: int, count: int) -> ActionRows:
        """Some rows that follow each other."""
        return self.change(lambda array: array.slice(start, count))

    def cut(self) -> Iterator[ActionRows]:
        """Cut them into pieces of so much text of statistics as is parsed at once."""
        text = self.get("stats")
        pieces = 1 if text is None else text.nbytes // _PIECE_BYTES + 1
        rows = -(-len(self) // pieces)
        yield from (self.slice(start, rows) for start in range(0, len(self), rows))

    def get(self, name: str) -> pa.Array | None:
        """A column; None where no action has it."""
        return self.columns.get(name)

    def identify(self) -> pa.Array:
        """Encode what identifies the logical file of each: the length of its vector's name, that, and its cleaned path."""
        import pyarrow as pa
        import pyarrow.compute as pc

        paths, vectors = clean_paths(self.columns["path"]).cast(pa.binary()), self.get("vector_id")
        if vectors is None or vectors.null_count == len(vectors):
            return pc.binary_join_element_wise(b"0:", paths, b"")
        named = pc.fill_null(vectors, "").cast(pa.binary())
        lengths = pc.binary_length(named).cast(pa.string()).cast(pa.binary())
        return pc.binary_join_element_wise(lengths, b":", named, paths, b"")


def encode_key(key: tuple[str, str]) -> bytes:
    """Encode the key of an action as `ActionRows.identify` does.

    >>> encode_key(("a", "ub"))
    b'2:uba'
    """
    path, vector = (text.encode("utf-8", "surrogatepass") for text in key)
    return b"%d:%b%b" % (len(vector), vector, path)


def join_rows(runs: Sequence[ActionRows]) -> ActionRows:
    """Join some rows end to end, which have the same columns but for those that are null for all."""
    import pyarrow as pa

    if len(runs) == 1:
        return runs[0]
    kinds = {name: array.type for run in runs for name, array in run.columns.items()}

    def join(find: Callable[[ActionRows], pa.Array]) -> pa.Array:
        return pa.concat_arrays([find(run) for run in runs])

    columns = {
        name: join(lambda run, name=name, kind=kind: run.columns.get(name, pa.nulls(len(run), kind)))  # type: ignore[misc]
        for name, kind in kinds.items()
    }
    return ActionRows(
        join(lambda run: run.order), join(lambda run: run.manifest), join(lambda run: run.version), columns
    )


def clean_paths(recorded: pa.Array) -> pa.Array:
    """`actions.clean_path` of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    odd = pc.match_substring_regex(recorded, _ODD)
    if not pc.any(odd).as_py():
        return recorded
    folders: dict[str, str] = {}

    def clean(path: str) -> str:
        folder, slash, name = path.rpartition("/")
        if ":" in path or path.startswith("./") or "%3A" in path.upper():
            return clean_path(path)
        if folder not in folders:
            folders[folder] = unquote(folder)
        return f"{folders[folder]}{slash}{unquote(name) if '%' in name else name}".removeprefix("./")

    cleaned = pa.array([clean(path) for path in recorded.filter(odd).to_pylist()], pa.string())
    return pc.replace_with_mask(recorded, odd, cleaned)


def list_fields(wanted: Collection[str]) -> list[str]:
    """List the fields of an action that some columns are made of.

    >>> list_fields({"size_bytes", "data_change"})
    ['path', 'size', 'dataChange']
    """
    found = ["path"]
    found += [name for column, name in (NUMBERS | _TEXTS).items() if column in wanted]
    found += ["dataChange"] if "data_change" in wanted else []
    found += ["partitionValues"] if "partition" in wanted else []
    found += (
        [f"deletionVector.{name}" for name in _VECTOR] if {"vector_id", "deleted_rows"} & {*wanted} else []
    )
    found += STATS if "stats" in wanted else []
    return found


def read_stored(
    opened: LogColumns, kind: str, wanted: Collection[str]
) -> Iterator[tuple[pa.Array, dict[str, pa.Array]]]:
    """Read the actions of a kind in a checkpoint: the numbers of their rows, and some columns. Raises `LakeError`."""
    import pyarrow.compute as pc

    if kind == "add" and opened.is_pathless:
        raise NotColumnar("an add without a path")
    if kind not in opened.structs:
        return
    for start, batch in opened.iterate([f"{kind}.{name}" for name in list_fields(wanted)]):
        if kind not in batch.schema.names:
            raise NotColumnar(f"{kind} without a path")
        stored = batch[kind]
        paths = find_field(stored, "path")
        if paths is None:
            raise NotColumnar(f"{kind} without a path")
        places = pc.indices_nonzero(paths.is_valid())
        if len(places) < len(stored):
            first, last = (places[0].as_py(), places[-1].as_py()) if len(places) else (0, -1)
            is_run = last - first + 1 == len(places)  # as it mostly is: then nothing is copied
            stored = stored.slice(first, len(places)) if is_run else stored.take(places)
        if len(stored):
            yield pc.add(places.cast("int64"), start), _type_columns(stored, wanted)


def find_field(stored: pa.Array | None, *names: str) -> pa.Array | None:
    """Find a field of structs, null where a struct is; None where they do not have it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        if stored is None or not pa.types.is_struct(stored.type) or stored.type.get_field_index(name) < 0:
            return None
        place = stored.type.get_field_index(name)
        stored = pc.struct_field(stored, place) if stored.null_count else stored.field(place)
    return stored


def _type_columns(stored: pa.StructArray, wanted: Collection[str]) -> dict[str, pa.Array]:
    import pyarrow as pa

    def take(kind: pa.DataType, *names: str) -> pa.Array | None:
        found = find_field(stored, *names)
        if found is None or pa.types.is_null(found.type):
            return None
        is_same = found.type == kind or (pa.types.is_integer(found.type) and kind == pa.int64())
        is_same = is_same or (pa.types.is_large_string(found.type) and kind == pa.string())
        if not is_same:
            raise NotColumnar(f"{'.'.join(names)} is {found.type}")
        try:
            return found.cast(kind)
        except pa.ArrowInvalid as error:
            raise NotColumnar(str(error)) from None

    columns = {"path": take(pa.string(), "path")}
    columns |= {column: take(pa.int64(), name) for column, name in NUMBERS.items() if column in wanted}
    columns |= {column: take(pa.string(), name) for column, name in _TEXTS.items() if column in wanted}
    if "data_change" in wanted:
        columns["data_change"] = take(pa.bool_(), "dataChange")
    if "partition" in wanted:
        columns["partition"] = take(pa.map_(pa.string(), pa.string()), "partitionValues")
    if "vector_id" in wanted or "deleted_rows" in wanted:
        columns |= _name_vectors(
            *(
                take(pa.int64() if name in _VECTOR[2:] else pa.string(), "deletionVector", name)
                for name in _VECTOR
            )
        )
    if "stats" in wanted:
        columns["stats"] = take(pa.string(), "stats")
        columns["stats_parsed"] = find_field(stored, "stats_parsed")
    return {name: array for name, array in columns.items() if array is not None}


def _name_vectors(kinds: Any, places: Any, offsets: Any, counts: Any) -> dict[str, pa.Array]:
    """`actions.name_vector` of each, and how many rows each deletes; null where there is no vector."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kinds is None:
        return {}
    there = pc.fill_null(pc.not_equal(kinds, ""), False)
    if not pc.any(there).as_py():
        return {}
    if places is None or pc.any(pc.and_(there, places.is_null())).as_py():
        raise NotColumnar("a deletion vector without a place")
    nothing = pa.scalar(None, pa.string())
    names = pc.binary_join_element_wise(pc.if_else(there, kinds, nothing), places, "")
    if offsets is not None:
        ends = pc.fill_null(pc.binary_join_element_wise("@", offsets.cast(pa.string()), ""), "")
        names = pc.binary_join_element_wise(names, ends, "")
    found = {"vector_id": names}
    if counts is not None:
        found["deleted_rows"] = pc.if_else(there, counts, pa.scalar(None, pa.int64()))
    return found


def type_actions(actions: Sequence[Action], wanted: Collection[str]) -> dict[str, pa.Array]:
    """The columns of actions that were read one by one."""
    import pyarrow as pa

    def gather(kind: pa.DataType, values: Sequence[Any]) -> pa.Array:
        try:
            return pa.array(values, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise NotColumnar(str(error)) from None

    fields = [action.fields for action in actions]
    columns = {"path": gather(pa.string(), [held["path"] for held in fields])}
    for column, name in NUMBERS.items():
        if column in wanted:
            columns[column] = gather(pa.int64(), [read_number(held, name) for held in fields])
    for column, name in _TEXTS.items():
        if column in wanted:
            columns[column] = gather(pa.string(), [read_text(held, name) for held in fields])
    if "data_change" in wanted:
        flags = (held.get("dataChange") for held in fields)
        columns["data_change"] = gather(
            pa.bool_(), [flag if isinstance(flag, bool) else None for flag in flags]
        )
    if "partition" in wanted:
        maps = [[*(held.get("partitionValues") or {}).items()] for held in fields]
        columns["partition"] = gather(pa.map_(pa.string(), pa.string()), maps)
    if "vector_id" in wanted or "deleted_rows" in wanted:
        vectors = [action.vector for action in actions]
        names = [None if vector is None else name_vector(vector) for vector in vectors]
        counts = [None if vector is None else read_number(vector, "cardinality") for vector in vectors]
        columns |= {"vector_id": gather(pa.string(), names), "deleted_rows": gather(pa.int64(), counts)}
    if "stats" in wanted:
        if any(isinstance(held.get("stats_parsed"), Mapping) for held in fields):
            raise NotColumnar("stats_parsed in a commit")
        columns["stats"] = gather(pa.string(), [read_text(held, "stats") for held in fields])
    return columns
