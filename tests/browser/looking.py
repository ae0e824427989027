"""Looking at a page and into the widget on it: what is shown, marked and focused."""

from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.support import node

SECONDS = 60
_SHADOW = "return document.querySelector('citewell-widget')?.shadowRoot ?? null"
_MARKED = "return [...(CSS.highlights.get('citewell') ?? [])].map((range) => range.toString())"
_FOCUSED = (
    "let held = document.activeElement; while (held?.shadowRoot?.activeElement) held = held.shadowRoot.activeElement;"
    "return held"
)


def shadow(page: WebDriver) -> Any:
    """The widget's shadow root; selenium has no type for it that finds by selector."""
    return page.execute_script(_SHADOW)


def found(page: WebDriver, css: str) -> list[WebElement]:
    """In the page and in the widget."""
    root = shadow(page)
    inside: list[WebElement] = root.find_elements(By.CSS_SELECTOR, css) if root is not None else []
    return page.find_elements(By.CSS_SELECTOR, css) + inside


def find(page: WebDriver, css: str, containing: str = "") -> WebElement:
    """Wait for the first element that is shown and contains the text."""

    def shown(_: WebDriver) -> WebElement | None:
        for element in found(page, css):
            if element.is_displayed() and containing in element.text:
                return element
        return None

    wait = WebDriverWait(page, SECONDS, poll_frequency=0.1, ignored_exceptions=[StaleElementReferenceException])
    element = wait.until(shown, f"no {css} with {containing!r}")
    assert element is not None
    return element


def marked(page: WebDriver) -> str:
    """The words that are marked on the page, once there are some."""
    wait = WebDriverWait(page, SECONDS, poll_frequency=0.1)
    ranges: list[str] = wait.until(lambda p: p.execute_script(_MARKED), "no words are marked")
    return " ".join("".join(ranges).split())


def focused(page: WebDriver) -> WebElement:
    element: WebElement = page.execute_script(_FOCUSED)
    return element


def complaints(page: WebDriver) -> list[str]:
    log: list[dict[str, str]] = page.get_log("browser")  # type: ignore[no-untyped-call] # selenium leaves it untyped
    return [entry["message"] for entry in log if entry["level"] == "SEVERE"]


def violations(page: WebDriver, context: str = "'citewell-widget'") -> list[str]:
    """What axe has to say of the widget, or of what the JavaScript expression names."""
    if not page.execute_script("return Boolean(window.axe)"):
        page.execute_script((node.packages(node.ROOT / "widget") / "node_modules/axe-core/axe.min.js").read_text())
    told = "(r) => arguments[0](r.violations.map((v) => v.id + ': ' + v.nodes[0].html))"
    said: list[str] = page.execute_async_script(f"axe.run({context}).then({told})")
    return said
