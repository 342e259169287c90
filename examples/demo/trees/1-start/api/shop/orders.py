"""Orders: from a cart to a number that the customer can call about."""

import itertools
from dataclasses import dataclass

from shop.mail import confirm
from shop.pricing import Line, total

_numbers = itertools.count(1000)


@dataclass(frozen=True)
class Order:
    number: int
    lines: list[Line]
    due: float


def place(lines: list[Line]) -> Order:
    """Places the order."""
    order = Order(next(_numbers), lines, total(lines))
    confirm(order.number, order.due)
    return order
