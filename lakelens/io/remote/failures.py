"""What goes wrong between here and a store, whoever's client says it: one kind, one sentence, and what would change it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakelens.errors import AccessDenied, LakeError, Missing, Unavailable

_SHORT = 160  # characters of what a client says


class Failed(Exception):
    """A request that failed, recognised: its `kind`, what was `said`, and the seconds `wait` that the server asks for."""

    def __init__(self, kind: str, said: str = "", wait: float | None = None) -> None:
        super().__init__(kind, said)
        self.kind, self.said, self.wait = kind, said, wait

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed a moment later."""
        return self.kind in _PASSING


@dataclass(frozen=True)
class _Kind:
    error: Callable[..., LakeError]
    message: str  # with the name of the verb and the endpoint
    hint: str = ""


_OTHER = _Kind(LakeError, "cannot be read: {said}")
_KINDS: Mapping[str, _Kind] = {
    "missing": _Kind(Missing, "no such object"),
    "bucket": _Kind(Missing, "no such bucket{at}", "{address}"),
    "denied": _Kind(AccessDenied, "the storage refused to {verb} this{at}{word}", "{rights}"),
    "anonymous": _Kind(AccessDenied, "no credentials were found{word}", "{credentials}"),
    "credentials": _Kind(AccessDenied, "the credentials are not accepted{at}{word}", "{credentials}"),
    "expired": _Kind(AccessDenied, "the credentials have expired{at}{word}", "{credentials}"),
    "clock": _Kind(AccessDenied, "the clocks of this machine and of the storage differ too much{at}{word}"),
    "region": _Kind(LakeError, "the bucket is in another region{at}{word}", "{region}"),
    "archived": _Kind(AccessDenied, "the object is archived, and has to be restored first{at}{word}"),
    "refused": _Kind(Unavailable, "nothing answers{at} (connection refused)", "{endpoint}"),
    "host": _Kind(Unavailable, "there is no such host{at}", "{endpoint}"),
    "connect": _Kind(
        Unavailable,
        "no connection{at} within {connect_timeout:g} s",
        "{endpoint}; lakelens.options.connect_timeout",
    ),
    "tls": _Kind(LakeError, "no trusted connection{at}{word}", "{endpoint}"),
    "timeout": _Kind(
        Unavailable, "no whole answer{at} within {timeout:g} s{tries}", "lakelens.options.timeout; {endpoint}"
    ),
    "throttled": _Kind(
        Unavailable,
        "the storage asks for fewer requests{at}{word}{tries}",
        "a smaller lakelens.options.max_connections, more lakelens.options.retries",
    ),
    "server": _Kind(Unavailable, "the storage failed{at}{word}{tries}", "later; lakelens.options.retries"),
    "cut": _Kind(Unavailable, "the connection was cut{at}{word}{tries}", "later; lakelens.options.retries"),
    "short": _Kind(
        Unavailable, "the answer is shorter than promised{at}{word}{tries}", "later; lakelens.options.retries"
    ),
    "replaced": _Kind(LakeError, "was replaced between two reads{word}", "open the table again"),
    "page": _Kind(
        LakeError,
        "the answer is a web page, an object was expected{at}{word}",
        "a login or a proxy; {endpoint}",
    ),
    "foreign": _Kind(LakeError, "the answer is not one of such a storage{at}{word}", "{endpoint}"),
    "large": _Kind(
        LakeError,
        "is larger than what was promised{at}{word}",
        "lakelens.options.budgets.max_document, where that is meant",
    ),
    "size": _Kind(LakeError, "the storage gives a size that no object has{at}: {said} bytes"),
    "endless": _Kind(LakeError, "the listing has no end{at} ({said})"),
    "elsewhere": _Kind(
        LakeError,
        "leads to {said}, and is not followed there{at}",
        "lakelens.open of that address, where it is meant",
    ),
    "profile": _Kind(LakeError, "no such profile{word}", "{credentials}"),
    "memory": _Kind(LakeError, "cannot be read: there is not enough memory"),
}
_PASSING = frozenset(("timeout", "throttled", "server", "cut", "short", "foreign"))

_S3_WORDS = {
    "endpoint": 'storage_options={"s3.endpoint": …} or AWS_ENDPOINT_URL',
    "address": 'the name of the bucket; storage_options={"s3.endpoint": …} or AWS_ENDPOINT_URL',
    "credentials": 'storage_options with "s3.access-key-id", "s3.secret-access-key" (and "s3.session-token"), '
    '"s3.profile-name" or AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; {"anon": True} for a public bucket',
    "rights": "s3:GetObject to read, s3:ListBucket to list (without it a missing object is refused, too); "
    'other credentials: "s3.profile-name" in storage_options or AWS_PROFILE',
    "region": 'storage_options={"s3.region": …} or AWS_DEFAULT_REGION',
}
_WORDS = {
    "endpoint": "the host in the address",
    "address": "the address",
    "credentials": "storage_options of the fsspec file system",
    "rights": "storage_options of the fsspec file system",
    "region": "storage_options of the fsspec file system",
}

