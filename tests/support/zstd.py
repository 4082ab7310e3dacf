"""Zstandard of the standard library, from Python 3.14 on; before that, its backport of the same interface."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import *  # noqa: F403
else:
    from backports.zstd import *  # noqa: F403
