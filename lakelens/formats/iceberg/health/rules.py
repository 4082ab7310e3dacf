"""The limits of an Iceberg table and the procedures that help.

Sizes and counts follow `SizeBasedFileRewritePlanner` and `BinPackRewriteFilePlanner` of Iceberg 1.12: files below 75 % of
the target are rewritten where at least 5 of a partition are, or more than one that together are above the target. Defaults
are those of `TableProperties`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from lakelens.caching import cached_property
from lakelens.codecs.iceberg.transforms import Transform
from lakelens.formats.iceberg.health.deletes import find_reach, measure_deletes
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.facts.traits import format_size
from lakelens.model.measures.figures import sum_groups
from lakelens.model.measures.measure import (
    Call,
    DocumentPart,
    DocumentParts,
    Limit,
    Measure,
    Need,
    count,
    list_file_needs,
    list_type_needs,
)
from lakelens.model.measures.rules import (
    MIB,
    Groups,
    HealthRules,
    find_emptied,
    group_partitions,
    list_manifest_parts,
    measure_manifests,
    name_source,
    quote,
    quote_name,
    read_number,
    say_emptied,
)
from lakelens.model.scan.splits import SplitFigure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.measures.figures import FileFigures

    Numbers = NDArray[np.int64]
    from lakelens.formats.iceberg.metadata.document import Document, SnapshotIndex
    from lakelens.model.measures.figures import Reach
    from lakelens.model.scan.splits import SplitFigure
    from lakelens.model.snapshot import Ref

# What a reader of an Iceberg table must know: version, deletes, types, file formats, codecs, encryption, defaults.

_DELETES = {
    "deletion_vector": ("deletion vectors", "deletion vector", "version 3"),
    "equality_deletes": ("equality deletes", "file", "version 2"),
    "position_deletes": ("position deletes", "file", "version 2"),
}
_TYPES = {
    **dict.fromkeys(("variant", "geometry", "geography", "unknown"), "version 3"),
    **dict.fromkeys(("timestamp_ns", "timestamptz_ns"), "version 3"),
}


def list_needs(rules: IcebergHealth, figures: FileFigures) -> Iterator[Need]:
    """See `HealthRules.list_needs`; which version brought a feature is from appendix E of the specification."""
    table = rules.table
    yield Need(f"format version {table.format_version}")
    if rules.context.typed.encryption_keys:
        keys = count(len(rules.context.typed.encryption_keys), "key")
        yield Need("encryption", keys, "version 3")
    for content, (feature, noun, since) in _DELETES.items():
        found = len(figures.find(content))
        if found:
            yield Need(feature, count(found, noun), since)
    yield from list_type_needs(table.schema, _TYPES)
    defaults = [name for name, field in table.schema.walk() if field.initial_default is not None]
    if defaults:
        yield Need("default values", ", ".join(defaults[:3]), "version 3")
    if rules.context.typed.next_row_id is not None:
        yield Need("row lineage", "optional for readers", "version 3")
    if any(one.source_id is None for spec in table.specs for one in spec):
        yield Need("transforms of several columns", "", "version 3")
    if "schema.name-mapping.default" in table.properties:
        yield Need("name mapping", "for files without field ids")
    yield from list_file_needs(figures, rules.snapshot)


# Partitions that are too fine for the files in them, and buckets: what the transforms of a partitioning say.

_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
_COARSER = {"hour": ("day", "month", "year"), "day": ("month", "year"), "month": ("year",)}
_EPOCH = date(1970, 1, 1)


def advise_coarser(rules: IcebergHealth, figures: FileFigures) -> tuple[str, tuple[Call, ...]]:
    """Advise the next coarser time that holds at least half of what a file should have, and the statements for it."""
    import numpy as np

    spec = rules.table.partitioning
    for field in spec.fields:
        name = Transform.parse(field.transform).name
        if name not in _COARSER:
            continue
        counts = [count_units(partition.get(field.name)) for partition in figures.partitions]
        chosen = figures.data[figures.numbers("spec_id")[figures.data] == spec.id]
        if any(one is None for one in counts) or not len(chosen):
            continue
        # for each partition a number that is the same for those that differ in one field alone
        known: dict[Any, int] = {}
        rest = [
            tuple((key, text) for key, text in partition.texts.items() if key != field.name)
            for partition in figures.partitions
        ]
        others = np.array([known.setdefault(texts, len(known)) for texts in rest], np.int64)
        moments = np.array(counts, np.int64).astype(f"datetime64[{_UNITS[name]}]")
        for coarser in _COARSER[name]:
            units = moments.astype(f"datetime64[{_UNITS[coarser]}]").astype(np.int64)
            pairs = others * (int(np.ptp(units)) + 1) + units - units.min()
            groups = np.unique(pairs, return_inverse=True)[1]
            held = sum_groups(groups[figures.partition[chosen]], int(groups.max()) + 1, figures.sizes[chosen])
            median = float(np.median(held[held > 0])) if (held > 0).any() else 0.0
            if median >= rules.file_size.value / 2:
                return _say_coarser(rules, field.name, field.source_name, coarser, median)
    return "", ()


def _say_coarser(
    rules: IcebergHealth, field: str, column: str, coarser: str, median: float
) -> tuple[str, tuple[Call, ...]]:
    name = quote_name(rules.table.name)
    replace = f"REPLACE PARTITION FIELD {quote_name(field)} WITH {coarser}s({quote_name(column)})"
    why = f"partitions of a {coarser} for new files"
    alter = Call(f"ALTER TABLE <catalog>.{name} {replace}", why)
    option = "options => map('rewrite-all', 'true')"
    # after the other: what can be tried before would come first
    move = rules.call_procedure(
        "rewrite_data_files", "moves what is there to today's partitions", option, tried=False
    )
    return f"by {coarser} they would hold about {format_size(median)}", (alter, move)


def count_units(value: Any) -> int | None:
    """Count a partition value of a time transform as units since 1970; None where it is none.

    >>> count_units(date(1970, 1, 3)), count_units(648), count_units(None)
    (2, 648, None)
    """
    if isinstance(value, date):
        return (value - _EPOCH).days
    is_count = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31
    return value if is_count else None


def name_buckets(rules: IcebergHealth, figures: FileFigures) -> tuple[list[str], Numbers] | None:
    """Name the buckets of today's partitioning, and for each file the number of its own (-1: none)."""
    import numpy as np

    spec = rules.table.partitioning
    field = next((one for one in spec.fields if Transform.parse(one.transform).name == "bucket"), None)
    if field is None:
        return None
    values = [partition.get(field.name) for partition in figures.partitions]
    numbers = sorted({value for value in values if isinstance(value, int)})
    if len(numbers) < 2:
        return None
    places = {number: place for place, number in enumerate(numbers)}
    of_partition = np.array(
        [places.get(value, -1) if isinstance(value, int) else -1 for value in values], np.int64
    )
    return [str(number) for number in numbers], of_partition[figures.partition]


