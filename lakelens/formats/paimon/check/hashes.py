"""The hash indexes of dynamic buckets, compared with the keys in their buckets.

See "Dynamic Bucket" of the Paimon documentation: a writer looks the hash of a row's key up in the `HASH` index files of the
partition, to write it into the bucket where the key is. A key whose hash is not in the index of its bucket is given a second
bucket by the next write, and then is there twice. A hash without a key is none the worse: nothing takes hashes of deleted
keys out. Of a table without a fixed number of buckets whose key has all partition columns; others keep no such index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mmh3

from lakelens.caching import cached_property
from lakelens.codecs.paimon.row_hash import SEED, encode_row
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index import HashIndexFile
from lakelens.model.check.ledger import Ledger
from lakelens.model.check.row_checks import RowCheck

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.codecs.paimon.types import PaimonType
    from lakelens.formats.paimon.table import PaimonTable

#: Keys of one file that are hashed; of more the first are.
MOST_KEYS = 100_000
_Bucket = tuple[str, int | None]


class HashIndexes:
    """The hashes of the current snapshot, by partition and bucket; a bucket whose index cannot be read is left out."""

    def __init__(self, table: PaimonTable) -> None:
        self._table = table

    @cached_property
    def _hashes(self) -> Mapping[_Bucket, set[int]]:
        current = self._table.current
        found: dict[_Bucket, set[int]] = {}
        unread = set[_Bucket]()
        for index in () if current is None else current.index_files:
            if isinstance(index, HashIndexFile):
                place = str(index.partition), index.bucket
                try:
                    found.setdefault(place, set()).update(index.hashes.tolist())
                except LakeError:  # found by the listing, or by the comparison of index files
                    unread.add(place)
        return {place: hashes for place, hashes in found.items() if place not in unread}

    @cached_property
    def _live(self) -> frozenset[str]:
        return frozenset(file.path for file in self._table.files) if self._hashes else frozenset()

    def list_checks(self, file: PaimonDataFile) -> Iterator[RowCheck]:
        """The check of a file of the current snapshot whose bucket has an index."""
        place = str(file.partition), file.bucket
        if file.file_format == "avro" or file.content != "data" or place not in self._hashes:
            return  # Avro's rows come without their logical types
        columns = file.schema.key_columns
        if columns and file.path in self._live:
            yield HashCheck(file, {f"_KEY_{one.name}": one.type for one in columns}, self._hashes[place])


class HashCheck(RowCheck):
    """Whether the hash of each key of a file is in the index of its bucket."""

    def __init__(self, file: PaimonDataFile, columns: Mapping[str, PaimonType], hashes: set[int]) -> None:
        self._file, self._columns, self._hashes = file, columns, hashes
        self._looked_up = self._rows = 0
        self._lost: list[tuple[Any, ...]] = []
        self._is_comparable = True

    def add(self, rows: pa.Table) -> None:
        """See `RowCheck.add`."""
        if not self._is_comparable or any(name not in rows.column_names for name in self._columns):
            self._is_comparable = False
            return
        self._rows += rows.num_rows
        kinds = list(self._columns.values())
        left = rows.slice(0, max(MOST_KEYS - self._looked_up, 0))
        try:
            keys = list(zip(*(left[name].to_pylist() for name in self._columns), strict=True))
            hashes = [mmh3.hash(encode_row(kinds, key), SEED) for key in keys]
        except (
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
        ):  # a type that Python holds in another form
            self._is_comparable = False
            return
        self._looked_up += len(keys)
        pairs = zip(keys, hashes, strict=True)
        self._lost += [key for key, hashed in pairs if hashed not in self._hashes]

    def finish(self, ledger: Ledger, snapshots: Sequence[int]) -> None:
        """See `RowCheck.finish`."""
        file = self._file
        if not self._is_comparable:
            ledger.leave(
                f"the hashes of keys in bucket {file.bucket}", "keys of this type are not hashed here"
            )
            return
        if self._rows > self._looked_up:
            what = f"the hashes of {self._rows - self._looked_up:,} keys of {file.path.rpartition('/')[2]}"
            ledger.leave(what, f"the first {MOST_KEYS:,} of a file are looked up")
        line = ledger.line("hashes of keys", "hash indexes", "rows")
        line.agree(self._looked_up - len(self._lost))
        if self._lost:
            names = ", ".join(name.removeprefix("_KEY_") for name in self._columns)
            some = ", ".join(map(str, self._lost[0]))
            message = (
                f"the hash index of bucket {file.bucket} lacks {len(self._lost):,} of {self._looked_up:,} keys, "
                f"the first {names} = {some}: the next write of it goes to another bucket"
            )
            line.differ("error", "index-key", file.path, message, snapshots)
