"""Prices, in cents."""

from dataclasses import dataclass

BULK_FROM = 10
BULK_PERCENT = 5
COUPONS = {"WELCOME": 10, "SPRING": 15}


@dataclass(frozen=True)
class Line:
    sku: str
    price: int
    quantity: int


def total(lines: list[Line]) -> int:
    """What the lines cost together, bulk discount taken off."""
    amount = sum(line.price * line.quantity for line in lines)
    return bulk_discount(amount, sum(line.quantity for line in lines))


def bulk_discount(amount: int, quantity: int) -> int:
    """`amount`, less the bulk discount where it is due."""
    if quantity >= BULK_FROM:
        return less(amount, BULK_PERCENT)
    return amount


def less(amount: int, percent: int) -> int:
    """`amount` less `percent` of it, rounded in the shop's favour."""
    return amount - amount * percent // 100


def with_coupon(amount: int, code: str) -> int:
    """`amount`, less what the coupon takes off; ValueError where there is no such coupon."""
    if code.upper() not in COUPONS:
        raise ValueError(f"there is no coupon {code}")
    return less(amount, COUPONS[code.upper()])
