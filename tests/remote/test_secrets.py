"""Secrets planted everywhere are found nowhere: not in what is shown, not in an error, not in a log."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
import socket
import tempfile
import traceback
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens import options
from lakelens.cli.commands import commands
from lakelens.errors import LakeError
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Page, Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from lakelens.io.local import open_source
from tests.support.far import KEY, REGION, SECRET, Weather, make_static, serve
from tests.support.faults import cut, refuse, send

NESTED = "n3sted/secret+of/the=tests"
TOKEN = "t0ken/of+the/session=="
FROM_ENVIRONMENT = "env1ronment/secret+000000000000000000000"
PASSWORD, SIGNED = "hunter2-hunter2", "5igned0000presigned"
SECRETS = (SECRET, NESTED, TOKEN, FROM_ENVIRONMENT, PASSWORD, SIGNED, KEY)


def look(*texts: str) -> None:
    """Fails where any text has a secret, as it is or as addresses and documents spell it."""
    for text in (text.replace("<wbr>", "") for text in texts):
        for secret in SECRETS:
            for spelled in (
                secret,
                secret.replace("/", "%2F").replace("+", "%2B"),
                secret.replace("/", "\\/"),
            ):
                assert spelled not in text, text[:2_000]


def look_at_error(error: BaseException) -> None:
    """The same for an error, its traceback and what is behind it."""
    seen: list[BaseException | None] = [error]
    while seen:
        one = seen.pop()
        if one is not None:
            look(str(one), repr(one), *map(str, one.args), "".join(traceback.format_exception(one)))
            look(json.dumps({name: str(value) for name, value in vars(one).items()}))
            seen += [one.__cause__, one.__context__]
    assert isinstance(error, LakeError)
    look(error._repr_html_() or "", "".join(error._render_traceback_()))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", FROM_ENVIRONMENT)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setattr(options, "retries", 0)


@pytest.fixture
def given(bucket) -> dict[str, Any]:
    """Options with secrets wherever options may have some."""
    return {
        **bucket.options,
        "token": TOKEN,
        "s3.secret-access-key": NESTED,
        "fs.s3a.secret.key": NESTED,
        "s3_additional_kwargs": {"SSECustomerKey": NESTED},
    }


def show(table: Any) -> list[str]:
    """Everything that is shown of a table."""
    parts = [table, table.files, table.snapshots, table.schema, table.findings, table.refs, table.reads]
    shown = [
        text for one in parts for text in (repr(one), str(one), getattr(one, "_repr_html_", str)() or "")
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.html")
        table.to_html(path)
        return [*shown, path.read_text(), table.location, str(vars(table))]


def test_nothing_that_is_shown_has_one(bucket, given, caplog, capsys):
    url = bucket.put(ll.sample("iceberg").location, "secrets/ice")
    given.pop("s3_additional_kwargs")
    with caplog.at_level(logging.INFO):
        table = ll.open(url, storage_options=given)
        catalog = ll.find("s3://lake/secrets", storage_options=given)
        watched = ll.watch(url, storage_options=given)
        look(*show(table), repr(catalog), str(catalog), catalog._repr_html_() or "", repr(watched))
        look(repr(vars(watched)), repr([vars(one) for one in catalog]))
        store, _ = open_source(url, given)
        look(repr(store), str(store), repr(ll.options), repr(vars(store)["_requests"]))
        look(*show(ll.open(url.replace("s3://", f"s3://{KEY}:{PASSWORD}@"), storage_options=given)))
    look(caplog.text, *capsys.readouterr())
    again = pickle.loads(pickle.dumps(table))
    assert len(again.files) == len(table.files)  # a pickle may carry them: executors need them


ANSWERS = {
    "denied": ("403 Forbidden", "AccessDenied"),
    "key": ("403 Forbidden", "InvalidAccessKeyId"),
    "signature": ("403 Forbidden", "SignatureDoesNotMatch"),
    "expired": ("400 Bad Request", "ExpiredToken"),
    "region": ("400 Bad Request", "AuthorizationHeaderMalformed"),
    "busy": ("503 Slow Down", "SlowDown"),
    "server": ("500 Internal Server Error", "InternalError"),
    "other": ("418 Teapot", "Strange"),
    "bucket": ("404 Not Found", "NoSuchBucket"),
}


@pytest.mark.parametrize("name", [*ANSWERS, "cut", "page"])
def test_no_error_has_one_that_the_server_repeats(bucket, given, caplog, name):
    store, root = open_source("s3://lake/secrets", given)
    if name in ANSWERS:
        repeated = (
            f"{KEY} {SECRET} {TOKEN} {FROM_ENVIRONMENT} http://me:{PASSWORD}@h/?X-Amz-Signature={SIGNED}"
        )
        bucket.weather.faults.append(refuse(*ANSWERS[name], repeated))
    elif name == "cut":
        bucket.weather.faults.append(cut(bucket.weather.application))
    else:
        bucket.weather.faults.append(send(f"<!DOCTYPE html>{TOKEN}".encode(), "text/html"))
    with caplog.at_level(logging.INFO):
        for ask in (store.read, store.info, store.list, lambda path: store.read_range(path, -4, 4)):
            with pytest.raises(LakeError) as raised:
                ask(f"{root}/x")
            look_at_error(raised.value)
        with pytest.raises(LakeError) as raised:
            ll.open(f"{root}/t", storage_options=given)
        look_at_error(raised.value)
    look(caplog.text)


def test_no_error_of_a_connection_has_one(given, caplog):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        place = f"me:{PASSWORD}@127.0.0.1:{port}"
        wrong = {**given, "client_kwargs": {"endpoint_url": f"http://{place}", "region_name": REGION}}
        wrong.pop("s3_additional_kwargs")
        for where, chosen in (
            ("s3://lake/t", wrong),
            (f"s3://{KEY}:{PASSWORD}@lake/t", wrong),
            (f"http://{place}/t?X-Amz-Signature={SIGNED}", None),
            (f"http://127.0.0.1:{port}/t", {"headers": {"Authorization": f"Bearer {TOKEN}"}}),
            (f"nosuch://{place}/t?sig={SIGNED}", None),
            ("s3://lake/t", {"client_kwargs": {"nothing": NESTED, "aws_secret_access_key": NESTED}}),
            ("s3://lake/t", {"session": NESTED, "password": PASSWORD, "secret": SECRET}),
        ):
            with pytest.raises(LakeError) as raised:
                ll.open(where, storage_options=chosen)
            look_at_error(raised.value)
    look(caplog.text)


def test_an_address_with_a_user_and_a_signature(tmp_path):
    shutil.copytree(ll.sample("hive").location, tmp_path / "t")
    seen: list[Any] = []
    weather = Weather(make_static(tmp_path))
    weather.faults.append(
        lambda environ, _: seen.append((environ.get("HTTP_AUTHORIZATION"), environ["QUERY_STRING"]))
    )
    with serve(weather) as address:
        url = f"{address.replace('://', f'://me:{PASSWORD}@')}/t?X-Amz-Signature={SIGNED}"
        table = ll.open(url)
        assert len(table.files) == len(ll.sample("hive").files)
        look(*show(table))
        # each request has both
        assert all(user and query == f"X-Amz-Signature={SIGNED}" for user, query in seen)
        weather.faults.append(refuse("403 Forbidden", "AccessDenied", url))
        with pytest.raises(LakeError) as raised:
            ll.open(url)  # the table that is open has kept what it read
        look_at_error(raised.value)


def test_the_explorer_and_the_command_line(bucket, given):
    url = bucket.put(ll.sample("paimon").location, "explored/w/pai")
    given.pop("s3_additional_kwargs")
    explorer = Explorer("s3://lake/explored", storage_options=given)
    look(repr(explorer), str(explorer))
    first = explorer.answer(Place(()))
    shown = explorer.answer(first.place) if isinstance(first, Redirect) else first
    look(repr(first), repr(shown), *(render_page(one) for one in (first, shown) if isinstance(one, Page)))
    storage = [
        *("--storage-option", f"key={KEY}", "--storage-option", f"secret={SECRET}"),
        *("--storage-option", f"s3.endpoint={bucket.endpoint}", "--storage-option", f"token={TOKEN}"),
    ]
    for target in (url, "s3://lake/explored/nothing"):
        ran = CliRunner().invoke(commands, ["show", target, *storage])
        look(ran.output, ran.stderr, str(ran.exception))
        assert url in ran.output or "nothing" in ran.output
    bucket.weather.faults.append(refuse("403 Forbidden", "AccessDenied", f"{KEY} {SECRET} {TOKEN}"))
    ran = CliRunner().invoke(commands, ["show", url, *storage])
    look(ran.output, ran.stderr, str(ran.exception))
    assert ran.exit_code
