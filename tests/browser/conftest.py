"""A real headless Chromium, and a server that plays the API well or badly."""

from collections.abc import Iterator

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.chromium import started
from tests.browser.played_server import PlayedServer


@pytest.fixture(scope="session")
def chromium() -> Iterator[WebDriver]:
    made = started()
    if made is None:
        pytest.skip("Chromium or chromedriver is missing: install the packages chromium and chromium-driver")
    yield made
    made.quit()


@pytest.fixture
def page(chromium: WebDriver) -> WebDriver:
    """A browser in its usual size, with a new tab that remembers nothing."""
    used = chromium.current_window_handle
    chromium.switch_to.new_window("tab")
    fresh = chromium.current_window_handle
    chromium.switch_to.window(used)
    chromium.close()
    chromium.switch_to.window(fresh)
    chromium.set_window_size(1400, 900)
    chromium.get_log("browser")  # type: ignore[no-untyped-call] # selenium leaves it untyped
    return chromium


@pytest.fixture
def played() -> Iterator[PlayedServer]:
    server = PlayedServer()
    with server.running():
        yield server
