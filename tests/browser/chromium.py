"""A headless Chromium that talks to nobody by itself."""

import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.chrome.webdriver import WebDriver

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,900"
)
# A request to any other host fails, and the console says so.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


def started(*more: str) -> WebDriver | None:
    """None where Chromium or its driver is missing."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS.split(), ALONE, *more):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    made.set_page_load_timeout(60)
    made.implicitly_wait(0)
    return made
