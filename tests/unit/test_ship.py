"""What ships beside the code: image, compose, Kubernetes, workflows. Checked by schema and against the settings."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from citewell import __version__
from citewell.settings import Settings

REPO = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((REPO / "compose.yaml").read_text("utf-8"))
MANIFESTS = list(yaml.safe_load_all((REPO / "deploy" / "kubernetes.yaml").read_text("utf-8")))
DOCKERFILE = (REPO / "Dockerfile").read_text("utf-8")
SECRETS = {"DATABASE_URL", "QDRANT_API_KEY", "REDIS_URL"}
"""What the Kubernetes example takes from its secret."""


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", sorted((REPO / ".github" / "workflows").glob("*.yaml"))),
        ("vendor.github-issue-forms", sorted((REPO / ".github" / "ISSUE_TEMPLATE").glob("*.yaml"))),
        ("vendor.compose-spec", [REPO / "compose.yaml"]),
        ("vendor.citation-file-format", [REPO / "CITATION.cff"]),
    ],
)
def test_the_file_is_of_its_schema(schema: str, files: list[Path]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def containers() -> Iterator[Mapping[str, Any]]:
    for manifest in MANIFESTS:
        spec = manifest.get("spec", {})
        template = spec.get("template") or spec.get("jobTemplate", {}).get("spec", {}).get("template") or {}
        yield from template.get("spec", {}).get("containers", ())


def test_every_variable_that_is_set_is_one_that_citewell_reads() -> None:
    known = {name.upper() for name in Settings.model_fields}
    given = set(COMPOSE["services"]["citewell"]["environment"]) | SECRETS
    for manifest in MANIFESTS:
        if manifest["kind"] == "ConfigMap":
            given |= set(manifest["data"])
    assert given <= known


def test_containers_are_not_root_and_cannot_write_but_to_their_volumes() -> None:
    assert re.search(r"^USER 10001$", DOCKERFILE, re.MULTILINE)
    ours = COMPOSE["services"]["citewell"]
    assert (ours["read_only"], ours["cap_drop"]) == (True, ["ALL"])
    found = list(containers())
    assert len(found) == 2
    for container in found:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}


def test_the_commands_of_image_and_manifests_are_commands_of_citewell() -> None:
    (serves,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    for arguments in (json.loads(serves), *(container["args"] for container in containers())):
        options = [word for word in arguments[1:] if word.startswith("--")]
        done = subprocess.run(
            [sys.executable, "-m", "citewell", arguments[0], "--help"], capture_output=True, text=True
        )
        assert done.returncode == 0
        assert [option for option in options if option not in done.stdout] == []


def test_the_version_is_the_same_everywhere() -> None:
    for project in ("pyproject.toml", "larger/pyproject.toml", "evaluation/pyproject.toml"):
        assert f'\nversion = "{__version__}"\n' in (REPO / project).read_text("utf-8")
    for package in ("widget", "integrations/docusaurus"):
        assert json.loads((REPO / package / "package.json").read_text("utf-8"))["version"] == __version__
    assert f"\nversion: {__version__}\n" in (REPO / "CITATION.cff").read_text("utf-8")
    assert {container["image"].rpartition(":")[2] for container in containers()} == {__version__}
