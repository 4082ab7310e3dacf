"""What is written is whole or not there: a full disk under a skeleton, a page, a picture and a site."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.whole import NotWritten, write_whole

# a limit of the size of files is to whoever writes what a full disk is
FULL = """
import json, resource, signal, sys
from pathlib import Path
import lakelens as ll
from lakelens.errors import LakeError
table, place = ll.open(ll.sample("iceberg").location), Path(sys.argv[1])
(place / "earlier.html").write_bytes(b"an earlier page")
(place / "empty").mkdir()
ways = {
    "skeleton": lambda: table.skeleton(place / "skeleton"),
    "skeleton in an empty directory": lambda: table.skeleton(place / "empty"),
    "minimize": lambda: ll.minimize(table, lambda path: True, place / "smallest"),
    "page": lambda: table.to_html(place / "page.html"),
    "page over another": lambda: table.to_html(place / "earlier.html"),
    "site": lambda: table.to_html(site=place / "site"),
    "map": lambda: table.map().save(place / "map.svg"),
}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_500, 1_500))
for name, write in ways.items():
    before = sorted(str(path) for path in place.rglob("*"))
    try:
        write()
        said = "written"
    except LakeError as error:
        said = f"{type(error).__name__}: {error}"
    except Exception as error:
        said = f"a {type(error).__name__}"
    left = [path for path in sorted(map(str, place.rglob("*"))) if path not in before]
    print(json.dumps([name, said, left]))
print(json.dumps(["the earlier page", (place / "earlier.html").read_text(), []]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of files there")
def test_a_full_disk_leaves_nothing_cut(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    *ways, earlier = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(ways) == 7
    for name, said, left in ways:
        assert said.startswith("NotWritten: ") and "cannot be written: File too large" in said, (name, said)
        assert left == [], name
    assert earlier[1] == "an earlier page"


def test_what_is_there_is_replaced_by_the_whole(tmp_path: Path) -> None:
    place, link = tmp_path / "page.html", tmp_path / "link.html"
    place.write_bytes(b"an earlier page")
    place.chmod(0o640)
    link.symlink_to(place)
    write_whole(link, b"<p>")
    assert place.read_bytes() == b"<p>" and link.is_symlink() and place.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.html", "page.html"]
    write_whole("/dev/null", b"<p>")
    assert Path("/dev/null").is_char_device(), "a device is written to, not replaced"


def test_where_nothing_may_be_written_it_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "nothing" / "page.html", tmp_path / "file" / "page.html", tmp_path):
        with pytest.raises(NotWritten, match="cannot be written"):
            ll.sample("hive").to_html(path)
