"""The page at `/` in a real browser: what a reader sees and does."""

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.played_server import PlayedServer

pytestmark = pytest.mark.browser


def find(page: WebDriver, css: str, containing: str = "") -> WebElement:
    """Wait for the first element that is shown and contains the text."""

    def shown(_: WebDriver) -> WebElement | None:
        for element in page.find_elements(By.CSS_SELECTOR, css):
            if element.is_displayed() and containing in element.text:
                return element
        return None

    found = WebDriverWait(page, 60).until(shown, f"no {css} with {containing!r}")
    assert found is not None
    return found


def ask(page: WebDriver, question: str) -> None:
    find(page, "#message").send_keys(question, Keys.ENTER)


def opened(page: WebDriver, played: PlayedServer, path: str = "/") -> None:
    page.get(played.url + path)
    find(page, ".welcome button")


def complaints(page: WebDriver) -> list[str]:
    log: list[dict[str, str]] = page.get_log("browser")  # type: ignore[no-untyped-call] # selenium leaves it untyped
    return [entry["message"] for entry in log if entry["level"] == "SEVERE"]


def _top(page: WebDriver, element: WebElement) -> float:
    top: float = page.execute_script("return arguments[0].getBoundingClientRect().top", element)
    return top


def test_an_answer_streams_with_its_citations_and_nothing_complains(page: WebDriver, played: PlayedServer) -> None:
    played.play = "slow"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer .text", "Run it with")
    assert not page.find_elements(By.CSS_SELECTOR, ".sources li")
    played.go_on.set()
    find(page, ".sources li", "Nodes › Start")
    assert find(page, ".answer .text code").text == "ros2 run"
    assert "Confidence: high" in find(page, ".answer").text
    assert complaints(page) == []


def test_a_click_on_a_citation_lands_on_the_quoted_words_without_losing_the_chat(
    page: WebDriver, played: PlayedServer
) -> None:
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer a.cite").click()
    marked = find(page, "#chapter mark")
    assert "".join(m.text for m in page.find_elements(By.CSS_SELECTOR, "#chapter mark")).startswith("Run it with")
    WebDriverWait(page, 60).until(lambda p: 0 <= _top(p, marked) <= 900, "the marked words did not come into view")
    assert page.current_url.endswith("/docs/nodes#start-a-node")
    assert find(page, ".question", "How do I run it?")


def test_an_address_of_a_chapter_opens_it_at_its_heading(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/docs/nodes#start-a-node")
    heading = find(page, "#chapter h2", "Start")
    assert heading.get_attribute("id") == "start-a-node"
    WebDriverWait(page, 60).until(lambda p: 0 <= _top(p, heading) <= 900, "the heading did not come into view")


def test_back_returns_to_the_chapter_before(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/docs/nodes")
    find(page, "#contents a", "Title").click()
    find(page, "#chapter h1", "Title")
    page.back()
    find(page, "#chapter h2", "What a node is")


def test_stop_keeps_what_was_said_and_closes_the_connection(page: WebDriver, played: PlayedServer) -> None:
    played.play = "slow"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer .text", "Run it with")
    find(page, "#stop").click()
    find(page, ".answer .note", "Stopped")
    assert "Run it with" in find(page, ".answer .text").text
    assert find(page, "#send").is_enabled()


@pytest.mark.parametrize("play", ["cut", "error"])
def test_a_broken_stream_keeps_the_partial_answer_and_offers_another_try(
    page: WebDriver, played: PlayedServer, play: str
) -> None:
    played.play = play
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer .text", "Run it with")
    played.go_on.set()
    again = find(page, ".note.error button", "Try again")
    assert "Run it with" in find(page, ".answer .text").text
    played.play = "answer"
    again.click()
    find(page, ".sources li", "Nodes")


def test_a_refusal_is_kind_and_says_why(page: WebDriver, played: PlayedServer) -> None:
    played.play = "refuse"
    opened(page, played)
    ask(page, "What is the capital of France?")
    assert "does not seem to answer" in find(page, ".refusal").text
    assert "Not in the book" in find(page, ".refusal").text


def test_a_done_event_without_text_does_not_wipe_the_answer(page: WebDriver, played: PlayedServer) -> None:
    played.play = "empty done"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".sources li")
    assert "Run it with ros2 run" in find(page, ".answer .text").text


def test_too_many_questions_are_told_to_wait_and_a_wrong_one_is_sent_once(
    page: WebDriver, played: PlayedServer
) -> None:
    played.play = "busy"
    opened(page, played)
    ask(page, "One?")
    find(page, ".note.error", "Please wait 1 s")
    played.play = "invalid"
    ask(page, "Two?")
    find(page, ".note.error", "message is too long.")
    assert [body["message"] for body in played.bodies] == ["One?", "Two?"]


def test_without_a_stream_the_page_asks_for_one_reply(page: WebDriver, played: PlayedServer) -> None:
    played.play = "no stream"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".sources li", "Nodes")


def test_markup_in_titles_passages_and_answers_stays_text(page: WebDriver, played: PlayedServer) -> None:
    played.play = "attack"
    opened(page, played, "/docs/attack")
    ask(page, "Attack?")
    find(page, ".answer .sources")
    assert page.title.startswith("Title <img")
    assert not page.find_elements(By.CSS_SELECTOR, "#chapter img, .answer img, .answer script, [href^='javascript']")
    assert complaints(page) == []


def test_selected_words_become_the_context_of_the_next_question(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/docs/nodes")
    find(page, "#chapter p", "A node is a process")
    page.execute_script("getSelection().selectAllChildren(document.querySelector('#chapter p'))")
    find(page, "#quote").click()
    find(page, "#context", "A node is a process")
    ask(page, "What is this?")
    find(page, ".sources li")
    assert played.bodies[0]["context"].startswith("A node is a process")
    assert not find(page, "#ask").find_elements(By.CSS_SELECTOR, "#context:not([hidden])")


def test_a_session_lasts_until_a_new_chat_begins(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    ask(page, "One?")
    find(page, ".sources li")
    ask(page, "Two?")
    WebDriverWait(page, 60).until(lambda p: len(p.find_elements(By.CSS_SELECTOR, ".sources")) == 2)
    find(page, "#fresh").click()
    find(page, ".welcome")
    ask(page, "Three?")
    find(page, ".sources li")
    one, two, three = (body["session_id"] for body in played.bodies)
    assert one == two != three


def test_on_a_phone_one_pane_is_shown_at_a_time(page: WebDriver, played: PlayedServer) -> None:
    page.set_window_size(420, 860)
    opened(page, played)
    assert not page.find_element(By.ID, "chapter").is_displayed()
    ask(page, "How do I run it?")
    find(page, ".answer a.cite").click()
    find(page, "#chapter mark")
    assert not page.find_element(By.ID, "turns").is_displayed()
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    find(page, "[data-show='chat']").click()
    find(page, ".question", "How do I run it?")
