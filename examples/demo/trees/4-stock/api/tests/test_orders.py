"""Orders, as the customer sees them."""

import json
from pathlib import Path

from shop.orders import place
from shop.pricing import Line
from shop.stock import SHELF


def lines(name: str) -> list[Line]:
    """The lines of a sample order."""
    file = Path(__file__).parent / "fixtures" / "orders.json"
    orders = json.loads(file.read_text(encoding="utf-8"))
    return [Line(**line) for line in orders[name]]


def test_an_order_is_priced() -> None:
    SHELF.update({"tea": 5, "cup": 5})
    order = place(lines("small"))
    assert order is not None
    assert order.due == 1750


def test_bulk_is_cheaper() -> None:
    SHELF.update({"tea": 20})
    order = place(lines("bulk"))
    assert order is not None
    assert order.due == 8550


def test_what_is_not_on_the_shelf_cannot_be_ordered() -> None:
    SHELF.clear()
    assert place(lines("small")) is None
