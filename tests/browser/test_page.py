"""The page at `/` in a real browser: what a reader sees and does."""

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.looking import complaints, find, focused, found, marked, violations
from tests.browser.played_server import QUESTIONS, SOURCE, PlayedServer

pytestmark = pytest.mark.browser


def ask(page: WebDriver, question: str) -> None:
    find(page, "#message").send_keys(question, Keys.ENTER)


def opened(page: WebDriver, played: PlayedServer, path: str = "/") -> None:
    page.get(played.url + path)
    WebDriverWait(page, 60).until(lambda p: found(p, "#chapter h1"), "no chapter")
    find(page, ".welcome button")


def _top(page: WebDriver, element: WebElement) -> float:
    top: float = page.execute_script("return arguments[0].getBoundingClientRect().top", element)
    return top


def test_an_answer_streams_with_its_citations_and_nothing_complains(page: WebDriver, played: PlayedServer) -> None:
    played.play = "slow"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer .text", "Run it with")
    assert not found(page, ".sources li")
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
    assert marked(page) == "Run it with ros2 run."
    words = find(page, "#chapter li", "Run it with")
    WebDriverWait(page, 60).until(lambda p: 0 <= _top(p, words) <= 900, "the marked words did not come into view")
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


def test_a_done_event_without_text_does_not_wipe_the_answer(page: WebDriver, played: PlayedServer) -> None:
    played.play = "empty done"
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".sources li")
    assert "Run it with ros2 run" in find(page, ".answer .text").text


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
    assert not found(page, "#chapter img, .answer img, .answer script, [href^='javascript']")
    assert complaints(page) == []


def test_a_session_lasts_until_a_new_chat_begins(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    ask(page, "One?")
    find(page, ".sources li")
    ask(page, "Two?")
    WebDriverWait(page, 60).until(lambda p: len(found(p, ".sources")) == 2)
    find(page, "[aria-label='New chat']").click()
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
    marked(page)
    assert not found(page, ".turns")[0].is_displayed()
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    find(page, "[data-show='chat']").click()
    find(page, ".question", "How do I run it?")


STEPS = """1. Build it.

```bash
colcon build
```

2. Run it with `ros2 run`."""


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        (STEPS, "Build it.colcon buildRun it with ros2 run."),
        ("2. Run it with `ros2 run`.", "Run it with ros2 run."),
        ("colcon build\n```\n\n2. Run it with `ros2 run`.", "colcon buildRun it with ros2 run."),
        (
            "1. Build it.\n\nWords that the chapter has no more.\n\n2. Run it with `ros2 run`.",
            "Build it.Run it with ros2 run.",
        ),
    ],
    ids=["steps with code", "one step", "cut inside code", "one line is gone"],
)
def test_a_citation_of_numbered_steps_marks_them(page: WebDriver, played: PlayedServer, quote: str, words: str) -> None:
    played.source = SOURCE | {"quote": quote}
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".answer a.cite").click()
    assert marked(page) == words


def test_a_quote_that_ends_inside_a_formula_is_marked(page: WebDriver, played: PlayedServer) -> None:
    quote = r"The mass $m$ costs $5 in $HOME, and $E = mc"
    played.source = SOURCE | {"url": "/docs/formulas", "section": "Energy", "quote": quote}
    opened(page, played)
    ask(page, "What holds?")
    find(page, ".answer a.cite").click()
    assert marked(page) == "The mass m costs $5 in $HOME, and E=mc"


def test_a_server_with_keys_asks_for_one_until_it_is_right(page: WebDriver, played: PlayedServer) -> None:
    played.key = "right"
    page.get(played.url)
    find(page, "#key-form", "asks for a key").find_element(By.ID, "key").send_keys("wrong", Keys.ENTER)
    find(page, "#key-form", "does not accept").find_element(By.ID, "key").send_keys("right", Keys.ENTER)
    find(page, "#chapter h2", "What a node is")
    find(page, ".welcome button")
    assert not page.find_element(By.ID, "key-form").is_displayed()
    ask(page, "How do I run it?")
    find(page, ".sources li", "Nodes")
    page.refresh()
    find(page, "#chapter h2", "What a node is")
    assert not page.find_element(By.ID, "key-form").is_displayed()


