"""Screenshots of the widget for the README: the demo book on a plain site, light, dark, on a phone, and its parts."""

import sys
import tempfile
from pathlib import Path

from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import started  # noqa: E402 the folder is on the path only now
from tests.browser.looking import find  # noqa: E402
from tests.browser.played_server import PlayedServer  # noqa: E402
from tests.browser.site_server import mkdocs_site  # noqa: E402

FOLDER = ROOT / "docs" / "images"
ANSWER = """A node is a process that runs `rclpy.init` first. [1] To start one:

1. Build it. [2]

```bash
colcon build --packages-select my_robot  # in the workspace
```

2. Run it with `ros2 run`. [2]

| Topic | Rate |
|---|---|
| `/scan` | 10 Hz |
| `/odom` | 50 Hz |

The distance after one step is $d = v \\cdot \\Delta t + \\frac{a \\Delta t^2}{2}$. [1]"""


def asked(page: WebDriver) -> None:
    find(page, ".launch").click()
    find(page, "#message").send_keys("How do I start a node?", Keys.ENTER)
    find(page, ".tools")


def taken(page: WebDriver, name: str) -> None:
    page.save_screenshot(str(FOLDER / f"{name}.png"))


def take_all(page: WebDriver, played: PlayedServer, url: str) -> None:
    page.set_window_size(1200, 800)
    page.get(f"{url}/docs/nodes/")
    asked(page)
    taken(page, "light")
    ActionChains(page).move_to_element(find(page, ".answer a.cite")).perform()
    find(page, ".card")
    taken(page, "citation")
    ActionChains(page).move_to_element(find(page, "h2")).perform()
    find(page, "#message").send_keys("start a node")
    find(page, ".hits [role=option]:last-child")
    taken(page, "search")
    page.execute_script("document.body.dataset.mdColorScheme = 'slate'")
    find(page, "#message").send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.BACKSPACE)
    taken(page, "dark")
    page.execute_script("citewell.close(); document.body.dataset.mdColorScheme = 'default'")
    page.execute_script("getSelection().selectAllChildren(document.querySelector('article p'))")
    find(page, ".about")
    taken(page, "selection")
    page.execute_script("getSelection().removeAllRanges()")
    page.set_window_size(500, 900)
    find(page, ".launch").click()
    find(page, "#message")
    taken(page, "phone")
    page.set_window_size(1400, 860)
    page.get(f"{played.url}/docs/nodes")
    find(page, "#chapter h2")
    find(page, "#message").send_keys("How do I start a node?", Keys.ENTER)
    find(page, ".tools")
    taken(page, "page")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    played = PlayedServer()
    played.said = ANSWER
    with (
        tempfile.TemporaryDirectory() as folder,
        played.running(),
        mkdocs_site(Path(folder)).served(played.url) as url,
    ):
        page = started()
        if page is None:
            sys.exit("Chromium or chromedriver is missing: make browser")
        try:
            take_all(page, played, url)
        finally:
            page.quit()
    print(f"screenshots: {FOLDER}")


if __name__ == "__main__":
    main()
