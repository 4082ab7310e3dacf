"""Addresses and options as users have them: the environment, profiles, and the names of PyIceberg, Hadoop and Paimon."""

from __future__ import annotations

import pytest

import lakelens as ll
from lakelens.errors import Unsupported
from lakelens.io.remote.options import prepare_options
from tests.support.far import KEY, REGION, SECRET
from tests.support.faults import gather

VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_ENDPOINT_URL",
)


@pytest.fixture
def url(bucket, monkeypatch, tmp_path) -> str:
    """A table in the bucket, on a machine that knows no credentials; whoever asks without a signature is noted."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return bucket.put(ll.sample("hive").location, "addresses/hive")


@pytest.fixture
def signers(bucket) -> set[str]:
    """Whose signature each request has."""
    seen: set[str] = set()

    def note(environ, _):
        seen.add(environ.get("HTTP_AUTHORIZATION", "nobody").partition("Credential=")[2].partition("/")[0])

    bucket.weather.faults.append(note)
    return seen


def test_the_environment_of_aws(url, bucket, monkeypatch, signers):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    assert len(ll.open(url, storage_options={"skip_instance_cache": True}).files) == 3
    assert signers == {"AKIAENVIRONMENT1"}


def test_a_profile(url, bucket, tmp_path, signers):
    (tmp_path / "credentials").write_text(
        f"[lake]\naws_access_key_id = AKIAPROFILE00001\naws_secret_access_key = {SECRET}\n"
    )
    (tmp_path / "config").write_text(f"[profile lake]\nregion = {REGION}\nendpoint_url = {bucket.endpoint}\n")
    assert len(ll.open(url, storage_options={"profile": "lake", "skip_instance_cache": True}).files) == 3
    assert signers == {"AKIAPROFILE00001"}


@pytest.mark.parametrize("given", [{"anon": True}, {"anon": "true"}, {"s3.anonymous": "true"}])
def test_anonymous_access(url, bucket, signers, given):
    table = ll.open(url, storage_options={"s3.endpoint": bucket.endpoint, **given})
    assert (len(table.files), signers) == (3, {""})


SPELLED = {
    "pyiceberg": {
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": REGION,
        "s3.session-token": "a-token",
        "s3.force-virtual-addressing": "false",
        "uri": "http://catalog",
        "type": "rest",
        "token": "of the catalog",
        "header.X-Iceberg-Access-Delegation": "vended-credentials",
    },
    "pyiceberg-client": {
        "client.access-key-id": KEY,
        "client.secret-access-key": SECRET,
        "client.region": REGION,
        "s3.path-style-access": "true",
    },
    "hadoop": {
        "fs.s3a.access.key": KEY,
        "spark.hadoop.fs.s3a.secret.key": SECRET,
        "fs.s3a.endpoint.region": REGION,
        "fs.s3a.path.style.access": "true",
    },
    "bucket": {"fs.s3a.bucket.lake.access.key": KEY, "fs.s3a.bucket.lake.secret.key": SECRET},
    "paimon": {"s3.access-key": KEY, "s3.secret-key": SECRET, "s3.path.style.access": "true"},
}


@pytest.mark.parametrize(
    ("name", "scheme"), list(zip(SPELLED, ("s3", "s3", "s3a", "s3a", "s3n"), strict=True))
)
def test_properties_as_others_spell_them(url, bucket, signers, name, scheme):
    endpoint = "fs.s3a.endpoint" if name in ("hadoop", "bucket") else "s3.endpoint"
    given = {**SPELLED[name], endpoint: bucket.endpoint}
    address = url.replace("s3://", f"{scheme}://")
    table = ll.open(address, storage_options=given)
    assert (table.location, len(table.files), signers) == (address, 3, {KEY})
    assert all(file.path.startswith(f"{address}/") for file in table.files)
    (found,) = ll.find(address.rpartition("/")[0], storage_options=given)
    assert found.path == address
    assert len(ll.open(found.path, storage_options=given).files) == 3  # pasted back


def test_credentials_in_the_address(url, bucket, signers):
    table = ll.open(
        url.replace("s3://", f"s3://{KEY}:hunter2@"), storage_options={"s3.endpoint": bucket.endpoint}
    )
    assert (table.location, len(table.files), signers) == (url, 3, {KEY})


def test_tables_are_found_with_their_scheme(url, bucket):
    shown = ll.find("s3://lake/addresses", storage_options=bucket.options)
    assert [found.path for found in shown] == [url]
    assert "s3://lake/addresses" in str(shown) and "s3://lake/addresses" in shown._repr_html_().replace(
        "<wbr>", ""
    )
    table = ll.open(url, storage_options=bucket.options)
    assert url in str(table) and url in table._repr_html_().replace("<wbr>", "")


@pytest.mark.parametrize(
    ("address", "given", "expected"),
    [
        (
            "gs://b/t",
            {"gcs.project-id": "p", "gcs.oauth2.token": "t", "gcs.requester-pays": "true", "s3.region": "x"},
            {"project": "p", "token": "t", "requester_pays": True},
        ),
        (
            "gs://b/t",
            {"gcs.session-kwargs": '{"a": 1}', "gcs.service.host": "http://h", "gcs.cache-timeout": "3"},
            {"session_kwargs": {"a": 1}, "endpoint_url": "http://h", "cache_timeout": 3.0},
        ),
        (
            "abfss://c@account.dfs.core.windows.net/t",
            {"adls.account-key": "k", "adls.client-secret": "s"},
            {"account_key": "k", "client_secret": "s", "account_name": "account"},
        ),
        (
            "abfss://c/t",
            {"adls.sas-token.account.dfs.core.windows.net": "sv=1"},
            {"account_name": "account", "sas_token": "sv=1"},
        ),
        (
            "hdfs://h/t",
            {"hdfs.port": "8020", "hdfs.kerberos_ticket": "f"},
            {"port": 8020, "kerb_ticket": "f"},
        ),
        ("hf://datasets/a/b", {"hf.token": "t"}, {"token": "t"}),
        ("memory://t", {"uri": "x", "token": "t", "a.b": 1}, {}),
    ],
)
def test_properties_of_other_file_systems(address, given, expected):
    assert prepare_options(address, given)[1] == expected


def test_what_is_said_in_the_words_of_the_file_system_wins(monkeypatch):
    _, given, _ = prepare_options(
        "s3a://b/t",
        {
            "key": "mine",
            "s3.access-key-id": "other",
            "client_kwargs": {"endpoint_url": "http://mine"},
            "s3.endpoint": "http://other",
            "config_kwargs": {"read_timeout": 7, "max_pool_connections": 500, "retries": {"max_attempts": 9}},
            "s3.connect-timeout": "3",
            "s3.proxy-uri": "http://proxy",
        },
    )
    config = given["config_kwargs"]
    assert (given["key"], given["client_kwargs"]) == ("mine", {"endpoint_url": "http://mine"})
    assert (config["read_timeout"], config["connect_timeout"], config["max_pool_connections"]) == (
        7,
        3.0,
        500,
    )
    assert config["retries"] == {"total_max_attempts": 1, "mode": "standard"}  # ours are the only ones
    assert config["proxies"]["https"] == "http://proxy"


def test_as_many_connections_as_are_used_together(bucket, monkeypatch):
    monkeypatch.setattr(ll.options, "max_connections", 24)
    bucket.put(ll.sample("iceberg").location, "addresses/ice")
    table = ll.open("s3://lake/addresses/ice", storage_options=bucket.options)
    bucket.weather.together = 0
    bucket.weather.faults.append(gather(bucket.weather, 11))
    paths = [f"{table.location}/{number}" for number in range(24)]
    from lakelens.io.ahead import fetch
    from lakelens.io.local import open_source
    from lakelens.io.tracing import TracingStore

    fetch(TracingStore(open_source(table.location, bucket.options)[0]), documents=paths)
    assert bucket.weather.together > 10  # botocore's own number


def test_a_catalog_that_signs_requests_itself():
    with pytest.raises(Unsupported, match="vended"):
        ll.open("s3://b/t", storage_options={"s3.signer": "S3V4RestSigner", "s3.signer.uri": "http://c"})
