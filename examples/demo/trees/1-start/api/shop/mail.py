"""Mail to the customer."""

OUTBOX: list[str] = []


def confirm(number: int, due: float) -> None:
    """Tells the customer that the order is placed."""
    OUTBOX.append(f"Order {number} is placed; {due:.2f} are due.")
