"""How much memory this process holds now, held at most, and what its children held at most; in bytes."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path


def tell_peak(process: int | str = "self") -> int:
    """The most that a process held. Linux' own high-water mark, because `ru_maxrss` starts at that of the parent."""
    try:
        return _read_status(process, "VmHWM")
    except (OSError, KeyError):
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def tell_now() -> int:
    """What this process holds now."""
    try:
        return _read_status("self", "VmRSS")
    except (OSError, KeyError):
        return tell_peak()


def tell_peak_of_java() -> int | None:
    """The most that a Java process started by this one held; None when there is none."""
    import psutil

    peaks = [
        tell_peak(child.pid)
        for child in psutil.Process(os.getpid()).children(recursive=True)
        if child.name() == "java"
    ]
    return max(peaks, default=None)


def _read_status(process: int | str, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(facts[name].split()[0]) * 1024
