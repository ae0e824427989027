"""What stands above a page: front matter, category files, mkdocs.yml. The only module of ingest that imports yaml."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

_BLOCK = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
MAX_CHARACTERS = 100_000
MAX_DEPTH = 100

Data = Mapping[str, "str | list[Data | str] | Data"]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    id: str = ""
    title: str = ""
    slug: str = ""
    description: str = ""
    hidden: bool = False
    """A draft, or unlisted: not for readers who search."""
    language: str = ""
    problem: str = ""
    """What is wrong with it; the page is then read as if it had none."""


def split_front_matter(source: str) -> tuple[FrontMatter, str]:
    match = _BLOCK.match(source)
    if not match:
        return FrontMatter(), source.removeprefix("\ufeff")
    body = source[match.end() :]
    try:
        data = load_yaml(match[1])
    except ValueError as error:
        return FrontMatter(problem=str(error)), body
    return (
        FrontMatter(
            id=text_at(data, "id"),
            title=text_at(data, "title"),
            slug=text_at(data, "slug"),
            description=text_at(data, "description"),
            hidden=text_at(data, "draft").lower() == "true" or text_at(data, "unlisted").lower() == "true",
            language=text_at(data, "lang") or text_at(data, "language"),
        ),
        body,
    )


def load_yaml(source: str) -> Data:
    """A mapping with every scalar as a string; tags are ignored, so nothing is built. Raises ValueError."""
    if len(source) > MAX_CHARACTERS:
        raise ValueError("The YAML is larger than 100,000 characters.")
    try:
        _check_depth(source)
        # Every scalar stays a string: `slug: 2024-01-01` is no date. BaseLoader builds no objects, whatever the tag.
        data = yaml.load(source, Loader=yaml.CBaseLoader)  # noqa: S506 - see above
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise ValueError(f"The YAML cannot be read{where}.") from error
    return data if isinstance(data, dict) else {}


def _check_depth(source: str) -> None:
    """libyaml builds by recursion: a few thousand brackets would end the process. Reading events does not recurse."""
    depth = 0
    for event in yaml.parse(source, Loader=yaml.CBaseLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise ValueError(f"The YAML is nested deeper than {MAX_DEPTH} levels.")


def category_label(name: str, source: str) -> str:
    """The label in `_category_.json` or `_category_.yml`; empty when there is none."""
    try:
        data = json.loads(source) if name.endswith(".json") else load_yaml(source)
    except (ValueError, RecursionError):
        return ""
    return text_at(data, "label")


def value_at(data: object, *keys: str) -> object:
    """What stands under the keys, one in another. A list of mappings is read as one, as MkDocs lists its plugins."""
    for key in keys:
        if isinstance(data, list):
            data = {name: value for entry in data if isinstance(entry, dict) for name, value in entry.items()}
        data = data.get(key) if isinstance(data, dict) else None
    return data


def text_at(data: object, *keys: str) -> str:
    value = value_at(data, *keys)
    return value.strip() if isinstance(value, str) else ""
