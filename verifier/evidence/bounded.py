"""Replies of GitHub's API of bounded size, whatever a server sends (A8). Imports PyGithub, so a request imports it."""

from collections.abc import Iterator
from typing import Any, Final

import requests
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

MOST_MEGABYTES: Final = 64
"""As it is read, unpacked. A hundred texts of half a megabyte each, which is what GitHub shows of one, fit in."""


class TooMuch(Exception):
    """A reply that is larger than anything that was asked for."""


def bound_replies() -> None:
    """Every requester made from now on reads bounded replies, as UTF-8."""
    Requester.injectConnectionClasses(_Http, _Https)


def _bound(response: requests.Response, **_: Any) -> None:
    """A hook: it runs before any of the body is read."""
    response.raw = _Bounded(response.raw)
    response.encoding = "utf-8"  # without a charset in the reply it would be guessed, which takes minutes for megabytes


class _Bounded:
    """A body that ends with TooMuch where it gets too long; else as urllib3 gives it."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self, amount: int, decode_content: bool) -> Iterator[bytes]:
        left = MOST_MEGABYTES * 1_000_000
        for chunk in self._raw.stream(amount, decode_content=decode_content):
            left -= len(chunk)
            if left < 0:
                self._raw.close()
                raise TooMuch
            yield chunk


class _Http(HTTPRequestsConnectionClass):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.session.hooks["response"].append(_bound)


class _Https(HTTPSRequestsConnectionClass):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.session.hooks["response"].append(_bound)
