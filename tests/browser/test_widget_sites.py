"""The widget on other people's sites, in a real browser: a plain page under a strict policy, Docusaurus, Material."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import citewell
from tests.browser.looking import SECONDS, complaints, find, focused, found, marked, shadow, violations
from tests.browser.played_server import DONE_ID, PlayedServer
from tests.browser.site_server import FIXTURES, Site, docusaurus_site, mkdocs_site, plain_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(3600)]  # a site is installed and built first
_SELECT = "const p = document.querySelector('main p, article p'); getSelection().selectAllChildren(p); return p"


@pytest.fixture(scope="module", params=["plain", "mkdocs", "docusaurus"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp(request.param)
    built: Site = {"plain": lambda _: plain_site(), "mkdocs": mkdocs_site, "docusaurus": docusaurus_site}[
        request.param
    ](folder)
    return built


@pytest.fixture
def reader(page: WebDriver, played: PlayedServer, site: Site) -> Iterator[WebDriver]:
    """On the page about nodes, with the widget ready. Whatever is done, nobody else is asked and nothing complains."""
    with site.served(played.url) as url:
        page.get(f"{url}/docs/nodes")
        find(page, ".launch")
        yield page
        assert hosts(page) <= {urlsplit(url).netloc, urlsplit(played.url).netloc}
        assert played.failed or complaints(page) == []
        page.get("about:blank")


def opened(page: WebDriver) -> None:
    ActionChains(page).key_down(Keys.CONTROL).send_keys("i").key_up(Keys.CONTROL).perform()
    find(page, "#message")


def ask(page: WebDriver, question: str) -> None:
    find(page, "#message").send_keys(question, Keys.ENTER)


def press(page: WebDriver, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def tabbed_to(page: WebDriver, css: str, *, backwards: bool = False) -> None:
    """With the Tab key, until the element has the focus."""
    for _ in range(30):
        if page.execute_script("return arguments[0].matches(arguments[1])", focused(page), css):
            return
        step = ActionChains(page)
        (
            step.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if backwards else step.send_keys(Keys.TAB)
        ).perform()
    raise AssertionError(f"{css} cannot be reached with the Tab key")


def present(page: WebDriver, css: str) -> None:
    WebDriverWait(page, SECONDS).until(lambda p: found(p, css), f"no {css}")


def hosts(page: WebDriver) -> set[str]:
    entries = "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).host)"
    return set(page.execute_script(entries))


def test_a_reader_asks_follows_a_citation_and_says_that_it_helped(reader: WebDriver, played: PlayedServer) -> None:
    opened(reader)
    assert focused(reader).get_attribute("id") == "message"
    ask(reader, "How do I run it?")
    find(reader, ".sources li", "Nodes › Start")
    assert violations(reader) == []
    find(reader, ".tool.good").click()
    find(reader, ".comment input").send_keys("Just right.", Keys.ENTER)
    find(reader, ".rated", "Thank you")
    assert played.feedback[-1][1] == {"rating": "up", "comment": "Just right."}
    chip = find(reader, ".answer a.cite")
    ActionChains(reader).move_to_element(chip).perform()
    assert "Run it with" in find(reader, ".card q").text
    chip.click()
    assert marked(reader).startswith("Run it with")
    assert reader.current_url.endswith("#start-a-node")
    assert find(reader, ".question", "How do I run it?")


def test_selected_words_are_asked_about_by_mouse_and_by_keyboard(reader: WebDriver, played: PlayedServer) -> None:
    reader.execute_script(_SELECT)
    find(reader, ".about", "Ask about this").click()
    assert "A node is a process" in find(reader, ".context").text
    ask(reader, "What is this?")
    find(reader, ".sources li")
    assert played.bodies[-1]["context"].startswith("A node is a process")
    assert "A node is a process" in find(reader, ".selected").text
    press(reader, Keys.ESCAPE)
    find(reader, ".launch")
    reader.execute_script("document.activeElement?.blur?.()")
    reader.execute_script(_SELECT)
    opened(reader)
    assert "A node is a process" in find(reader, ".context").text


def test_stopping_and_losing_the_server_keep_what_was_said(reader: WebDriver, played: PlayedServer) -> None:
    played.play = "slow"
    opened(reader)
    ask(reader, "One?")
    find(reader, ".answer .text", "Run it with")
    find(reader, ".stop").click()
    find(reader, ".note", "Stopped.")
    played.play = "cut"
    ask(reader, "Two?")
    find(reader, ".turn:last-child .text", "Run it with")
    played.go_on.set()
    again = find(reader, ".error[role=alert] button", "Try again")
    assert "Run it with" in find(reader, ".turn:last-child .text").text
    played.play = "answer"
    again.click()
    find(reader, ".turn:last-child .sources li")
    assert not found(reader, ".error")
    assert played.keys[-1] == played.keys[-2] != played.keys[-3]


def test_typing_searches_and_the_arrow_keys_choose(reader: WebDriver, played: PlayedServer) -> None:
    opened(reader)
    find(reader, "#message").send_keys("run")
    find(reader, ".hits [role=option]", "Start")
    find(reader, "#message").send_keys(" it")
    find(reader, ".hits [aria-selected=true]", "Ask: run it")
    assert violations(reader) == []
    press(reader, Keys.ARROW_DOWN, Keys.ENTER)
    assert marked(reader).startswith("Run it with")
    assert played.bodies == []


def test_the_keyboard_alone_is_enough(reader: WebDriver, played: PlayedServer) -> None:
    before = reader.find_element(By.CSS_SELECTOR, "a[href]")
    reader.execute_script("arguments[0].focus()", before)
    opened(reader)
    press(reader, "How do I run it?", Keys.ENTER)
    find(reader, ".tools")
    tabbed_to(reader, "a.cite", backwards=True)
    assert "Run it with" in find(reader, ".card q").text
    press(reader, Keys.ENTER)
    assert marked(reader).startswith("Run it with")
    tabbed_to(reader, ".tool.bad")
    press(reader, Keys.SPACE)
    find(reader, ".comment input")
    press(reader, "Too short.", Keys.ENTER)
    find(reader, ".rated", "Thank you")
    assert played.feedback[-1][1] == {"rating": "down", "comment": "Too short."}
    press(reader, Keys.ESCAPE)
    find(reader, ".launch")
    assert focused(reader) == before


def test_it_is_dark_where_the_site_is_and_a_sheet_on_a_phone(reader: WebDriver, played: PlayedServer) -> None:
    light = find(reader, ".launch").value_of_css_property("background-color")
    reader.execute_script(
        "document.documentElement.dataset.theme = 'dark'; document.body.dataset.mdColorScheme = 'slate'"
    )
    WebDriverWait(reader, SECONDS).until(
        lambda p: find(p, ".launch").value_of_css_property("background-color") != light, "it did not become dark"
    )
    reader.set_window_size(420, 860)
    opened(reader)
    ask(reader, "How do I run it?")
    find(reader, ".sources li")
    assert violations(reader) == []
    sizes = (
        "const seen = [...arguments[0].querySelectorAll('button')].filter((made) => made.checkVisibility());"
        "return seen.map((made) => made.offsetHeight)"
    )
    assert min(reader.execute_script(sizes, find(reader, ".panel"))) >= 44
    box = find(reader, ".panel")
    assert box.size["width"] == reader.execute_script("return document.documentElement.clientWidth")
    find(reader, ".answer a.cite").click()
    assert marked(reader).startswith("Run it with")
    assert not box.is_displayed()


def test_the_chat_goes_along_to_another_page_of_the_site(reader: WebDriver, played: PlayedServer) -> None:
    topic = {"url": "/docs/topics#topic", "section": "What a topic is", "quote": "is a named bus"}
    played.source = played.source | topic
    opened(reader)
    ask(reader, "What is a topic?")
    find(reader, ".answer a.cite").click()
    WebDriverWait(reader, SECONDS).until(lambda p: "/docs/topics" in p.current_url, "the page did not change")
    assert marked(reader) == "is a named bus"
    assert find(reader, ".question", "What is a topic?")


@pytest.mark.parametrize("site", ["docusaurus"], indirect=True)
def test_the_version_and_the_locale_of_the_page_become_filters_that_the_index_knows(
    reader: WebDriver, played: PlayedServer, tmp_path: Path
) -> None:
    """As the sources are ingested, each page is answered from the pages of its own version and language alone."""
    places = [
        ("/docs/nodes", "1.0", "en"),
        ("/docs/next/nodes", "current", "en"),
        ("/docs/nodes", "1.0", "en"),
        ("/de/docs/nodes", "1.0", "de"),
    ]
    with citewell.open_sync(tmp_path / "data", settings=citewell.Settings(_env_file=None)) as book:
        book.ingest(FIXTURES / "docusaurus", base_url="https://docs.example.com")
        for turn, (path, version, language) in enumerate(places, 1):
            if urlsplit(reader.current_url).path != path:
                reader.execute_script("document.querySelector(arguments[0]).click()", f"a[href='{path}']")
            present(reader, f"citewell-widget[lang={language}][data-filters*='\"{version}\"']")
            reader.execute_script("citewell.ask('What is a node?')")
            find(reader, f".turn:nth-child({turn}) .sources li")
            filters = played.bodies[-1]["filters"]
            heading = "Was ein Knoten ist" if language == "de" else "What a node is"
            assert filters == {"version": [version], "language": [language]}
            hits = [hit.passage for hit in book.search(heading, filters=filters).passages]
            assert f"https://docs.example.com{path}" in {hit.url for hit in hits}
            assert {(hit.version, hit.language) for hit in hits} == {(version, language)}
    find(reader, "[aria-label='Schließen']")


@pytest.mark.parametrize("site", ["mkdocs"], indirect=True)
def test_the_filters_of_a_mkdocs_site_go_with_every_question(reader: WebDriver, played: PlayedServer) -> None:
    reader.execute_script("citewell.ask('What is a node?')")
    find(reader, ".sources li")
    assert played.bodies[-1]["filters"] == {"version": "2.0"}


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_what_was_dropped_is_counted_below_the_answer(reader: WebDriver, played: PlayedServer) -> None:
    played.dropped = 2
    opened(reader)
    ask(reader, "How do I run it?")
    find(reader, ".note", "not supported and are not shown: 2")
    played.dropped = 0
    ask(reader, "And again?")
    find(reader, ".turn:last-child .level")
    assert "not shown" not in find(reader, ".turn:last-child").text


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_the_sample_page_works_under_its_own_policy(reader: WebDriver, played: PlayedServer) -> None:
    reader.get(reader.current_url.replace("docs/nodes", "sample"))
    find(reader, ".launch").click()
    ask(reader, "How do I run it?")
    find(reader, ".sources li")


@pytest.mark.parametrize("site", ["plain"], indirect=True)
@pytest.mark.parametrize(
    ("play", "line"),
    [
        ("busy", "Too many questions just now"),
        ("down", "Answers are not available right now"),
        ("away", "The server cannot be reached"),
        ("invalid", "message is too long."),
    ],
)
def test_each_failure_says_what_to_do(reader: WebDriver, played: PlayedServer, play: str, line: str) -> None:
    played.play = play
    opened(reader)
    ask(reader, "How do I run it?")
    find(reader, ".error[role=alert]", line)
    played.play = "answer"
    WebDriverWait(reader, SECONDS).until(lambda p: find(p, ".error button").is_enabled())
    find(reader, ".error button", "Try again").click()
    find(reader, ".sources li")
    assert len(set(played.keys)) == 1


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_a_refusal_names_the_nearest_sections(reader: WebDriver, played: PlayedServer) -> None:
    played.play = "refuse"
    opened(reader)
    ask(reader, "What is the capital of France?")
    assert "A node is a process" in find(reader, ".related li", "Nodes").text
    assert "Not in the book" in find(reader, ".refusal").text
    assert not found(reader, ".sources")


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_a_shared_answer_opens_and_one_that_is_gone_says_so(reader: WebDriver, played: PlayedServer) -> None:
    reader.execute_script("location.hash = arguments[0]", f"citewell={DONE_ID}")
    find(reader, ".question", "How do I run it?")
    find(reader, ".sources li", "Nodes")
    reader.execute_script("location.hash = 'citewell=gone'")
    find(reader, ".error", "The server no longer has this.")


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_calls_before_the_script_wait_in_the_queue_and_events_are_heard(
    reader: WebDriver, played: PlayedServer
) -> None:
    early = (
        "window.heard = []; window.citewell = ['open', 'question', 'answer', 'close']"
        ".map((name) => ['on', name, (event) => heard.push(event.type)]);"
        "citewell.push(['ask', 'How do I run it?', {context: 'A node'}])"
    )
    script = reader.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": early})
    reader.refresh()
    reader.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    find(reader, ".sources li")
    assert played.bodies[-1]["context"] == "A node"
    reader.execute_script("citewell.close()")
    find(reader, ".launch")
    assert reader.execute_script("return heard") == [
        f"citewell:{name}" for name in ("open", "question", "answer", "close")
    ]


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_an_answer_is_copied_with_its_sources_and_made_again_under_a_new_key(
    reader: WebDriver, played: PlayedServer
) -> None:
    opened(reader)
    ask(reader, "How do I run it?")
    find(reader, ".tool.copy").click()
    find(reader, ".tool.copy.done")
    find(reader, "#message").send_keys(Keys.CONTROL, "v")
    copied = find(reader, "#message").get_property("value")
    assert copied == "Run it with `ros2 run`. [2]\n\n[2]: Nodes › Start </docs/nodes#start-a-node>"
    find(reader, ".tool.regenerate").click()
    WebDriverWait(reader, SECONDS).until(lambda _: len(set(played.keys)) == 2, "not asked again")


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_a_citation_is_tapped_marked_without_highlights_and_elsewhere_a_text_fragment(
    reader: WebDriver, played: PlayedServer
) -> None:
    reader.execute_script("window.Highlight = undefined")  # an older browser
    opened(reader)
    ask(reader, "How do I run it?")
    chip = find(reader, ".answer a.cite")
    touch = PointerInput("touch", "finger")  # type: ignore[no-untyped-call] # selenium leaves it untyped
    finger = ActionBuilder(reader, mouse=touch)
    finger.pointer_action.move_to(chip).pointer_down().pointer_up()  # type: ignore[no-untyped-call] # as above
    finger.perform()
    find(reader, ".card .go").click()
    assert [mark.text.strip() for mark in found(reader, "mark.citewell")] == ["Run it with", "ros2 run", "."]
    played.source = played.source | {"url": "https://elsewhere.example/docs#start"}
    ask(reader, "And elsewhere?")
    present(
        reader,
        ".turn:last-child a.cite[href='https://elsewhere.example/docs#start:~:text=Run%20it%20with%20ros2%20run.']",
    )


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_the_offer_follows_the_selection_and_the_site_hears_no_key_that_is_typed(reader: WebDriver) -> None:
    reader.execute_script("window.heard = 0; document.addEventListener('keydown', () => (heard += 1))")
    reader.execute_script(_SELECT)
    before = find(reader, ".about").rect["y"]
    reader.execute_script("scrollBy(0, 40)")
    top = "return arguments[0].getBoundingClientRect().top"
    about = find(reader, ".about")
    WebDriverWait(reader, SECONDS).until(lambda p: p.execute_script(top, about) == before - 40, "it did not follow")
    about.click()
    find(reader, "#message").send_keys("s / f ?")
    assert reader.execute_script("return heard") == 0


@pytest.mark.parametrize("site", ["plain"], indirect=True)
def test_it_speaks_the_page_s_language_from_right_to_left_too(reader: WebDriver, played: PlayedServer) -> None:
    reader.execute_script("document.documentElement.lang = 'ur'")
    find(reader, ".launch", "پوچھیں").click()
    find(reader, "h2")
    root = shadow(reader)
    assert root.find_element(By.CSS_SELECTOR, "#message").get_attribute("placeholder") in (
        "سوال پوچھیں یا تلاش کریں",
        "Robots",
    )
    assert (
        reader.execute_script("return getComputedStyle(document.querySelector('citewell-widget')).direction") == "rtl"
    )
    assert violations(reader) == []
