"""From what a user gives (`path`, `PathLike`, URL) to a store and a path in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakelens.io.local import LocalStore
from lakelens.io.relocation import split_location
from lakelens.io.store import Store


def open_source(
    source: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None
) -> tuple[Store, str]:
    """The store that holds `source`, and its absolute path there without a trailing slash.

    >>> store, path = open_source("/warehouse/t/")
    >>> store.scheme, path
    ('file', '/warehouse/t')
    """
    text = os.fspath(source)
    scheme, path = split_location(text)
    if scheme not in ("", "file") or text.startswith("memory:"):
        from lakelens.io.remote import open_filesystem

        return open_filesystem(text, storage_options)
    # a bare path is taken to the letter; a file: URL has lost its scheme and host
    chosen = text if scheme == "" else path
    return LocalStore(), str(Path(os.path.abspath(os.path.expanduser(chosen))))  # noqa: PTH100, PTH111
