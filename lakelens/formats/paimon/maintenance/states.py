"""The states of a table by name, as a plan lists what is lost and what stays; and which engine's rules a plan follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from lakelens.errors import LakeError, Unsupported
from lakelens.formats.paimon.metadata.layout import MAIN
from lakelens.model.check.references import Referring
from lakelens.model.maintenance.procedure import Option
from lakelens.model.maintenance.proposal import Assumption, Fate

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable

OLD, NEW = "0.9", "2.0"
#: Keys that engines from 1.1 on write into each snapshot.
_NEW_KEYS = ("baseManifestListSize", "nextRowId")

ENGINE = Option("engine", "text", "whose rules to follow: 0.9 or 2.0", "as the newest snapshot was written")
AT = Option("at", "time", "when it would run", "now")


def is_new_engine(table: PaimonTable, values: Mapping[str, Any]) -> bool:
    """Whether the plan follows the rules of Paimon 2.0, not of 0.9. Raises `LakeError` for another version."""
    asked = values.get("engine")
    if asked is None:
        raw = {} if table.current is None else table.current.raw
        return any(key in raw for key in _NEW_KEYS)
    if asked.split(".")[0] not in ("0", "1", "2"):
        raise LakeError(f"option engine: no rules of Paimon {asked} are known", hint=f"{OLD}, {NEW}")
    return bool(asked.split(".")[0] != "0")


def describe_engine(is_new: bool) -> Assumption:
    """Which engine's rules a plan follows."""
    version = NEW if is_new else OLD
    return Assumption(f"Paimon {version} runs it, or a release that has the same rules (option engine).")


def read_now(values: Mapping[str, Any]) -> datetime:
    """When the procedure would run."""
    return values.get("at") or datetime.now(UTC)


def to_millis(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def require_paimon(table: Any) -> PaimonTable:
    """The table as Paimon's. Raises `Unsupported` for another's."""
    if getattr(table, "pointer", None) is None:
        raise Unsupported(f"this is a procedure of Paimon, not of {table.format}")
    return cast("PaimonTable", table)


def name_home(branch: PaimonTable) -> str:
    """What the names of a branch's states begin with."""
    return "" if branch.branch_name == MAIN else f"{branch.branch_name}: "


def name_snapshot(branch: PaimonTable, number: int) -> str:
    """A snapshot's name among `Referring.list_keepers`."""
    return f"{name_home(branch)}snapshot {number}"


def name_table(branch: PaimonTable) -> str:
    """The table as a call names it, with its branch.

    >>> import lakelens as ll
    >>> name_table(ll.sample("paimon"))
    'paimon'
    """
    name = branch.name or "<table>"
    return name if branch.branch_name == MAIN else f"{name}$branch_{branch.branch_name}"


def write_call(procedure: str, arguments: Mapping[str, Any]) -> str:
    """A call of a procedure as Spark SQL has it; arguments that are None are left out.

    >>> print(write_call("delete_tag", {"table": "db.t", "tag": "v'1"}))
    CALL sys.delete_tag(
      table => 'db.t',
      tag => 'v''1')
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    lines = [f"  {name} => {_write_value(value)}" for name, value in given.items()]
    return f"CALL sys.{procedure}(\n" + ",\n".join(lines) + ")"


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC'".replace(".000000", "")
    return "'" + str(value).replace("'", "''") + "'"


def describe_fate(branch: PaimonTable, snapshot: PaimonSnapshot | None, number: int, why: str) -> Fate:
    """What becomes of a snapshot of a branch."""
    at = None if snapshot is None else snapshot.committed_at
    return Fate(name_snapshot(branch, number), why, f"branch {branch.branch_name}", number, at)


def list_others(
    branch: PaimonTable, lost: frozenset[str], explain: Callable[[str], str] | None = None
) -> Iterator[Fate]:
    """The states that stay beside the snapshots of a branch: its tags and changelogs, and all that other branches have."""
    home, own = name_home(branch), f"{name_home(branch)}snapshot "
    for keeper in Referring.of(branch).list_keepers():
        name = keeper.name
        number = keeper.snapshot.id if keeper.snapshot is not None else None
        if name in lost or (name.startswith(own) and number in branch.pointer.ids):
            continue
        kind = name.removeprefix(home)
        if not name.startswith(home) or (not home and ": " in name):
            why, by = "another branch has it", f"branch {name.partition(':')[0]}"
        elif kind.startswith("tag "):
            why, by = "a tag keeps it", kind
        elif kind.startswith("changelog "):
            why, by = "kept for its changelog", "changelogs"
        else:
            why, by = "the engine does not see it", f"branch {branch.branch_name}"
        at = None if keeper.snapshot is None else keeper.snapshot.committed_at
        yield Fate(name, explain(name) if explain else why, by, number, at)
