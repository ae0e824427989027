"""Examples for OpenAPI: questions that run, streams as they look, a failure of each kind. Pure."""

from collections.abc import Sequence
from typing import Any

from citewell.api.http_errors import (
    Conflict,
    LimitReached,
    NotAcceptable,
    PathUnknown,
    PayloadTooLarge,
    SlowBody,
    Unauthorized,
)
from citewell.errors import CitewellError, InvalidInputError, NotFoundError

Examples = dict[str, dict[str, Any]]

EXAMPLE_ID = "7d9f8a52-6c1e-4b7a-9f3d-0c5e2a4b8d61"
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
QUERY_STREAM = (
    'id: 1\ndata: {"type": "chunk", "content": "ROS 2 is a robotics middleware. [1]"}\n\n'
    'id: 2\ndata: {"type":"sources","sources":[]}\n\nid: 3\ndata: {"type":"done","metadata":{}}\n\n'
)
MESSAGE_STREAM = (
    'id: 1\nevent: tool_call\ndata: {"tool_name":"search_documentation","arguments":{"query":"ROS 2","top_k":5}}\n\n'
    'id: 2\nevent: retrieval\ndata: {"query":"ROS 2","results":[]}\n\n'
    'id: 3\nevent: content\ndata: {"delta":"ROS 2 is a robotics middleware. [1]"}\n\n'
    'id: 4\nevent: done\ndata: {"response":"ROS 2 is a robotics middleware. [1]","confidence":0.92}\n\n'
)
SAMPLES: Sequence[CitewellError] = (
    InvalidInputError("query exceeds maximum length of 2000 characters (it has 2431); please shorten it."),
    PayloadTooLarge("The body is larger than 64 KiB (65536 bytes)."),
    SlowBody("The body did not arrive within 10 seconds."),
    Unauthorized("A valid key is required in the header X-API-Key."),
    NotAcceptable("This server speaks version 1: Accept: application/vnd.api.v1+json."),
    PathUnknown("There is nothing at this path."),
    NotFoundError("There is no such turn in this session."),
    Conflict("This Idempotency-Key was used with another body."),
    LimitReached("Rate limit exceeded: 60 requests a minute.", policy="address", retry_after=12),
)
COMPLETION_EXAMPLES: Examples = {
    "question": {
        "summary": "A question",
        "value": {"model": "citewell", "messages": [{"role": "user", "content": "What is ROS 2?"}]},
    },
}
COMPLETION_STREAM = (
    'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600, "model": "citewell", '
    '"choices": [{"index": 0, "delta": {"role": "assistant", "content": "ROS 2 is software. [1]"}, '
    '"finish_reason": null}]}'
    "\n\ndata: [DONE]\n\n"
)
