"""A checked text on the wire: every name that it has in a reply of /check and in what `citewell check` prints."""

from pydantic import Field

from citewell.api.dialects.wire import WholeReply, encoded, similarity
from citewell.judge import Checked, CheckedSentence, Outcome
from citewell.values import Passage


class CheckedQuote(WholeReply):
    passage: int = Field(description="Its number, from 1")
    char_start: int | None = Field(description="Where in the passage, in code points")
    char_end: int | None
    text: str


class SentenceReply(WholeReply):
    text: str
    char_start: int = Field(description="Where in the text, in code points")
    char_end: int
    outcome: Outcome
    score: float = Field(description="How likely it is that the passages support the sentence")
    quote: CheckedQuote | None = Field(description="What says it, or says most of it")
    reason: str | None


class CheckedPassage(WholeReply):
    number: int
    source_url: str | None = Field(description="Null for passages of the request")
    title: str | None


class CheckResponse(WholeReply):
    sentences: list[SentenceReply] = Field(description="Every sentence, in the order of the text")
    supported: int
    contradicted: int
    not_stated: int
    passages: list[CheckedPassage]


def check_reply(checked: Checked) -> bytes:
    sentences = [_sentence(sentence, checked.passages) for sentence in checked.sentences]
    outcomes = [sentence.outcome for sentence in checked.sentences]
    return encoded(
        CheckResponse(
            sentences=sentences,
            supported=outcomes.count("supported"),
            contradicted=outcomes.count("contradicted"),
            not_stated=outcomes.count("not_stated"),
            passages=[
                CheckedPassage(number=number, source_url=passage.url or None, title=passage.page_title or None)
                for number, passage in enumerate(checked.passages, start=1)
            ],
        )
    )


def _sentence(sentence: CheckedSentence, passages: tuple[Passage, ...]) -> SentenceReply:
    quote = None
    if sentence.passage is not None:
        text = passages[sentence.passage - 1].text[sentence.quote_start : sentence.quote_end]
        quote = CheckedQuote(
            passage=sentence.passage,
            char_start=sentence.quote_start,
            char_end=sentence.quote_end,
            text=text if sentence.quote_start is not None else "",
        )
    return SentenceReply(
        text=sentence.text,
        char_start=sentence.start,
        char_end=sentence.end,
        outcome=sentence.outcome,
        score=similarity(sentence.score),
        quote=quote,
        reason=sentence.reason or None,
    )
