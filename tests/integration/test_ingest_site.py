"""Crawling a site on a loopback socket: discovery, manners, bounds, and what is refused before connecting."""

import gzip
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.errors import IngestError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.ingest import Failure, IngestOptions, PageRead, ingest, source_of
from tests.support.ingest import CountingEmbedder, LoopbackSite, Reply

FAST = IngestOptions(allow_hosts=frozenset({"127.0.0.1"}), requests_per_second=0, retry_seconds=0)


def article(title: str, body: str = "<p>Words.</p>", links: str = "") -> Reply:
    return Reply(f"<nav>{links}</nav><main><article><h1>{title}</h1>{body}</article></main>")


def sitemap(*urls: str, kind: str = "url") -> Reply:
    root = "urlset" if kind == "url" else "sitemapindex"
    entries = "".join(f"<{kind}><loc>{url}</loc></{kind}>" for url in urls)
    body = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'
    return Reply(body, headers={"Content-Type": "application/xml"})


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with LoopbackSite().running() as running:
        yield running


async def crawl(url: str, options: IngestOptions = FAST) -> tuple[dict[str, str], dict[str, str]]:
    """Titles and error codes by path."""
    titles: dict[str, str] = {}
    failures: dict[str, str] = {}
    async for outcome in source_of(url, options).read({}):
        if isinstance(outcome, PageRead):
            titles[outcome.page.url.split("/", 3)[3]] = outcome.page.title
        elif isinstance(outcome, Failure):
            failures[outcome.url.split("/", 3)[3]] = outcome.error_code
    return titles, failures


async def test_a_sitemap_with_a_placeholder_host_is_read_from_where_it_really_is(site: LoopbackSite) -> None:
    site.pages = {
        "/sitemap.xml": sitemap("https://your-docusaurus-site.example.com/docs/a", "https://other.example/docs/b"),
        "/docs/a": article("A"),
        "/docs/b": article("B"),
    }
    assert await crawl(f"{site.url}/sitemap.xml") == ({"docs/a": "A", "docs/b": "B"}, {})


async def test_nested_and_gzipped_sitemaps_are_read(site: LoopbackSite) -> None:
    inner = sitemap("/x/a", "/x/b").body
    assert isinstance(inner, str)
    site.pages = {
        "/sitemap.xml": sitemap("/one.xml.gz", "/missing.xml", "/sitemap.xml", kind="sitemap"),
        "/one.xml.gz": Reply(gzip.compress(inner.encode()), headers={"Content-Type": "application/gzip"}),
        "/x/a": article("A"),
        "/x/b": article("B"),
    }
    assert await crawl(f"{site.url}/sitemap.xml") == ({"x/a": "A", "x/b": "B"}, {})


async def test_a_start_page_is_tried_for_a_sitemap_then_llms_txt_then_links(site: LoopbackSite) -> None:
    site.pages = {"/docs/": article("Home", links="<a href='a'>a</a><a href='/blog/'>b</a><a href='x.png'>x</a>")}
    site.pages["/docs/a"] = article("A", links="<a href='/docs/#top'>h</a><a href='b?page=2'>b</a>")
    site.pages["/docs/b"] = article("B", links="<a href='https://elsewhere.example/docs/c'>c</a>")
    assert await crawl(f"{site.url}/docs/") == ({"docs/": "Home", "docs/a": "A", "docs/b": "B"}, {})
    site.pages["/docs/llms.txt"] = Reply("# Book\n- [A](/docs/a)", headers={"Content-Type": "text/plain"})
    assert await crawl(f"{site.url}/docs/") == ({"docs/a": "A"}, {})
    site.pages["/robots.txt"] = Reply(f"Sitemap: {site.url}/map.xml", headers={"Content-Type": "text/plain"})
    site.pages["/map.xml"] = sitemap("/docs/b")
    assert await crawl(f"{site.url}/docs/") == ({"docs/b": "B"}, {})


