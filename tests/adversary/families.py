"""All families of hostile input."""

from typing import Final

from tests.adversary.answers import ANSWERS
from tests.adversary.archives import ARCHIVES
from tests.adversary.bases import BASES
from tests.adversary.briefs import BRIEFS
from tests.adversary.case import Family
from tests.adversary.diffs import DIFFS
from tests.adversary.events import EVENTS_AND_ENVIRONMENT
from tests.adversary.replies import REPLIES

FAMILIES: Final[tuple[Family, ...]] = (REPLIES, BRIEFS, ARCHIVES, DIFFS, BASES, EVENTS_AND_ENVIRONMENT, ANSWERS)
