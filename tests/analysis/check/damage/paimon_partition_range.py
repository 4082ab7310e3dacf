"""A manifest list's partition statistics leave a partition out."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/pk-partitioned"
CODE, PATH, SAYS = "partition-range", "manifest-", "bound"


def damage(lake: Paimon) -> None:
    def edit(lines: Records) -> None:
        for line in lines:
            stats = line["_PARTITION_STATS"]
            stats["_MIN_VALUES"], stats["_MAX_VALUES"] = stats["_MAX_VALUES"], stats["_MIN_VALUES"]

    for number in range(1, lake.last + 1):
        for role in ("base", "delta"):
            lake.edit_list(number, edit, role)
