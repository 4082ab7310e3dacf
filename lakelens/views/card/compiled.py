"""Compiled templates, kept where Python keeps compiled modules: compiling one takes longer than drawing a small card.

They are `__pycache__/KEY.cpython-311.pyc` beside the templates, and are read from nowhere else: whoever may write there may
change the package itself. A template that changed is compiled again.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache


class CompiledTemplates(BytecodeCache):
    """Keeps templates compiled in a directory; one that cannot be written or read is as if it were empty."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _place(self, bucket: Bucket) -> Path:
        return self._directory / f"{bucket.key}.{sys.implementation.cache_tag}.pyc"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template; what is there but belongs to another source or another Python counts as nothing."""
        with suppress(OSError, EOFError, ValueError, TypeError):
            bucket.load_bytecode(BytesIO(self._place(bucket).read_bytes()))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, whole or not at all; not where Python may write no bytecode."""
        if not sys.dont_write_bytecode:
            from lakelens.whole import NotWritten, write_whole

            with suppress(OSError, NotWritten):
                self._directory.mkdir(exist_ok=True)
                write_whole(self._place(bucket), bucket.bytecode_to_string())
