"""The widget: its size, from the start of its script to ready, and from a key to the first result, in a real Chromium.

python bench/widget.py DATA_DIR
"""

import gzip
import json
import os
import sys
import time
from pathlib import Path

from api import citewell_server
from measuring import REPO
from selenium.webdriver.chrome.webdriver import WebDriver

sys.path.insert(0, str(REPO))

from tests.browser.chromium import started
from tests.browser.looking import find
from tests.browser.site_server import plain_site

ROUNDS = 5
WORDS = ("node", "sensor", "topic", "robot", "plan")
BUILT = REPO / "src" / "citewell" / "assets" / "widget"
_DEFINED = "customElements.whenDefined('citewell-widget').then(() => (window.readyAt = performance.now()))"
_READY = (
    "const script = performance.getEntriesByType('resource').find((e) => e.name.endsWith('/widget.js'));"
    "return [window.readyAt - script.responseEnd, window.readyAt - script.startTime]"
)
_TYPED = """
const [word, done] = arguments;
const root = document.querySelector("citewell-widget").shadowRoot;
const box = root.querySelector("#message");
const list = root.querySelector(".hits");
box.focus();
box.value = word;
const start = performance.now();
new MutationObserver((_, seen) => list.hidden || (seen.disconnect(), done(performance.now() - start)))
  .observe(list, { attributes: true, childList: true });
box.dispatchEvent(new Event("input", { bubbles: true }));
"""


def sizes() -> dict[str, float]:
    zipped = {file.name: len(gzip.compress(file.read_bytes(), 9)) / 1000 for file in BUILT.glob("*.js*")}
    panel = next(size for name, size in zipped.items() if name.startswith("widget-panel"))
    language = max(size for name, size in zipped.items() if name.endswith(".json"))
    loader = zipped["widget.js"]
    return {
        "loader_kb": loader,
        "panel_kb": panel,
        "longest_language_kb": language,
        "in_all_kb": loader + panel + language,
    }


def opened() -> WebDriver:
    page = started()
    if page is None:
        sys.exit("Chromium or chromedriver is missing: make browser")
    page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _DEFINED})
    page.set_script_timeout(30)
    return page


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def measured(page: WebDriver, url: str) -> dict[str, float]:
    run, fetched, first_open, keys = [], [], [], []
    for word in WORDS[:ROUNDS]:
        page.get(f"{url}/docs/nodes")
        launch = find(page, ".launch")
        from_run, from_fetch = page.execute_script(_READY)
        run.append(from_run)
        fetched.append(from_fetch)
        start = time.perf_counter()
        launch.click()
        find(page, "#message")
        first_open.append((time.perf_counter() - start) * 1000)
        keys.append(page.execute_async_script(_TYPED, word))
        page.execute_script("citewell.close()")
    return {
        "script_to_ready_ms": median(run),
        "request_to_ready_ms": median(fetched),
        "click_to_open_ms": median(first_open),
        "key_to_first_result_ms": median(keys),
    }


def main(data: Path) -> None:
    os.environ["ALLOWED_ORIGINS"] = "*"
    with citewell_server(data) as (port, _), plain_site().served(f"http://127.0.0.1:{port}") as url:
        page = opened()
        try:
            found = sizes() | measured(page, url)
        finally:
            page.quit()
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
