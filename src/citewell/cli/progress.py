"""A progress bar on standard error, so that standard output stays for the result."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from citewell.ingest import Progress as Step


class IngestProgress:
    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description:10}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} pages, {task.fields[passages]:,} passages"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("reading", total=1, passages=0, rate="")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar.live.is_started:  # else it would print an empty line
            self._bar.stop()

    def show(self, step: Step) -> None:
        """The bar stands from a run's first step to its last: what is printed between two runs is not torn."""
        self._bar.start()
        elapsed = self._bar.tasks[0].elapsed or 0.0
        self._bar.update(
            self._task,
            description=step.phase,
            completed=step.done,
            total=max(step.total, 1),
            passages=step.passages,
            rate=f"{step.passages / elapsed:,.0f}/s" if elapsed > 0.5 else "",
        )
        if step.phase == "done":
            self._bar.stop()
            self._bar.reset(self._task)
