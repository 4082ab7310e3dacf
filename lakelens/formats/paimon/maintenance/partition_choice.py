"""Partitions by the text of a call: `dt=2024-01-01,h=10;dt=2024-01-02` is one partition, and all of another day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, LakeError, list_nearest
from lakelens.formats.paimon.metadata.partition_path import format_value

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.stats import Partition


def parse_partitions(text: str) -> list[dict[str, str]]:
    """The keys and values of each partition. Raises `LakeError`.

    >>> parse_partitions("dt=a,h=1; dt=b")
    [{'dt': 'a', 'h': '1'}, {'dt': 'b'}]
    """
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        pairs = [pair.partition("=") for pair in part.split(",")]
        if any(not sign for _, sign, _ in pairs):
            raise Corrupt("option partitions: not a partition", expected="key=value,…;…", seen=part)
        found.append({key.strip(): value.strip() for key, _, value in pairs})
    return found


def choose_partitions(
    files: Sequence[PaimonDataFile], text: str | None, branch: PaimonTable
) -> Iterator[PaimonDataFile]:
    """The files of the partitions that a text names; all without one. Raises `LakeError`."""
    if text is None:
        return iter(files)
    wanted = parse_partitions(text)
    for key in (key for one in wanted for key in one):
        if key not in branch.partition_keys:
            known = (
                list_nearest(key, branch.partition_keys) if branch.partition_keys else "the table has none"
            )
            raise LakeError(f"option partitions: {key} is no partition column", hint=known)
    return (file for file in files if any(_matches(file.partition, one, branch) for one in wanted))


def _matches(partition: Partition, wanted: Mapping[str, str], branch: PaimonTable) -> bool:
    return all(value in _list_forms(partition, key, branch) for key, value in wanted.items())


def _list_forms(partition: Partition, key: str, branch: PaimonTable) -> tuple[Any, ...]:
    """A value as text, in the two forms that Paimon writes."""
    column = next(one for one in branch.context.partitions.columns if one.name == key)
    value = partition.get(key)
    return tuple(format_value(value, column.type, legacy=legacy) for legacy in (False, True))