async def test_markdown_that_llms_txt_links_to_is_read_as_markdown(site: LoopbackSite) -> None:
    markdown = Reply("# Pumps\n\n**Bold** text.", headers={"Content-Type": "text/markdown; charset=utf-8"})
    site.pages = {"/llms.txt": Reply("[P](/p.md)", headers={"Content-Type": "text/plain"}), "/p.md": markdown}
    assert await crawl(f"{site.url}/llms.txt") == ({"p.md": "Pumps"}, {})


async def test_robots_txt_is_honoured_and_the_reader_gives_its_name(site: LoopbackSite) -> None:
    site.pages = {
        "/robots.txt": Reply("User-agent: Citewell\nDisallow: /private/"),
        "/sitemap.xml": sitemap("/private/a", "/open/b"),
        "/private/a": article("A"),
        "/open/b": article("B"),
    }
    assert await crawl(f"{site.url}/sitemap.xml") == ({"open/b": "B"}, {})
    assert "/private/a" not in site.paths
    assert all(headers["user-agent"].startswith("Citewell/") for _, headers in site.requests)


async def test_rules_that_cannot_be_had_stop_the_crawl(site: LoopbackSite) -> None:
    site.pages = {"/robots.txt": Reply("", 503), "/": article("Home")}
    with pytest.raises(IngestError, match=r"robots\.txt"):
        await crawl(f"{site.url}/")


async def test_at_most_five_pages_are_fetched_at_a_time(site: LoopbackSite) -> None:
    urls = [f"/p{i}" for i in range(20)]
    site.pages = {"/sitemap.xml": sitemap(*urls), **{url: article(url) for url in urls}}
    titles, _ = await crawl(f"{site.url}/sitemap.xml")
    assert list(titles.values()) == urls
    assert site.most_at_once <= 5


async def test_failures_are_named_by_what_the_site_did(site: LoopbackSite) -> None:
    site.pages = {
        "/sitemap.xml": sitemap(
            *[f"/{n}" for n in "gone broken bytes picture empty loop away deep moved fine".split()]
        ),
        "/broken": Reply("", 500),
        "/bytes": Reply(b"<p>\xff\xfe</p>"),
        "/picture": Reply(b"\x89PNG", headers={"Content-Type": "image/png"}),
        "/empty": Reply("<div id='root'></div><script>render()</script>"),
        "/loop": Reply("", 302, {"Location": "/loop"}),
        "/away": Reply("", 302, {"Location": "https://elsewhere.example/"}),
        "/deep": Reply("<div>" * 3000),
        "/moved": Reply("", 301, {"Location": "/fine"}),
        "/fine": article("Fine"),
    }
    titles, failures = await crawl(f"{site.url}/sitemap.xml")
    assert titles == {"fine": "Fine"}
    assert failures == {
        "gone": "http_404",
        "broken": "http_500",
        "bytes": "invalid_utf8",
        "picture": "unsupported_type",
        "empty": "empty_page",
        "loop": "too_many_redirects",
        "away": "left_site",
        "deep": "unreadable_html",
    }


async def test_a_passing_fault_is_tried_again(site: LoopbackSite) -> None:
    answers = iter([Reply("", 503), Reply("", 429), article("A")])
    site.pages = {"/sitemap.xml": sitemap("/a"), "/a": lambda _: next(answers)}
    assert await crawl(f"{site.url}/sitemap.xml") == ({"a": "A"}, {})


async def test_a_page_that_does_not_come_is_given_up(site: LoopbackSite) -> None:
    site.pages = {"/sitemap.xml": sitemap("/a"), "/a": Reply(silent=True)}
    _, failures = await crawl(f"{site.url}/sitemap.xml", replace(FAST, page_seconds=3))
    assert failures == {"a": "timeout"}
    await site.left.wait()


