"""The facts in the names of files and directories of a Hive-style table.

Nothing else in the directory records who wrote a file, into which bucket, or for which partition:

    k=x%2Fy / part-00001-UUID_00003.c000.snappy.parquet      Spark:  task, job, bucket, file number, codec, format
    000000_0_copy_1                                          Hive:   task or bucket, attempt, copy
    delta_0000003_0000003_0000 / bucket_00000                Hive ACID: write ids, statement, bucket

Escaping follows Hive's `FileUtils.escapePathName` (the same list in Spark's `ExternalCatalogUtils`).
"""

from __future__ import annotations

import re

from lakelens.lazy import dataclass
from lakelens.model.storage import OWN_DIRECTORIES

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# part-00000-UUID-c000.snappy.parquet, part-00000-UUID.c000.snappy.parquet, part-00001-UUID_00003.c000…,
# 00001_0_part-00000-UUID_00001.c000…
_SPARK = re.compile(
    rf"^(?:(?P<hive_bucket>\d{{5}})_0_)?part-(?P<task>\d{{5,}})-(?P<job>{_UUID})(?:_(?P<bucket>\d{{5,}}))?"
    r"(?:[-.]c(?P<number>\d{3,}))?"
)
_MAPREDUCE = re.compile(r"^part-(?:[mr]-)?(?P<task>\d{5,})")
_HIVE = re.compile(r"^(?P<bucket>(?P<task>\d{6}))_(?P<attempt>\d+)(?:_copy_(?P<copy>\d+))?")
_ACID_BUCKET = re.compile(r"^bucket_(?P<bucket>\d{5})(?:_(?P<attempt>\d+))?$")
_ACID = re.compile(
    r"^(?:(?P<base>base)_(?P<write>\d+)|(?P<kind>delta|delete_delta)_(?P<first>\d+)_(?P<last>\d+)"
    r"(?:_(?P<statement>\d+))?)(?:_v(?P<visibility>\d+))?$"
)

_WRITERS = (("spark", _SPARK), ("hive", _HIVE), ("hive", _ACID_BUCKET), ("mapreduce", _MAPREDUCE))

# by the last extension that is not a codec
FORMATS = {name: name for name in ("parquet", "orc", "avro", "csv", "json", "text")}
FORMATS |= {"parq": "parquet", "tsv": "csv", "jsonl": "json", "ndjson": "json", "txt": "text"}
CODECS = {name: name for name in ("snappy", "zstd", "gzip", "lz4", "brotli", "lzo", "deflate", "zlib")}
CODECS |= {"zst": "zstd", "gz": "gzip", "lz4raw": "lz4_raw", "br": "brotli", "bz2": "bzip2"}


def unescape_path_name(text: str) -> str:
    """Undo Hive's escaping: every `%HH` is one character.

    >>> unescape_path_name("x%2Fy z%3A%3D%25")
    'x/y z:=%'
    """
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def parse_partition_directory(name: str) -> tuple[str, str] | None:
    """Column name and value text (still escaped) of a `key=value` directory; None for any other name.

    >>> parse_partition_directory("k=a%3Db"), parse_partition_directory("data"), parse_partition_directory("=x")
    (('k', 'a%3Db'), None, None)
    """
    key, equals, text = name.partition("=")
    if not equals or not key:
        return None
    return unescape_path_name(key), text


def parse_partition_value(text: str) -> str | None:
    """Parse the value of a directory's text; Hive's default partition, which stands for null and for "", is None.

    >>> parse_partition_value("a%3Db"), parse_partition_value("__HIVE_DEFAULT_PARTITION__")
    ('a=b', None)
    """
    return None if text == DEFAULT_PARTITION else unescape_path_name(text)


def is_hidden(name: str) -> bool:
    """Check whether readers skip this name: it starts with `_` or `.`, or a copy is still under way.

    >>> is_hidden("_SUCCESS"), is_hidden("_k=1"), is_hidden("part-0"), is_hidden("a.parquet._COPYING_")
    (True, False, False, True)
    """
    if name.endswith(("._COPYING_", "_COPYING_", ".tmp")):
        return True
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


@dataclass(frozen=True, slots=True)
class FileName:
    """The facts in one file's name: `writer` ("spark", "hive", "mapreduce" or None), the job's UUID, task, bucket, number of
    the file within its task, attempt, copy, and by its extensions the codec and the format (None: no extension)."""

    writer: str | None = None
    job: str | None = None
    task: int | None = None
    bucket: int | None = None
    number: int | None = None
    attempt: int | None = None
    copy: int | None = None
    codec: str | None = None
    format: str | None = None


