"""What is on the shelf."""

SHELF: dict[str, int] = {}


def left(name: str) -> int:
    """How many of it are left."""
    return SHELF.get(name, 0)


def worth(prices: dict[str, int]) -> int:
    """What the shelf holds, in cents."""
    return sum(prices[name] * count for name, count in SHELF.items())
