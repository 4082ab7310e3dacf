"""A hash index lost a key: the next write gives the key a second bucket."""

from tests.support.damage import Paimon

LAKE = "paimon-java/2.0.0-pk-dynamic-bucket"
CODE, PATH, SAYS = "index-rows", "index", "hashes"


def damage(lake: Paimon) -> None:
    for path in (lake.root / "index").iterdir():
        path.write_bytes(path.read_bytes()[:-4])
