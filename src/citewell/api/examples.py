"""Examples for OpenAPI: questions that run, and one answer as every dialect tells it. Pure."""

import json
from typing import Any

from citewell.api.dialects.protocol import Dialect
from citewell.values import (
    Answer,
    AnswerEvent,
    Citation,
    Completed,
    Passage,
    PassagesFound,
    ScoredPassage,
    SearchStarted,
    TextReleased,
)

Examples = dict[str, Any]

EXAMPLE_ID = "7d9f8a52-6c1e-4b7a-9f3d-0c5e2a4b8d61"
EXAMPLE_TURN = "0b9f3c1e-52c4-4f0a-8a59-6cf1f2f1a001"
QUERY_EXAMPLES: Examples = {
    "question": {"summary": "A question", "value": {"query": "What is ROS 2?"}},
    "narrowed": {
        "summary": "Fewer, better passages of one module",
        "value": {
            "query": "What is a ROS 2 node?",
            "top_k": 3,
            "score_threshold": 0.4,
            "filters": {"module": ["Module 1: ROS 2"]},
        },
    },
    "selection": {
        "summary": "From a selection alone",
        "value": {
            "query": "How fast does the loop run?",
            "mode": "selected_text",
            "selected_text": "The control loop runs at 100 Hz. The planner runs at 1 Hz.",
        },
    },
}
MESSAGE_EXAMPLES: Examples = {
    "message": {
        "summary": "A reader's question; make your own session_id with crypto.randomUUID()",
        "value": {"message": "What is a ROS 2 node?", "session_id": EXAMPLE_ID},
    },
    "context": {
        "summary": "With a selection that helps, and a history",
        "value": {
            "message": "How fast does it run?",
            "session_id": EXAMPLE_ID,
            "context": "The control loop runs at 100 Hz. The planner runs at 1 Hz.",
            "history": [
                {"role": "user", "content": "What is the control loop?"},
                {"role": "assistant", "content": "It moves the arm."},
            ],
        },
    },
}
COMPLETION_EXAMPLES: Examples = {
    "question": {
        "summary": "A question",
        "value": {"model": "citewell", "messages": [{"role": "user", "content": "What is ROS 2?"}]},
    },
}
FEEDBACK_EXAMPLES: Examples = {"up": {"value": {"rating": "up", "comment": "Just what I needed."}}}

_PASSAGE = Passage(
    id="5b0b2e2e-6d1c-5c3e-9d55-0d6c8f0a1b2c",
    url="/docs/intro",
    page_title="Introduction",
    text="ROS 2 is a robotics middleware. Its programs are called nodes.",
    chunk_index=0,
    char_start=0,
    char_end=62,
    heading_path=("What ROS 2 is",),
    anchor="what-ros-2-is",
    module="Module 1: ROS 2",
)
_ANSWER = Answer(
    id=EXAMPLE_TURN,
    session_id=EXAMPLE_ID,
    mode="general",
    text="ROS 2 is a robotics middleware. [1]",
    status="success",
    citations=(Citation(1, _PASSAGE, 0.87, "ROS 2 is a robotics middleware."),),
    confidence=0.92,
    confidence_level="high",
    model="citewell-extractive",
    chunks_retrieved=1,
    elapsed_ms=41.5,
    input_hash="a" * 64,
    output_hash="b" * 64,
)
_EVENTS: tuple[AnswerEvent, ...] = (
    SearchStarted("What is ROS 2?", 5, {}),
    PassagesFound("What is ROS 2?", (ScoredPassage(_PASSAGE, score=0.87, dense=0.87, bm25=7.1, fused=0.9),)),
    TextReleased(_ANSWER.text),
    Completed(_ANSWER),
)


def example_reply(dialect: Dialect) -> object:
    return json.loads(dialect.reply(_ANSWER))


def example_stream(dialect: Dialect) -> str:
    rendering = dialect.stream(EXAMPLE_ID)
    shown = [wire for event in _EVENTS for wire in rendering.render(event)]
    return "".join(event.numbered(number) for number, event in enumerate(shown, start=1))
