"""Prices."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    name: str
    price: float
    quantity: int


def total(lines: list[Line]) -> float:
    """What the lines cost together."""
    return sum(line.price * line.quantity for line in lines)
