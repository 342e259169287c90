"""A line plot as SVG, small enough to be read as text: some panels side by side, linear axes from nothing."""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_WIDTH: Final = 320
_HEIGHT: Final = 240
_LEFT: Final = 52
_RIGHT: Final = 14
_TOP: Final = 34
_BOTTOM: Final = 44
_COLOURS: Final = ("#0969da", "#bf8700")
_TICKS: Final = 4


class Series(NamedTuple):
    """A line: its name, and its points."""

    name: str
    points: tuple[tuple[float, float], ...]


class Panel(NamedTuple):
    """One plot: what is measured, over what, its lines, and the budget as a dashed line (None: there is none)."""

    title: str
    over: str
    series: tuple[Series, ...]
    budget: float | None


def plot(panels: Sequence[Panel]) -> str:
    """The panels as one SVG document, two a row."""
    rows = math.ceil(len(panels) / 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * _WIDTH} {rows * _HEIGHT}"',
        'font-family="sans-serif" font-size="11" fill="#57606a">',
        f'<rect width="{2 * _WIDTH}" height="{rows * _HEIGHT}" fill="#ffffff"/>',
    ]
    for at, panel in enumerate(panels):
        parts.append(f'<g transform="translate({at % 2 * _WIDTH} {at // 2 * _HEIGHT})">')
        parts += _panel(panel)
        parts.append("</g>")
    return "\n".join((*parts, "</svg>\n"))


def _panel(panel: Panel) -> Iterator[str]:
    points = [point for series in panel.series for point in series.points]
    right = _ceiling(max(x for x, _ in points))
    top = _ceiling(max([*(y for _, y in points), panel.budget or 0.0]))

    def across(x: float) -> float:
        return round(_LEFT + x / right * (_WIDTH - _LEFT - _RIGHT), 1)

    def up(y: float) -> float:
        return round(_HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM), 1)

    yield f'<text x="{_LEFT}" y="20" font-size="12" fill="#1f2328">{panel.title}</text>'
    for tick in range(_TICKS + 1):
        y, x = top * tick / _TICKS, right * tick / _TICKS
        yield f'<path d="M{_LEFT} {up(y)}H{_WIDTH - _RIGHT}" stroke="#d0d7de" stroke-width="0.5"/>'
        yield f'<text x="{_LEFT - 6}" y="{up(y) + 4}" text-anchor="end">{y:g}</text>'
        yield f'<text x="{across(x)}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{x:g}</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 10}" text-anchor="end">{panel.over}</text>'
    if panel.budget is not None:
        yield f'<path d="M{_LEFT} {up(panel.budget)}H{_WIDTH - _RIGHT}" stroke="#cf222e" stroke-dasharray="4 3"/>'
        yield f'<text x="{_LEFT + 4}" y="{up(panel.budget) - 4}" fill="#cf222e">budget</text>'
    for at, series in enumerate(panel.series):
        colour = _COLOURS[at]
        line = " ".join(f"{across(x)},{up(y)}" for x, y in series.points)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield from (f'<circle cx="{across(x)}" cy="{up(y)}" r="2.5" fill="{colour}"/>' for x, y in series.points)
        yield f'<text x="{_LEFT + at * 100}" y="{_HEIGHT - 10}" fill="{colour}">{series.name}</text>'


def _ceiling(value: float) -> float:
    """The next round number: 1, 1.5, 2, 3, 4, 5, 6, 8 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if power * step >= value)
