"""The one writer of tables: figures as text, for the terminal, HTML and Markdown alike."""

import math
from collections.abc import Iterator

from citewell_evaluation import Figure, FigureTable


def figure_text(figure: Figure) -> str:
    """`.743 [.712, .771]`; a dash when it could not be measured."""
    if math.isnan(figure.value):
        return "–"
    if figure.low is None or figure.high is None:
        return number_text(figure.value)
    return f"{number_text(figure.value)} [{number_text(figure.low)}, {number_text(figure.high)}]"


def number_text(value: float) -> str:
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3g}"


def columns_of(table: FigureTable) -> list[str]:
    return list(dict.fromkeys(name for row in table.rows for name in row.figures))


def lines_of(table: FigureTable) -> Iterator[list[str]]:
    """Each row's name and cells, under `columns_of`; what a row does not have is empty."""
    columns = columns_of(table)
    for row in table.rows:
        yield [row.name, *(figure_text(row.figures[c]) if c in row.figures else "" for c in columns)]


def to_markdown(table: FigureTable) -> str:
    columns = columns_of(table)
    lines = [f"| {table.title} | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in lines_of(table)]
    return "\n".join(lines) + (f"\n\n{table.note}\n" if table.note else "\n")
