from pathlib import Path

from pydantic import TypeAdapter

from citewell.contracts import CONTRACTS, ResponseGeneration, response_generation
from citewell.values import Answer, Citation, Passage

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
PASSAGE = Passage("1", "/docs/nodes", "Nodes", "A node is a process.", 0, 0, 20, ("What",), "what", "Module 1")


def an_answer(**changes: object) -> Answer:
    fields: dict[str, object] = {
        "id": "1",
        "session_id": "s",
        "mode": "general",
        "text": "A node is a process. [1]",
        "status": "success",
        "citations": (Citation(1, PASSAGE, 0.9, "A node is a process."),),
        "confidence": 0.9,
        "confidence_level": "high",
        "model": "m",
        "chunks_retrieved": 1,
        "elapsed_ms": 1.0,
    }
    return Answer(**(fields | changes))  # type: ignore[arg-type] # fields by name, for brevity


def test_the_published_schemas_are_those_of_the_types() -> None:
    import json

    for name, contract in CONTRACTS.items():
        published = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
        assert published == TypeAdapter(contract).json_schema(), f"run scripts/write_schemas.py for {name}"


def test_an_answer_is_rendered_as_the_response_contract() -> None:
    response = response_generation(an_answer())
    TypeAdapter(ResponseGeneration).validate_python(response)
    assert response["citations"] == [{"source_url": "/docs/nodes#what", "module": "Module 1", "chapter": "Nodes"}]
    assert "refusal_reason" not in response


def test_a_refusal_carries_its_reason() -> None:
    response = response_generation(an_answer(status="refused", citations=(), refusal_reason="Not there"))
    assert (response["status"], response["refusal_reason"]) == ("refused", "Not there")
