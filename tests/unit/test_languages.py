"""The language of a text, by script and common words, and pages that know theirs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.document.language import language_of
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.ingest import IngestOptions, ingest, source_of
from citewell.retrieval import Retriever
from tests.support.formats import read_book
from tests.support.ingest import CountingEmbedder


@pytest.mark.parametrize(
    ("question", "among", "language"),
    [
        ("What is a joint?", ["en", "ur"], "en"),
        ("ROS 2 کیا ہے؟", ["en", "ur"], "ur"),
        ("این چیست؟ چگونه", ["ar", "fa"], "fa"),
        ("Wie wird das Gelenk bewegt?", ["en", "de"], "de"),
        ("How is the joint moved?", ["en", "de"], "en"),
        ("¿Cómo se mueve la articulación?", ["es", "pt-BR"], "es"),
        ("Como é que a junta se move?", ["es", "pt-BR"], "pt-BR"),
        ("怎么安装", ["en", "zh-Hans"], "zh-Hans"),
        ("使い方は？", ["zh", "ja"], "ja"),
        ("gripper torque", ["en", "de"], ""),
        ("12 + 3", ["en", "de"], ""),
        ("What is it?", ["ur"], ""),
    ],
)
def test_a_question_is_in_one_of_the_books_languages_or_does_not_tell(
    question: str, among: Sequence[str], language: str
) -> None:
    assert language_of(question, among) == language


ENGLISH = "# Joints\n\nThe elbow joint is oiled every month, and the brake is released before it turns.\n"
GERMAN = "# Gelenke\n\nDas Gelenk am Ellbogen wird jeden Monat geölt, und die Bremse ist vorher zu lösen. joint elbow\n"


async def test_a_page_that_names_no_language_is_asked(tmp_path: Path) -> None:
    (tmp_path / "en.md").write_text(ENGLISH)
    (tmp_path / "de.md").write_text(GERMAN)
    (tmp_path / "ur.md").write_text("# جوڑ\n\nکہنی کا جوڑ ہر مہینے تیل مانگتا ہے۔\n")
    (tmp_path / "said.md").write_text("---\nlang: fr\n---\n" + ENGLISH)
    (tmp_path / "page.html").write_text(f"<html lang='it-IT'><body><p>{ENGLISH}</p></body></html>")
    (tmp_path / "code.md").write_text("```\nx = 1\n```\n")
    pages = (await read_book(tmp_path)).pages
    assert {url: page.language for url, page in pages.items()} == {
        "/en": "en",
        "/de": "de",
        "/ur": "ur",
        "/said": "fr",
        "/page.html": "it",
        "/code": "en",
    }


async def found(tmp_path: Path, question: str, **filters: tuple[str, ...]) -> list[str]:
    """The languages of what a question finds, best first."""
    options = IngestOptions(max_failure_share=1)
    embedder = CountingEmbedder()
    writer = EdgeWriter(tmp_path / "data", spare_bytes=0)
    await ingest(source_of(str(tmp_path / "book"), options), writer, embedder, options, lambda _: None)
    await writer.aclose()
    index = EdgeIndex(tmp_path / "data")
    try:
        ranked = await Retriever(index, embedder).rank(question, depth=5, filters=filters)
        return [scored.passage.language for scored in ranked.passages]
    finally:
        await index.aclose()


@pytest.fixture
def bilingual(tmp_path: Path) -> Path:
    book = tmp_path / "book"
    book.mkdir()
    for i in range(4):
        (book / f"en{i}.md").write_text(ENGLISH.replace("month", f"{i} months"))
        (book / f"de{i}.md").write_text(GERMAN.replace("Monat", f"{i}. Monat"))
    return tmp_path


@pytest.mark.parametrize(
    ("question", "languages"),
    [
        ("How often is the elbow joint oiled?", ["en"] * 4 + ["de"] * 4),
        ("Wie oft wird das Gelenk geölt?", ["de"] * 4 + ["en"] * 4),
    ],
)
async def test_a_question_finds_passages_in_its_own_language_first(
    bilingual: Path, question: str, languages: list[str]
) -> None:
    assert await found(bilingual, question) == languages


async def test_a_filter_by_language_is_obeyed(bilingual: Path) -> None:
    assert set(await found(bilingual, "How often is the elbow joint oiled?", language=("de",))) == {"de"}


async def test_a_question_that_does_not_tell_finds_both(bilingual: Path) -> None:
    assert set(await found(bilingual, "elbow joint")) == {"en", "de"}
