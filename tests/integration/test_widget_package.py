"""The widget as npm sees it: built afresh, packed, installed from the tarball, and used with its types."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support import node

ASSETS = node.ROOT / "src" / "citewell" / "assets"
OPTIONS = {"target": "ES2022", "module": "ESNext", "moduleResolution": "bundler", "strict": True, "noEmit": True}
USED = """
import citewell, { CitewellWidget, mount, type Options } from "citewell-widget";
import type { CitewellOptions } from "docusaurus-plugin-citewell";

const options: Options = { server: "https://answers.example.com", theme: "dark" };
const widget: CitewellWidget = mount(options);
citewell.ask("How?", { context: "text" });
const stop: () => void = citewell.on("answer", (event) => console.log(event.detail));
window.citewell?.push(["ask", "How?"]);
const plugin: CitewellOptions = { server: "https://answers.example.com", filterVersion: false };
// @ts-expect-error an option that there is not
mount({ colour: "red" });
// @ts-expect-error a server is required
const wrong: CitewellOptions = { title: "Docs" };
export { plugin, stop, widget, wrong };
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, built and packed: beside it the Python package's files, the tarballs in it."""
    folder = tmp_path_factory.mktemp("repo") / "widget"
    shutil.copytree(node.ROOT / "widget", folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(node.packages(node.ROOT / "widget") / "node_modules")
    node.packed(folder, folder)
    node.packed(node.ROOT / "integrations" / "docusaurus", folder)
    return folder


def contents(folder: Path, package: str) -> set[str]:
    (tarball,) = folder.glob(f"{package}-[0-9]*.tgz")
    with tarfile.open(tarball) as opened:
        return {name.removeprefix("package/") for name in opened.getnames()}


def test_a_new_build_gives_the_committed_bytes(packed: Path) -> None:
    for kind in ("widget", "page"):
        built = {file.name: file.read_bytes() for file in (packed.parent / "src/citewell/assets" / kind).iterdir()}
        committed = {file.name: file.read_bytes() for file in (ASSETS / kind).iterdir()}
        stale = {name for name in built | committed if built.get(name) != committed.get(name)}
        assert not stale, "run `make widget` and commit what it writes"


def test_the_tarballs_hold_what_is_used_and_nothing_else(packed: Path) -> None:
    widget = contents(packed, "citewell-widget")
    types = {name for name in widget if name.startswith("dist/types/")}
    assert {"dist/types/loader.d.ts", "dist/types/panel.d.ts"} <= types
    code = {re.sub(r"-?[A-Z0-9]{8}", "", name) for name in widget - types}
    assert code == {"package.json", "README.md", "dist/widget.js", "dist/panel.js", "dist/chunk.js"}
    plugin = contents(packed, "docusaurus-plugin-citewell")
    assert plugin == {"package.json", "README.md", "src/index.js", "src/client.js", "src/index.d.ts"}


def test_a_consumer_installs_the_tarballs_compiles_with_their_types_and_imports_them_on_a_server(
    packed: Path, tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "files": ["used.ts"]}))
    (tmp_path / "used.ts").write_text(USED)
    tarballs = sorted(packed.glob("*.tgz"))
    node.run("npm", "install", "--offline", "--legacy-peer-deps", "--no-audit", "--no-fund", *tarballs, cwd=tmp_path)
    node.run("node", packed / "node_modules" / "typescript" / "bin" / "tsc", "-p", ".", cwd=tmp_path)
    imported = 'const { default: api } = await import("citewell-widget"); console.log(typeof api.ask)'
    assert node.run("node", "--input-type=module", "-e", imported, cwd=tmp_path) == "function\n"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, '"server" is required'),
        ({"server": "answers.example"}, '"server" is required'),
        ({"server": "https://a.example", "colour": "red"}, '"colour" is no option. Known are: server'),
        ({"server": "https://a.example", "title": 1}, '"title" must be a string'),
        ({"server": "https://a.example", "theme": "blue"}, '"theme" must be light or dark'),
        ({"server": "https://a.example", "filterVersion": "no"}, '"filterVersion" must be true or false'),
    ],
)
def test_a_wrong_option_of_the_docusaurus_plugin_stops_the_build_with_a_line(
    options: dict[str, object], says: str
) -> None:
    called = f"require('./src').validateOptions({{ options: {json.dumps(options)} }})"
    told = f"try {{ {called} }} catch (error) {{ console.log(error.message) }}"
    said = node.run("node", "-e", told, cwd=node.ROOT / "integrations" / "docusaurus")
    assert said.startswith(f"docusaurus-plugin-citewell: {says}")


def test_a_mkdocs_site_without_a_server_is_not_built(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [citewell: {title: Docs}]\n")
    build = [sys.executable, "-m", "mkdocs", "build", "-q"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "citewell: `server` is required" in done.stderr
