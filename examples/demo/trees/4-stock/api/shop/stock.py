"""What is on the shelf, by stock keeping unit."""

SHELF: dict[str, int] = {}


class OutOfStockError(Exception):
    """The shelf does not hold what is wanted."""


def reserve(wanted: dict[str, int]) -> None:
    """Takes what is wanted off the shelf: all of it, or nothing."""
    for sku, count in wanted.items():
        if SHELF.get(sku, 0) < count:
            raise OutOfStockError(sku)
    for sku, count in wanted.items():
        SHELF[sku] -= count


def worth(prices: dict[str, int]) -> int:
    """What the shelf holds, in cents."""
    return sum(prices[sku] * count for sku, count in SHELF.items())
