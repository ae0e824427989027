"""Screenshots for the README and the docs: the widget on a site, light, dark, on a phone, its parts; and the demo."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.chromium import started  # noqa: E402 the folder is on the path only now
from tests.browser.looking import find, marked  # noqa: E402
from tests.browser.played_server import PlayedServer  # noqa: E402
from tests.browser.site_server import mkdocs_site  # noqa: E402

MOUSE = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
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


def take_all(page: WebDriver, url: str) -> None:
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


@contextmanager
def demo() -> Iterator[str]:
    """The address of `citewell demo` in a folder of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "citewell", "demo", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "CITEWELL_DATA_DIR": folder}
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert process.stdout is not None
            next(line for line in process.stdout if f":{port}" in line)  # the demo ends with its address
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def take_demo(page: WebDriver, url: str) -> None:
    page.set_window_size(1400, 860)
    page.get(url)
    find(page, "#contents a")
    find(page, "#message").send_keys("What is URDF?", Keys.ENTER)
    find(page, ".tools")
    find(page, ".answer a.cite").click()
    marked(page)
    taken(page, "demo")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    played = PlayedServer()
    played.said = ANSWER
    with (
        tempfile.TemporaryDirectory() as folder,
        played.running(),
        mkdocs_site(Path(folder)).served(played.url) as url,
    ):
        page = started(MOUSE)
        if page is None:
            sys.exit("Chromium or chromedriver is missing: make browser")
        try:
            take_all(page, url)
            with demo() as address:
                take_demo(page, address)
        finally:
            page.quit()
    print(f"screenshots: {FOLDER}")


if __name__ == "__main__":
    main()
