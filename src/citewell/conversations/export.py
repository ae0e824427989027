"""A session's turns as JSON lines, under the names of the table's columns."""

import json

from citewell.conversations.rows import sources_of
from citewell.conversations.turns import Turn


def turn_line(turn: Turn) -> str:
    """Without its newline."""
    answer = turn.answer
    return json.dumps(
        {
            "id": answer.id,
            "session_id": answer.session_id,
            "created_at": turn.asked_at.isoformat(),
            "mode": answer.mode,
            "query": turn.question,
            "selected_text": turn.selection,
            "response": answer.text,
            "status": answer.status,
            "refusal_reason": answer.refusal_reason,
            "fallback_message": answer.fallback_message,
            "complete": turn.complete,
            "sources": sources_of(answer.citations),
            "confidence": answer.confidence,
            "confidence_level": answer.confidence_level,
            "low_confidence": answer.low_confidence,
            "conflicting_info": answer.conflicting_info,
            "dropped_sentences": answer.dropped_sentences,
            "chunks_retrieved": answer.chunks_retrieved,
            "latency_ms": answer.elapsed_ms,
            "model": answer.model,
            "input_hash": answer.input_hash,
            "output_hash": answer.output_hash,
            "deterministic": answer.deterministic,
            "trace_id": turn.request_id,
            "feedback": turn.vote,
            "feedback_comment": turn.comment,
            "feedback_at": turn.voted_at.isoformat() if turn.voted_at else None,
        },
        allow_nan=False,
    )
