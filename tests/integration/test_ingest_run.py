"""Runs on a real Qdrant Edge index in a temporary folder: what is unchanged costs nothing, what is gone is gone."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.errors import CollectionNotFoundError, IngestError, IngestRunningError, TooManyFailuresError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.ingest import IngestOptions, IngestReport, Progress, ingest, source_of
from citewell.values import Passage, Vector
from tests.support.ingest import CountingEmbedder


class Book:
    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir()
        self.data = folder / "data"
        self.embedder = CountingEmbedder()
        self.seen: list[Progress] = []

    def write(self, **pages: str) -> None:
        for name, text in pages.items():
            (self.docs / f"{name}.md").write_text(text, "utf-8")

    async def ingest(self, **options: float) -> IngestReport:
        self.embedder.embedded.clear()
        chosen = IngestOptions(state_dir=self.data, max_failure_share=options.get("max_failure_share", 0.05))
        writer = EdgeWriter(self.data, spare_bytes=0)
        return await ingest(source_of(str(self.docs), chosen), writer, self.embedder, chosen, self.seen.append)

    async def texts(self) -> dict[str, list[str]]:
        index = EdgeIndex(self.data)
        try:
            pages = await index.pages()
            return {page.url: [p.text for p in await index.passages_of(page.url)] for page in pages}
        finally:
            await index.aclose()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


async def test_a_first_run_takes_everything_in_and_reports_it(book: Book) -> None:
    book.write(a="# A\n\nOne.\n\n## More\n\nTwo.", b="# B\n\nThree.")
    report = await book.ingest()
    assert await book.texts() == {"/a": ["One.", "Two."], "/b": ["Three."]}
    document = report.as_json()
    assert list(document) == [
        "run_id",
        "started_at",
        "completed_at",
        "duration_seconds",
        "source_base_url",
        "statistics",
        "failures",
        "pages",
        "left_out",
        "configuration",
    ]
    assert document["statistics"] == {
        "urls_discovered": 2,
        "urls_attempted": 2,
        "urls_successful": 2,
        "urls_failed": 0,
        "chunks_created": 3,
        "vectors_upserted": 3,
        "vectors_unchanged": 0,
        "pages_before": 0,
        "pages_gone": 0,
    }
    assert document["failures"] == []
    assert (book.seen[-1].phase, book.seen[-1].done, book.seen[-1].passages) == ("done", 2, 3)


async def test_a_second_run_embeds_nothing_and_leaves_the_generation(book: Book) -> None:
    book.write(a="One.", b="Two.")
    first = await book.ingest()
    second = await book.ingest()
    assert book.embedder.embedded == []
    assert second.configuration.generation == first.configuration.generation
    assert not second.configuration.is_new
    assert second.statistics.vectors_unchanged == second.statistics.chunks_created == 2


async def test_without_a_kept_state_a_second_run_still_embeds_nothing(book: Book) -> None:
    book.write(a="One.", b="Two.")
    await book.ingest()
    (book.data / "ingest-state.json").write_text("{damaged")
    report = await book.ingest()
    assert book.embedder.embedded == []
    assert report.statistics.vectors_unchanged == 2


async def test_after_an_edit_only_what_changed_is_embedded(book: Book) -> None:
    book.write(a="# A\n\nOne.\n\n## Keep\n\nKept.", b="Two.")
    await book.ingest()
    book.write(a="# A\n\nOne and a half.\n\n## Keep\n\nKept.")
    report = await book.ingest()
    assert book.embedder.embedded == ["A\nOne and a half."]
    assert report.configuration.is_new
    assert (await book.texts())["/a"] == ["One and a half.", "Kept."]


async def test_a_page_that_shrank_moved_or_went_leaves_nothing(book: Book) -> None:
    book.write(a="# T\n\nOne.\n\n## Tail\n\nTail.", b="# Moved\n\nMoved.", c="Gone.")
    await book.ingest()
    book.write(a="# T\n\nOne.")
    (book.docs / "b.md").rename(book.docs / "z.md")
    (book.docs / "c.md").unlink()
    await book.ingest()
    assert book.embedder.embedded == []
    assert await book.texts() == {"/a": ["One."], "/z": ["Moved."]}


async def test_the_same_text_on_two_pages_is_kept_on_both_and_embedded_once(book: Book) -> None:
    book.write(a="# T\n\nSame.", b="# T\n\nSame.")
    await book.ingest()
    assert book.embedder.embedded == ["T\nSame."]
    assert await book.texts() == {"/a": ["Same."], "/b": ["Same."]}


async def test_a_changed_label_is_published_though_no_text_changed(book: Book) -> None:
    (book.docs / "m").mkdir()
    (book.docs / "m" / "a.md").write_text("One.")
    await book.ingest()
    (book.docs / "m" / "_category_.json").write_text('{"label": "Module 1"}')
    report = await book.ingest()
    assert report.configuration.is_new
    assert book.embedder.embedded == []


async def test_another_embedder_embeds_everything_anew(book: Book) -> None:
    book.write(a="One.", b="Two.")
    await book.ingest()
    book.embedder = CountingEmbedder("other")
    report = await book.ingest()
    assert len(book.embedder.embedded) == 2
    assert report.configuration.is_new


async def test_a_page_that_fails_is_named_and_what_the_index_had_of_it_is_kept(book: Book) -> None:
    book.write(a="One.", b="Two.")
    await book.ingest()
    (book.docs / "a.md").write_bytes(b"\xff\xfe broken")
    report = await book.ingest(max_failure_share=0.5)
    assert [(f.url, f.error_code) for f in report.failures] == [("/a", "invalid_utf8")]
    assert report.statistics.urls_failed == 1
    assert await book.texts() == {"/a": ["One."], "/b": ["Two."]}
    book.write(a="One again.")
    await book.ingest()
    assert (await book.texts())["/a"] == ["One again."]


async def test_too_many_failures_publish_nothing(book: Book) -> None:
    book.write(a="One.", b="Two.")
    await book.ingest()
    (book.docs / "a.md").write_bytes(b"\xff")
    book.write(b="Changed.")
    with pytest.raises(TooManyFailuresError, match=r"1 of 2 pages failed.*5%.*/a"):
        await book.ingest()
    assert await book.texts() == {"/a": ["One."], "/b": ["Two."]}


async def test_empty_files_and_unclosed_tags_are_reported_and_the_rest_goes_on(book: Book) -> None:
    book.write(a="", b="<Tabs>\n\nText.", c="Fine.", d="---\ntitle: [\n---\nBody.")
    report = await book.ingest()
    assert [(f.url, f.error_code) for f in report.failures] == [
        ("/a", "empty_page"),
        ("/b", "unclosed_tag"),
        ("/d", "bad_front_matter"),
    ]
    assert report.statistics.urls_failed == 0
    assert list(await book.texts()) == ["/b", "/c", "/d"]


async def test_two_pages_with_one_address_are_reported(book: Book) -> None:
    book.write(a="---\nslug: /same\n---\nOne.", b="---\nslug: /same\n---\nTwo.")
    report = await book.ingest(max_failure_share=0.5)
    assert [(f.url, f.error_code) for f in report.failures] == [("/same", "duplicate_url")]
    assert await book.texts() == {"/same": ["One."]}


async def test_a_folder_without_pages_publishes_nothing(book: Book) -> None:
    with pytest.raises(IngestError, match="No pages were found"):
        await book.ingest()
    with pytest.raises(CollectionNotFoundError):
        await book.texts()


async def test_a_second_run_says_that_the_first_is_running(book: Book) -> None:
    book.write(a="One.")
    draft = await EdgeWriter(book.data, spare_bytes=0).begin(embedder="counting", dimensions=16)
    with pytest.raises(IngestRunningError):
        await book.ingest()
    await draft.discard()
    await book.ingest()


async def test_a_cancelled_run_leaves_the_old_index_and_no_lock(book: Book) -> None:
    book.write(a="One.")
    await book.ingest()
    book.write(a="Changed.")
    reached = asyncio.Event()

    class Waiting(CountingEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vector:
            reached.set()
            await asyncio.Event().wait()
            raise AssertionError

    book.embedder = Waiting()
    run = asyncio.create_task(book.ingest())
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert await book.texts() == {"/a": ["One."]}
    book.embedder = CountingEmbedder()
    await book.ingest()
    assert await book.texts() == {"/a": ["Changed."]}


async def test_links_out_of_the_folder_are_not_followed(book: Book, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("Secret.")
    book.write(a="import S from '../outside/secret.md';\n\n<S />\n\nFine.", **{f"p{i}": "Text." for i in range(30)})
    (book.docs / "linked").symlink_to(outside)
    (book.docs / "link.md").symlink_to(outside / "secret.md")
    report = await book.ingest()
    assert [(f.url, f.error_code) for f in report.failures] == [("/link", "outside_folder")]
    assert not [text for texts in (await book.texts()).values() for text in texts if "Secret" in text]


async def test_pages_keep_the_order_of_the_folder_whatever_their_size(book: Book) -> None:
    book.write(**{f"p{i:02}": "\n\n".join(f"Sentence {i} {j}." for j in range(1 + i * 7 % 40)) for i in range(20)})
    await book.ingest()
    assert list(await book.texts()) == [f"/p{i:02}" for i in range(20)]


async def test_every_passage_is_a_slice_of_one_text(book: Book) -> None:
    book.write(a="# A\n\n" + "\n\n".join(f"Sentence number {i} stands here." for i in range(60)))
    await book.ingest()
    index = EdgeIndex(book.data)
    passages: list[Passage] = await index.passages_of("/a")
    await index.aclose()
    whole: dict[int, str] = {}
    for passage in passages:
        for offset, character in enumerate(passage.text, passage.char_start):
            assert whole.setdefault(offset, character) == character


async def test_another_book_in_the_same_place_is_said_to_replace_the_old_one(book: Book) -> None:
    book.write(a="One.", b="Two.", c="Three.")
    assert not (await book.ingest()).replaces_the_book
    (book.docs / "a.md").unlink()
    assert not (await book.ingest()).replaces_the_book
    (book.docs / "b.md").rename(book.docs / "x.md")
    (book.docs / "c.md").rename(book.docs / "y.md")
    report = await book.ingest()
    assert report.replaces_the_book
    assert (report.statistics.pages_before, report.statistics.pages_gone) == (2, 2)
    assert not (await book.ingest()).replaces_the_book


async def addresses_of(place: Path, data: Path) -> dict[str, str]:
    """Address and title of each page."""
    options = IngestOptions(state_dir=data)
    writer = EdgeWriter(data, spare_bytes=0)
    await ingest(source_of(str(place), options), writer, CountingEmbedder(), options, lambda _: None)
    return {page.url: page.title for page in await EdgeIndex(data).pages()}


@pytest.mark.parametrize(
    ("name", "text", "url"),
    [
        ("page.md", "# Arm\n\nIt lifts.", "/page"),
        ("index.md", "# Arm\n\nIt lifts.", "/"),
        ("_draft.mdx", "# Arm\n\nIt lifts.", "/_draft"),
        ("page.md", "# Arm\n\n!!! note\n\n    It lifts.", "/page/"),
        ("page.html", "<main><h1>Arm</h1><p>It lifts.</p></main>", "/page.html"),
    ],
)
async def test_a_single_file_is_a_book_of_one_page(tmp_path: Path, name: str, text: str, url: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "beside.md").write_text("# Beside\n\nNot asked for.", "utf-8")
    assert await addresses_of(tmp_path / name, tmp_path / "data") == {url: "Arm"}


async def test_a_file_of_another_kind_is_refused_with_the_kinds_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("text", "utf-8")
    with pytest.raises(IngestError, match=r"\.md, .*\.rst, .*\.pdf, \.epub"):
        source_of(str(tmp_path / "page.txt"), IngestOptions())


async def test_a_folder_that_holds_only_docs_has_every_page_below_docs(tmp_path: Path) -> None:
    """As Docusaurus has it without a configuration, also for a slug, which counts from the docs' own address."""
    site = tmp_path / "site"
    (site / "docs" / "guide").mkdir(parents=True)
    (site / "docs" / "installation.md").write_text("# Installation\n\nInstall it.", "utf-8")
    (site / "docs" / "guide" / "versions.mdx").write_text("---\nslug: /versioning\n---\n# Versions\n\nOne.", "utf-8")
    found = await addresses_of(site, tmp_path / "data")
    assert found == {"/docs/installation": "Installation", "/docs/versioning": "Versions"}


async def test_a_folder_with_pages_beside_docs_is_the_root_itself(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "docs").mkdir(parents=True)
    (site / "about.md").write_text("# About\n\nUs.", "utf-8")
    (site / "docs" / "start.md").write_text("# Start\n\nHere.", "utf-8")
    assert await addresses_of(site, tmp_path / "data") == {"/about": "About", "/docs/start": "Start"}