@pytest.mark.fault("redirects out of the book", "judged before they are followed")
async def test_a_redirect_is_judged_before_it_is_followed(site: LoopbackSite) -> None:
    """Another port, a path outside the book, and what robots.txt keeps away: none of them is asked for."""
    async with LoopbackSite().running() as other:
        site.pages = {
            "/robots.txt": Reply("User-agent: *\nDisallow: /book/private/"),
            "/book/sitemap.xml": sitemap("/book/port", "/book/path", "/book/rule", "/book/words", "/book/moved"),
            "/book/port": Reply("", 302, {"Location": f"{other.url}/book/page"}),
            "/book/path": Reply("", 302, {"Location": "/admin/delete"}),
            "/book/rule": Reply("", 302, {"Location": "/book/private/page"}),
            "/book/words": Reply("", 302, {"Location": "http://[not an address/"}),
            "/book/moved": Reply("", 302, {"Location": "/book/here"}),
            "/book/here": article("Here"),
        }
        titles, failures = await crawl(f"{site.url}/book/")
    assert titles == {"book/here": "Here"}
    assert failures == {"book/port": "left_site", "book/path": "left_site", "book/words": "refused_address"}
    assert other.requests == []
    assert not {"/admin/delete", "/book/private/page"} & set(site.paths)


async def test_a_sitemap_is_not_fetched_from_where_robots_txt_forbids(site: LoopbackSite) -> None:
    site.pages = {
        "/robots.txt": Reply("User-agent: *\nDisallow: /private/"),
        "/sitemap.xml": Reply("", 302, {"Location": "/private/map.xml"}),
    }
    with pytest.raises(IngestError, match=r"robots\.txt allows no reading"):
        await crawl(f"{site.url}/sitemap.xml")
    assert "/private/map.xml" not in site.paths


@pytest.mark.parametrize(
    ("charset", "encoded"),
    [
        ("; charset=UTF-16", "utf-16"),
        ("; charset=utf-16le", "utf-16le"),
        ("", "utf-16"),
        ("; charset=iso-8859-1", "latin-1"),
    ],
)
async def test_a_page_is_read_in_the_character_set_that_it_says(site: LoopbackSite, charset: str, encoded: str) -> None:
    page = article("Grüße").body
    assert isinstance(page, str)
    reply = Reply(page.encode(encoded), headers={"Content-Type": f"text/html{charset}"})
    site.pages = {"/sitemap.xml": sitemap("/a"), "/a": reply}
    assert await crawl(f"{site.url}/sitemap.xml") == ({"a": "Grüße"}, {})


@pytest.mark.parametrize("charset", ["utf-16", "punycode", "nonsense", "a b"])
async def test_a_page_that_is_not_in_the_character_set_that_it_says_is_refused(
    site: LoopbackSite, charset: str
) -> None:
    reply = Reply(b"<p>\xe4</p>.", headers={"Content-Type": f"text/html; charset={charset}"})
    site.pages = {"/sitemap.xml": sitemap("/a"), "/a": reply}
    assert await crawl(f"{site.url}/sitemap.xml") == ({}, {"a": "invalid_text"})


@pytest.mark.fault("compressed bombs", "cut off while unpacking")
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_compressed_bomb_is_cut_off_while_unpacking(site: LoopbackSite, encoding: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(100)) + packer.flush()
    site.pages = {
        "/sitemap.xml": sitemap("/bomb", "/large"),
        "/bomb": Reply(bomb, headers={"Content-Encoding": encoding}),
        "/large": Reply(b"x" * 11_000_000),
    }
    _, failures = await crawl(f"{site.url}/sitemap.xml")
    assert failures == {"bomb": "too_large", "large": "too_large"}


async def test_a_compressed_page_is_read(site: LoopbackSite) -> None:
    page = article("Grüße").body
    assert isinstance(page, str)
    site.pages = {
        "/sitemap.xml": sitemap("/a"),
        "/a": Reply(gzip.compress(page.encode()), 200, {"Content-Encoding": "gzip"}),
    }
    assert await crawl(f"{site.url}/sitemap.xml") == ({"a": "Grüße"}, {})


