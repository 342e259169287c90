"""Prices, in cents."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    name: str
    price: int
    quantity: int


def total(lines: list[Line]) -> int:
    """What the lines cost together."""
    return sum(line.price * line.quantity for line in lines)
