"""What an object of a Hive-style table is for: nothing refers to files, so only what no reader sees can be left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.hive.names import find_leftover
from lakelens.io.store import ObjectInfo
from lakelens.model.check.references import Purpose, Referring
from lakelens.model.finding import Findings

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveTable
    from lakelens.formats.hive.read import Found


class HiveReferring(Referring):
    """What there is to know of the objects of a Hive-style table."""

    table: HiveTable

    def list_objects(self, refuse: Callable[[LakeError], None]) -> Iterator[ObjectInfo]:
        """See `Referring.list_objects`."""
        found: list[Found] = []
        problems = Findings()
        try:
            found = self.table.list_found(problems)
        except LakeError as error:
            refuse(error)
        for problem in problems:
            if problem.severity == "error":
                refuse(LakeError(problem.message, path=problem.path))
        self._roles = {listed.relative_path: listed.role for listed in found}
        return (listed.info for listed in found)

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`."""
        role = self._roles.get(relative_path, "unknown")
        reason = find_leftover(role)
        return Purpose(role, "known") if reason is None else Purpose(role, "loose", reason)

    @cached_property
    def _roles(self) -> dict[str, str]:
        return {listed.relative_path: listed.role for listed in self.table.list_found(Findings())}
