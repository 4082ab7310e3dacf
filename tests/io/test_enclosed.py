"""Nothing outside of a root is read: by links, by `..`, by encodings, by locations that metadata records."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import fsspec
import pytest

import lakelens as ll
from lakelens.errors import AccessDenied, LakeError, Missing
from lakelens.io.border import EnclosedStore
from lakelens.io.local import LocalStore
from lakelens.io.memory import MemoryStore
from lakelens.io.remote.store import FsspecStore
from lakelens.io.store import walk
from lakelens.model.finding import Finding
from lakelens.model.table import Table
from tests.support.rewriting import rewrite_document


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with links of each kind, beside a secret and a directory whose name begins as its own."""
    (tmp_path / "secret").write_text("no")
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root-2" / "secret").write_text("no")
    home = tmp_path / "root"
    (home / "inside").mkdir(parents=True)
    (home / "inside" / "a").write_text("yes")
    for name, target in {
        "relative": "../secret",
        "absolute": str(tmp_path / "secret"),
        "above": "..",
        "sibling": "../root-2",
        "good": "inside",
        "twice": "relative",
        "circle": "circle",
        "system": "/etc",
    }.items():
        (home / name).symlink_to(target)
    return home


def test_what_is_inside_is_read_also_by_links(root: Path) -> None:
    store = EnclosedStore(LocalStore(), str(root))
    for path in ("inside/a", "good/a", "inside/../inside/a", "above/root/inside/a"):
        assert store.read(f"{root}/{path}") == b"yes"
    assert pickle.loads(pickle.dumps(store)).read(f"{root}/inside/a") == b"yes"


@pytest.mark.parametrize(
    "path",
    [
        *("relative", "absolute", "above/secret", "sibling/secret", "twice", "system/passwd", "../secret"),
        *("inside/../../secret", "./../secret", "inside//../..//secret", "../root-2/secret", "..", "../.."),
        *("nothing/../../secret", "good/../../secret", "../root-2", "inside/\0/../../secret"),
    ],
)
def test_what_is_outside_is_refused(root: Path, path: str) -> None:
    store = EnclosedStore(LocalStore(), str(root))
    verbs = (store.info, store.list, store.read, lambda one: store.read_range(one, 0, 1))
    for verb in verbs:
        with pytest.raises(AccessDenied) as refused:
            verb(f"{root}/{path}")
        assert refused.value.path == f"{root}/{path}"
        assert "\0" in path or str(root) in refused.value.message


def test_absolute_and_missing_paths(root: Path) -> None:
    store = EnclosedStore(LocalStore(), str(root))
    for path in ("/etc/passwd", "/", str(root.parent / "secret"), "/proc/self/environ", f"{root}-2/secret"):
        with pytest.raises(AccessDenied):
            store.read(path)
    with pytest.raises(Missing) as missing:
        store.read(f"{root}/good/b")
    assert missing.value.path == f"{root}/good/b"


def test_a_link_that_leads_out_is_listed_by_its_name_alone(root: Path) -> None:
    store = EnclosedStore(LocalStore(), str(root))
    listed = {child.name: child for child in store.list(str(root))}
    for name in ("relative", "absolute", "sibling", "above", "twice", "system"):
        child = listed[name]
        assert (child.size, child.is_dir, child.modified, child.target) == (0, False, None, None)
    assert listed["good"].is_dir and listed["inside"].is_dir
    assert {found.path for found in walk(store, str(root)) if found.path.endswith("/a")} == {
        f"{root}/inside/a"
    }


