"""Where the files of a Paimon table lie: folders, names, branches, and the words of a partition directory.

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
# suffixes that name a compression, after which the format's own suffix stands
_COMPRESSIONS = {"gz", "gzip", "zst", "zstd", "lz4", "snappy", "bz2", "deflate", "lzo", "br", "xz"}
_ESCAPES = {code: f"%{code:02X}" for code in (*range(0x20), *b"\x7f\"#%'*/:=?\\{}[]^")}
_NUMBERED = re.compile(r"^(snapshot|schema|changelog)-([0-9]{1,19})$")


class Layout:
    """The paths of one table, seen from one of its branches.

    >>> layout = Layout("/wh/t", "b1")
    >>> layout.snapshot(3), layout.manifest("m-0")
    ('/wh/t/branch/branch-b1/snapshot/snapshot-3', '/wh/t/manifest/m-0')
    """

    def __init__(self, root: str, branch: str = MAIN) -> None:
        self.root = root.rstrip("/") or "/"
        self.branch = branch
        self.home = self.root if branch == MAIN else f"{self.root}/branch/branch-{branch}"

    def folder(self, name: str) -> str:
        """A folder of the branch: `schema`, `snapshot`, `tag`, `changelog`, `consumer`."""
        return f"{self.home}/{name}"

    def schema(self, number: int) -> str:
        """A schema file of the branch."""
        return f"{self.home}/schema/schema-{number}"

    def snapshot(self, number: int) -> str:
        """A snapshot file of the branch."""
        return f"{self.home}/snapshot/snapshot-{number}"

    def changelog(self, number: int) -> str:
        """The snapshot document that is kept for its changelog."""
        return f"{self.home}/changelog/changelog-{number}"

    def tag(self, name: str) -> str:
        """A tag file of the branch."""
        return f"{self.home}/tag/tag-{name}"

    def manifest(self, name: str) -> str:
        """A manifest list, manifest or index manifest; all branches share the main table's folder."""
        return f"{self.root}/manifest/{name}"

    def index(self, name: str) -> str:
        """An index file."""
        return f"{self.root}/index/{name}"

    def statistics(self, name: str) -> str:
        """A statistics file."""
        return f"{self.root}/statistics/{name}"


def parse_numbered(name: str, kind: str) -> int | None:
    """The number in `snapshot-3`, `schema-0` or `changelog-7`; None for any other name.

    >>> parse_numbered("snapshot-3", "snapshot"), parse_numbered("snapshot-3.crc", "snapshot")
    (3, None)
    """
    found = _NUMBERED.match(name)
    return int(found[2]) if found and found[1] == kind else None


def escape_path(text: str) -> str:
    """A partition key or value as part of a directory's name: what file systems dislike becomes `%XX`.

    >>> escape_path("a b/c:é")
    'a b%2Fc%3Aé'
    """
    return text.translate(_ESCAPES)


def join_partition(pairs: Iterable[tuple[str, str]]) -> str:
    """The directory of a partition, from keys and already escaped values; empty when unpartitioned.

    >>> join_partition([("d=t", "2024-01-01"), ("b", "3")])
    'd%3Dt=2024-01-01/b=3'
    """
    return "/".join(f"{escape_path(key)}={text}" for key, text in pairs)


def name_bucket(bucket: int) -> str:
    """The directory of a bucket.

    >>> name_bucket(0), name_bucket(-2)
    ('bucket-0', 'bucket-postpone')
    """
    return "bucket-postpone" if bucket == POSTPONE_BUCKET else f"bucket-{bucket}"


def file_format(name: str) -> str:
    """The format of a data file by its name: the last suffix, or the one before a compression's.

    >>> file_format("data-1-0.parquet"), file_format("data-1-0.csv.gz"), file_format("data-1-0.zstd.parquet")
    ('parquet', 'csv', 'parquet')
    """
    parts = name.rsplit("/", 1)[-1].lower().split(".")
    if len(parts) > 2 and parts[-1] in _COMPRESSIONS:
        return parts[-2]
    return parts[-1] if len(parts) > 1 else ""
