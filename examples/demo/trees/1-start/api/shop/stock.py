"""What is on the shelf."""

SHELF: dict[str, int] = {}


def left(name: str) -> int:
    """How many of it are left."""
    return SHELF.get(name, 0)