def test_a_question_waits_for_the_new_key_when_the_old_one_is_taken_back(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    played.key = "new"
    ask(page, "How do I run it?")
    find(page, "#key-form").find_element(By.ID, "key").send_keys("new", Keys.ENTER)
    find(page, ".sources li", "Nodes")
    assert len(played.bodies) == 1


def test_back_returns_to_an_address_that_ends_with_a_slash(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/module01/lesson05/")
    find(page, "#chapter h2", "A lesson")
    find(page, "#contents a", "Nodes").click()
    find(page, "#chapter h2", "What a node is")
    page.back()
    find(page, "#chapter h2", "A lesson")
    assert page.current_url.endswith("/module01/lesson05/")


def test_a_chapter_whose_address_the_api_has_too_is_found_again_by_a_reload(
    page: WebDriver, played: PlayedServer
) -> None:
    opened(page, played)
    find(page, "#contents a", "The first chapter").click()
    find(page, "#chapter h2", "Welcome")
    assert page.current_url.endswith("/docs/")
    assert str(find(page, "#contents a", "Well-being").get_attribute("href")).endswith("/health/")
    page.refresh()
    find(page, "#chapter h2", "Welcome")


@pytest.mark.parametrize(("play", "last"), [("refuse", ".refusal .note"), ("answer", ".level")])
def test_the_end_of_an_answer_comes_into_view(page: WebDriver, played: PlayedServer, play: str, last: str) -> None:
    page.set_window_size(1400, 640)
    played.play = play
    opened(page, played)
    ask(page, f"A question, {'which is long, ' * 40}?")
    find(page, last)
    ask(page, f"Another, {'which is long, ' * 40}?")
    end = find(page, f".turn:nth-child(2) {last}")
    inside = "return arguments[0].getBoundingClientRect().bottom <= arguments[1].getBoundingClientRect().bottom"
    turns = find(page, ".turns")
    WebDriverWait(page, 60).until(
        lambda p: p.execute_script(inside, end, turns), "the end of the answer is below the fold"
    )


def test_who_has_scrolled_up_is_left_there(page: WebDriver, played: PlayedServer) -> None:
    page.set_window_size(1400, 420)
    opened(page, played)
    ask(page, f"One, {'which is long, ' * 60}?")
    find(page, ".level")
    played.play = "slow"
    ask(page, "Two?")
    find(page, ".turn:last-child .text", "Run it with")
    page.execute_script("arguments[0].scrollTo(0, 0)", find(page, ".turns"))
    played.go_on.set()
    WebDriverWait(page, 60).until(lambda p: len(found(p, ".level")) == 2)
    assert page.execute_script("return arguments[0].scrollTop", find(page, ".turns")) == 0


def test_the_focus_is_never_lost(page: WebDriver, played: PlayedServer) -> None:
    played.play = "slow"
    opened(page, played)
    find(page, ".welcome button").send_keys(Keys.ENTER)
    find(page, ".answer .text", "Run it with")
    assert "turns" in str(focused(page).get_attribute("class"))
    find(page, ".stop").send_keys(Keys.ENTER)
    find(page, ".answer .note", "Stopped")
    assert focused(page).get_attribute("id") == "message"


def test_a_reload_brings_the_chat_back(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    ask(page, "One?")
    find(page, ".turn:nth-child(1) .level")
    played.play = "refuse"
    ask(page, "Two?")
    find(page, ".turn:nth-child(2).turn .refusal")
    played.play = "slow"
    ask(page, "Three?")
    find(page, ".turn:nth-child(3) .text", "Run it with")
    find(page, ".stop").click()
    find(page, ".turn:nth-child(3) .note", "Stopped")
    page.refresh()
    find(page, ".question", "Three?")
    assert [q.text for q in found(page, ".question")] == ["One?", "Two?", "Three?"]
    assert "Not in the book" in find(page, ".refusal").text
    assert "Stopped." in find(page, ".turn:last-child").text
    find(page, ".turn:first-child a.cite").click()
    assert marked(page) == "Run it with ros2 run."
    played.play = "answer"
    ask(page, "Four?")
    find(page, ".turn:nth-child(4) .level")
    assert len({body["session_id"] for body in played.bodies}) == 1


def test_an_earlier_chat_can_be_opened_again(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    ask(page, "One?")
    find(page, ".level")
    find(page, "[aria-label='New chat']").click()
    find(page, ".welcome")
    ask(page, "Two?")
    find(page, ".level")
    find(page, "[aria-label='Earlier chats']").click()
    find(page, ".past button", "One?").click()
    find(page, ".question", "One?")
    ask(page, "Three?")
    find(page, ".turn:nth-child(2) .level")
    one, two, three = (body["session_id"] for body in played.bodies)
    assert one == three != two


def test_the_first_tabs_skip_the_contents(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    find(page, ".skip a:focus", "Skip to your question").send_keys(Keys.ENTER)
    assert focused(page).get_attribute("id") == "message"
    page.refresh()
    find(page, ".welcome button")
    ActionChains(page).send_keys(Keys.TAB, Keys.TAB).perform()
    find(page, ".skip a:focus", "Skip to the chapter").send_keys(Keys.ENTER)
    assert focused(page).get_attribute("id") == "reading"
    assert page.current_url == f"{played.url}/"


def test_a_formula_is_typeset_and_scrolls_by_itself_and_money_stays_money(
    page: WebDriver, played: PlayedServer
) -> None:
    opened(page, played, "/docs/formulas")
    block = find(page, "#chapter div.formula")
    assert len(block.find_elements(By.CSS_SELECTOR, "math mfrac")) == 40
    assert page.execute_script("return arguments[0].scrollWidth > arguments[0].clientWidth", block)
    assert block.get_attribute("tabindex") == "0"
    assert page.execute_script("return reading.scrollWidth <= reading.clientWidth")
    assert ["".join(f.text.split()) for f in found(page, "#chapter p math")] == ["m", "E=mc2"]
    assert "costs $5 in $HOME, and" in find(page, "#chapter p").text


@pytest.mark.parametrize("clipboard", [True, False])
def test_code_is_copied_also_where_the_browser_gives_no_clipboard(
    page: WebDriver, played: PlayedServer, clipboard: bool
) -> None:
    opened(page, played, "/docs/nodes")
    if not clipboard:  # as on plain HTTP from another machine
        page.execute_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    button = page.find_element(By.CSS_SELECTOR, "#chapter .copy")  # seen when the mouse is over the code
    ActionChains(page).move_to_element(button).click().perform()
    find(page, "#chapter .copy", "Copied")
    find(page, "#message").send_keys(Keys.CONTROL, "v")
    assert find(page, "#message").get_property("value") == "colcon build"


def test_the_path_of_a_section_is_shown_with_one_sign(page: WebDriver, played: PlayedServer) -> None:
    played.source = SOURCE | {"section": "Running > Start"}
    opened(page, played)
    ask(page, "How do I run it?")
    find(page, ".sources li", "Nodes › Running › Start")


def test_the_suggested_questions_are_those_of_the_book(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played)
    assert [button.text for button in found(page, ".welcome button")] == QUESTIONS
    find(page, ".welcome button", QUESTIONS[1]).click()
    find(page, ".sources li")
    assert played.bodies[0]["message"] == QUESTIONS[1]


def test_axe_has_nothing_to_say(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/docs/formulas")
    ask(page, "How do I run it?")
    find(page, ".sources li")
    assert violations(page, "document") == []


def test_the_bar_names_the_book_and_chapters_follow_each_other(page: WebDriver, played: PlayedServer) -> None:
    opened(page, played, "/docs/nodes")
    find(page, ".brand", "The Robot Book")
    page.set_window_size(1700, 900)
    assert [h.text for h in found(page, "#headings a")] == ["What a node is", "Start"]
    find(page, "#around .after", "Title").click()
    find(page, "#chapter h1", "Title")
    find(page, "#around .before", "Nodes").click()
    find(page, "#chapter h2", "What a node is")


def test_an_address_that_the_book_does_not_have_shows_the_way_back(page: WebDriver, played: PlayedServer) -> None:
    page.get(f"{played.url}/docs/no-such-page")
    find(page, "#chapter .note", "no page at this address")
    find(page, "#chapter a", "first page").click()
    find(page, "#chapter h2", "What a node is")
