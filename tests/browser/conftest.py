"""A real headless Chromium, and a server that plays the API well or badly."""

import shutil
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver

from tests.browser.played_server import PlayedServer

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,900"
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[WebDriver]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("Chromium or chromedriver is missing: install the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_page_load_timeout(60)
    made.implicitly_wait(0)
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
