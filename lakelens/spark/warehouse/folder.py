"""The log of a Parquet inventory: small files that appear complete and never replace one another."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Folder(Protocol):
    """A directory of the target, by relative names; `url` is its name in Spark."""

    url: str

    def create(self, name: str, text: str) -> bool:
        """Create a file with this text unless the name exists; whether it was created. Never visible half written."""
        ...

    def read_texts(self, name: str) -> dict[str, str]:
        """The texts of the `.json` files in a directory by name; none if there is no directory."""
        ...

    def list_names(self, name: str) -> list[str]:
        """The names in a directory; none if there is no directory."""
        ...

    def remove(self, name: str) -> None:
        """Remove a directory and everything in it."""
        ...


class LocalFolder:
    """A local directory: a record is linked into place, which fails if the name exists."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.url = str(root)

    def create(self, name: str, text: str) -> bool:
        place = self._root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(draft, place)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def read_texts(self, name: str) -> dict[str, str]:
        place = self._root / name
        return {
            path.name: path.read_text("utf-8")
            for path in place.glob("*.json")
            if not path.name.startswith(".")
        }

    def list_names(self, name: str) -> list[str]:
        place = self._root / name
        return sorted(path.name for path in place.iterdir()) if place.is_dir() else []

    def remove(self, name: str) -> None:
        shutil.rmtree(self._root / name)


class HadoopFolder:
    """A directory of any file system that Spark writes to, with Spark's configuration: a record is renamed into place.

    HDFS renames atomically and never over a file. Where rename is a copy (S3), it depends on the connector whether two runs
    can commit the same number in the same instant.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm: Any = spark._jvm
        self.url = root.rstrip("/")
        self._root = self._jvm.org.apache.hadoop.fs.Path(self.url)
        self._fs = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def create(self, name: str, text: str) -> bool:
        place = self._path(name)
        if self._fs.exists(place):
            return False
        draft = self._path(f"{name}.{uuid.uuid4().hex}.draft")
        stream = self._fs.create(draft, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        try:
            return bool(not self._fs.exists(place) and self._fs.rename(draft, place))
        finally:
            self._fs.delete(draft, False)

    def read_texts(self, name: str) -> dict[str, str]:
        return {
            found: self._read(self._path(f"{name}/{found}"))
            for found in self.list_names(name)
            if found.endswith(".json") and not found.startswith(".")
        }

    def list_names(self, name: str) -> list[str]:
        place = self._path(name)
        if not self._fs.exists(place):
            return []
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(place))

    def remove(self, name: str) -> None:
        self._fs.delete(self._path(name), True)

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name)

    def _read(self, place: Any) -> str:
        stream = self._fs.open(place)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()


def open_folder(spark: SparkSession, root: str) -> Folder:
    """The folder of a target; a path without a scheme is on Spark's default file system."""
    scheme, separator, rest = root.partition(":")
    if separator and "/" not in scheme and len(scheme) > 1:
        if scheme == "file":
            return LocalFolder(Path("/" + rest.lstrip("/")))
        return HadoopFolder(spark, root)
    default = spark._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
    return LocalFolder(Path(root).absolute()) if default.startswith("file:") else HadoopFolder(spark, root)
