"""All families of hostile input."""

from typing import Final

from tests.adversary.case import Family
from tests.adversary.replies import REPLIES

FAMILIES: Final[tuple[Family, ...]] = (REPLIES,)
