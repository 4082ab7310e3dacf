"""Names of files in place of others; the prefixes that say what a file is for, and its endings, stay.

snapshot/snapshot-N  schema/schema-N  tag/tag-t1  branch/branch-b1/…  consumer/consumer-consumer-1
manifest/manifest-list-f000001-0  manifest/manifest-f000002-0  manifest/index-manifest-f000003-0  index/index-f000004-0
data-f000005-0.parquet
"""

from __future__ import annotations

from lakelens.model.skeleton.names import Names

#: stands for the table's location until it is written: no text of a skeleton has it otherwise
MARK = "\ue000lakelens\ue001"
_ENDINGS = frozenset(
    (
        *(
            "parquet",
            "orc",
            "avro",
            "csv",
            "json",
            "text",
            "txt",
            "row",
            "blob",
            "lance",
            "mosaic",
            "vortex",
            "video",
            "managed",
            "vector",
            "index",
            "blobref",
        ),
        *("gz", "gzip", "zst", "zstd", "lz4", "snappy", "bz2", "deflate", "lzo", "br", "xz", "zlib"),
    )
)


class PlaceBook:
    """The names of one table's files and those in their place."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def list(self, name: str) -> str:
        """A manifest list."""
        return f"manifest-list-{self._names.file(name)}-0"

    def manifest(self, name: str) -> str:
        """A manifest."""
        return f"manifest-{self._names.file(name)}-0"

    def index_manifest(self, name: str) -> str:
        """An index manifest."""
        return f"index-manifest-{self._names.file(name)}-0"

    def index(self, name: str) -> str:
        """An index file."""
        ending = ".index" if name.endswith(".index") else ""
        return f"index-{self._names.file(name)}-0{ending}"

    def data(self, name: str) -> str:
        """A data file, a changelog file, or one beside it."""
        prefix = "changelog" if name.startswith("changelog") else "data"
        endings = [part for part in name.split(".")[1:] if part.lower() in _ENDINGS]
        return ".".join([f"{prefix}-{self._names.file(name)}-0", *endings])

    def external(self, path: str) -> str:
        """A file that is outside of the table's directory."""
        return f"{MARK}/external/{self.data(path.rpartition('/')[2])}"
