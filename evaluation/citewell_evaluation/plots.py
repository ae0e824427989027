"""Plots as SVG text: lines, bars and the reliability diagram. Pure; no library, no script, no outside file.

Colours are readable on white and on dark, and every series differs by its dash too, not by colour alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from citewell_evaluation.statistics import Bin, percentile

WIDTH, HEIGHT = 480, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 34, 46
_COLOURS = ("#2f6fde", "#d9622b", "#2a9d6f", "#9b59b6", "#7a7a7a")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4")


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Axis:
    label: str
    low: float
    high: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        if self.logarithmic:
            return (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1)]
        step = _nice_step((self.high - self.low) / 5)
        count = math.floor((self.high - self.low) / step + 1e-9)
        return [self.low + i * step for i in range(count + 1)]


def axis_over(label: str, values: Sequence[float], *, logarithmic: bool = False) -> Axis:
    """An axis that holds all the values, with round ends."""
    kept = [v for v in values if not math.isnan(v) and (v > 0 or not logarithmic)] or [1.0]
    low, high = min(kept), max(kept)
    if logarithmic:
        return Axis(label, 10.0 ** math.floor(math.log10(low)), 10.0 ** (math.floor(math.log10(high)) + 1), True)
    step = _nice_step((high or 1.0) / 5)
    return Axis(label, 0.0, math.ceil((high or 1.0) / step) * step)


def _nice_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough), 10 * power)


def line_chart(title: str, x: Axis, y: Axis, series: Sequence[Series], *, dots: bool = False) -> str:
    parts = [_frame(title, x, y)]
    for number, one in enumerate(series):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        places = [_point(x, y, a, b) for a, b in one.points if not math.isnan(b)]
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        if dots:
            parts.extend(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in places)
        left, top = _LEFT + (number % 2) * 210, HEIGHT + 10 + number // 2 * 16
        parts.append(
            f'<line x1="{left}" x2="{left + 22}" y1="{top - 4}" y2="{top - 4}" stroke="{colour}" '
            f'stroke-width="2" stroke-dasharray="{dash}"/><text x="{left + 28}" y="{top}">{escape(one.name)}</text>'
        )
    return _svg(title, parts, height=HEIGHT + 6 + (len(series) + 1) // 2 * 16)


def bar_chart(title: str, x: Axis, y: Axis, bars: Sequence[tuple[float, float, float]]) -> str:
    """Each bar is (from, to, height)."""
    parts = [_frame(title, x, y)]
    for low, high, value in bars:
        left, top = _point(x, y, low, value)
        right, bottom = _point(x, y, high, y.low)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left - 1, 1):.1f}" '
            f'height="{bottom - top:.1f}" fill="{_COLOURS[0]}" fill-opacity="0.75"/>'
        )
    return _svg(title, parts)


def reliability_diagram(bins: Sequence[Bin], error: float) -> str:
    """How often answers were right against how sure the product was. On the dashed line it was exactly as sure."""
    x, y = Axis("stated probability", 0.0, 1.0), Axis("share that was right", 0.0, 1.0)
    title = f"Reliability (calibration error {error:.3f})"
    parts = [_frame(title, x, y)]
    (ax, ay), (bx, by) = _point(x, y, 0, 0), _point(x, y, 1, 1)
    parts.append(
        f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" stroke="currentColor" '
        'stroke-opacity="0.5" stroke-dasharray="5 4"/>'
    )
    most = max((b.count for b in bins), default=1)
    for one in bins:
        px, py = _point(x, y, one.stated, one.observed)
        radius = 3 + 9 * math.sqrt(one.count / most)
        parts.append(
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="{radius:.1f}" fill="{_COLOURS[0]}" fill-opacity="0.7">'
            f"<title>{one.count} answers, stated {one.stated:.2f}, right {one.observed:.2f}</title></circle>"
        )
    return _svg(title, parts)


def histogram(title: str, label: str, values: Sequence[float], *, bars: int = 24) -> str:
    """The last bar holds what lies beyond three times the 95th percentile, so that one slow question hides nothing."""
    x = axis_over(label, [min(max(values), 3 * percentile(values, 95))])
    step = x.high / bars
    counts = [0] * bars
    for value in values:
        counts[min(int(value / step), bars - 1)] += 1
    y = axis_over("questions", [float(max(counts))])
    return bar_chart(title, x, y, [(i * step, (i + 1) * step, float(n)) for i, n in enumerate(counts) if n])


def _point(x: Axis, y: Axis, a: float, b: float) -> tuple[float, float]:
    return (
        _LEFT + x.place(a) * (WIDTH - _LEFT - _RIGHT),
        HEIGHT - _BOTTOM - y.place(b) * (HEIGHT - _TOP - _BOTTOM),
    )


def _frame(title: str, x: Axis, y: Axis) -> str:
    parts = [f'<text x="{_LEFT}" y="20" font-weight="600" font-size="13">{escape(title)}</text>']
    for tick in y.ticks():
        left, top = _point(x, y, x.low, tick)
        parts.append(
            f'<line x1="{left}" x2="{WIDTH - _RIGHT}" y1="{top:.1f}" y2="{top:.1f}" stroke="currentColor" '
            f'stroke-opacity="0.15"/><text x="{left - 6}" y="{top + 4:.1f}" text-anchor="end">{_short(tick)}</text>'
        )
    for tick in x.ticks():
        left, top = _point(x, y, tick, y.low)
        parts.append(f'<text x="{left:.1f}" y="{top + 16:.1f}" text-anchor="middle">{_short(tick)}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x.label)}</text>')
    across = (HEIGHT - _BOTTOM + _TOP) / 2
    parts.append(f'<text transform="translate(13 {across}) rotate(-90)" text-anchor="middle">{escape(y.label)}</text>')
    return "".join(parts)


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{round(value, 6):g}"


def _svg(title: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="11" '
        f'fill="currentColor" color="#333">{"".join(parts)}</svg>'
    )
