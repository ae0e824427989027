"""What a run tells: its options, its progress while it runs, and its report at the end."""

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from citewell.ingest.bounds import SECONDS
from citewell.ingest.share import ENOUGH
from citewell.ingest.sources import Failure, LeftOut

_PLACES_NAMED = 3
"""Of what a rule left out; the JSON names all."""

Phase = Literal["reading", "publishing", "done"]


@dataclass(frozen=True, slots=True)
class IngestOptions:
    base_url: str = ""
    """What the addresses of a folder's pages begin with; for a site, where its pages really are."""
    allow_hosts: frozenset[str] = frozenset()
    """Hosts that may be read although their address is private."""
    max_failure_share: float = 0.05
    state_dir: Path | None = None
    """Where ETags and the like are kept between runs; None: nothing is kept."""
    batch_passages: int = 256
    max_pages: int = 50_000
    concurrency: int = 5
    requests_per_second: float = 2.0
    page_seconds: float = 30.0
    page_cpu_seconds: int = SECONDS
    """That reading one large page may take."""
    retry_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """`total` grows while a site is being discovered."""

    done: int
    total: int
    passages: int
    embedded: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Statistics:
    urls_discovered: int
    urls_attempted: int
    urls_successful: int
    urls_failed: int
    chunks_created: int
    vectors_upserted: int
    """Vectors that were embedded in this run."""
    vectors_unchanged: int
    """Vectors that were taken over from the generation before."""
    pages_before: int = 0
    """Pages of the generation before."""
    pages_gone: int = 0
    """Those of them that this run did not find again."""


@dataclass(frozen=True, slots=True)
class Configuration:
    embedder: str
    dimensions: int
    max_tokens: int
    max_failure_share: float
    generation: str
    """The generation that serves now."""
    is_new: bool
    """False: nothing had changed, and the generation before serves on."""


@dataclass(frozen=True, slots=True)
class PageShare:
    """How much of a page's text came in."""

    url: str
    share: float
    """0 to 1, of the letters and digits that readers see in the source."""
    letters: int
    """That came in."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    run_id: str
    started_at: datetime
    completed_at: datetime
    source_base_url: str
    statistics: Statistics
    failures: tuple[Failure, ...]
    """Lost pages, and pages that came in with a fault; `urls_failed` counts the lost ones."""
    configuration: Configuration
    left_out: tuple[LeftOut, ...] = ()
    """What stands there and is no page, by a rule."""
    pages: tuple[PageShare, ...] = ()
    """Every page that was read in this run."""

    @property
    def replaces_the_book(self) -> bool:
        """Most of what was there is gone: perhaps another book was meant for another folder."""
        return self.configuration.is_new and 2 * self.statistics.pages_gone > self.statistics.pages_before

    @property
    def duration_seconds(self) -> float:
        return (self.completed_at - self.started_at).total_seconds()

    @property
    def summary(self) -> str:
        """In one line."""
        s = self.statistics
        return (
            f"{s.urls_successful:,} pages, {s.chunks_created:,} passages "
            f"({s.vectors_upserted:,} embedded, {s.vectors_unchanged:,} unchanged) in {self.duration_seconds:.1f} s."
            + (f" {s.urls_failed:,} pages failed." if s.urls_failed else "")
        )

    def remarks(self) -> list[str]:
        """What did not come in whole, a line each; what a rule left out, a line for each rule."""
        lines = [f"{'failed' if f.is_lost else 'note':8}{f.url}: {f.error_message}" for f in self.failures]
        poor = [page for page in self.pages if page.share < ENOUGH]
        lines += [f"{'poor':8}{page.url}: only {page.share:.0%} of its text came in." for page in poor]
        places: dict[str, list[str]] = {}
        for each in self.left_out:
            places.setdefault(each.rule, []).append(each.place)
        for rule, found in places.items():
            more = ", …" if len(found) > _PLACES_NAMED else ""
            lines.append(f"left out {len(found):,}: {rule} ({', '.join(found[:_PLACES_NAMED])}{more})")
        return lines

    def _repr_markdown_(self) -> str:
        """For notebooks."""
        return "\n".join([self.summary, "", *(f"- {line}" for line in self.remarks())])

    def as_json(self) -> dict[str, object]:
        return {
            "run_id": self.run_id,
            "started_at": self.started_at.isoformat(),
            "completed_at": self.completed_at.isoformat(),
            "duration_seconds": round(self.duration_seconds, 3),
            "source_base_url": self.source_base_url,
            "statistics": asdict(self.statistics),
            "failures": [
                {"url": f.url, "error_code": f.error_code, "error_message": f.error_message} for f in self.failures
            ],
            "pages": [{"url": p.url, "share": round(p.share, 3), "letters": p.letters} for p in self.pages],
            "left_out": [{"place": each.place, "rule": each.rule} for each in self.left_out],
            "configuration": asdict(self.configuration),
        }
