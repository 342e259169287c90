"""The drop classes that path and changed lines alone prove (S14).

A false proof hides a true item from a reviewer; a noise item without a proof costs a glance. So every rule here says
what it has seen to be harmless, not what it knows to be harmful, and whatever is in doubt stays unproven.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from verifier.diff import FileDiff, Hunk, Line
from verifier.verification.lockfiles import is_lockfile, lock_bumped
from verifier.verification.model import DropClass, Proof
