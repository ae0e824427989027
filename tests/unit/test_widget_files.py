"""The built widget: as small as promised, as its sources say, and each language whole."""

import gzip
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "widget"
BUILT = ROOT / "src" / "citewell" / "assets" / "widget"
BEFORE_OPENING = 4_000
IN_ALL = 25_000


def zipped(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


def test_what_a_page_loads_before_the_widget_is_opened_is_at_most_4_kb() -> None:
    assert zipped(BUILT / "widget.js") <= BEFORE_OPENING


def test_the_whole_widget_with_its_longest_language_is_at_most_25_kb() -> None:
    parts = [BUILT / "widget.js", *BUILT.glob("widget-panel-*.js")]
    assert len(parts) == 2
    assert sum(map(zipped, parts)) + max(map(zipped, BUILT.glob("*.json"))) <= IN_ALL


def test_the_files_were_built_from_the_sources_beside_them() -> None:
    digest = hashlib.sha256()
    names = sorted(str(file.relative_to(SOURCES)) for file in (SOURCES / "src").rglob("*") if file.is_file())
    for name in [*names, "build.mjs", "package.json"]:
        digest.update(f"{name}\n".encode() + (SOURCES / name).read_bytes())
    recorded = (BUILT / "sources.sha256").read_text().strip()
    assert digest.hexdigest() == recorded, "stale: run `make widget` and commit what it writes"


def test_the_lock_files_name_no_host() -> None:
    for lock in (SOURCES, ROOT / "tests" / "browser" / "sites" / "docusaurus"):
        assert "://" not in (lock / "package-lock.json").read_text()


def test_every_language_says_all_that_english_says() -> None:
    english = (SOURCES / "src" / "words.ts").read_text().split("};")[0]
    names = set(re.findall(r'^  (\w+): "', english, re.MULTILINE))
    files = {file.stem: json.loads(file.read_text()) for file in BUILT.glob("*.json")}
    assert set(files) == {"de", "es", "fr", "pt", "zh", "ja", "ur"}
    for words in files.values():
        assert set(words) == names
        assert all(words.values())
