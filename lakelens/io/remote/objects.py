"""S3 and what speaks as it does: requests of the client that s3fs keeps, without the ones that s3fs adds."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from typing import Any

from lakelens.io.remote.failures import recognise
from lakelens.io.remote.requests import (
    WASTED,
    Answer,
    Facts,
    Listing,
    ListingLimit,
    check_page,
    cut_range,
    format_range,
    parse_content_range,
    receive,
    receive_whole,
    run,
    wait_for,
)

_PAGE = 1_000  # keys that are listed at once


class S3Requests:
    """An `s3fs.S3FileSystem`: its credentials, options and connections; one request for each question.

    `info` asks by a listing, whose answer says at once whether there is an object, a directory or nothing.
    """

    def __init__(self, filesystem: Any) -> None:
        self._fs = filesystem
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        """The address of the service, as the client knows it."""
        client = getattr(self._fs, "_s3", None)
        given = self._fs.client_kwargs.get("endpoint_url") or self._fs.endpoint_url
        return str(getattr(getattr(client, "meta", None), "endpoint_url", None) or given or "")

    def find_secrets(self) -> tuple[str, ...]:
        """Find the credentials in use, wherever the client found them."""
        found = getattr(getattr(self._fs, "session", None), "_credentials", None)
        names = ("_access_key", "_secret_key", "_token", "access_key", "secret_key", "token")
        values = [vars(found).get(name) for name in names] if hasattr(found, "__dict__") else []
        return tuple(value for value in values if isinstance(value, str) and value)

    def info(self, path: str) -> Facts:
        return run(self.connect(), self._info, *self._split(path))

    def list_below(self, path: str, limit: int) -> Listing:
        return run(self.connect(), self._list_below, *self._split(path), limit)

    def list(self, path: str) -> Listing:
        return run(self.connect(), self._list, *self._split(path))

    def read(self, path: str, most: int) -> Answer:
        return run(self.connect(), self._read, *self._split(path), most)

    def read_range(self, path: str, start: int, length: int, most: int) -> Answer:
        if length <= 0:
            return Answer(b"")
        if start < 0 and -start - length > WASTED:
            start = max(0, int(self.info(path)["size"]) + start)
        return run(self.connect(), self._read_range, *self._split(path), start, length, most)

    def connect(self) -> Any:
        """Give the file system with its client, which is made once, not by each of many threads."""
        with self._lock:
            if getattr(self._fs, "_s3", None) is None:
                run(self._fs, self._fs.set_session)
        return self._fs

    def _split(self, path: str) -> tuple[str, str]:
        bucket, key, _ = self._fs.split_path(path)
        return bucket, key

    async def _ask(self, verb: str, **arguments: Any) -> Any:
        await self._fs.set_session()
        client = await self._fs.get_s3(arguments.get("Bucket"))
        method = getattr(client, verb)
        wanted = {**self._fs.req_kw, **arguments}
        return await wait_for(method(**self._fs._get_s3_method_kwargs(method, **wanted)))

    async def _info(self, bucket: str, key: str) -> Facts:
        if not key:
            await self._ask("list_objects_v2", Bucket=bucket, MaxKeys=1)
            return _name_folder(bucket, "")
        try:
            found = await self._ask("list_objects_v2", Bucket=bucket, Prefix=key, Delimiter="/", MaxKeys=10)
        except Exception as error:
            if recognise(error).kind != "denied":
                raise
            return await self._info_by_name(bucket, key)
        for one in found.get("Contents", []):
            if one["Key"] == key:
                return _name_object(bucket, one)
        names = [one["Prefix"] for one in found.get("CommonPrefixes", [])]
        if f"{key}/" in names:
            return _name_folder(bucket, key)
        if found.get("IsTruncated") and max(names, default="") < f"{key}/":
            return await self._info_of_folder(bucket, key)
        raise FileNotFoundError(key)

    async def _info_by_name(self, bucket: str, key: str) -> Facts:
        """Where listing is not allowed: objects can be asked for by name, and perhaps what is below a directory listed."""
        try:
            found = await self._ask("head_object", Bucket=bucket, Key=key)
        except Exception as error:
            if recognise(error).kind not in ("denied", "missing"):
                raise
            return await self._info_of_folder(bucket, key)
        return _name_object(bucket, {"Key": key, "Size": found["ContentLength"], **found})

    async def _info_of_folder(self, bucket: str, key: str) -> Facts:
        found = await self._ask("list_objects_v2", Bucket=bucket, Prefix=f"{key}/", MaxKeys=1)
        if not found.get("Contents"):
            raise FileNotFoundError(key)
        return _name_folder(bucket, key)

    async def _list(self, bucket: str, key: str) -> Listing:
        if not bucket:
            held = await self._ask("list_buckets")
            return [_name_folder(one["Name"], "") for one in held.get("Buckets", [])]
        prefix = f"{key}/" if key else ""
        children: Listing = []
        is_there = not key
        async for page in self._list_pages(Bucket=bucket, Prefix=prefix, Delimiter="/"):
            objects, folders = page.get("Contents", []), page.get("CommonPrefixes", [])
            is_there = is_there or bool(objects or folders)
            children += [_name_object(bucket, one) for one in objects if one["Key"] != prefix]
            children += [_name_folder(bucket, folder["Prefix"]) for folder in folders]
        if not is_there:
            raise FileNotFoundError(key)
        return children

    async def _list_below(self, bucket: str, key: str, limit: int) -> Listing:
        prefix = f"{key}/" if key else ""
        found: Listing = []
        async for page in self._list_pages(Bucket=bucket, Prefix=prefix, MaxKeys=min(_PAGE, limit)):
            for one in page.get("Contents", []):
                is_folder = one["Key"].endswith("/")  # a marker: there is nothing else in it, perhaps
                found.append(_name_folder(bucket, one["Key"]) if is_folder else _name_object(bucket, one))
            if len(found) >= limit:
                break
        return found[:limit]

    async def _list_pages(self, **asked: Any) -> AsyncIterator[Mapping[str, Any]]:
        """Give the pages of a listing, as long as it comes to an end. Raises `Failed`."""
        limit, more = ListingLimit(), dict[str, str]()
        while True:
            page = await self._ask("list_objects_v2", **asked, **more)
            yield page
            if not page.get("IsTruncated"):
                return
            token = page.get("NextContinuationToken")
            limit.turn(len(page.get("Contents", [])) + len(page.get("CommonPrefixes", [])), token)
            more = {"ContinuationToken": str(token)}

    async def _read(self, bucket: str, key: str, most: int) -> Answer:
        response = await self._ask("get_object", Bucket=bucket, Key=key)
        data = await _read_whole(response, most)
        check_page(data, response.get("ContentType"), key)
        return Answer(data, _find_version(response, len(data)))

    async def _read_range(self, bucket: str, key: str, start: int, length: int, most: int) -> Answer:
        wanted = format_range(start, length)
        try:
            response = await self._ask("get_object", Bucket=bucket, Key=key, Range=wanted)
        except Exception as error:
            # a range that begins after the end of the object has no bytes
            answer = getattr(error, "response", None) or {}
            reported = answer.get("Error") or {} if isinstance(answer, dict) else {}
            if reported.get("Code") in ("InvalidRange", "416", "RequestedRangeNotSatisfiable"):
                return Answer(b"")
            raise
        place = parse_content_range(response.get("ContentRange"))
        if place is None:
            data = await _read_whole(response, most)
        else:
            with closing(response["Body"]) as body:
                data = await receive(body.read, max(length, -start), place[1] - place[0])
        if start <= 0:
            check_page(data, response.get("ContentType"), key)
        whole = len(data) if place is None else place[2]
        return Answer(cut_range(data, place, start, length), _find_version(response, whole))


async def _read_whole(response: Mapping[str, Any], most: int) -> bytes:
    with closing(response["Body"]) as body:
        return await receive_whole(body.read, most, response.get("ContentLength"))


def _find_version(response: Mapping[str, Any], size: int | None) -> str:
    mark = response.get("ETag") or response.get("LastModified")
    return f"{mark} {size}" if mark and size is not None else ""


def _name_object(bucket: str, one: Mapping[str, Any]) -> Facts:
    return {
        "name": f"{bucket}/{one['Key']}",
        "size": one["Size"],
        "type": "file",
        "LastModified": one.get("LastModified"),
        "ETag": one.get("ETag"),
    }


def _name_folder(bucket: str, key: str) -> Facts:
    name = f"{bucket}/{key}".rstrip("/")
    return {"name": name, "size": 0, "type": "directory"}
