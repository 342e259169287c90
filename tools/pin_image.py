"""Names the released image in ./action.yml by its digest: the one change of a release commit.

    python tools/pin_image.py ghcr.io/acme/verifier sha256:<64 hex digits>

Exits 1, and leaves the file as it is, where name or digest has another form or there is not exactly one line to change.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FILE: Final = Path("action.yml")
BUILT_AT_USE: Final = "  image: Dockerfile\n"
IMAGE: Final = re.compile(r"ghcr\.io(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*){2}", re.ASCII)
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def pinned(text: str, image: str, digest: str) -> str:
    """`text` with its image named by digest. Raises ValueError."""
    if not IMAGE.fullmatch(image):
        raise ValueError(f"expected ghcr.io/owner/name in lower case and without a tag, not {image!r}")
    if not DIGEST.fullmatch(digest):
        raise ValueError(f"expected sha256: and 64 hex digits, not {digest!r}")
    lines = text.splitlines(keepends=True)
    if lines.count(BUILT_AT_USE) != 1:
        raise ValueError(f"expected one line {BUILT_AT_USE.strip()!r}, found {lines.count(BUILT_AT_USE)}")
    named = f"  image: docker://{image}@{digest}\n"
    return "".join(named if line == BUILT_AT_USE else line for line in lines)


def main(arguments: Sequence[str]) -> int:
    """Rewrites ./action.yml; returns the exit code."""
    if len(arguments) != 2:
        print("usage: pin_image.py IMAGE DIGEST", file=sys.stderr)
        return 1
    try:
        FILE.write_text(pinned(FILE.read_text(), *arguments))
    except (OSError, ValueError) as error:
        print(f"pin_image: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
