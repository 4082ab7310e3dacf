"""Secrets in the address and the options of a store are in nothing that is shown: outputs, errors, tracebacks, logs.

The store is a file system of fsspec in memory that knows its secrets, as clients do, and quotes them in every error.
"""

from __future__ import annotations

import logging
import pickle
import random
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import lakelens as ll
from lakelens.errors import LakeError
from tests.fuzz.known import KNOWN
from tests.fuzz.recipes import read_lake
from tests.fuzz.walk import Walk

USER, SIGNATURE, KEY, TOKEN = "canary-user-71", "canary-signature-72", "canary-key-73", "canary-token-74"
CANARIES = (USER, SIGNATURE, KEY, TOKEN)
OPTIONS = {"secret": KEY, "client_kwargs": {"headers": {"Authorization": TOKEN}, "region": "eu-west-1"}}
URL = f"canary://me:{USER}@host/t?X-Amz-Signature={SIGNATURE}"


class CanaryFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """Objects by address; says all that it knows when it fails, which is at every `fails_at`-th reading."""

    protocol = "canary"
    cachable = False
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    strays: ClassVar[list[str]] = []  # what is asked without user and parameters
    fails_at = 0
    asked = 0

    def __init__(self, secret: str = "", client_kwargs: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.said = f"secret={secret} kwargs={client_kwargs}"
        logging.getLogger("lakelens.tests").debug("made")

    @classmethod
    def _strip_protocol(cls, path: Any) -> str:
        return str(path).rstrip("/")

    def _find(self, path: str) -> str:
        head, _, rest = path.partition("?")
        kind = type(self)
        if USER not in head or SIGNATURE not in rest:
            kind.strays.append(path)
            raise FileNotFoundError(path)
        kind.asked += 1
        if kind.fails_at and kind.asked % kind.fails_at == 0:
            raise ConnectionError(f"GET {path} failed with {self.said}")
        return head.partition("@")[2]

    def _answer(self, name: str, asked: str) -> dict[str, Any]:
        head, _, query = asked.partition("?")
        whole = f"{head.partition('@')[0]}@{name}?{query}"
        if name in self.store:
            return {"name": whole, "size": len(self.store[name]), "type": "file"}
        if any(one.startswith(f"{name}/") for one in self.store):
            return {"name": whole, "size": 0, "type": "directory"}
        raise FileNotFoundError(f"{asked} is not there, says {self.said}")

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return self._answer(self._find(path), path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[dict[str, Any]]:
        name = self._find(path)
        self._answer(name, path)
        names = {one[len(name) + 1 :].split("/")[0] for one in self.store if one.startswith(f"{name}/")}
        return [self._answer(f"{name}/{one}", path) for one in sorted(names)]

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        name = self._find(path)
        self._answer(name, path)
        return bytes(self.store[name][start:end])


@pytest.fixture(autouse=True)
def filesystem() -> Iterator[type[CanaryFileSystem]]:
    fsspec.register_implementation("canary", CanaryFileSystem, clobber=True)
    CanaryFileSystem.fails_at = CanaryFileSystem.asked = 0
    yield CanaryFileSystem
    CanaryFileSystem.store.clear()
    CanaryFileSystem.strays.clear()


def find_canaries(said: Any) -> list[str]:
    return [canary for canary in CANARIES if canary in said]


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("fails_at", [0, 7])
@pytest.mark.parametrize("lake", ["hive", "iceberg", "paimon"])
def test_no_secret_is_said(
    lake: str,
    fails_at: int,
    filesystem: type[CanaryFileSystem],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    filesystem.store.update({f"host/t/{name}": data for name, data in read_lake(lake).items()})
    said, errors = 0, 0
    found: dict[str, list[str]] = {}

    def listen(step: str, heard: Any) -> None:
        nonlocal said, errors
        if isinstance(heard, LakeError):
            errors += 1
            told = "".join(traceback.format_exception(heard)) + repr(heard) + repr(vars(heard))
        else:
            told = heard if isinstance(heard, str) else repr(heard)
        said += 1
        if canaries := find_canaries(told):
            found[step] = canaries

    walk = Walk(random.Random(0), 0.5, tmp_path, most_of_a_kind=1, listen=listen)
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as warned:
        table = ll.open(URL, storage_options=OPTIONS)
        filesystem.fails_at = fails_at
        walk.run(lambda: table)
    written = [path.read_text("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    found["pages"] = find_canaries("".join(written))
    found["logs"] = find_canaries(caplog.text)
    found["warnings"] = find_canaries("".join(str(one.message) for one in warned))
    assert {step: canaries for step, canaries in found.items() if canaries} == {}
    assert [one for one in filesystem.strays if not any(known.search(one) for known in KNOWN)] == []
    assert said > 300 and written and filesystem.asked > 3
    assert not fails_at or errors or table.findings, "the store did fail"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        (URL, OPTIONS),
        (URL.replace("/t?", "/no/such?"), OPTIONS),
        (f"canary-that-is-unknown://me:{USER}@host/t?sig={SIGNATURE}", OPTIONS),
        (URL, {**OPTIONS, "no_such_option": object(), "asynchronous": KEY}),
        (
            f"https://me:{USER}@127.0.0.1:1/t?sig={SIGNATURE}",
            {"client_kwargs": {"headers": {"token": TOKEN}}},
        ),
    ],
)
def test_no_refusal_says_a_secret(
    url: str, options: dict[str, Any], filesystem: type[CanaryFileSystem]
) -> None:
    filesystem.fails_at = 1
    for ask in (ll.open, ll.find, ll.explain_file):
        try:
            answer = ask(url, storage_options=options)
        except LakeError as error:
            said = "".join(traceback.format_exception(error)) + error._repr_html_() + error.to_text()
            said += "".join(error._render_traceback_()) + repr(pickle.loads(pickle.dumps(error)))
        else:
            said = f"{answer!r} {answer.to_text(3)} {answer._repr_html_()}"
        assert not find_canaries(said)


def test_a_canary_that_sings_is_found() -> None:
    assert find_canaries(f"GET https://host/?sig={SIGNATURE}") == [SIGNATURE]
