"""What every index promises, asked of each implementation: Qdrant Edge, the client in memory, a server if given."""

import json
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from citewell.errors import CollectionNotFoundError, IngestError, IngestRunningError, SchemaValidationError
from citewell.index import Hint, IndexWriter, PassageIndex
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.index.payload import content_hash
from citewell.index.qdrant_server import ServerIndex, ServerWriter
from citewell.index.server_client import connect
from citewell.ingest.pagetext import PageText
from citewell.values import Generation, Page, Passage, Vector

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning")

EMBEDDER = "toy"
DIMENSIONS = 8
OLD = {"schema_version": 1}


def passage(
    number: int,
    text: str,
    *,
    page: str = "a",
    module: str = "Module one",
    language: str = "en",
    version: str = "",
) -> Passage:
    made = Passage(
        id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{page}/{number}")),
        url=f"https://book.example/{page}",
        page_title=f"Page {page}",
        text=text,
        chunk_index=number,
        char_start=number * 100,
        char_end=number * 100 + len(text),
        heading_path=("Robots", "Walking"),
        anchor="walking",
        module=module,
        language=language,
        version=version,
        page_number=number + 1,
    )
    return replace(made, content_hash=content_hash(made))


def direction(*axes: int) -> Vector:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[list(axes)] = 1.0
    return vector / np.float32(np.linalg.norm(vector))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the index under test stands; every call opens it anew."""

    reader: Callable[[], PassageIndex]
    writer: Callable[[], IndexWriter]
    age: Callable[[Generation], Awaitable[None]]
    """Makes it one that an earlier Citewell made."""


@pytest.fixture(params=["edge", "memory", "server"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    if request.param == "edge":
        folder = tmp_path / "index"

        async def age(made: Generation) -> None:
            manifest = folder / "generations" / made.id / "generation.json"
            manifest.write_text(json.dumps(json.loads(manifest.read_text()) | OLD))

        yield Place(lambda: EdgeIndex(folder), lambda: EdgeWriter(folder), age)
        return
    url = ":memory:" if request.param == "memory" else os.environ.get("QDRANT_URL", "")
    if not url:
        pytest.skip("QDRANT_URL is not set")
    client = AsyncQdrantClient(url) if url == ":memory:" else connect(url, os.environ.get("QDRANT_API_KEY"))
    name = f"contract-{uuid.uuid4().hex[:8]}"

    async def age_collection(made: Generation) -> None:
        await client.update_collection(f"{name}-{made.id}", metadata=OLD)

    yield Place(
        lambda: ServerIndex(url, None, name, client=client, fresh_seconds=0),
        lambda: ServerWriter(url, None, name, client=client),
        age_collection,
    )
    for collection in (await client.get_collections()).collections:
        if collection.name.startswith(name):
            await client.delete_collection(collection.name)
    await client.close()


Publish = Callable[..., Awaitable[Generation]]


@pytest.fixture
def publish(place: Place) -> Publish:
    async def run(*pairs: tuple[Passage, Vector], embedder: str = EMBEDDER) -> Generation:
        draft = await place.writer().begin(embedder=embedder, dimensions=DIMENSIONS)
        await draft.add([p for p, _ in pairs], np.stack([v for _, v in pairs]))
        return await draft.publish()

    return run


async def texts(place: Place, query: str, vector: Vector, **filters: tuple[str, ...]) -> set[str]:
    hits = await place.reader().candidates(query, vector, limit=10, filters=filters)
    return {hit.passage.text for hit in hits}


async def test_before_the_first_publication_there_is_no_collection(place: Place) -> None:
    with pytest.raises(CollectionNotFoundError):
        await place.reader().current()
    assert await place.writer().current_id() is None
    assert await place.writer().generations() == []


async def test_a_published_generation_says_what_it_is(place: Place, publish: Publish) -> None:
    made = await publish((passage(0, "one"), direction(0)), (passage(0, "two", page="b"), direction(1)))
    assert await place.reader().current() == made
    assert (made.embedder, made.dimensions, made.pages, made.passages) == (EMBEDDER, DIMENSIONS, 2, 2)
    assert await place.writer().current_id() == made.id


async def test_an_index_of_an_earlier_schema_is_told_apart_and_made_anew_by_the_next_run(
    place: Place, publish: Publish
) -> None:
    await place.age(await publish((passage(0, "old"), direction(0))))
    with pytest.raises(
        SchemaValidationError, match=r"schema version 1; .* reads version \d\. Ingest the book again\.$"
    ):
        await texts(place, "old", direction(0))
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    assert not await draft.has_old()
    assert not await draft.known_vectors([passage(0, "old").content_hash])
    await draft.discard()
    made = await publish((passage(0, "new"), direction(0)))
    assert await place.reader().current() == made
    assert await texts(place, "new", direction(0)) == {"new"}


async def test_a_passage_comes_back_as_it_went_in(place: Place, publish: Publish) -> None:
    sent = passage(3, "Zero moment point — `zmp` 🤖\n\n日本語", version="2.1", language="de")
    await publish((sent, direction(0)))
    hits = await place.reader().candidates("zmp", direction(0), limit=5, filters={})
    assert [hit.passage for hit in hits] == [sent]


async def test_every_hit_carries_both_scores(place: Place, publish: Publish) -> None:
    await publish(
        (passage(0, "gravel roads"), direction(0)),
        (passage(1, "walking robots balance"), direction(0, 1)),
        (passage(2, "balance of payments"), direction(2)),
    )
    hits = await place.reader().candidates("balance", direction(0), limit=1, filters={})
    scores = {hit.passage.chunk_index: hit for hit in hits}
    assert scores[0].dense == pytest.approx(1.0, abs=1e-5)
    assert scores[0].bm25 == 0.0
    other = max(scores.keys() - {0})
    assert scores[other].bm25 > 0.0
    assert scores[other].dense == pytest.approx(
        direction(0) @ (direction(0, 1) if other == 1 else direction(2)), abs=1e-5
    )


async def test_a_cosine_may_be_negative(place: Place, publish: Publish) -> None:
    await publish((passage(0, "north"), -direction(0)))
    (hit,) = await place.reader().candidates("south", direction(0), limit=5, filters={})
    assert hit.dense == pytest.approx(-1.0, abs=1e-5)


@pytest.mark.parametrize(
    "query", ["ERR_404", "what does err_404 mean?", "nav2_bringup", "--ros-args", "rclpy.init", "RetrievalRequest"]
)
async def test_an_identifier_finds_its_passage_before_those_of_its_parts(
    place: Place, publish: Publish, query: str
) -> None:
    await publish(
        *(
            (passage(i, text), direction(i % 8))
            for i, text in enumerate(
                [
                    "The code 404 and the prefix err are common; err on the safe side with 404 pages.",
                    "The page says ERR_404 when nothing is there.",
                    "Bringup of nav2 needs a map; nav2 has a bringup guide, nav2 nav2.",
                    "Start nav2_bringup with a map.",
                    "ROS takes args; args of ros are ros args.",
                    "Pass `--ros-args` before parameters.",
                    "Init of rclpy: init init, rclpy.",
                    "Call rclpy.init() once.",
                    "A retrieval request is a request for retrieval.",
                    "`RetrievalRequest` has three fields.",
                ]
            )
        )
    )
    hits = await place.reader().candidates(query, direction(0, 1, 2, 3, 4, 5, 6, 7), limit=10, filters={})
    best = max(hits, key=lambda hit: hit.bm25)
    name = next(
        n for n in ("err_404", "nav2_bringup", "--ros-args", "rclpy.init", "retrievalrequest") if n in query.lower()
    )
    assert name in best.passage.text.lower()


async def test_a_query_without_words_still_ranks_by_meaning(place: Place, publish: Publish) -> None:
    await publish((passage(0, "one"), direction(0)), (passage(1, "two"), direction(1)))
    hits = await place.reader().candidates("the of ???", direction(1), limit=5, filters={})
    assert max(hits, key=lambda hit: hit.dense).passage.text == "two"
    assert {hit.bm25 for hit in hits} == {0.0}


async def test_values_of_a_filter_are_or_and_fields_are_and(place: Place, publish: Publish) -> None:
    await publish(
        (passage(0, "one", page="a", version="1"), direction(0)),
        (passage(1, "two", page="b", version="1"), direction(0)),
        (passage(2, "three", page="b", version="2"), direction(0)),
        (passage(3, "four", page="c", version="2"), direction(0)),
    )
    a, b = "https://book.example/a", "https://book.example/b"
    assert await texts(place, "x", direction(0), source_url=(a, b)) == {"one", "two", "three"}
    assert await texts(place, "x", direction(0), source_url=(a, b), version=("1",)) == {"one", "two"}
    assert await texts(place, "x", direction(0), source_url=(a,), version=("2",)) == set()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source_url", "https://book.example/b"),
        ("page_title", "Page b"),
        ("chapter", "Page b"),
        ("section_heading", "Running"),
        ("module", "Module two"),
        ("language", "fr"),
        ("version", "9"),
    ],
)
async def test_every_filter_field_is_matched_exactly(place: Place, publish: Publish, field: str, value: str) -> None:
    other = replace(
        passage(7, "wanted", page="b", module="Module two", language="fr", version="9"), heading_path=("Running",)
    )
    await publish((passage(0, "not this"), direction(0)), (other, direction(1)))
    assert await texts(place, "wanted this", direction(0), **{field: (value,)}) == {"wanted"}
    assert await texts(place, "wanted this", direction(0), **{field: (value + "x",)}) == set()
    assert await texts(place, "wanted this", direction(0), **{field: ()}) == set()


async def test_the_passages_of_a_page_come_in_reading_order(place: Place, publish: Publish) -> None:
    order = [11, 2, 0, 1, 10]
    await publish(*((passage(i, f"text {i}"), direction(0)) for i in order), (passage(0, "b", page="b"), direction(1)))
    found = await place.reader().passages_of("https://book.example/a")
    assert [p.chunk_index for p in found] == sorted(order)
    assert await place.reader().passages_of("https://book.example/nowhere") == []


async def test_the_table_of_contents_keeps_the_order_of_ingestion(place: Place, publish: Publish) -> None:
    pages = ["zebra", "apple", "mango"]
    await publish(*((passage(i, "x", page=page), direction(0)) for page in pages for i in range(2)))
    entries = await place.reader().pages()
    assert [(e.title, e.module, e.passages) for e in entries] == [(f"Page {p}", "Module one", 2) for p in pages]


async def test_an_open_reader_sees_a_new_generation_and_only_the_new_one(place: Place, publish: Publish) -> None:
    reader = place.reader()
    await publish((passage(0, "old"), direction(0)))
    assert [h.passage.text for h in await reader.candidates("x", direction(0), limit=5, filters={})] == ["old"]
    second = await publish((passage(1, "new"), direction(0)))
    assert await reader.current() == second
    assert [h.passage.text for h in await reader.candidates("x", direction(0), limit=5, filters={})] == ["new"]
    assert [e.passages for e in await reader.pages()] == [1]


async def test_a_draft_is_not_seen_before_it_is_published(place: Place, publish: Publish) -> None:
    first = await publish((passage(0, "old"), direction(0)))
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    await draft.add([passage(1, "new")], direction(0)[None, :])
    assert await place.reader().current() == first
    await draft.discard()
    assert await place.reader().current() == first
    assert [g.id for g in await place.writer().generations()] == [first.id]


async def test_only_one_draft_at_a_time(place: Place) -> None:
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    with pytest.raises(IngestRunningError, match=str(os.getpid())):
        await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    await draft.discard()
    again = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    await again.discard()


def a_page(name: str = "a") -> Page:
    text = PageText()
    text.heading(2, "Walking", "walking")
    depth = text.enter()
    text.item("1.", "Lift “one” foot 🤖:", "")
    text.code("lift()", "python")
    text.leave(depth)
    text.table([["joint", "angle"], ["knee", "30"]])
    url = f"https://book.example/{name}"
    return Page(url, f"Page {name}", text.text, tuple(text.blocks), "One", "en", "2", page_starts=(0, 9))


async def test_a_page_comes_back_as_it_was_read(place: Place) -> None:
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    digests = [await draft.add_page(a_page(name)) for name in ("a", "b")]
    await draft.add([passage(0, "one")], np.stack([direction(0)]))
    await draft.publish()
    assert await place.reader().page(a_page("b").url) == a_page("b")
    assert await place.reader().page("https://book.example/nowhere") is None
    again = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    assert await again.old_page(a_page("a").url) == a_page("a")
    assert await again.old_page("https://book.example/nowhere") is None
    assert [await again.add_page(a_page(name)) for name in ("a", "b")] == digests
    await again.discard()
    assert await place.reader().page(a_page("a").url) == a_page("a")


async def test_the_blocks_of_a_passage_come_back_as_they_went_in(place: Place, publish: Publish) -> None:
    page = a_page()
    made = replace(passage(0, page.text), blocks=page.blocks, first_block=7)
    await publish((made, direction(0)))
    assert await place.reader().passages_of(made.url) == [made]


async def test_vectors_are_known_again_by_their_hash(place: Place, publish: Publish) -> None:
    kept = passage(0, "kept")
    await publish((kept, direction(3)), (passage(1, "other"), direction(4)))
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    known = await draft.known_vectors([kept.content_hash, "f" * 64])
    assert set(known) == {kept.content_hash}
    np.testing.assert_allclose(known[kept.content_hash], direction(3), atol=1e-6)
    ((old, vector),) = [pair for pair in await draft.old_passages(kept.url) if pair[0].text == "kept"]
    assert old == kept
    np.testing.assert_allclose(vector, direction(3), atol=1e-6)
    assert [e.passages for e in await draft.old_pages()] == [2]
    await draft.discard()


async def test_vectors_of_another_embedder_are_not_known(place: Place, publish: Publish) -> None:
    kept = passage(0, "kept")
    await publish((kept, direction(3)))
    draft = await place.writer().begin(embedder="another", dimensions=DIMENSIONS)
    assert await draft.known_vectors([kept.content_hash]) == {}
    await draft.discard()


async def test_going_back_serves_the_generation_before(place: Place, publish: Publish) -> None:
    first = await publish((passage(0, "old"), direction(0)))
    with pytest.raises(CollectionNotFoundError):
        await place.writer().go_back()
    second = await publish((passage(1, "new"), direction(0)))
    assert await place.writer().go_back() == first
    assert await texts(place, "x", direction(0)) == {"old"}
    assert [g.id for g in await place.writer().generations()] == [second.id, first.id]


async def test_the_current_generation_and_the_one_before_are_kept(place: Place, publish: Publish) -> None:
    made = [await publish((passage(i, f"text {i}"), direction(0))) for i in range(4)]
    assert [g.id for g in await place.writer().generations()] == [made[3].id, made[2].id]


async def test_after_going_back_the_next_run_drops_the_bad_generation(place: Place, publish: Publish) -> None:
    first = await publish((passage(0, "good"), direction(0)))
    await publish((passage(0, "bad"), direction(0)))
    await place.writer().go_back()
    third = await publish((passage(0, "better"), direction(0)))
    assert [g.id for g in await place.writer().generations()] == [third.id, first.id]


@pytest.mark.parametrize(
    "vectors",
    [
        np.full((1, DIMENSIONS), np.nan, dtype=np.float32),
        np.zeros((1, DIMENSIONS), dtype=np.float32),
        np.ones((1, DIMENSIONS), dtype=np.float32),
        direction(0)[None, :4],
        np.stack([direction(0), direction(1)]),
    ],
    ids=["nan", "zero", "long", "short", "too many"],
)
async def test_vectors_that_are_not_sound_are_refused(place: Place, vectors: Vector) -> None:
    draft = await place.writer().begin(embedder=EMBEDDER, dimensions=DIMENSIONS)
    with pytest.raises(IngestError):
        await draft.add([passage(0, "x")], vectors)
    await draft.discard()


@pytest.mark.parametrize("vector", [np.zeros(4, dtype=np.float32), np.full(DIMENSIONS, np.nan, dtype=np.float32)])
async def test_a_question_vector_of_another_space_is_refused(place: Place, publish: Publish, vector: Vector) -> None:
    await publish((passage(0, "x"), direction(0)))
    with pytest.raises(SchemaValidationError):
        await place.reader().candidates("x", vector, limit=5, filters={})


async def test_the_same_question_gets_the_same_scores_every_time(place: Place, publish: Publish) -> None:
    await publish(*((passage(i, f"robots walk {i % 3}"), direction(i % 8)) for i in range(30)))
    runs = [
        {
            h.passage.id: (h.dense, h.bm25)
            for h in await place.reader().candidates("walk 2", direction(1), limit=40, filters={})
        }
        for _ in range(3)
    ]
    assert runs[0] == runs[1] == runs[2]


async def test_a_sound_index_is_found_sound(place: Place, publish: Publish) -> None:
    await publish((passage(0, "one"), direction(0)), (passage(0, "two", page="b"), direction(1)))
    found = await place.writer().integrity()
    assert found.sound
    assert found.as_json()["passages"] == 2


async def test_altered_and_doubled_passages_are_found(place: Place, publish: Publish) -> None:
    altered = replace(passage(0, "one"), content_hash="0" * 64)
    twin = replace(passage(1, "two"), id=str(uuid.uuid4()), chunk_index=0)
    await publish((altered, direction(0)), (twin, direction(1)))
    found = await place.writer().integrity()
    assert not found.sound
    assert found.altered == (altered.id,)
    assert len(found.duplicates) == 1


async def test_words_of_a_hint_count_less_than_words_of_the_question(place: Place, publish: Publish) -> None:
    await publish(
        (passage(0, "limits of attachments"), direction(0)),
        (passage(1, "limits of documents"), direction(0)),
        (passage(2, "pricing of attachments"), direction(0)),
        (passage(3, "walking robots"), direction(0)),
    )
    reader = place.reader()
    hits = await reader.candidates("limits", direction(0), limit=9, filters={}, hints=(Hint("attachments", 0.1),))
    assert [h.passage.chunk_index for h in sorted(hits, key=lambda h: -h.bm25)] == [0, 1, 2, 3]
