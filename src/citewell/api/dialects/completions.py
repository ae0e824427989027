"""The chat-completions dialect (`messages`): the book as a model for existing chat front ends. Pure."""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urljoin

from pydantic import Field

from citewell.api.dialects.protocol import WireEvent
from citewell.api.dialects.query import MAX_QUERY
from citewell.api.dialects.wire import WholeReply, Wire
from citewell.api.http_errors import ApiFailure, failure_of
from citewell.conversations.history import token_estimate
from citewell.errors import InvalidInputError
from citewell.values import Answer, AnswerEvent, Completed, Failed, Message, Question, TextReleased, trimmed

MODEL = "citewell"
MAX_MESSAGES = 200
_MARKER = re.compile(r"\[(\d{1,4})\]")


class ContentPart(Wire):
    type: str
    text: str = ""


class CompletionMessage(Wire):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[list[ContentPart], Field(fail_fast=True)] | None = None

    @property
    def plain(self) -> str:
        if isinstance(self.content, list):
            return trimmed("\n".join(part.text for part in self.content if part.type == "text"))
        return trimmed(self.content or "")


class StreamOptions(Wire):
    include_usage: bool = Field(False, description="Send the usage in a chunk of its own before `[DONE]`")


class CompletionRequest(Wire):
    """The last user message is the question, those before it are its history. Sampling settings are ignored."""

    messages: list[CompletionMessage] = Field(
        fail_fast=True,
        min_length=1,
        max_length=MAX_MESSAGES,
        examples=[[{"role": "user", "content": "What is ROS 2?"}]],
    )
    model: str = Field(MODEL, max_length=200, description="Any name: there is one book")
    stream: bool = False
    stream_options: StreamOptions | None = Field(None, description="Counts with `stream` only")


class UrlCitation(WholeReply):
    url: str
    title: str
    start_index: int = Field(description="Where the marker stands in the content")
    end_index: int


class Annotation(WholeReply):
    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class ReplyMessage(WholeReply):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None
    annotations: list[Annotation] = Field(default_factory=list)


class Choice(WholeReply):
    index: int = 0
    message: ReplyMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(WholeReply):
    """An upper estimate for any common tokenizer: four letters a token, one for each other sign.

    The messages as they were sent, and the answer. What the book's passages cost is not in it.
    """

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(WholeReply):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="Seconds since 1970")
    model: str = MODEL
    choices: list[Choice]
    usage: Usage


class ModelEntry(WholeReply):
    id: str = MODEL
    object: Literal["model"] = "model"
    created: int = Field(description="When the book was published, in seconds since 1970")
    owned_by: str = MODEL


class ModelList(WholeReply):
    object: Literal["list"] = "list"
    data: list[ModelEntry]


class CompletionErrorBody(WholeReply):
    message: str
    type: str
    param: str | None = None
    code: str


class CompletionError(WholeReply):
    error: CompletionErrorBody


class OpenAIDialect:
    """`POST /v1/chat/completions`. One for each request: it remembers what was sent, for the usage."""

    name: Literal["openai"] = "openai"
    failure_model = CompletionError
    event_models = ()

    def __init__(self, *, created: int, base: str = "") -> None:
        """`created` is now, in seconds since 1970; `base` is what the book's addresses are relative to."""
        self._created = created
        self._base = base
        self._sent_tokens = 0
        self._wants_usage = False

    def question(self, request: CompletionRequest, *, new_session_id: str, request_id: str) -> Question:
        self._sent_tokens = sum(token_estimate(message.plain) for message in request.messages)
        self._wants_usage = request.stream_options is not None and request.stream_options.include_usage
        turns = [(m.role, m.plain) for m in request.messages if m.role in ("user", "assistant") and m.plain]
        if not turns or turns[-1][0] != "user":
            raise InvalidInputError("The last message must be the user's question.", field="messages")
        text = turns[-1][1]
        if len(text) > MAX_QUERY:
            raise InvalidInputError(
                f"The question has {len(text):,} characters; the limit is {MAX_QUERY:,}.", field="messages"
            )
        history = tuple(Message("user" if role == "user" else "assistant", said) for role, said in turns[:-1])
        return Question(text=text, session_id=new_session_id, history=history[-10:], request_id=request_id)

    def reply(self, answer: Answer) -> bytes:
        message = ReplyMessage(content=answer.text, annotations=_annotations(answer, self._base))
        completion = Completion(
            id=f"chatcmpl-{answer.id}",
            created=self._created,
            choices=[Choice(message=message)],
            usage=_usage(self._sent_tokens, answer),
        )
        return completion.model_dump_json(ensure_ascii=True).encode()

    def stream(self, request_id: str) -> "OpenAIStream":
        return OpenAIStream(request_id, self._created, self._sent_tokens if self._wants_usage else None, self._base)

    def status(self, failure: ApiFailure) -> int:
        return failure.row.status

    def failure(self, failure: ApiFailure, request_id: str) -> bytes:
        return json.dumps(_error(failure)).encode()