# codes of S3 and its likes, in small letters
_CODES = {
    **dict.fromkeys(("nosuchkey", "404", "notfound", "410", "nosuchversion", "methodnotallowed"), "missing"),
    "nosuchbucket": "bucket",
    **dict.fromkeys(("accessdenied", "403", "forbidden", "allaccessdisabled", "accountproblem"), "denied"),
    **dict.fromkeys(("401", "unauthorized", "407"), "credentials"),
    **dict.fromkeys(("invalidaccesskeyid", "signaturedoesnotmatch", "invalidsecurity"), "credentials"),
    **dict.fromkeys(("invalidtoken", "invalidclienttokenid", "unrecognizedclientexception"), "credentials"),
    **dict.fromkeys(("expiredtoken", "expiredtokenexception", "requestexpired"), "expired"),
    "tokenrefreshrequired": "expired",
    "requesttimetooskewed": "clock",
    **dict.fromkeys(("authorizationheadermalformed", "permanentredirect", "301", "307"), "region"),
    **dict.fromkeys(("temporaryredirect", "redirect", "illegallocationconstraintexception"), "region"),
    "invalidobjectstate": "archived",
    **dict.fromkeys(("slowdown", "serviceunavailable", "503", "429", "toomanyrequests"), "throttled"),
    **dict.fromkeys(
        ("throttling", "throttlingexception", "requestlimitexceeded", "slowdownread"), "throttled"
    ),
    **dict.fromkeys(
        ("internalerror", "500", "502", "504", "internalservererror", "operationaborted"), "server"
    ),
    **dict.fromkeys(("requesttimeout", "408"), "timeout"),
}
# classes of clients' errors, the first that an error is an instance of: botocore, aiohttp, fsspec, Python
_CLASSES = {
    "Missing": "missing",
    "FileNotFoundError": "missing",
    "PermissionError": "denied",
    "MemoryError": "memory",
    **dict.fromkeys(("NoCredentialsError", "PartialCredentialsError", "NoAuthTokenError"), "anonymous"),
    **dict.fromkeys(("CredentialRetrievalError", "TokenRetrievalError", "SSOError"), "credentials"),
    "DefaultCredentialsError": "anonymous",
    "ProfileNotFound": "profile",
    "NoRegionError": "region",
    "RecursionError": "region",  # a client that is sent to another region, and asks this one which
    **dict.fromkeys(("ClientConnectorDNSError", "gaierror"), "host"),
    **dict.fromkeys(("SSLError", "ClientSSLError", "ServerFingerprintMismatch", "CertificateError"), "tls"),
    **dict.fromkeys(("ConnectTimeoutError", "ConnectionTimeoutError"), "connect"),
    **dict.fromkeys(("EndpointConnectionError", "ClientConnectorError", "ConnectionRefusedError"), "refused"),
    **dict.fromkeys(("ReadTimeoutError", "ServerTimeoutError", "FSTimeoutError", "TimeoutError"), "timeout"),
    **dict.fromkeys(("IncompleteRead", "IncompleteReadError", "ClientPayloadError"), "cut"),
    **dict.fromkeys(("ResponseStreamingError", "ConnectionClosedError", "ServerDisconnectedError"), "cut"),
    **dict.fromkeys(("ConnectionResetError", "BrokenPipeError", "EOFError", "ClientOSError"), "cut"),
    "HTTPClientError": "cut",
    "ResponseParserError": "foreign",
}


def recognise(error: BaseException) -> Failed:
    """Recognise the kind of a failure, and what its client says about it.

    >>> recognise(ConnectionRefusedError(111, "refused")).kind, recognise(KeyError("x")).said
    ('refused', "KeyError: 'x'")
    """
    if isinstance(error, Failed):
        return error
    chain = list(_follow(error))
    for one in chain:
        failed = one if isinstance(one, Failed) else _recognise_answer(one)
        if failed is not None:
            return failed
    kinds = [kind for one in chain if (kind := _find_class(one))]
    # "could not connect" has a reason below it: that there is no such host is more than that nothing answers
    kind = next((k for k in kinds if k in ("host", "tls", "connect")), kinds[0] if kinds else "other")
    said = str(error)
    word = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if kind == "missing" and "bucket" in said.lower() and "exist" in said.lower():
        kind = "bucket"
    return Failed(kind, "" if kind in ("denied", "memory") else word)


