"""The documentation page in a real browser: every operation is listed, and its examples run."""

import asyncio

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.api import TEXT, an_app, listening


def run_chat_example(page: WebDriver, url: str) -> tuple[list[str], str, list[str]]:
    """The operations, what sending the first example of /chat showed, and what the browser complained of."""
    page.get(f"{url}/docs")
    WebDriverWait(page, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, "summary code"))
    operations = [element.text for element in page.find_elements(By.CSS_SELECTOR, "summary code")]
    chat = page.find_element(By.XPATH, "//details[summary/code='/chat']")
    chat.find_element(By.TAG_NAME, "summary").click()
    chat.find_element(By.TAG_NAME, "button").click()
    output = chat.find_element(By.TAG_NAME, "pre")
    WebDriverWait(page, 20).until(lambda _: "relevance_score" in output.text)
    complaints = [entry["message"] for entry in page.get_log("browser")]  # type: ignore[no-untyped-call] # selenium's
    return operations, output.text, complaints


@pytest.mark.browser
async def test_the_page_lists_the_operations_and_runs_an_example(page: WebDriver) -> None:
    async with listening(an_app()) as server:
        operations, shown, complaints = await asyncio.to_thread(run_chat_example, page, server.url)
    assert {"/chat", "/chat/run", "/chat/stream", "/health", "/sessions/{session_id}"} <= set(operations)
    assert "200 OK" in shown
    assert TEXT in shown
    assert complaints == []
    assert "`" not in await asyncio.to_thread(lambda: page.find_element(By.ID, "about").text)
