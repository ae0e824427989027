"""The author's report as one HTML page: inline SVG, no script, nothing loaded from anywhere. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from citewell.conversations.author_report import CONFIDENCE_BINS, Report, ReportTable, one_line, tables_of

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667080; --paper: #fff; --line: #d8dde3; --good: #2f6f9f; --bad: #c2571a }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #98a2b0; --paper: #15181c; --line: #333a42; --good: #6aa9d8; --bad: #e58a4e }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } p, figcaption { color: var(--soft) }
table { border-collapse: collapse; width: 100% } th, td { text-align: start; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
th { color: var(--soft); font-weight: 600 } td.figure, th.figure { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1.5rem }
@media (max-width: 30rem) { .plots { grid-template-columns: 1fr } }
figure { margin: 0 } svg { width: 100%; height: auto } svg text { font-size: 11px; fill: var(--soft) }
.good { fill: var(--good) } .bad { fill: var(--bad) } .axis { stroke: var(--line) }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; margin: 0 .35em 0 .8em } .key.good::before { background: var(--good) } .key.bad::before { background: var(--bad) }
"""  # noqa: E501 - a style sheet
_FIGURES = frozenset(
    "Questions, Refused, Cut short, Sources disagree, Voted up, Voted down, Median, 95 of 100, Times, Took, Calls, "
    "Tokens".split(", ")
)
"""Columns of numbers."""


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    good: float
    bad: float
    told: str
    """What the bar says when pointed at, and to a screen reader."""


def page_of(report: Report) -> str:
    summary, *others = tables_of(report)
    period = f"{report.since:%Y-%m-%d} to {report.until:%Y-%m-%d} (UTC)"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>What readers ask, {period}</title>\n<style>{_STYLE}</style>",
            f"<h1>What readers ask</h1>\n<p>{period}</p>",
            _table(summary),
            '<div class="plots">',
            *_plots(report),
            "</div>",
            *(_table(table) for table in others),
            "</html>\n",
        )
    )


def _plots(report: Report) -> tuple[str, ...]:
    days = [
        _Bar(f"{d.day:%m-%d}", d.answered, d.refused, f"{d.day}: {d.answered} answered, {d.refused} refused")
        for d in report.days
    ]
    tenths = [
        _Bar(f"{n / CONFIDENCE_BINS:.1f}", count, 0, f"{n / CONFIDENCE_BINS:.1f} and more: {count} answers")
        for n, count in enumerate(report.confidence)
    ]
    topics = [_Bar(t.word, 0, t.refused, f"{t.word}: {t.refused} refused") for t in report.topics[:10]]
    slowest = [
        _Bar(one_line(e.question), e.latency_ms / 1000, 0, f"{e.latency_ms / 1000:.2f} s: {one_line(e.question)}")
        for e in report.slowest
    ]
    key = '<span class="key good">answered</span><span class="key bad">refused</span>'
    return (
        _figure("Questions per day", _columns(days, "Questions per day"), key),
        _figure("Confidence of the answers", _columns(tenths, "Answers by confidence"), "from 0 to 1, in tenths"),
        _figure(
            "Refusals by topic", _lines(topics, "Refusals by topic", unit=""), "a word that refused questions share"
        ),
        _figure("Slowest", _lines(slowest, "Slowest answers, in seconds", unit=" s"), "seconds to the whole answer"),
    )


def _figure(title: str, plot: str, caption: str) -> str:
    return f"<figure><h2>{title}</h2>{plot}<figcaption>{caption}</figcaption></figure>"


def _columns(bars: Sequence[_Bar], name: str) -> str:
    """Standing bars; `bad` stands on `good`. Every label that fits is written."""
    width, height, left, top, bottom = 480, 200, 34, 8, 22
    most = max((bar.good + bar.bad for bar in bars), default=0) or 1
    step = (width - left) / max(1, len(bars))
    scale = (height - top - bottom) / most
    every = max(1, round(len(bars) / 8))
    floor = height - bottom
    drawn = [
        f'<line class="axis" x1="{left}" x2="{width}" y1="{floor}" y2="{floor}"/>',
        f'<text x="{left - 5}" y="{top + 8}" text-anchor="end">{most:g}</text>',
        f'<text x="{left - 5}" y="{floor}" text-anchor="end">0</text>',
    ]
    for n, bar in enumerate(bars):
        x, wide = left + n * step + step * 0.1, step * 0.8
        good, bad = bar.good * scale, bar.bad * scale
        drawn.append(
            f"<g><title>{escape(bar.told)}</title>"
            f'<rect class="good" x="{x:.1f}" y="{floor - good:.1f}" width="{wide:.1f}" height="{good:.1f}"/>'
            f'<rect class="bad" x="{x:.1f}" y="{floor - good - bad:.1f}" width="{wide:.1f}" height="{bad:.1f}"/></g>'
        )
        if n % every == 0:
            drawn.append(
                f'<text x="{x + wide / 2:.1f}" y="{height - 6}" text-anchor="middle">{escape(bar.label)}</text>'
            )
    return _svg(drawn, width, height, name)


def _lines(bars: Sequence[_Bar], name: str, *, unit: str) -> str:
    """Lying bars, each with its label before and its figure behind."""
    width, row, left, right = 480, 20, 170, 48
    most = max((bar.good + bar.bad for bar in bars), default=0) or 1
    drawn: list[str] = []
    for n, bar in enumerate(bars):
        y, size = n * row, bar.good + bar.bad
        long = size / most * (width - left - right)
        label = bar.label if len(bar.label) <= 26 else bar.label[:25] + "…"
        figure = f"{size:.1f}" if unit else f"{size:g}"
        colour = "bad" if bar.bad else "good"
        drawn.append(
            f"<g><title>{escape(bar.told)}</title>"
            f'<text x="{left - 6}" y="{y + 14}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="{colour}" x="{left}" y="{y + 3}" width="{long:.1f}" height="{row - 6}"/>'
            f'<text x="{left + long + 5:.1f}" y="{y + 14}">{figure}{unit}</text></g>'
        )
    return _svg(drawn or ['<text x="0" y="14">nothing</text>'], width, max(row, row * len(bars)), name)


def _svg(drawn: Sequence[str], width: int, height: int, name: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(name)}">{"".join(drawn)}</svg>'


def _table(table: ReportTable) -> str:
    if not table.rows:
        return f"<h2>{table.title}</h2><p>{table.empty}</p>"
    kinds = ["figure" if column in _FIGURES else "" for column in table.columns]
    head = "".join(f'<th class="{kind}">{column}</th>' for kind, column in zip(kinds, table.columns, strict=True))
    body = "\n".join(
        "<tr>"
        + "".join(f'<td class="{kind}" dir="auto">{escape(cell)}</td>' for kind, cell in zip(kinds, cells, strict=True))
        + "</tr>"
        for cells in table.rows
    )
    return f"<h2>{table.title}</h2>\n<table><tr>{head}</tr>\n{body}</table>"
