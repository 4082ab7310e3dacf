"""What the extra `fast` brings: datafusion reads Avro by column, isal inflates. Without them the same is read, slower.

Each is looked for once, when it is first needed; `advise` says once a process how to be faster.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import threading
import warnings
import zlib
from functools import cache
from typing import Any

FAST = ("datafusion", "isal")
_COMPILED = "datafusion._internal"
_LOADING = threading.Lock()
_left_behind: list[str] = []


@cache
def find_inflater() -> Any:
    """Find the module that inflates: isal's, which has zlib's interface and takes half the time, or zlib itself."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


@cache
def find_datafusion() -> Any:
    """Find the compiled part of datafusion; None where it is not installed, does not load, or was left behind by a fork."""
    if _left_behind:
        return None
    try:
        return load_datafusion()
    except ImportError:
        return None


def _leave_behind() -> None:
    """In the child of a fork: the library's threads are in the parent alone, and whoever asks for them waits for ever."""
    global _LOADING
    _LOADING = threading.Lock()
    if _COMPILED in sys.modules:
        _left_behind[:] = [_COMPILED]
    find_datafusion.cache_clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_leave_behind)


def load_datafusion() -> Any:
    """Load the compiled part of datafusion, alone where possible: its package imports pandas, which takes a second.

    A later `import datafusion` finds this part loaded and works as usual. Raises ImportError.
    """
    with _LOADING:
        if _COMPILED in sys.modules:
            return sys.modules[_COMPILED]
        try:
            package = importlib.util.find_spec("datafusion")
            places = package.submodule_search_locations if package is not None else None
            spec = importlib.machinery.PathFinder.find_spec(_COMPILED, places)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            assert module.SessionConfig and module.SessionContext.read_avro
        except Exception:  # another layout than that of datafusion 55
            import datafusion

            return datafusion
        sys.modules[_COMPILED] = module
        return module


@cache
def advise() -> None:
    """Warn that reading would be faster with the extra `fast`: once a process, and only where something of it is missing."""
    missing = [name for name in FAST if importlib.util.find_spec(name) is None]
    if missing:
        text = (
            f"many records are read without {' and '.join(missing)}, which takes longer and gives the same answers; "
            "to read faster: pip install 'lakelens[fast]'"
        )
        warnings.warn_explicit(
            text, UserWarning, "lakelens", 1
        )  # no line of ours is what the reader should look at
