"""Why a stored object is there, or why it is gone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable

from lakelens.model.storage import StoredFile

NOTHING = "referred to by nothing"
_MOST = 3
_SNAPSHOT = re.compile(r"^(?:snapshot|tag|branch|changelog) .*?(?= \(|$)")


def describe_created(file: StoredFile, claim: str = "") -> str:
    """Why an object is there: what a new snapshot uses it for, else what its role and its referrers say.

    >>> describe_created(StoredFile("/t/a", "a", 1, "data"))
    'data file, referred to by nothing'
    >>> describe_created(StoredFile("/t/snapshot/LATEST", "snapshot/LATEST", 1, "snapshot hint", ("found by its name",)))
    'hint: latest snapshot'
    """
    return claim or _describe_by_role(file) or _describe_by_referrers(file)


def describe_removed(
    file: StoredFile, *, dropped: bool, still: Iterable[str] = (), gone: Collection[str] = ()
) -> str:
    """What an object was, and why nothing needs it; `gone` are snapshots that are gone too, `still` what names it even now.

    >>> describe_removed(StoredFile("/t/a", "a", 1, "manifest", ("snapshot 1",)), dropped=False, gone=["snapshot 1"])
    'manifest of snapshot 1, which is gone'
    >>> describe_removed(StoredFile("/t/a", "a", 1, "data", ("m0.avro (ADDED)",)), dropped=True)
    'data file; the table was dropped'
    """
    noun, named = name_noun(file.role), list(still)
    reason = _describe_by_role(file)
    if dropped:
        return f"{reason or noun}; the table was dropped"
    if named:
        return f"{noun}: still named by {_join(named)}"
    if reason:
        return reason
    owners = dict.fromkeys(found[0] for name in file.referenced_by if (found := _SNAPSHOT.match(name)))
    left = [name for name in owners if name in gone]
    if left:
        return f"{noun} of {_join(left)}, which {'is' if len(left) == 1 else 'are'} gone"
    if not file.referenced_by:
        return f"{noun}, {NOTHING}"
    if gone:
        return f"{noun}: only snapshots that are gone needed it"
    return f"{noun}: nothing needs it any more"


def name_noun(role: str) -> str:
    """A role as a noun.

    >>> name_noun("data"), name_noun("data file"), name_noun("manifest"), name_noun("position delete")
    ('data file', 'data file', 'manifest', 'position delete file')
    """
    if role in ("data", "changelog data", "unknown", "hidden", "temporary") or role.endswith("delete"):
        return f"{role} file"
    return role


def find_checked(path: str) -> str:
    """The path of the file that a checksum file is for; any other path as it is.

    >>> find_checked("/t/.a.orc.crc"), find_checked("/t/a.orc")
    ('/t/a.orc', '/t/a.orc')
    """
    folder, name = posixpath.split(path)
    return posixpath.join(folder, name[1:-4]) if name.startswith(".") and name.endswith(".crc") else path


def _describe_by_role(file: StoredFile) -> str:
    """What is found by its name, not by a reference."""
    name = posixpath.basename(file.path)
    role = file.role.removeprefix("branch ")
    if role == "checksum":
        return f"checksum of {posixpath.basename(find_checked(file.path))}"
    if role == "snapshot hint" or (role.endswith(" hint") and name in ("LATEST", "EARLIEST")):
        return f"hint: {'earliest' if name == 'EARLIEST' else 'latest'} {role.removesuffix(' hint')}"
    if role == "version hint":
        return "hint: the number of the current metadata file"
    if role in ("success marker", "marker"):
        return "marker: a write job has finished here"
    if role == "schema":
        return f"{name}: columns, keys and options of the table"
    if role == "tag":
        return f"tag {name.removeprefix('tag-')}: a copy of its snapshot's document"
    if role == "consumer":
        return f"consumer {name.removeprefix('consumer-')}: the snapshot it reads next"
    if role == "snapshot":
        return f"snapshot {name.removeprefix('snapshot-')}"
    return ""


def _describe_by_referrers(file: StoredFile) -> str:
    noun = name_noun(file.role)
    names = list(file.referenced_by)
    if not names:
        return f"{noun}, {NOTHING}"
    if names[0].startswith("listing of "):
        return f"{noun}: readers find it by listing {names[0].removeprefix('listing of ')}"
    if names == ["metadata log"]:
        return f"{noun}: an earlier version, kept in the metadata log"
    if names[0] == "the current version":
        return f"{noun}: the current version"
    if names == ["found by its name"]:
        return f"{noun}, found by its name"
    return f"{noun} of {_join(names)}"


def _join(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return f"{shown} and {len(names) - _MOST} more" if len(names) > _MOST else shown
