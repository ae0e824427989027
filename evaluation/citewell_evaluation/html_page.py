"""An evaluation as one HTML page that needs nothing else: tables, plots, and the worst questions to click through.

All text is escaped and the page runs no script: questions and passages are data of others.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

import citewell
from citewell_evaluation import Evaluation, FigureTable, Item, ShownPassage
from citewell_evaluation.compare import Change, Comparison
from citewell_evaluation.plots import Axis, Series, histogram, line_chart, reliability_diagram
from citewell_evaluation.statistics import calibration_error, percentile, precision_recall, reliability
from citewell_evaluation.tables import columns_of, figure_text, lines_of, number_text

WORST = 30
"""Questions shown in full."""
_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem}
th,td{padding:.3rem .7rem;text-align:right;border-bottom:1px solid #8884;vertical-align:top}
th:first-child,td:first-child{text-align:left}
.range,.note{color:#777;font-size:.85em}
.plots{display:flex;flex-wrap:wrap;gap:1rem}
svg{max-width:100%;height:auto;color:inherit}
details{border:1px solid #8884;border-radius:6px;padding:.4rem .8rem;margin:.4rem 0}
summary{cursor:pointer}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;border-radius:6px;font-size:.9em}
.good{color:#2a8a5f}.bad{color:#c0492b}
"""


def to_html(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    title = f"{evaluation.kind}: {evaluation.dataset}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">citewell {escape(citewell.__version__)}, {len(evaluation.items):,} items, '
        f"data {escape(evaluation.data_sha256[:12] or 'not fingerprinted')}. "
        "Ranges in brackets are 95 % bootstrap intervals.</p>",
        *(f"<p>{escape(note)}</p>" for note in evaluation.notes),
        *(_table(table) for table in evaluation.tables),
        _compared(comparison) if comparison else "",
        f'<h2>Plots</h2><div class="plots">{"".join(_plots(evaluation.items))}</div>',
        _worst(evaluation),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _table(table: FigureTable) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns_of(table))
    rows = []
    for name, *figures in lines_of(table):
        split = [figure.partition(" ") for figure in figures]
        cells = "".join(f'<td>{value}<br><span class="range">{interval}</span></td>' for value, _, interval in split)
        rows.append(f"<tr><td>{escape(name)}</td>{cells}</tr>")
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h2>{escape(table.title)}</h2>{note}<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _compared(comparison: Comparison) -> str:
    def listed(name: str, style: str, changes: Sequence[Change]) -> str:
        lines = "".join(
            f"<tr><td>{escape(c.question)}</td><td>{number_text(c.before)}</td>"
            f'<td class="{style}">{number_text(c.after)}</td></tr>'
            for c in changes
        )
        head = f"<tr><th>{name} ({len(changes)})</th><th>before</th><th>after</th></tr>"
        return f"<table>{head}{lines}</table>" if changes else f"<p>{name}: none.</p>"

    alone = len(comparison.only_before) + len(comparison.only_after)
    return (
        f"<h2>Against the earlier run</h2><p><b>{escape(comparison.verdict)}</b>: {escape(comparison.main)} "
        f"{figure_text(comparison.difference)} on average; {comparison.same} the same"
        f"{f', {alone} in one run only' if alone else ''}.</p>"
        f"{listed('Worse', 'bad', comparison.worse)}{listed('Better', 'good', comparison.better)}"
    )


def _plots(items: Sequence[Item]) -> list[str]:
    plots = []
    judged = [(i.probability, i.truth) for i in items if i.probability is not None and i.truth is not None]
    if judged:
        stated, held = [p for p, _ in judged], [t for _, t in judged]
        plots.append(reliability_diagram(reliability(stated, held), calibration_error(stated, held)))
        points = precision_recall(stated, held)
        share = Axis("share", 0.0, 1.0)
        curves = [
            Series("precision", [(p.threshold, p.precision) for p in points]),
            Series("recall", [(p.threshold, p.recall) for p in points]),
        ]
        plots.append(line_chart("Precision and recall over the threshold", Axis("threshold", 0.0, 1.0), share, curves))
    times = [item.elapsed_ms for item in items if item.elapsed_ms is not None]
    if times:
        middle, high = percentile(times, 50), percentile(times, 95)
        plots.append(histogram(f"Latency (p50 {middle:.1f} ms, p95 {high:.1f} ms)", "milliseconds", times))
    return plots or ["<p>This evaluation has neither probabilities nor times to draw.</p>"]


def _worst(evaluation: Evaluation) -> str:
    scored = [item for item in evaluation.items if evaluation.main in item.scores]
    worst = sorted(scored, key=lambda item: (item.scores[evaluation.main], item.id))[:WORST]
    shown = "".join(_question(item, evaluation.main) for item in worst)
    return f"<h2>The worst {len(worst)} by {escape(evaluation.main)}</h2>{shown}"


def _question(item: Item, main: str) -> str:
    scores = ", ".join(f"{escape(name)} {number_text(value)}" for name, value in item.scores.items())
    parts = [f'<p class="note">{escape(item.id)}: {scores}</p>']
    if item.probability is not None:
        parts.append(f"<p>Stated probability {item.probability:.2f}; it was {'so' if item.truth else 'not so'}.</p>")
    if item.expected:
        parts.append(f"<p><b>Expected</b></p><pre>{escape(item.expected)}</pre>")
    if item.answer:
        parts.append(f"<p><b>Answer</b></p><pre>{escape(item.answer)}</pre>")
    parts.extend(_passage(number, passage) for number, passage in enumerate(item.passages, start=1))
    head = f"{number_text(item.scores[main])} · {escape(item.question)}"
    return f"<details><summary>{head}</summary>{''.join(parts)}</details>"


def _passage(number: int, passage: ShownPassage) -> str:
    mark = ' <span class="good">expected</span>' if passage.relevant else ""
    where = escape(passage.url)
    if urlsplit(passage.url).scheme in ("http", "https"):
        where = f'<a href="{where}" rel="noreferrer">{where}</a>'
    return (
        f"<details><summary>[{number}] {passage.score:.3f} {escape(passage.url)}{mark}</summary>"
        f"<p>{where}</p><pre>{escape(passage.text)}</pre></details>"
    )
