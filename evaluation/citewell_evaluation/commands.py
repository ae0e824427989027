"""`citewell eval …` and `citewell calibrate`: figures that anybody can measure again.

The bar goes to standard error; standard output has the tables, or with --json one document and nothing else.
"""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.errors import InvalidInputError

if TYPE_CHECKING:
    from citewell.answering.confidence import Confidence
    from citewell.reader import TrainedReader
    from citewell.retrieval import Retriever
    from citewell.settings import Settings
    from citewell.wiring import Models, Searching
    from citewell_evaluation import Evaluation, Progress
    from citewell_evaluation.asked import Sets
    from citewell_evaluation.calibration import Calibration
    from citewell_evaluation.compare import Comparison
    from citewell_evaluation.datasets import Document

    Run = Callable[[Progress], Awaitable[Evaluation]]

Cache = Annotated[
    Path | None, typer.Option("--cache", help="Keep the data sets' indexes here between runs; else in the data folder")
]
Most = Annotated[int, typer.Option("--most", min=0, help="Ask at most so many questions of each set; 0: all")]
Alone = Annotated[bool, typer.Option("--alone", help="The reading model by itself, without citewell-larger")]
Dataset = Annotated[Path, typer.Argument(help="A file or folder in the form that docs/quality.md describes")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a report with plots and the worst questions here")]
Earlier = Annotated[Path | None, typer.Option("--against", help="The JSON of an earlier run to compare with")]

NO_BOOKS: Mapping[Path, Path] = MappingProxyType({})
_PATIENCE = 120.0

evaluations = typer.Typer(
    help="Measure retrieval, answers, support, conflicts and calibration on labelled data, or a book's golden set.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def add_to(app: typer.Typer) -> None:
    app.add_typer(evaluations, name="eval")
    app.command("calibrate")(calibrate)


@evaluations.command("book")
def book(
    golden: Annotated[Path, typer.Argument(help="Questions with expected URLs")] = Path("examples/book/golden.jsonl"),
    as_json: JsonFlag = False,
    html: HtmlFile = None,
    against: Earlier = None,
    cache: Cache = None,
) -> None:
    """Ask a golden set of the ingested book: is the page found, the answer right, the unknown refused?"""
    from pydantic import SecretStr

    from citewell.book import open as open_book
    from citewell.settings import Settings
    from citewell_evaluation.book import evaluate_book

    async def run(progress: "Progress") -> "Evaluation":
        with tempfile.TemporaryDirectory() as folder:
            # A database of its own: answers are made afresh, and nobody's conversations are touched.
            database = SecretStr(f"sqlite:///{folder}/conversations.sqlite3")
            settings = Settings.from_environment().model_copy(update={"database_url": database})
            async with _reader(settings, cache) as (reader, _), open_book(settings=settings, reader=reader) as opened:
                engine, parts = await opened.engine(), await opened.parts()
                await engine.warm()  # else the first question's time is that of loading
                return await evaluate_book(golden, searching=parts.retriever, answering=engine, progress=progress)

    _report(run, as_json=as_json, html=html, against=against)


@evaluations.command("retrieval")
def retrieval(
    dataset: Dataset,
    as_json: JsonFlag = False,
    html: HtmlFile = None,
    against: Earlier = None,
    cache: Cache = None,
    rerank: Annotated[int, typer.Option(min=0, help="Order the first so many anew by the reading model")] = 0,
) -> None:
    """Rank a corpus by words, by meaning and by both: nDCG@10, recall@100, MRR; with and without history."""
    from citewell.settings import Settings
    from citewell.wiring import open_searching, open_writer
    from citewell_evaluation.datasets import name_of
    from citewell_evaluation.retrieval import evaluate_retrieval

    async def run(progress: "Progress") -> "Evaluation":
        settings = Settings.from_environment()
        apart = _apart(_kept_in(settings, cache), name_of(dataset))
        async with (
            open_searching(apart) as parts,
            open_writer(apart) as writer,
            _reader(settings, cache, alone=True) as (reader, _),
        ):
            return await evaluate_retrieval(
                dataset,
                writer=writer,
                index=parts.index,
                embedder=parts.embedder,
                reranking=(reader, rerank) if rerank else None,
                progress=progress,
            )

    _report(run, as_json=as_json, html=html, against=against)


@evaluations.command("support")
def support(
    datasets: Annotated[list[Path], typer.Argument(help="Claims, whole answers, contradictions: files or folders")],
    limit: Annotated[int | None, typer.Option(min=1, help="So many cases of each file, for a quick look")] = None,
    as_json: JsonFlag = False,
    html: HtmlFile = None,
    against: Earlier = None,
) -> None:
    """One table: truths kept and lies passed, answers through the gate, contradictions found; each veto alone."""
    from citewell.judge import Lines
    from citewell.settings import Settings
    from citewell.wiring import open_judging
    from citewell_evaluation.judging import Measured, evaluate_support

    async def run(progress: "Progress") -> "Evaluation":
        async with open_judging(Settings.from_environment()) as judging:
            measured = Measured(judging.judge, judging.models, Lines.load())
            return await evaluate_support(datasets, measured=measured, limit=limit, progress=progress)

    _report(run, as_json=as_json, html=html, against=against)


@evaluations.command("lines")
def lines(
    claims: Annotated[Path, typer.Argument(help="Claims over pages not trained on (python -m training.data)")],
    out: Annotated[Path, typer.Option(help="Write the lines here")] = Path("larger/citewell_larger/judge.json"),
    alone: Alone = False,
) -> None:
    """Fit where the judge's outcomes part to pages that were not trained on. Again for each new model file."""
    from citewell.wiring import open_models
    from citewell_evaluation.lines import FittedLines, fit_lines

    async def run(progress: "Progress") -> tuple[FittedLines, str]:
        async with open_models(alone=alone) as models:
            if models.both is None:
                return await fit_lines(claims, models.reading, progress=progress), models.reading.sha256
            return await fit_lines(claims, models.both, progress=progress), models.both.sha256

    with _Bar() as bar:
        found, sha256 = asyncio.run(run(bar.show))
    _write(out, found.to_json(sha256))
    print(f"{found.lines}: truths kept {found.truths_kept:g}, lies passed {found.lies_passed:g} of {found.claims}.")


@evaluations.command("answers")
def answers(
    dataset: Dataset,
    as_json: JsonFlag = False,
    html: HtmlFile = None,
    against: Earlier = None,
    cache: Cache = None,
    most: Most = 0,
) -> None:
    """Questions of a passage, of the corpus beside the file, or of lists in one index: answered or refused?"""
    from citewell_evaluation.answers import evaluate_answers

    async def run(progress: "Progress") -> "Evaluation":
        async with _sets(cache, most, progress) as (sets, confidence):
            return await evaluate_answers(dataset, sets=sets, confidence=confidence, progress=progress)

    _report(run, as_json=as_json, html=html, against=against)


@evaluations.command("calibration")
def calibration(
    dataset: Dataset,
    as_json: JsonFlag = False,
    html: HtmlFile = None,
    against: Earlier = None,
    cache: Cache = None,
    most: Most = 0,
) -> None:
    """How far stated confidence lies from what was so: questions of a passage, of a corpus, or a golden set."""
    from citewell_evaluation.calibrating import evaluate_calibration

    async def run(progress: "Progress") -> "Evaluation":
        async with _sets(cache, most, progress) as (sets, confidence):
            return await evaluate_calibration(dataset, sets=sets, confidence=confidence, progress=progress)

    _report(run, as_json=as_json, html=html, against=against)


@contextlib.asynccontextmanager
async def _sets(
    cache: Path | None, most: int, progress: "Progress", books: Mapping[Path, Path] = NO_BOOKS, *, alone: bool = False
) -> AsyncIterator[tuple["Sets", "Confidence"]]:
    """The reader, the book's own index, those of other books by their golden sets, and indexes of data sets."""
    from citewell.answering.confidence import Confidence
    from citewell.settings import Settings
    from citewell.wiring import open_searching
    from citewell_evaluation.asked import Sets

    settings = Settings.from_environment()
    async with contextlib.AsyncExitStack() as stack:
        parts = await stack.enter_async_context(open_searching(settings))
        reader, models = await stack.enter_async_context(_reader(settings, cache, alone=alone))
        others = {}
        for golden, folder in books.items():
            own = settings.model_copy(update={"citewell_data_dir": folder, "qdrant_url": None})
            others[golden] = _patient(await stack.enter_async_context(open_searching(own)))
        over = _indexes(settings, cache, progress)
        yield (
            Sets(reader, _patient(parts), over, most, others),
            Confidence.load(settings.confidence_file or models.confidence),
        )


def _patient(parts: "Searching") -> "Retriever":
    """Nobody waits for a measurement: a search may take its time."""
    from citewell.retrieval import Retriever

    return Retriever(parts.index, parts.embedder, seconds=_PATIENCE)


@contextlib.asynccontextmanager
async def _reader(
    settings: "Settings", cache: Path | None, *, alone: bool = False
) -> AsyncIterator[tuple["TrainedReader", "Models"]]:
    """The shipped reader and its models; what these have read before is not read again."""
    from citewell.reader import TrainedReader
    from citewell.wiring import open_models
    from citewell_evaluation.kept import KeptReadings

    folder = (cache or settings.citewell_data_dir / "eval") / "readings"
    async with (
        open_models(alone=alone) as models,
        contextlib.aclosing(KeptReadings(models.questions, folder)) as kept,
    ):
        yield TrainedReader(kept), models


def _indexes(
    settings: "Settings", cache: Path | None, progress: "Progress"
) -> "Callable[[str, Sequence[Document]], AbstractAsyncContextManager[Retriever]]":
    """Opens a search over a data set's documents. A second run embeds only what is new."""
    from citewell.wiring import open_searching, open_writer
    from citewell_evaluation.retrieval import ingest

    root = _kept_in(settings, cache)

    @contextlib.asynccontextmanager
    async def over(name: str, documents: "Sequence[Document]") -> AsyncIterator["Retriever"]:
        apart = _apart(root, name)
        async with open_searching(apart) as parts:
            async with open_writer(apart) as writer:
                await ingest(documents, writer=writer, embedder=parts.embedder, progress=progress)
            yield _patient(parts)

    return over


def _kept_in(settings: "Settings", cache: Path | None) -> "Settings":
    return settings.model_copy(update={"citewell_data_dir": cache}) if cache else settings


def _apart(settings: "Settings", name: str) -> "Settings":
    """The data set's index stands beside the book's, never on it, and never on a server that readers use."""
    folder = settings.citewell_data_dir / "eval" / name.replace("/", "-")
    return settings.model_copy(update={"citewell_data_dir": folder, "qdrant_url": None})


def _report(run: "Run", *, as_json: bool, html: Path | None, against: Path | None) -> None:
    from citewell_evaluation.compare import compare
    from citewell_evaluation.html_page import to_html
    from citewell_evaluation.json_form import from_json, to_json

    before = from_json(_read(against)) if against else None  # a wrong file is found before the work, not after
    with _Bar() as bar:
        evaluation = asyncio.run(_awaited(run(bar.show)))
    comparison = compare(before, evaluation) if before else None
    if html:
        _write(html, to_html(evaluation, comparison))
    if as_json:
        sys.stdout.write(to_json(evaluation, comparison))
    else:
        _print(evaluation, comparison)


async def _awaited(work: "Awaitable[Evaluation]") -> "Evaluation":
    return await work


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error}.") from error


class _Bar:
    """A progress bar on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._tasks = {"": self._bar.add_task("starting", total=None)}

    def __enter__(self) -> "_Bar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, done: int, total: int, what: str, /) -> None:
        if "" in self._tasks:
            self._bar.remove_task(self._tasks.pop(""))
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done, total=total)


def _print(evaluation: "Evaluation", comparison: "Comparison | None") -> None:
    from rich.console import Console
    from rich.table import Table

    from citewell_evaluation.tables import columns_of, figure_text, lines_of

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    console.print(
        f"{evaluation.kind}: {evaluation.dataset}, {len(evaluation.items):,} items", style="bold", markup=False
    )
    for table in evaluation.tables:
        drawn = Table(
            "", *columns_of(table), title=table.title, title_justify="left", caption=table.note, caption_justify="left"
        )
        for column in drawn.columns[1:]:
            column.justify = "right"
        for cells in lines_of(table):
            drawn.add_row(*cells)
        console.print(drawn)
    for note in evaluation.notes:
        console.print(note, markup=False)
    if comparison:
        console.print(
            f"Against the earlier run: {comparison.verdict}. {comparison.main} {figure_text(comparison.difference)} "
            f"on average; {len(comparison.better)} better, {len(comparison.worse)} worse, {comparison.same} the same.",
            markup=False,
        )
        for mark, changes in (("worse ", comparison.worse), ("better", comparison.better)):
            for c in changes[:20]:
                console.print(f"  {mark} {c.before:.3f} → {c.after:.3f}  {c.question[:100]}", markup=False)


def calibrate(
    datasets: Annotated[
        list[str], typer.Argument(help="Data sets in the forms of docs/answering.md; FILE@FOLDER for another book's")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write the whole confidence model with the fitted parts here")
    ] = None,
    diagram: Annotated[Path | None, typer.Option(help="Write the reliability diagrams (SVG) here")] = None,
    cache: Cache = None,
    most: Most = 0,
    alone: Alone = False,
) -> None:
    """Fit the confidence model to a golden set of the ingested book and to public data sets."""
    from importlib import resources

    from citewell_evaluation.calibration import Calibration
    from citewell_evaluation.calibration import calibrate as fit

    shipped = (resources.files("citewell") / "assets" / "confidence.json").read_text("utf-8")
    named = [Path(dataset.partition("@")[0]) for dataset in datasets]
    books = {Path(file): Path(folder) for file, at, folder in (d.partition("@") for d in datasets) if at}

    async def run(progress: "Progress") -> tuple[list[Calibration], str]:
        async with _sets(cache, most, progress, books, alone=alone) as (sets, _):
            return await fit(named, sets, current=shipped, progress=progress)

    with _Bar() as bar:
        found, model = asyncio.run(run(bar.show))
    if out:
        _write(out, model)
    for result in found:
        if diagram:
            picture = diagram.with_stem(f"{diagram.stem}-{result.part}") if len(found) > 1 else diagram
            _write(picture, result.diagram)
        _tell(result)


def _tell(result: "Calibration") -> None:
    print(
        f"{result.part}: {result.examples:,} questions; on those not fitted to: calibration error {result.ece:.3f}, "
        f"AUROC {result.auroc:.3f}. Stated as high by fits without their set: {result.high[0]}, of which "
        f"{result.high[1]:.2f} right (log-odds times {result.tempered:g})."
    )
    for one in result.sets:
        line = f"  {one.source}, {one.questions:,}: calibration error {one.ece:.3f} (by chance {one.chance:.3f}), "
        line += f"AUROC {one.auroc:.3f}"
        if one.ece_left_out is not None:
            line += f"; fitted without this set {one.ece_left_out:.3f}, {one.auroc_left_out:.3f}"
        print(line)
