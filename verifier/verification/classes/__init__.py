"""The drop classes that path and changed lines alone prove (S14).

A false proof hides a true item from a reviewer; a noise item without a proof costs a glance. So each rule lists what
is known to be harmless, and whatever is in doubt stays unproven. What a hunk does not show (a string or a fenced block
that was opened far above) is guarded by asking that its lines look like what they claim to be.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from verifier.diff import FileDiff, Hunk
from verifier.verification.classes.docs import shows_docs
from verifier.verification.classes.fixtures import shows_fixtures
from verifier.verification.classes.formatting import shows_formatting
from verifier.verification.classes.generated import shows_generated
from verifier.verification.classes.tests import shows_tests
from verifier.verification.model import DropClass, Proof

Rule = Callable[[FileDiff, Sequence[Hunk]], str | None]
# signs that Unicode calls printable, and yet nothing is seen of them
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\ufffd\U000e0100-\U000e01ef]"
)
# Greek, Cyrillic and their like, and letters that stand for Latin ones, in one word with a Latin letter
_LOOKALIKES: Final = (
    "\u0250-\u02af\u0370-\u058f\u13a0-\u13ff\u1d00-\u1dbf\ua640-\ua69f\uff21-\uff5a\U0001d400-\U0001d7ff"
)
_TWO_SCRIPTS: Final = re.compile(rf"[A-Za-z][\d_]*[{_LOOKALIKES}]|[{_LOOKALIKES}][\d_]*[A-Za-z]")


def proofs(file: FileDiff, hunks: Sequence[Hunk]) -> tuple[Proof, ...]:
    """Every drop class that path and changed lines alone prove of these hunks, each with a changed line that shows it.

    `hunks` are the item's own, of `file`. Nothing is proven without a changed line, of a file that was deleted, copied
    or may be a link or a submodule, nor where a line holds what cannot be seen or is not what it looks like (S14).
    """
    changed = [line for hunk in hunks for line in hunk.changed]
    shown = next((line for line in changed if line.text.strip()), changed[0] if changed else None)
    if shown is None or file.new_path is None or file.copied or file.submodule:
        return ()
    if any(_hides(line.text.removesuffix("\r")) for hunk in hunks for line in hunk.lines) or _may_be_links(hunks):
        return ()
    place, number = (file.new_path, shown.new) if shown.new is not None else (file.old_path or "", shown.old or 0)
    found = ((drop_class, rule(file, hunks)) for drop_class, rule in _RULES)
    return tuple(Proof(drop_class, place, number, why) for drop_class, why in found if why is not None)


def _hides(text: str) -> bool:
    """Whether a line holds what nobody sees, what ends it for a compiler alone, or letters that look like others."""
    if not text.replace("\t", " ").isprintable():
        return True
    return not text.isascii() and bool(_BLANK.search(text) or _TWO_SCRIPTS.search(text))


def _may_be_links(hunks: Sequence[Hunk]) -> bool:
    """Whether the file is one line without its end, as a symbolic link is shown: its text is where it leads."""
    signs = ["".join(line.sign for line in hunk.lines) for hunk in hunks]
    return any(shape in ("+\\", "-\\+\\", "+\\-\\") for shape in signs)


_RULES: Final[tuple[tuple[DropClass, Rule], ...]] = (
    ("docs", shows_docs),
    ("tests", shows_tests),
    ("fixtures", shows_fixtures),
    ("generated", shows_generated),
    ("formatting", shows_formatting),
)
