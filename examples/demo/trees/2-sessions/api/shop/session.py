"""Sessions: a token, and how long it is good for."""

import secrets
import time
from dataclasses import dataclass

HOUR = 60 * 60 * 1000


@dataclass(frozen=True)
class Session:
    token: str
    user_id: str
    expires_at: int


def create(user_id: str) -> Session:
    """A new session of one hour; times are milliseconds."""
    return Session(secrets.token_urlsafe(), user_id, int(time.time() * 1000) + HOUR)