_MIN_INPUT_FILES = 5
_ORDERED = ("identity", "truncate", "year", "month", "day", "hour")


class IcebergHealth:
    """What the rules of one state of an Iceberg table are made of."""

    def __init__(self, table: IcebergTable, snapshot: IcebergSnapshot | None) -> None:
        self.table, self.snapshot = table, snapshot
        self.context = table._context
        #: the metadata files as they were listed when the table was opened
        self.folder = table._layout.folder

    @property
    def columns(self) -> Sequence[str]:
        """What decides which deletes reach a file, where there are any."""
        manifests = () if self.snapshot is None else self.snapshot.manifests
        if all(manifest.content == "data" for manifest in manifests):
            return ()
        return ("path", "recorded_path", "sequence_number", "referenced_data_path", "content_size_in_bytes")

    @property
    def delete_leaves(self) -> Sequence[str]:
        """The column of position deletes that names data files."""
        return (self.context.columns.find(DELETE_FILE_PATH).name,) if self.columns else ()

    def read(self, name: str, key: str, default: int) -> SplitFigure:
        """Read a whole number among the table's properties."""
        return read_number(name, key, default, self.table.properties)

    @cached_property
    def _target(self) -> SplitFigure:
        return self.read("target", "write.target-file-size-bytes", 512 << 20)

    @property
    def target_size(self) -> int:
        """How large writers make a file."""
        return self._target.value

    @property
    def file_size(self) -> Limit:
        """Three quarters of what writers aim at: below that a rewrite takes a file."""
        words = f"75 % of {self._target.property}"
        return Limit(int(0.75 * self.target_size), "≥", name_source(self._target), words)

    def group(self, figures: FileFigures) -> Groups:
        """Group files of today's partitioning by partition, and all others together: they are rewritten together."""
        import numpy as np

        groups = group_partitions(figures)
        specs = figures.numbers("spec_id")
        others = (specs >= 0) & (specs != self.table.partitioning.id)
        if not others.any():
            return groups

        def name(place: int) -> str:
            return "files of older partitionings" if others[place] else groups.name(place)

        return Groups(np.where(others, groups.count, groups.numbers), groups.count + 1, name)

    def join_files(self, counts: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Join how `rewrite_data_files` with its defaults plans."""
        import numpy as np

        target = self.target_size
        takes = (counts >= _MIN_INPUT_FILES) | ((counts > 1) & (sizes > target))
        whole, rest = np.divmod(sizes, target)
        # a remainder is spread over the others where that makes them no more than a tenth larger
        spread = (whole > 0) & (rest <= 0.75 * target) & (sizes < np.maximum(whole, 1) * 1.1 * target)
        made = np.where(sizes < target, 1, np.where(spread | (rest == 0), whole, whole + 1))
        return np.where(takes, counts, 0), np.where(takes, np.maximum(made, 1), 0)

    def call_procedure(self, procedure: str, why: str, *arguments: str, tried: bool = True) -> Call:
        """A call of one of Iceberg's procedures."""
        listed = ", ".join((f"table => {quote(self.table.name)}", *arguments))
        statement = f"CALL <catalog>.system.{procedure}({listed})"
        return Call(statement, why, procedure if tried else "")

    def call_join(self, figures: FileFigures) -> tuple[Call, ...]:
        """`rewrite_data_files`."""
        return (self.call_procedure("rewrite_data_files", "joins small files"),)

    @cached_property
    def sort_column(self) -> tuple[str, str] | None:
        """The first column of today's sort order, where its transform keeps an order."""
        order = next(
            (one for one in self.table.sort_orders if one.id == self.context.typed.default_sort_order_id),
            None,
        )
        if order is None or not order.fields:
            return None
        first = order.fields[0]
        if Transform.parse(first.transform).name not in _ORDERED:
            return None
        return first.source_name, "sort order"

    def call_sort(self, column: str) -> tuple[Call, ...]:
        """`rewrite_data_files` by the table's own order."""
        options = ("strategy => 'sort'", "options => map('rewrite-all', 'true')")
        return (self.call_procedure("rewrite_data_files", "sorts what is there", *options, tried=False),)


def make_rules(table: IcebergTable, snapshot: IcebergSnapshot | None) -> HealthRules:
    """Make the rules of one state of a table: see `HealthRules`. Version 1 has no deletes."""
    own = IcebergHealth(table, snapshot)
    return HealthRules(
        table,
        snapshot,
        file_size=own.file_size,
        small_files=Limit(_MIN_INPUT_FILES, "<", "default", "min-input-files of rewrite_data_files"),
        columns=own.columns,
        delete_leaves=own.delete_leaves,
        group=own.group,
        number_buckets=partial(name_buckets, own),
        join_files=own.join_files,
        call_join=own.call_join,
        explain_no_call=lambda figures: "no rewrite takes them",
        advise_coarser=partial(advise_coarser, own),
        sort_column=own.sort_column,
        call_sort=own.call_sort,
        find_reach=lambda figures: None if (table.format_version or 1) < 2 else find_reach(figures),
        measures=(partial(measure_deletes, own), partial(measure_metadata, own)),
        list_parts=partial(list_document_parts, own),
        list_needs=partial(list_needs, own),
    )


# The metadata of an Iceberg table: snapshots that may go, metadata files that pile up, what makes the document large.
#
# Which snapshots `expire_snapshots` would end follows `RemoveSnapshots`: every branch keeps its newest and those that are
# young enough, a tag keeps its own; of those that no ref reaches the young ones stay. Now is the time of the newest commit.

_DAY = 86_400_000
_AGE = "history.expire.max-snapshot-age-ms"
_KEEP = "history.expire.min-snapshots-to-keep"
_LOG = "write.metadata.previous-versions-max"
_CLEANS = "write.metadata.delete-after-commit.enabled"
_NONE = Limit(0, "≤", "lakelens")
_DOCUMENT = Limit(4 * MIB, "≤", "lakelens")
REST = "keys, punctuation"


@dataclass(frozen=True, slots=True)
class Expiry:
    """What expiring would do: how many snapshots there are and would go, the times that count, and who keeps old ones."""

    total: int
    gone: int
    newest: int
    oldest: int
    before: int
    keepers: tuple[str, ...]


def find_expiry(document: Document, refs: Iterable[Ref], age: int, keep: int) -> Expiry | None:
    """Find which snapshots would go if those older than `age` milliseconds were expired at the newest commit."""
    index = document.snapshots
    moments = dict(index.iter_moments())
    if not moments:
        return None
    newest = max(moments.values())
    before = newest - age
    kept: set[int] = set()
    reached: set[int] = set()
    keepers: list[str] = []
    for ref in refs:
        if ref.snapshot_id not in moments:
            continue
        own = (
            _keep_branch(index, ref, moments, before, newest, keep)
            if ref.type == "branch"
            else {ref.snapshot_id}
        )
        expires = ref.max_ref_age_ms is not None and ref.name != "main"
        if expires and newest - moments[ref.snapshot_id] > (ref.max_ref_age_ms or 0):
            continue
        if any(moments[number] < before for number in own - kept):
            keepers.append(f"{ref.type} {ref.name}")
        kept |= own
        if ref.type == "branch":
            parent: int | None = ref.snapshot_id
            ancestors: set[int] = set()
            while parent is not None and parent in moments and parent not in ancestors:
                ancestors.add(parent)
                parent = index.find_parent(parent)
            reached |= ancestors
        else:
            reached |= own
    kept |= {number for number, at in moments.items() if number not in reached and at >= before}
    return Expiry(
        len(moments), len(moments) - len(kept), newest, min(moments.values()), before, tuple(keepers)
    )


def _keep_branch(
    index: SnapshotIndex, ref: Ref, moments: Mapping[int, int], before: int, newest: int, keep: int
) -> set[int]:
    """Keep the snapshots of a branch that stay: its newest, and those that are young enough."""
    least = ref.min_snapshots_to_keep or keep
    limit = before if ref.max_snapshot_age_ms is None else newest - ref.max_snapshot_age_ms
    kept: set[int] = set()
    number = ref.snapshot_id
    while number is not None and number in moments and number not in kept:
        if len(kept) >= least and moments[number] < limit:
            break
        kept.add(number)
        number = index.find_parent(number)
    return kept


def measure_metadata(
    rules: IcebergHealth, figures: FileFigures, reach: Reach | None, documents: DocumentParts
) -> Iterator[Measure]:
    """Manifests, snapshots, metadata files, and the document itself."""
    if rules.snapshot is not None:
        manifests = rules.snapshot.manifests
        figure = rules.read("manifests", "commit.manifest.min-count-to-merge", 100)
        target = rules.read("target", "commit.manifest.target-size-bytes", 8 * MIB).value
        limit = Limit(figure.value, "≤", name_source(figure), figure.property)
        calls = (rules.call_procedure("rewrite_manifests", "sorts the entries of manifests by partition"),)
        yield from measure_manifests(manifests, figures, limit, target, calls)
        emptied = find_emptied(manifests)
        name = "manifests of which nothing is live"
        yield Measure(name, "metadata", len(emptied), "count", _NONE, say_emptied(emptied) if emptied else "")
    age, keep = rules.read("age", _AGE, 5 * _DAY), rules.read("keep", _KEEP, 1)
    expiry = find_expiry(rules.context.document, rules.table.refs, age.value, keep.value)
    expire = _call_expire(rules, expiry)
    if expiry is not None:
        yield _measure_age(rules, expiry, age, expire)
    yield _measure_files(rules)
    yield _measure_document(rules, documents, expire)


def _call_expire(rules: IcebergHealth, expiry: Expiry | None) -> tuple[Call, ...]:
    """`expire_snapshots`, where it ends any."""
    if expiry is None or not expiry.gone or not _collects(rules):
        return ()
    try:
        before = datetime.fromtimestamp(expiry.before / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ()
    moment = f"{before:%Y-%m-%d %H:%M:%S}.{before.microsecond // 1000:03d} UTC"
    why = f"expires {expiry.gone:,} of {count(expiry.total, 'snapshot')}"
    return (rules.call_procedure("expire_snapshots", why, f"older_than => TIMESTAMP '{moment}'"),)


def _collects(rules: IcebergHealth) -> bool:
    """Check whether procedures may delete files at all."""
    return str(rules.table.properties.get("gc.enabled", "true")).lower() != "false"


def _measure_age(rules: IcebergHealth, expiry: Expiry, age: SplitFigure, expire: tuple[Call, ...]) -> Measure:
    """Measure how much older than the newest commit the oldest snapshot is."""
    limit = Limit(age.value / 1000, "≤", name_source(age), age.property)
    value = (expiry.newest - expiry.oldest) / 1000
    advice = ""
    if not limit.keeps(value):
        keepers = ", ".join(expiry.keepers[:3]) or "retention"
        more = f" and {len(expiry.keepers) - 3:,} more" if len(expiry.keepers) > 3 else ""
        advice = (
            f"kept by {keepers}{more}"
            if not expire
            else f"expire_snapshots ends {expiry.gone:,} of {expiry.total:,}"
        )
        if not _collects(rules):
            advice = "gc.enabled is false: nothing may be expired"
    return Measure("age of the oldest snapshot", "metadata", value, "seconds", limit, advice, expire)


def _measure_files(rules: IcebergHealth) -> Measure:
    """Measure the number of metadata files beside the one in use, and who removes those that no log names."""
    table = rules.table
    figure = rules.read("log", _LOG, 100)
    limit = Limit(figure.value + 1, "≤", name_source(figure), f"{figure.property}, and the one in use")
    names = {name.name for name in rules.folder.names}
    logged = {line.metadata_file.rsplit("/", 1)[-1] for line in rules.context.typed.metadata_log}
    current = rules.context.document.path.rsplit("/", 1)[-1]
    outside = len(names - logged - {current})
    cleans = str(table.properties.get(_CLEANS, "false")).lower() == "true"
    if limit.keeps(len(names)):
        return Measure("metadata.json files", "metadata", len(names), "files", limit)
    calls: list[Call] = []
    words = []
    if outside and _collects(rules):
        calls.append(rules.call_procedure("remove_orphan_files", "removes metadata files that no log names"))
        words.append(
            f"{count(outside, 'file')} in no log: remove_orphan_files removes what is older than 3 days"
        )
    if not cleans:
        name = quote_name(table.name)
        statement = f"ALTER TABLE <catalog>.{name} SET TBLPROPERTIES ('{_CLEANS}' = 'true')"
        calls.append(Call(statement, "lets no more metadata files pile up"))
        words.append("delete-after-commit is off: on, no more pile up")
    return Measure(
        "metadata.json files", "metadata", len(names), "files", limit, "; ".join(words), tuple(calls)
    )


def _measure_document(rules: IcebergHealth, documents: DocumentParts, expire: tuple[Call, ...]) -> Measure:
    """Measure the bytes of the document, which every commit writes again."""
    size = len(rules.context.document.text)
    own = [part for part in documents if part.document == _name_document(rules) and part.name != REST]
    largest = max(own, key=lambda part: part.size_bytes, default=None)
    place = (
        ""
        if largest is None or not size
        else f"{100 * largest.size_bytes / size:.0f} % of it are {largest.name}"
    )
    advice, calls = "", ()
    if not _DOCUMENT.keeps(size) and largest is not None:
        helps = largest.name in ("snapshots", "snapshot-log", "statistics", "partition-statistics")
        calls = expire if helps else ()  # type: ignore[assignment]
        alone = f"nothing makes {largest.name} smaller but having less of it"
        advice = "fewer snapshots make it smaller" if calls else alone
    return Measure("metadata.json, size", "metadata", size, "bytes", _DOCUMENT, advice, calls, place)


def _name_document(rules: IcebergHealth) -> str:
    return rules.context.document.path.rsplit("/", 1)[-1]


def list_document_parts(rules: IcebergHealth) -> Iterator[DocumentPart]:
    """List every key of the metadata document with the bytes that it takes there, and the manifests of the state."""
    text, name = rules.context.document.text, _name_document(rules)
    stored = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    kinds: dict[bytes, Any] = {b"[": list[msgspec.Raw], b"{": dict[str, msgspec.Raw]}
    parts = []
    for key, value in stored.items():
        part = bytes(value)
        kind = kinds.get(part.lstrip()[:1])  # only a list or an object has a number of items
        items = None if kind is None else len(msgspec.json.decode(part, type=kind))
        parts.append(DocumentPart(name, key, items, len(part)))
    yield from sorted(parts, key=lambda part: -part.size_bytes)
    yield DocumentPart(name, REST, None, len(text) - sum(part.size_bytes for part in parts))
    if rules.snapshot is not None:
        yield from list_manifest_parts(rules.snapshot.manifests)
