"""Prices, in cents."""

from dataclasses import dataclass

BULK_FROM = 10
BULK_PERCENT = 5


@dataclass(frozen=True)
class Line:
    sku: str
    price: int
    quantity: int


def total(lines: list[Line]) -> int:
    """What the lines cost together, bulk discount taken off."""
    return sum(bulk_discount(line.price * line.quantity, line.quantity) for line in lines)


def bulk_discount(amount: int, quantity: int) -> int:
    """`amount`, less the bulk discount where it is due."""
    if quantity > BULK_FROM:
        return less(amount, BULK_PERCENT)
    return amount


def less(amount: int, percent: int) -> int:
    """`amount` less `percent` of it, rounded in the shop's favour."""
    return amount - amount * percent // 100
