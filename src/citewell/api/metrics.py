"""Numbers for Prometheus. The only module that imports prometheus_client. One registry for each app, no global."""

from collections.abc import Mapping, Sequence
from functools import partial

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
    values,
)

_WHY = ("not stated", "contradicted", "number", "code", "address", "order", "it ", "a fragment", "said before")
"""What a reason for dropping a sentence begins with."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counts of this process or, under a supervisor, of all workers, whichever of them is asked."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry, buckets=_SECONDS)
        self._requests = counter("citewell_requests", "Replies", ("route", "method", "status"))
        self._latency = histogram("citewell_request_seconds", "Whole request", ("route",))
        self._first_text = histogram("citewell_first_text_seconds", "From the request to the first text", ("dialect",))
        self._retrieval = histogram("citewell_retrieval_seconds", "First search of a question")
        self._model = histogram("citewell_model_seconds", "From the passages to the end of the answer")
        self._answers = counter("citewell_answers", "Finished questions by outcome", ("dialect", "outcome"))
        self._dropped = counter("citewell_dropped_sentences", "Sentences without support that were not shown")
        self._calls = counter("citewell_model_calls", "Calls of the hosted model", ("key",))
        self._tokens = counter("citewell_model_tokens", "Tokens of the hosted model", ("key",))
        self._spent = counter("citewell_model_budget_refusals", "Calls not made as the budget is spent")
        most = "What the hosted model may cost, in all and for each key"
        self._budget = gauge("citewell_model_budget", most, ("of", "what"), multiprocess_mode="max")
        self._reasons = counter("citewell_drop_reasons", "Why sentences were dropped", ("why",))
        self._limited = counter("citewell_limited", "Requests refused by a limit", ("policy",))
        self._open = gauge("citewell_open_questions", "Questions being answered", multiprocess_mode="livesum")
        age = "Since the index was published"
        self._generation = gauge("citewell_generation_age_seconds", age, multiprocess_mode="mostrecent")

    def replied(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def first_text(self, dialect: str, seconds: float) -> None:
        self._first_text.labels(dialect).observe(seconds)

    def retrieved(self, seconds: float) -> None:
        self._retrieval.observe(seconds)

    def generated(self, seconds: float) -> None:
        self._model.observe(seconds)

    def answered(self, dialect: str, outcome: str, dropped: int = 0, reasons: Sequence[str] = ()) -> None:
        self._answers.labels(dialect, outcome).inc()
        self._dropped.inc(dropped)
        for reason in reasons:
            self._reasons.labels(next((why for why in _WHY if reason.startswith(why)), "other")).inc()

    def limited(self, policy: str) -> None:
        self._limited.labels(policy).inc()

    def model_called(self, owner: str, calls: int, tokens: int) -> None:
        """Of a key its digest's first letters are shown."""
        self._calls.labels(owner[:8]).inc(calls)
        self._tokens.labels(owner[:8]).inc(tokens)

    def budget_spent(self) -> None:
        self._spent.inc()

    def budgeted(self, of: str, allowance: Mapping[str, int | None]) -> None:
        for what, most in allowance.items():
            if most is not None:
                self._budget.labels(of, what).set(most)

    def opened(self) -> None:
        self._open.inc()

    def closed(self) -> None:
        self._open.dec()

    def exposition(self, *, generation_age: float | None) -> bytes:
        if generation_age is not None:
            self._generation.set(generation_age)
        if values.ValueClass is values.MutexValue:
            return generate_latest(self._registry)
        summed = CollectorRegistry()
        multiprocess.MultiProcessCollector(summed)  # type: ignore[no-untyped-call] # prometheus has no types here
        return generate_latest(summed)


def forget_worker(process_id: int, folder: str) -> None:
    """What a worker that ended had open is open no more; its counts stay in the sums."""
    multiprocess.mark_process_dead(process_id, folder)  # type: ignore[no-untyped-call] # nor here