@pytest.mark.fault("hostile XML", "refused")
@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><urlset><url><loc>&a;</loc></url></urlset>',
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>/&b;</loc></url></urlset>',
        "<urlset>" + "<a>" * 1000,
        "<urlset><url>",
    ],
)
async def test_hostile_xml_is_refused(site: LoopbackSite, body: str) -> None:
    site.pages = {"/sitemap.xml": Reply(body, headers={"Content-Type": "application/xml"})}
    with pytest.raises(IngestError, match=r"sitemap\.xml cannot be read"):
        await crawl(f"{site.url}/sitemap.xml")


async def test_an_endless_sitemap_and_endless_links_are_bounded(site: LoopbackSite, tmp_path: Path) -> None:
    site.pages = {f"/s{i}.xml": sitemap(f"/s{i + 1}.xml", kind="sitemap") for i in range(50)}
    with pytest.raises(IngestError, match="No pages were found"):
        await ingest_site(site, tmp_path, f"{site.url}/s0.xml")
    assert len([path for path in site.paths if path.endswith(".xml")]) < 10
    site.pages = {f"/p{i}": article(f"P{i}", links=f"<a href='/p{i + 1}'>next</a>") for i in range(40)}
    titles, _ = await crawl(f"{site.url}/p0", replace(FAST, max_pages=7))
    assert len(titles) == 7


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433"])
async def test_a_private_address_is_refused_before_connecting(site: LoopbackSite, host: str) -> None:
    port = site.url.rsplit(":", 1)[1]
    with pytest.raises(IngestError, match="private address"):
        await crawl(f"http://{host}:{port}/", IngestOptions(requests_per_second=0, retry_seconds=0))
    assert site.requests == []


async def test_a_redirect_to_a_private_address_is_refused(site: LoopbackSite) -> None:
    port = site.url.rsplit(":", 1)[1]
    site.pages = {
        "/sitemap.xml": sitemap("/a"),
        "/a": Reply("", 302, {"Location": f"http://localhost:{port}/secret"}),
        "/secret": article("Secret"),
    }
    _, failures = await crawl(f"{site.url}/sitemap.xml")
    assert failures == {"a": "left_site"}
    assert "/secret" not in site.paths


async def ingest_site(site: LoopbackSite, data: Path, url: str) -> CountingEmbedder:
    embedder = CountingEmbedder()
    options = replace(FAST, state_dir=data, max_failure_share=0.9)
    await ingest(source_of(url, options), EdgeWriter(data, spare_bytes=0), embedder, options, lambda _: None)
    return embedder


async def test_on_a_later_run_an_unchanged_page_is_not_sent_and_a_deleted_one_goes(
    site: LoopbackSite, tmp_path: Path
) -> None:
    def conditional(headers: Mapping[str, str]) -> Reply:
        if headers.get("if-none-match") == '"v1"':
            return Reply("", 304)
        return replace(article("A"), headers={"ETag": '"v1"'})

    site.pages = {"/sitemap.xml": sitemap("/a", "/b", "/c"), "/a": conditional, "/b": article("B"), "/c": article("C")}
    first = await ingest_site(site, tmp_path, f"{site.url}/sitemap.xml")
    assert len(first.embedded) == 3
    site.requests.clear()
    site.pages["/b"] = article("B", "<p>New words.</p>")
    del site.pages["/c"]
    second = await ingest_site(site, tmp_path, f"{site.url}/sitemap.xml")
    assert second.embedded == ["B\nNew words."]
    assert dict(site.requests)["/a"]["if-none-match"] == '"v1"'
    index = EdgeIndex(tmp_path)
    assert [page.url for page in await index.pages()] == [f"{site.url}/a", f"{site.url}/b"]
    await index.aclose()