def parse_file_name(name: str) -> FileName:
    """Parse the parts of a file's name.

    A Hive name (`000001_0`) gives its first number as bucket too, which it is in a bucketed table.

    >>> parsed = parse_file_name("part-00001-01234567-89ab-cdef-0123-456789abcdef_00003.c000.snappy.parquet")
    >>> parsed.writer, parsed.task, parsed.bucket, parsed.number, parsed.codec, parsed.format
    ('spark', 1, 3, 0, 'snappy', 'parquet')
    >>> parse_file_name("000001_0_copy_2").bucket, parse_file_name("000001_0_copy_2").copy
    (1, 2)
    """
    codec = file_format = None
    for part in name.lower().split(".")[1:]:
        codec, file_format = CODECS.get(part, codec), FORMATS.get(part, file_format)
    for writer, pattern in _WRITERS:
        if found := pattern.match(name):
            numbers: dict[str, str] = {
                key: text for key, text in found.groupdict().items() if text is not None
            }
            job, bucket = numbers.pop("job", None), numbers.pop("hive_bucket", None)
            if bucket is not None:
                numbers.setdefault("bucket", bucket)
            return FileName(
                writer,
                job.lower() if job else None,
                **{key: int(text) for key, text in numbers.items()},
                codec=codec,
                format="orc" if pattern is _ACID_BUCKET else file_format,
            )
    return FileName(codec=codec, format=file_format)


@dataclass(frozen=True, slots=True)
class AcidDirectory:
    """A directory of a transactional Hive table: `kind` is "base", "delta" or "delete_delta", with the write ids in it."""

    kind: str
    first_write_id: int
    last_write_id: int
    statement: int | None = None

    def covers(self, other: AcidDirectory) -> bool:
        """Check whether this one, the product of a compaction, holds all that `other` holds.

        >>> parse_acid_directory("base_5").covers(parse_acid_directory("delta_3_3_0"))
        True
        """
        if self == other:
            return False
        if self.kind == "base":
            return other.last_write_id <= self.last_write_id
        wider = (self.last_write_id - self.first_write_id) > (other.last_write_id - other.first_write_id)
        whole = self.statement is None and other.statement is not None
        inside = self.first_write_id <= other.first_write_id and other.last_write_id <= self.last_write_id
        return self.kind == other.kind and inside and (wider or whole)


def parse_acid_directory(name: str) -> AcidDirectory | None:
    """Parse the write ids of a `base_N`, `delta_X_Y[_Z]` or `delete_delta_X_Y[_Z]` directory; None for any other name.

    >>> parse_acid_directory("delta_0000002_0000004_0001")
    AcidDirectory(kind='delta', first_write_id=2, last_write_id=4, statement=1)
    >>> parse_acid_directory("base_0000005_v0000017").last_write_id, parse_acid_directory("base")
    (5, None)
    """
    found = _ACID.match(name)
    if not found:
        return None
    if found["base"]:
        return AcidDirectory("base", 0, int(found["write"]))
    statement = None if found["statement"] is None else int(found["statement"])
    return AcidDirectory(found["kind"], int(found["first"]), int(found["last"]), statement)


def describe_role(name: str) -> str | None:
    """The role of a file by its own name alone: markers, checksums, summaries and hidden files; None for a visible file.

    >>> [describe_role(name) for name in ("_SUCCESS", ".a.crc", "_metadata", ".x", "part-0")]
    ['success marker', 'checksum', 'summary', 'hidden', None]
    """
    if name == "_SUCCESS":
        return "success marker"
    if name.startswith(".") and name.endswith(".crc"):
        return "checksum"
    if name in ("_metadata", "_common_metadata"):
        return "summary"
    if name.endswith(("_COPYING_", ".tmp")):
        return "unfinished copy"
    return "hidden" if is_hidden(name) else None


def describe_directory(name: str) -> str | None:
    """Describe the role of everything below a directory of this name; None for an ordinary or a partition directory.

    >>> describe_directory(".hive-staging_hive_2024-01-01"), describe_directory("k=1"), describe_directory("_x")
    ('unfinished write', None, 'hidden')
    """
    if name == "_temporary" or name.startswith((".hive-staging", ".spark-staging", "_task_tmp.", "_tmp.")):
        return "unfinished write"
    if name in OWN_DIRECTORIES:
        return OWN_DIRECTORIES[name].role
    return "hidden" if is_hidden(name) else None


def find_leftover(role: str) -> str | None:
    """Find why an object of this role is left over; None for one that readers see or that marks something for them.

    >>> find_leftover("unfinished write"), find_leftover("data"), find_leftover("delta, superseded by base_5")
    ('a job that did not finish left it: no reader sees it', None, 'a compaction has superseded it: no reader sees it')
    """
    if role in ("unfinished write", "unfinished copy"):
        return "a job that did not finish left it: no reader sees it"
    if "superseded" in role:
        return "a compaction has superseded it: no reader sees it"
    return "its name is hidden: no reader sees it" if role == "hidden" else None