def test_a_link_that_is_changed_after_it_was_resolved(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is what was looked at, not what the link says now."""
    inner = LocalStore()
    store = EnclosedStore(inner, str(root))
    read = LocalStore.read

    def swap(self: LocalStore, path: str) -> bytes:
        (root / "good").unlink()
        (root / "good").symlink_to("..")
        return read(self, path)

    monkeypatch.setattr(LocalStore, "read", swap)
    assert store.read(f"{root}/good/a") == b"yes"


@pytest.mark.parametrize(
    "path",
    [
        *("s3://wh2/x", "s3://wh/../secret", "s3://wh/a/../../secret", "/etc/passwd", "s3://other/wh/x"),
        *("s3://wh-2/x", "s3:///../wh2/x", "gs://wh/x", "wh/x", "s3://./wh2"),
    ],
)
def test_object_stores_compare_keys(path: str) -> None:
    memory = fsspec.filesystem("memory")
    store = EnclosedStore(FsspecStore(memory, "s3", prefix="s3://"), "s3://wh")
    with pytest.raises(AccessDenied):
        store.read(path)


@pytest.mark.parametrize(
    "path",
    [
        *("/%2e%2e/secret", "/..%2fsecret", "/%252e%252e/secret", "/..\\secret", "/a?x=/../..", "/a#b"),
        *("/.%2E/secret", "/%25%32%65%25%32%65/secret", "/%2525252525252525252e./x"),
    ],
)
def test_addresses_are_decoded_before_they_are_compared(path: str) -> None:
    class Web(MemoryStore):
        scheme = "https"

    store = EnclosedStore(Web({}), "https://host/wh")
    with pytest.raises(AccessDenied):
        store.read(f"https://host/wh{path}")
    with pytest.raises(Missing):
        store.read("https://host/wh/a%20b/c")


def make_table(tmp_path: Path, location: Path) -> Path:
    """A copy of a sample, one of whose manifests is recorded elsewhere, where a good copy is."""
    place = Path(shutil.copytree(ll.sample("iceberg").location, tmp_path / "root" / "t"))
    location.mkdir()
    manifest = next(iter((place / "metadata").glob("*-m0.avro")))
    shutil.move(manifest, location / manifest.name)
    (place / "metadata" / manifest.name).symlink_to(location / manifest.name)
    return place


def test_a_table_with_a_manifest_outside_is_shown_without_it(tmp_path: Path) -> None:
    place = make_table(tmp_path, tmp_path / "elsewhere")
    assert "foreign-file" in {f.code for f in read_all(ll.find(place.parent)[0].open())}
    table = ll.find(place.parent, enclosed=True)[0].open()
    findings = read_all(table)
    assert "foreign-file" not in {finding.code for finding in findings}
    said = [finding for finding in findings if "nothing outside of it is read" in finding.message]
    assert said and all(finding.severity == "error" for finding in said)
    assert table.reads.bytes and len(table.snapshots) == len(ll.open(place).snapshots)
    again = pickle.loads(pickle.dumps(table))
    assert [f.message for f in read_all(again)] == [f.message for f in findings]


def read_all(table: Table) -> list[Finding]:
    for snapshot in table.snapshots:
        try:
            list(snapshot.files)
        except LakeError:
            continue
    return list(table.findings)


def test_a_document_that_names_files_elsewhere(tmp_path: Path) -> None:
    """Absolute locations of another place, of another scheme, and `..`, in metadata itself."""
    sample = Path(ll.sample("iceberg").location)
    for at, location in enumerate(("/etc/passwd", "file:///etc/passwd", "s3://b/k", "../../../etc/passwd")):
        place = Path(shutil.copytree(sample, tmp_path / f"root{at}" / "t"))
        for path in place.glob("metadata/*.metadata.json"):
            rewrite_document(path, lambda held, to=location: move_lists(held, to))
        table = ll.find(place.parent, enclosed=True)[0].open()
        assert all("root:" not in finding.message for finding in read_all(table))
        assert not [
            path for path in table._context.access.store.counts.files if not path.startswith(str(place))
        ]
        assert [f for f in table.findings if f.severity == "error"]


def move_lists(document: dict[str, Any], location: str) -> None:
    for snapshot in document["snapshots"]:
        snapshot["manifest-list"] = location


def test_a_moved_table_reads_as_before(tmp_path: Path) -> None:
    """The recorded place, which is outside, is where a missing file is looked for second: that is no error of its own."""
    for name in ("iceberg-expired", "paimon-expired", "hive"):
        place = Path(shutil.copytree(ll.sample(name).location, tmp_path / name / "t"))
        plain, enclosed = ll.open(place), ll.find(place.parent, enclosed=True)[0].open()
        assert [(f.code, f.path) for f in read_all(enclosed)] == [(f.code, f.path) for f in read_all(plain)]
        assert sorted(f.path for f in enclosed.files) == sorted(f.path for f in plain.files)


def test_a_warehouse_in_which_a_table_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    place = ll.sample("paimon").location
    (tmp_path / "root" / "t").symlink_to(place)
    assert len(ll.find(tmp_path / "root")) == 1
    assert len(ll.find(tmp_path / "root", enclosed=True)) == 0
