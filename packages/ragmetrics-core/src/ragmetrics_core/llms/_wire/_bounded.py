"""HTTP clients for clients of packages that are made here. They limit the size and the time of an answer, and follow no redirect.

Strategy. An answer may arrive slowly without end, or decompress from a few bytes to gigabytes. A redirect may send a question,
with all judged data, to another server. httpx has no limits for this, but it calls ``send`` for every answer. There the body is
read in chunks, and the answer is refused if it is too long or takes longer than the timeout of its request. The classes are made
when they are first needed, because the packages are slow to import. The openai package uses httpx up to version 2, then httpx2.
Like the clients of the openai package, these close themselves in the end.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import cache
from typing import Any

from ._failures import LARGEST
from ._package_errors import TooLong

PACKED = ("", "identity", "gzip", "deflate")
"""The accepted encodings of an answer. With any other encoding, or with two encodings, one chunk may decompress to gigabytes."""

OF_TRANSPORT = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that do not describe a body that is already decompressed."""

SETTINGS = {"follow_redirects": False, "headers": {"Accept-Encoding": "gzip, deflate"}}


def bounded_client(parent: Any) -> Any:
    """Make an HTTP client of a class, that of httpx or httpx2 or one that a package derives from it."""
    return (_asynchronous(parent) if hasattr(parent, "aclose") else _synchronous(parent))(**SETTINGS)


def is_bounded(http_client: object) -> bool:
    """Whether an HTTP client was made here."""
    return getattr(type(http_client), "gives_up", False)


class Body:
    """The part of an answer's body that was read so far.

    Args:
        request: the request that is answered, of httpx or of httpx2.

    Attributes:
        http: the package of the request.
        seconds: the timeout of the request; None: there is none.
        parts: the chunks so far.
    """

    def __init__(self, request: Any) -> None:
        self.http: Any = sys.modules[type(request).__module__.partition(".")[0]]
        self.seconds: float | None = (request.extensions.get("timeout") or {}).get("read")
        self.parts: list[bytes] = []
        self._end = time.monotonic() + self.seconds if self.seconds else None
        self._size = 0

    def add(self, part: bytes) -> None:
        """Add the next chunk.

        Raises:
            TooLong: the body is too long.
            ReadTimeout: the body takes too long.
        """
        self._size += len(part)
        if self._size > LARGEST:
            raise TooLong
        if self._end is not None and time.monotonic() > self._end:
            raise self.http.ReadTimeout("the answer is not complete")
        self.parts.append(part)

    def checked(self, response: Any) -> Any:
        """Return the answer, no chunk of which can decompress to any number of bytes.

        Raises:
            DecodingError: the answer has an encoding in which one can.
        """
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in PACKED:
            raise self.http.DecodingError(f"it is packed as {packed!r}, which was not asked for")
        return response

    def of(self, response: Any) -> Any:
        """Make a new response object with this body. httpx cannot add a body to a response that was read in chunks."""
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in OF_TRANSPORT]
        whole = self.http.Response(
            response.status_code,
            headers=headers,
            content=b"".join(self.parts),
            request=response.request,
            extensions=response.extensions,
        )
        whole.elapsed = response.elapsed
        return whole


def _is_short(response: Any) -> bool:
    """Whether an answer declares a small size and no compression. Then reading all of it at once is safe."""
    length = response.headers.get("content-length", "")
    packed = response.headers.get("content-encoding", "")
    return not packed and length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= LARGEST


@cache
def _synchronous(parent: Any) -> Any:
    """Make the class of synchronous clients."""

    class Bounded(parent):  # type: ignore[misc]  # the packages are imported when they are needed
        gives_up = True

        def send(self, request: Any, *, stream: bool = False, **settings: Any) -> Any:
            body = Body(request)
            response = super().send(request, stream=True, **settings)
            if stream:
                return response
            try:
                for part in body.checked(response).iter_bytes():
                    body.add(part)
            finally:
                response.close()
            return body.of(response)

        def __del__(self) -> None:
            if not getattr(self, "is_closed", True):
                self.close()

    return Bounded


@cache
def _asynchronous(parent: Any) -> Any:
    """Make the class of asynchronous clients."""
    import asyncio  # noqa: PLC0415  costs more to import than all of this package

    import anyio  # noqa: PLC0415  heavy

    class AsyncBounded(parent):  # type: ignore[misc]  # the same
        gives_up = True

        async def send(self, request: Any, *, stream: bool = False, **settings: Any) -> Any:
            body = Body(request)
            try:
                with anyio.fail_after(None if stream else body.seconds):
                    response = await super().send(request, stream=True, **settings)
                    if stream:
                        return response
                    if _is_short(response):
                        await response.aread()
                        return response
                    try:
                        async for part in body.checked(response).aiter_bytes():
                            body.add(part)
                    finally:
                        await response.aclose()
            except TimeoutError:
                raise body.http.ReadTimeout("the answer is not complete") from None
            return body.of(response)

        def __del__(self) -> None:
            if getattr(self, "is_closed", True):
                return
            with suppress(RuntimeError):  # its event loop has ended
                asyncio.get_running_loop().create_task(self.aclose())

    return AsyncBounded