def _follow(error: BaseException) -> Iterator[BaseException]:
    """Follow an error and what it comes from."""
    seen: list[BaseException] = []
    pending: list[Any] = [error]
    while pending and len(seen) < 8:
        one = pending.pop(0)
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            yield one
            reported = getattr(one, "kwargs", None)
            pending += [reported.get("error")] if isinstance(reported, dict) else []
            pending += [getattr(one, "os_error", None), one.__cause__]


def _find_class(error: BaseException) -> str | None:
    names = (cls.__name__ for cls in type(error).__mro__)
    return next((kind for name in names if (kind := _CLASSES.get(name))), None)


def _recognise_answer(error: BaseException) -> Failed | None:
    """Recognise what a server answered, where an error of a client has it: with a document of S3, or only with a status."""
    answer = getattr(error, "response", None)
    if isinstance(answer, dict) and isinstance(answer.get("Error"), dict):
        return recognise_s3(answer)
    if any(cls.__name__ == "HttpProcessingError" for cls in type(error).__mro__):
        return None  # aiohttp's own complaint about what came, which it calls a 400
    for name in ("status", "status_code", "code"):
        status = getattr(error, name, None)
        if isinstance(status, str) and status.isdecimal():
            status = int(status)
        if isinstance(status, int) and 300 <= status < 600:
            return recognise_status(status, str(getattr(error, "message", "") or error))
    return None


def recognise_s3(answer: Mapping[str, Any]) -> Failed:
    """Recognise the failure that an answer of S3 describes.

    >>> recognise_s3({"Error": {"Code": "SlowDown", "Message": "Please reduce your request rate."}}).kind
    'throttled'
    """
    reported, meta = answer["Error"], answer.get("ResponseMetadata") or {}
    code, status = str(reported.get("Code", "")), meta.get("HTTPStatusCode")
    headers = {str(name).lower(): value for name, value in (meta.get("HTTPHeaders") or {}).items()}
    kind = _CODES.get(code.lower()) or _CODES.get(str(status))
    message = str(reported.get("Message") or "")
    region = reported.get("Region") or headers.get("x-amz-bucket-region")
    if code == "500" and "html" in str(headers.get("content-type", "")):
        kind = "foreign"  # what botocore makes of a page
    if kind is None and code == "400" and region:  # HEAD has no document
        kind = "region"
    if kind == "region" and region:
        return Failed(kind, f"{code}: {region}")
    if kind in (None, "region") and headers.get("location"):
        return Failed("elsewhere", str(headers["location"]))
    said = f"{code}: {message}" if message and message != code else code
    return Failed(kind or "other", said, _parse_wait(headers.get("retry-after")))


def recognise_status(status: int, said: str = "", wait: object = None) -> Failed:
    """Recognise the failure that a status of HTTP stands for.

    >>> recognise_status(429, wait="2").wait, recognise_status(404).kind, recognise_status(418, "teapot").kind
    (2.0, 'missing', 'other')
    """
    kind = _CODES.get(str(status)) or ("server" if status >= 500 else "other")
    kind = "other" if kind == "region" else kind
    said = f"status {status}: {said}" if said and said != str(status) else f"status {status}"
    return Failed(kind, said, _parse_wait(wait))


def _parse_wait(held: object) -> float | None:
    """Seconds of a header `Retry-After`; None for a date, or none."""
    text = str(held) if held is not None else ""
    return float(text) if re.fullmatch(r"\d{1,4}(\.\d{1,3})?", text) else None


def make_error(
    failed: Failed, path: str, *, scheme: str, verb: str, endpoint: str, said: str, tries: int
) -> LakeError:
    """Make the error that the reader gets. `said` is what the client says, without secrets.

    >>> failed = Failed("refused")
    >>> print(make_error(failed, "s3://b/t", scheme="s3", verb="list", endpoint="http://h:9", said="", tries=1))
    s3://b/t: nothing answers at http://h:9 (connection refused); try: storage_options={"s3.endpoint": …} or AWS_ENDPOINT_URL
    """
    from lakelens import options

    kind = _KINDS.get(failed.kind, _OTHER)
    short = said if len(said) <= _SHORT else f"{said[:_SHORT]}…"
    words = {
        "at": f" at {endpoint}" if endpoint else "",
        "word": f" ({short})" if short else "",
        "said": short,
        "verb": verb,
        "tries": f", tried {tries} times" if tries > 1 else "",
        "timeout": options.timeout,
        "connect_timeout": options.connect_timeout,
        **(_S3_WORDS if scheme == "s3" else _WORDS),
    }
    return kind.error(kind.message.format(**words), path=path, hint=kind.hint.format(**words) or None)
