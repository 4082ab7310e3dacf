"""A manifest is cut short, its length as recorded."""

from tests.support.damage import Paimon

LAKE = "spark/paimon/append"
CODE, PATH, SAYS = "corrupt", "manifest-", ""


def damage(lake: Paimon) -> None:
    path = lake.manifest_path(1)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\0" * (len(data) - len(data) // 2))
