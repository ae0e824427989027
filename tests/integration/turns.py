"""A question and an answer as the engine makes them, for tests of what stores and shows them; `replace` the rest."""

from uuid import uuid4

from citewell.values import Answer, Citation, Passage, Question

PASSAGE = Passage(
    id="5d1c1a6e-0a5c-5f0e-9c9e-0a4a4f6f0d11",
    url="https://book.example/build",
    page_title="Build",
    text="Build the workspace with `colcon build`. It takes a minute.",
    chunk_index=3,
    char_start=120,
    char_end=179,
    heading_path=("Workspaces", "Building"),
    anchor="building",
    module="Basics",
    content_hash="9f" * 32,
)


def a_question(session_id: str, text: str = "How do I build the workspace?") -> Question:
    return Question(text=text, session_id=session_id, request_id="req-1")


def an_answer(session_id: str, text: str = "Build it with `colcon build`. [1]", *, elapsed_ms: float = 0.0) -> Answer:
    return Answer(
        id=str(uuid4()),
        session_id=session_id,
        mode="general",
        text=text,
        status="success",
        citations=(Citation(1, PASSAGE, 0.8123456789012345, "Build the workspace with `colcon build`."),),
        confidence=0.1 + 0.2,
        confidence_level="high",
        model="extractive",
        chunks_retrieved=5,
        elapsed_ms=elapsed_ms,
        dropped_sentences=1,
        input_hash=uuid4().hex,
        output_hash=uuid4().hex,
    )
