"""Numpy, Arrow and Arrow's functions for what is written once for both: theirs where they are installed, else ours in lists.

    from lakelens.arrays import np, pa, pc        numpy, pyarrow, pyarrow.compute, or `vectors`, `arrow`, `functions`

Whoever imports them so gets the same answers either way; `tests/test_arrays.py` compares each name with theirs. What is not
here is read by column with the packages alone, and imports them itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lakelens.installed import has_arrays

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

__all__ = ["np", "pa", "pc"]

_THEIRS = {"np": "numpy", "pa": "pyarrow", "pc": "pyarrow.compute"}
_OURS = {"np": "lakelens.arrays.vectors", "pa": "lakelens.arrays.arrow", "pc": "lakelens.arrays.functions"}


def __getattr__(name: str) -> Any:
    if name not in _THEIRS:
        raise AttributeError(name)
    found = globals()[name] = import_module((_THEIRS if has_arrays() else _OURS)[name])
    return found
