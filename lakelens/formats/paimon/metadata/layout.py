"""Where the files of a Paimon table are: folders, names, branches, and the escaping of a partition directory.

    TABLE/schema/schema-N  snapshot/snapshot-N  tag/tag-NAME  changelog/changelog-N  consumer/consumer-ID
          branch/branch-NAME/{schema,snapshot,tag,changelog,consumer}/…      a branch has no manifests and no data
          manifest/…  index/…  statistics/…
          [DATA-DIR/][k=v/…]bucket-N/FILE                                    bucket-postpone is bucket -2

See "Filesystem layouts" of the Paimon documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAIN = "main"
DEFAULT_PARTITION = "__DEFAULT_PARTITION__"
POSTPONE_BUCKET = -2
FOLDERS = ("manifest", "index", "statistics", "snapshot", "schema", "tag", "changelog", "branch", "consumer")
# suffixes that name a compression; the format's own suffix is beside them
_COMPRESSIONS = {"gz", "gzip", "zst", "zstd", "lz4", "snappy", "bz2", "deflate", "lzo", "br", "xz"}
_ESCAPES = {code: f"%{code:02X}" for code in (*range(0x20), *b"\x7f\"#%'*/:=?\\{}[]^")}
_NUMBERED = re.compile(r"^(snapshot|schema|changelog)-([0-9]{1,19})$")


class TableLayout:
    """The paths of one table, seen from one of its branches.

    >>> layout = TableLayout("/wh/t", "b1")
    >>> layout.document("snapshot", 3), layout.shared("manifest", "m-0")
    ('/wh/t/branch/branch-b1/snapshot/snapshot-3', '/wh/t/manifest/m-0')
    """

    def __init__(self, root: str, branch: str = MAIN) -> None:
        self.root = root.rstrip("/") or "/"
        self.branch = branch
        self.home = self.root if branch == MAIN else f"{self.root}/branch/branch-{branch}"

    def folder(self, name: str) -> str:
        """A folder of the branch: `schema`, `snapshot`, `tag`, `changelog`, `consumer`."""
        return f"{self.home}/{name}"

    def document(self, kind: str, key: int | str) -> str:
        """A document of the branch, by the folder that is called as its kind, and its number or name."""
        return f"{self.home}/{kind}/{kind}-{key}"

    def shared(self, folder: str, name: str) -> str:
        """A file of `manifest`, `index` or `statistics`, the folders that all branches share."""
        return f"{self.root}/{folder}/{name}"


def parse_numbered(name: str, kind: str) -> int | None:
    """Parse the number in `snapshot-3`, `schema-0` or `changelog-7`; None for any other name.

    >>> parse_numbered("snapshot-3", "snapshot"), parse_numbered("snapshot-3.crc", "snapshot")
    (3, None)
    """
    found = _NUMBERED.match(name)
    return int(found[2]) if found and found[1] == kind else None


def list_numbers(names: Iterable[str], kind: str) -> list[int]:
    """List the numbers of the names of one kind, ascending.

    >>> list_numbers(["snapshot-10", "snapshot-9", "LATEST"], "snapshot")
    [9, 10]
    """
    return sorted(number for name in names if (number := parse_numbered(name, kind)) is not None)


def list_keys(names: Iterable[str], kind: str) -> list[str]:
    """List what follows `KIND-` in those names that have it, in order.

    >>> list_keys(["tag-v2", "tag-v1", ".tag-v3.crc"], "tag")
    ['v1', 'v2']
    """
    return sorted(name.removeprefix(f"{kind}-") for name in names if name.startswith(f"{kind}-"))


def escape_path(text: str) -> str:
    """Escape a partition key or value as part of a directory's name: characters that file systems refuse become `%XX`.

    >>> escape_path("a b/c:é")
    'a b%2Fc%3Aé'
    """
    return text.translate(_ESCAPES)


def join_partition(pairs: Iterable[tuple[str, str]]) -> str:
    """Join the directory of a partition, from keys and already escaped values; empty when unpartitioned.

    >>> join_partition([("d=t", "2024-01-01"), ("b", "3")])
    'd%3Dt=2024-01-01/b=3'
    """
    return "/".join(f"{escape_path(key)}={text}" for key, text in pairs)


def name_bucket(bucket: int) -> str:
    """Name the directory of a bucket.

    >>> name_bucket(0), name_bucket(-2)
    ('bucket-0', 'bucket-postpone')
    """
    return "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"


def describe_buckets(number: int, is_partitioned: bool, has_key: bool) -> str:
    """Describe what the option `bucket` says of how rows are divided.

    >>> describe_buckets(4, True, True), describe_buckets(-1, False, True), describe_buckets(-1, False, False)
    ('4 buckets each', 'buckets as needed (dynamic)', '')
    """
    if number > 0:
        return f"{number:,} bucket{'' if number == 1 else 's'}{' each' if is_partitioned else ''}"
    if number == POSTPONE_BUCKET:
        return "buckets are given later, by a compaction"
    return "buckets as needed (dynamic)" if has_key else ""


def file_format(name: str) -> str:
    """The format of a data file by its name: the last suffix, or the one before a compression's.

    >>> file_format("data-1-0.parquet"), file_format("data-1-0.csv.gz"), file_format("data-1-0.zstd.parquet")
    ('parquet', 'csv', 'parquet')
    """
    parts = name.rsplit("/", 1)[-1].lower().split(".")
    if len(parts) > 2 and parts[-1] in _COMPRESSIONS:
        return parts[-2]
    return parts[-1] if len(parts) > 1 else ""