OPENAI_DIALECT = OpenAIDialect(created=0)
"""For failures, which have no date."""


class OpenAIStream:
    """Chunks with deltas, a last one with the annotations, one with the usage if it is wanted, then `[DONE]`."""

    def __init__(self, request_id: str, created: int, sent_tokens: int | None, base: str) -> None:
        """`sent_tokens` are those of the messages; None: no usage is wanted."""
        self._base = base
        self._request_id = request_id
        self._created = created
        self._sent_tokens = sent_tokens
        self._sent = ""

    def render(self, event: AnswerEvent) -> Sequence[WireEvent]:
        match event:
            case TextReleased(text) if text:
                first = {} if self._sent else {"role": "assistant"}
                self._sent += text
                return [self._chunk({**first, "content": text})]
            case Completed(answer):
                rest = answer.text[len(self._sent) :] if answer.text.startswith(self._sent) else ""
                annotations = [a.model_dump() for a in _annotations(answer, self._base)]
                events = [self._chunk({"content": rest})] if rest else []
                return [
                    *events,
                    self._chunk({"annotations": annotations} if annotations else {}, finish="stop"),
                    *self._usage_chunk(answer),
                    WireEvent(None, "[DONE]"),
                ]
            case Failed(error):
                return [WireEvent(None, json.dumps(_error(failure_of(error))))]
        return []

    def _chunk(self, delta: dict[str, object], finish: str | None = None) -> WireEvent:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        usage: dict[str, object] = {} if self._sent_tokens is None else {"usage": None}
        return self._event({"choices": [choice], **usage})

    def _usage_chunk(self, answer: Answer) -> list[WireEvent]:
        if self._sent_tokens is None:
            return []
        return [self._event({"choices": [], "usage": _usage(self._sent_tokens, answer).model_dump()})]

    def _event(self, content: dict[str, object]) -> WireEvent:
        head = {"id": f"chatcmpl-{self._request_id}", "object": "chat.completion.chunk", "created": self._created}
        return WireEvent(None, json.dumps({**head, "model": MODEL, **content}))


def _usage(sent_tokens: int, answer: Answer) -> Usage:
    said = token_estimate(answer.text)
    return Usage(prompt_tokens=sent_tokens, completion_tokens=said, total_tokens=sent_tokens + said)


def _error(failure: ApiFailure) -> dict[str, object]:
    kind = "invalid_request_error" if failure.row.status < 500 else "server_error"
    body = {"message": failure.message, "type": kind, "param": failure.field, "code": failure.row.code}
    return {"error": body}


def _annotations(answer: Answer, base: str) -> list[Annotation]:
    """One for each marker in the text."""
    sources = {c.number: c.passage for c in answer.citations}
    return [
        Annotation(
            url_citation=UrlCitation(
                url=urljoin(base, sources[number].section_url),
                title=sources[number].page_title,
                start_index=marker.start(),
                end_index=marker.end(),
            )
        )
        for marker in _MARKER.finditer(answer.text)
        if (number := int(marker.group(1))) in sources
    ]
