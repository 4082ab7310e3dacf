"""The base list of a snapshot has lost a manifest: what earlier commits wrote is gone."""

from tests.support.damage import Paimon, Records

LAKE = "spark/paimon/append"
CODE, PATH, SAYS = "base-differs", "manifest-list-", "begins with"


def damage(lake: Paimon) -> None:
    def edit(lines: Records) -> Records:
        return lines[1:]

    number = next(n for n in range(lake.last, 0, -1) if len(lake.lines(n, "base")))
    lake.edit_list(number, edit, "base")
