"""A table that an engine wrote, with the engine's own answers (see tests/lakes/README.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class EngineLake:
    """One engine-written table: its name, its directory, what the engine said."""

    name: str
    path: Path

    @property
    def table_path(self) -> Path:
        return self.path / "table"

    @cached_property
    def answers(self) -> dict[str, Any]:
        return json.loads((self.path / "answers.json").read_text("utf-8"))  # type: ignore[no-any-return]
