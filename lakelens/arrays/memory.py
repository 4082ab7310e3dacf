"""Memory that is free and still a process's: Arrow and the C library keep what they were given back for themselves."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


def release_memory() -> None:
    """Give back to the system what Arrow and the C library hold and nobody uses.

    Nothing is done where Arrow was never loaded: then no answer was large.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
        trim = getattr(_load_c_library(), "malloc_trim", None)  # of glibc alone
        if trim is not None:
            trim(0)


@cache
def _load_c_library() -> Any:
    """Load the C library of this process; None where none is found."""
    import ctypes

    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows knows no library without a name
        return None
