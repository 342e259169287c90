"""Orders: from a cart to a number that the customer can call about."""

import itertools
import logging
from collections import Counter
from dataclasses import dataclass

from shop.mail import confirm
from shop.pricing import Line, total, with_coupon
from shop.stock import OutOfStockError, reserve

log = logging.getLogger(__name__)
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
    except OutOfStockError as error:
        log.warning("not on the shelf: %s", error)
        return None
    due = with_coupon(total(lines), coupon) if coupon else total(lines)
    order = Order(next(_numbers), lines, due)
    confirm(order.number, order.due)
    return order
