"""Two data files have changed places: each is there, neither is as long as recorded or has its rows."""

from tests.support.damage import Iceberg

LAKE = "spark/iceberg/v2-copy-on-write"
CODE, PATH, SAYS = "file-length", ".parquet", "recorded with"


def damage(lake: Iceberg) -> None:
    paths = sorted(lake.root.glob("data/**/*.parquet"), key=lambda path: path.stat().st_size)
    least, most = paths[0], paths[-1]
    content = least.read_bytes()
    least.write_bytes(most.read_bytes())
    most.write_bytes(content)
