"""Sessions: a token, and how long it is good for."""

import secrets
import time
from dataclasses import dataclass

# How long a session lives, in milliseconds, where the caller does not say.
DEFAULT_TTL = 60 * 60 * 1000


@dataclass(frozen=True)
class Session:
    token: str
    user_id: str
    expires_at: int


def create(user_id: str, ttl: int = DEFAULT_TTL) -> Session:
    """A new session that lives for `ttl` milliseconds."""
    return Session(secrets.token_urlsafe(), user_id, int(time.time() * 1000) + ttl)
