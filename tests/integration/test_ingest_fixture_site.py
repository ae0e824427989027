"""The test site in `tests/fixtures/site` has every construct that Citewell reads; `expected.json` has its passages."""

import json
from pathlib import Path

import pytest

from citewell.ingest import IngestOptions, LeftOut, PageRead, source_of
from citewell.ingest.splitting import Limit, split

SITE = Path(__file__).parents[1] / "fixtures" / "site"
EXPECTED = json.loads((SITE / "expected.json").read_text("utf-8"))
LIMIT = Limit(lambda text: len(text.split()), 60)


async def read(folder: str, base_url: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    async for outcome in source_of(str(SITE / folder), IngestOptions(base_url=base_url)).read({}):
        if isinstance(outcome, LeftOut):
            continue
        assert isinstance(outcome, PageRead)
        assert not outcome.problems
        page = outcome.page
        found[page.url] = {
            "url": page.url,
            "title": page.title,
            "module": page.module,
            "language": page.language,
            "version": page.version,
            "passages": [
                {"heading_path": list(p.heading_path), "section_url": p.section_url, "text": p.text}
                for p in split(page, LIMIT)
            ],
        }
    return found


@pytest.mark.parametrize(
    ("folder", "base_url", "prefix"),
    [
        ("docusaurus", "", "/"),
        ("mkdocs", "https://greenhouse.example.com/book", "https://greenhouse"),
        ("html", "https://html.example.com", "https://html"),
    ],
)
async def test_every_construct_gives_its_expected_passages(folder: str, base_url: str, prefix: str) -> None:
    expected = {page["url"]: page for page in EXPECTED if page["url"].startswith(prefix)}
    assert await read(folder, base_url) == expected


async def test_drafts_unlisted_pages_and_partials_are_no_pages() -> None:
    urls = await read("docusaurus")
    assert not [url for url in urls if "draft" in url or "unlisted" in url or "warning" in url]


async def test_without_a_base_url_mkdocs_pages_have_the_path_of_the_site() -> None:
    assert set(await read("mkdocs")) == {"/book/", "/book/guide/watering/"}
