"""Everything that goes wrong between here and a store, produced for real: one clear error each, and nothing else."""

from __future__ import annotations

import signal
import socket
import threading

import pytest

import lakelens as ll
from lakelens import options
from lakelens.errors import AccessDenied, LakeError, Missing, Unavailable
from lakelens.io.local import open_source
from tests.support.far import Weather, make_static, serve
from tests.support.faults import cut, refuse, send, shorten, silence

BODY = b"0123456789" * 100


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Pauses that a test does not wait for."""
    monkeypatch.setattr("lakelens.io.remote.store._FIRST_PAUSE", 0.001)


@pytest.fixture
def place(bucket):
    """A store and the path of an object in it."""
    bucket.client.put_object(Bucket="lake", Key="f/object", Body=BODY)
    store, root = open_source("s3://lake/f", bucket.options)
    return store, f"{root}/object"


@pytest.fixture
def site(tmp_path):
    """A store of a web server, the path of an object in it, and its weather."""
    (tmp_path / "object").write_bytes(BODY)
    weather = Weather(make_static(tmp_path))
    with serve(weather) as address:
        store, root = open_source(address)
        yield store, f"{root}/object", weather


def catch(kind, ask, *named):
    """The error of a kind that names the object, and says all of these; there is nothing behind it."""
    with pytest.raises(LakeError) as raised:
        ask()
    error = raised.value
    assert type(error) is kind, repr(error)
    assert error.__cause__ is None and error.__context__ is None
    said = str(error)
    assert "://" in said.partition(": ")[0]
    for word in named:
        assert word in said, said
    return error


ANSWERS = {
    "denied": ("403 Forbidden", "AccessDenied", AccessDenied, ("refused to read", "s3:GetObject")),
    "expired": ("400 Bad Request", "ExpiredToken", AccessDenied, ("expired", "s3.session-token")),
    "key": ("403 Forbidden", "InvalidAccessKeyId", AccessDenied, ("not accepted", "AWS_ACCESS_KEY_ID")),
    "signature": ("403 Forbidden", "SignatureDoesNotMatch", AccessDenied, ("not accepted", "AWS_PROFILE")),
    "clock": ("403 Forbidden", "RequestTimeTooSkewed", AccessDenied, ("clocks",)),
    "region": (
        "400 Bad Request",
        "AuthorizationHeaderMalformed",
        LakeError,
        ("region", "AWS_DEFAULT_REGION"),
    ),
    "moved": ("301 Moved Permanently", "PermanentRedirect", LakeError, ("another region", "s3.region")),
    "archived": ("403 Forbidden", "InvalidObjectState", AccessDenied, ("archived",)),
    "bucket": ("404 Not Found", "NoSuchBucket", Missing, ("no such bucket", "AWS_ENDPOINT_URL")),
    "throttled": ("503 Slow Down", "SlowDown", Unavailable, ("fewer requests", "max_connections", "3 times")),
    "many": ("429 Too Many Requests", "TooManyRequests", Unavailable, ("fewer requests", "retries")),
    "server": ("500 Internal Server Error", "InternalError", Unavailable, ("storage failed", "3 times")),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_s3_answers(place, bucket, monkeypatch, name):
    monkeypatch.setattr(options, "retries", 2)
    status, code, kind, words = ANSWERS[name]
    store, path = place
    store.read(path)
    bucket.weather.faults.append(refuse(status, code, "As it was said."))
    bucket.weather.requests.clear()
    for ask in (lambda: store.read(path), lambda: store.read_range(path, -4, 4)):
        catch(kind, ask, path, bucket.endpoint, *words)
    asked = len([one for one in bucket.weather.requests if one[1].endswith("/object")])
    if name != "region" and name != "moved":  # whose client may look for the region
        assert asked == 2 * (3 if kind is Unavailable else 1)


def test_what_passes_is_asked_again(place, bucket):
    store, path = place
    for fault in (
        refuse("503 Slow Down", "SlowDown", often=2),
        refuse("500 Internal Server Error", "InternalError", often=1),
        refuse("503 Service Unavailable", "ServiceUnavailable", often=1, Retry_After="0.01"),
        cut(bucket.weather.application, often=2),
        shorten(bucket.weather.application, often=2),
    ):
        bucket.weather.faults[:] = [fault]
        assert store.read(path) == BODY and store.read_range(path, 100, 10) == BODY[100:110]


def test_a_wait_that_is_too_long_is_not_waited_for(place, bucket):
    store, path = place
    bucket.weather.faults.append(refuse("503 Slow Down", "SlowDown", Retry_After="3600"))
    catch(Unavailable, lambda: store.read(path), "fewer requests")
    assert len(bucket.weather.requests) == 2  # the put, and one


def test_a_body_that_is_cut_and_one_that_is_short(place, bucket, monkeypatch):
    monkeypatch.setattr(options, "retries", 1)
    store, path = place
    bucket.weather.faults[:] = [cut(bucket.weather.application)]
    catch(Unavailable, lambda: store.read(path), "cut", path, "tried 2 times")
    bucket.weather.faults[:] = [shorten(bucket.weather.application)]
    catch(Unavailable, lambda: store.read_range(path, 0, 100), "shorter than promised", "99 of 100 bytes")


def test_an_object_that_is_replaced_between_two_reads(place, bucket):
    store, path = place
    assert store.read_range(path, 0, 4) == b"0123"
    bucket.client.put_object(Bucket="lake", Key="f/object", Body=BODY[::-1])
    catch(LakeError, lambda: store.read_range(path, 4, 4), "replaced between two reads", path, "again")
    assert store.read(path) == BODY[::-1]  # one read is of one version
    store.refresh()
    assert store.read_range(path, 0, 4) == b"9876"


def test_nothing_answers(bucket):
    with socket.socket() as held:  # a port that nobody listens on
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        wrong = {**bucket.options, "client_kwargs": {"endpoint_url": address, "region_name": "eu-west-1"}}
        catch(
            *(Unavailable, lambda: ll.open("s3://lake/t", storage_options=wrong)),
            *("s3://lake/t", "connection refused", address, "s3.endpoint", "AWS_ENDPOINT_URL"),
        )
        catch(Unavailable, lambda: ll.open(f"{address}/t"), address, "connection refused", "address")


def test_there_is_no_such_host(bucket):
    address = "http://storage.invalid:9000"
    wrong = {**bucket.options, "client_kwargs": {"endpoint_url": address, "region_name": "eu-west-1"}}
    catch(Unavailable, lambda: ll.open("s3://lake/t", storage_options=wrong), "host", address)
    catch(Unavailable, lambda: ll.open("http://storage.invalid/t"), "host", "http://storage.invalid")


def test_a_host_that_takes_no_connection(bucket, monkeypatch):
    monkeypatch.setattr(options, "connect_timeout", 0.05)
    with socket.socket() as held, socket.socket() as waiting:
        held.bind(("127.0.0.1", 0))
        held.listen(0)
        waiting.connect(held.getsockname())  # the one that fits: later ones get no answer
        waiting.setblocking(False)
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        others = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(held.getsockname())
            others.append(one)
        wrong = {**bucket.options, "client_kwargs": {"endpoint_url": address, "region_name": "eu-west-1"}}
        error = catch(Unavailable, lambda: open_source("s3://lake/t", wrong)[0].list("s3://lake/t"), address)
        assert "connect_timeout" in str(error) and "0.05 s" in str(error)
        for one in others:
            one.close()


def test_silence_ends_at_the_limit(bucket, site, monkeypatch):
    monkeypatch.setattr(options, "timeout", 0.2)
    monkeypatch.setattr(options, "retries", 1)
    gone = threading.Event()
    far, _ = open_source("s3://lake/f", bucket.options)
    bucket.weather.faults.append(silence(gone))
    store, path, weather = site
    weather.faults.append(silence(gone))
    for ask in (lambda: far.read("s3://lake/f/object"), lambda: store.read(path)):
        catch(Unavailable, ask, "no whole answer", "0.2 s", "lakelens.options.timeout")
    gone.set()


def test_no_bucket_and_no_object(place, bucket):
    store, path = place
    error = catch(Missing, lambda: store.read(f"{path}-s"), "no such object", f"{path}-s")
    assert isinstance(error, FileNotFoundError)
    for ask in (
        lambda: store.list("s3://nowhere/t"),
        lambda: store.read("s3://nowhere/t"),
        lambda: store.info("s3://nowhere/t"),
    ):
        catch(Missing, ask, "no such bucket", bucket.endpoint, "s3://nowhere/t")


def test_no_credentials_and_no_profile(bucket, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    bare = {"client_kwargs": {**bucket.options["client_kwargs"]}}
    catch(AccessDenied, lambda: ll.open("s3://lake/t", storage_options=bare), "no credentials", "AWS_PROFILE")
    named = {**bare, "s3.profile-name": "nobody"}
    catch(LakeError, lambda: ll.open("s3://lake/t", storage_options=named), "no such profile", "nobody")


def test_listing_is_refused_while_reading_is_allowed(place, bucket):
    store, path = place
    bucket.weather.faults.append(refuse("403 Forbidden", "AccessDenied", when="list-type=2"))
    catch(AccessDenied, lambda: store.list("s3://lake/f"), "refused to list", "s3:ListBucket")
    assert store.read(path) == BODY
    assert store.info(path).size == len(BODY)


def test_a_login_page_is_no_object(place, bucket, site):
    page = send(b"<!DOCTYPE html><title>Sign in</title><form></form>", "text/html; charset=utf-8")
    store, path, weather = site
    far, key = place
    for weathers, one, name in ((weather, store, path), (bucket.weather, far, key)):
        weathers.faults.append(page)
        for ask in (
            lambda one=one, name=name: one.read(name),
            lambda one=one, name=name: one.read_range(name, 0, 9),
        ):
            catch(LakeError, ask, "web page", "login")
    catch(LakeError, lambda: ll.open(path.rpartition("/")[0]), "web page", "login")
    with pytest.raises(LakeError, match="not one of such a storage"):
        far.list("s3://lake/f")


def test_what_a_web_server_answers(site, monkeypatch):
    monkeypatch.setattr(options, "retries", 1)
    store, path, weather = site
    for status, kind, word in (
        ("401 Unauthorized", AccessDenied, "not accepted"),
        ("403 Forbidden", AccessDenied, "refused"),
        ("404 Not Found", Missing, "no such object"),
        ("429 Too Many Requests", Unavailable, "fewer requests"),
        ("500 Internal Server Error", Unavailable, "storage failed"),
        ("418 I'm a teapot", LakeError, "status 418"),
    ):
        weather.faults[:] = [refuse(status, "X")]
        for ask in (
            lambda: store.read(path),
            lambda: store.read_range(path, -4, 4),
            lambda: store.info(path),
        ):
            catch(kind, ask, word, path)
    weather.faults[:] = [cut(weather.application)]
    catch(Unavailable, lambda: store.read(path), "cut")
    weather.faults[:] = [shorten(weather.application)]
    catch(Unavailable, lambda: store.read_range(path, 0, 100), "shorter than promised")


def test_a_file_of_a_web_server_that_is_replaced(site, tmp_path):
    store, path, _ = site
    store.read_range(path, 0, 4)
    (tmp_path / "object").write_bytes(b"another")
    catch(LakeError, lambda: store.read_range(path, 0, 4), "replaced between two reads")


def test_an_interrupt_ends_the_waiting(bucket):
    gone = threading.Event()
    store, path = open_source("s3://lake/f", bucket.options)
    store.list("s3://lake/")
    asked = threading.Event()

    def interrupt():
        asked.wait(10)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    bucket.weather.faults.append(lambda environ, _: asked.set())
    bucket.weather.faults.append(silence(gone))
    thread = threading.Thread(target=interrupt)
    # a process that was begun in the background ignores interrupts
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            store.read(f"{path}/object")
    finally:
        gone.set()
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_a_table_is_opened_while_the_storage_is_busy(bucket):
    url = bucket.put(ll.sample("iceberg").location, "busy/ice")
    turn = iter(range(1 << 30))
    busy = refuse("503 Slow Down", "SlowDown")
    bucket.weather.faults.append(lambda environ, start: busy(environ, start) if next(turn) % 3 == 0 else None)
    table = ll.open(url, storage_options=bucket.options)
    assert len(table.files) == len(ll.sample("iceberg").files)
