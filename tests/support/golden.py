"""The golden exchanges: requests, replies and streams of both dialects, as files that the widget's tests read too.

`python -m tests.support.golden` writes them anew; look at the difference before you keep it.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.errors import CitewellError, ModelError, QdrantConnectionError
from citewell.values import (
    SELECTION_URL,
    Citation,
    Completed,
    Failed,
    Passage,
    SelectionSpan,
)
from tests.support.api import ANSWER, REFUSAL, SESSION, ScriptedEngine, Step, an_app, answering, in_process

FOLDER = Path(__file__).parent.parent / "golden"
REQUEST_ID = "golden-1"
SELECTED = "The control loop runs at 100 Hz. The planner runs at 1 Hz.\nBoth are nodes. \U0001f916"
_QUOTE = "The control loop runs at 100 Hz."
FROM_SELECTION = replace(
    ANSWER,
    mode="selected_text",
    text=f"{_QUOTE} [1]",
    citations=(
        Citation(1, Passage("s", SELECTION_URL, "", SELECTED, 0, 0, 77), 1.0, _QUOTE, SelectionSpan(0, 32, 1, 1)),
    ),
    chunks_retrieved=0,
)
SOURCES_ONLY = replace(
    ANSWER,
    text="",
    status="error",
    confidence=0.0,
    confidence_level="insufficient",
    fallback_message="AI summarization unavailable",
    deterministic=False,
)
SEARCHED = answering()[:2]


@dataclass(frozen=True)
class Case:
    path: str
    body: Mapping[str, object]
    script: Sequence[Step]


_QUERY = {"query": "What is a ROS 2 node?", "session_id": SESSION}
_MESSAGE = {"message": "What is a ROS 2 node?", "session_id": SESSION}
_SELECTION = {
    "query": "How fast does the control loop run?",
    "session_id": SESSION,
    "mode": "selected_text",
    "selected_text": SELECTED,
}
_CONTEXT = {"message": "How fast does the control loop run?", "session_id": SESSION, "context": SELECTED, "history": []}
_OUT = {"query": "What is the capital of France?", "session_id": SESSION}
_OUT_MESSAGE = {"message": "What is the capital of France?", "session_id": SESSION}
_LONG = {"message": "x" * 1001, "session_id": SESSION}
_AWAY: CitewellError = QdrantConnectionError("connection refused")
_BROKEN: Sequence[Step] = [*answering()[:5], Failed(ModelError("connection reset"))]

CASES: Mapping[str, Case] = {
    "developer_answer": Case("/chat", _QUERY, answering()),
    "developer_selection": Case("/chat", _SELECTION, [Completed(FROM_SELECTION)]),
    "developer_refusal": Case("/chat", _OUT, [*SEARCHED, Completed(REFUSAL)]),
    "developer_sources_only": Case("/chat", _QUERY, [*SEARCHED, Completed(SOURCES_ONLY)]),
    "developer_stream": Case("/chat/stream", _QUERY, answering()),
    "developer_stream_of_chat": Case("/chat", {**_QUERY, "stream": True}, answering()),
    "developer_stream_refusal": Case("/chat/stream", _OUT, [*SEARCHED, Completed(REFUSAL)]),
    "developer_stream_broken": Case("/chat/stream", _QUERY, _BROKEN),
    "developer_invalid": Case("/chat", {"query": " ", "session_id": SESSION}, []),
    "developer_no_index": Case("/chat", _QUERY, [SEARCHED[0], Failed(_AWAY)]),
    "reader_answer": Case("/chat/run", _MESSAGE, answering()),
    "reader_context": Case("/chat/run", _CONTEXT, [Completed(replace(FROM_SELECTION, mode="general"))]),
    "reader_refusal": Case("/chat/run", _OUT_MESSAGE, [*SEARCHED, Completed(REFUSAL)]),
    "reader_sources_only": Case("/chat/run", _MESSAGE, [*SEARCHED, Completed(SOURCES_ONLY)]),
    "reader_stream": Case("/chat/stream", _MESSAGE, answering()),
    "reader_stream_refusal": Case("/chat/stream", _OUT_MESSAGE, [*SEARCHED, Completed(REFUSAL)]),
    "reader_stream_broken": Case("/chat/stream", _MESSAGE, _BROKEN),
    "reader_invalid": Case("/chat/run", _LONG, []),
    "reader_no_index": Case("/chat/stream", _MESSAGE, [SEARCHED[0], Failed(_AWAY)]),
}


async def produced(case: Case) -> tuple[str, str]:
    """The request as a file's text, and the reply as one."""
    async with in_process(an_app(ScriptedEngine(case.script))) as http:
        reply = await http.post(case.path, json=case.body, headers={"x-request-id": REQUEST_ID})
    request = json.dumps({"method": "POST", "path": case.path, "body": case.body}, indent=2)
    if reply.headers["content-type"] == "text/event-stream":
        return request + "\n", reply.text
    shown = {"status": reply.status_code, "content_type": reply.headers["content-type"], "body": reply.json()}
    if "retry-after" in reply.headers:
        shown["retry_after"] = reply.headers["retry-after"]
    return request + "\n", json.dumps(shown, indent=2) + "\n"


def files_of(name: str) -> tuple[Path, Path]:
    request = FOLDER / f"{name}.request.json"
    stream = FOLDER / f"{name}.stream.txt"
    return request, stream if stream.exists() else FOLDER / f"{name}.reply.json"


async def _write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, case in CASES.items():
        request, reply = await produced(case)
        (FOLDER / f"{name}.request.json").write_text(request, "utf-8")
        ending = "reply.json" if reply.startswith("{") else "stream.txt"
        (FOLDER / f"{name}.{ending}").write_text(reply, "utf-8")


if __name__ == "__main__":
    asyncio.run(_write())
