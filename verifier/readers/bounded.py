"""A reply of bounded size, whatever a server sends (A8). Imports the HTTP client: only a call imports this."""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

MOST_BYTES: Final = 8_000_000  # 64,000 tokens are some hundred thousand characters
MOST_PACKED_BYTES: Final = 100_000  # inflates to a thousand times as much at the most
_PACKINGS: Final = ("gzip", "deflate")


class TooMuch(Exception):
    """More than any reply has. The message says what."""


async def bound(response: httpx2.Response) -> None:
    """Lets no more of the body be read than a reply has; for the client's `response` hook. Raises TooMuch."""
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", *_PACKINGS):
        raise TooMuch("a reply in a packing that was not asked for")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, MOST_PACKED_BYTES if packing in _PACKINGS else MOST_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooMuch("a reply larger than any message")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
