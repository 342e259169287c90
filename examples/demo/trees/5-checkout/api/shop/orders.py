"""Orders: from a cart to a number that the customer can call about."""

import itertools
from collections import Counter
from dataclasses import dataclass

from shop.mail import confirm
from shop.pricing import Line, total, with_coupon
from shop.stock import OutOfStockError, reserve

_numbers = itertools.count(1000)


@dataclass(frozen=True)
class Order:
    number: int
    lines: list[Line]
    due: int


def place(lines: list[Line], coupon: str = "") -> Order | None:
    """Places the order; None where the shelf does not hold it."""
    wanted: Counter[str] = Counter()
    for line in lines:
        wanted[line.sku] += line.quantity
    try:
        reserve(wanted)
    except OutOfStockError:
        return None
    due = with_coupon(total(lines), coupon)
    order = Order(next(_numbers), lines, due)
    confirm(order.number, order.due)
    return order
