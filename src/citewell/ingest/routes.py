"""From a file's path to its address on the site, as Docusaurus and MkDocs make it. Pure."""

import posixpath
import re
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from citewell.ingest.frontmatter import FrontMatter

_DATE_LIKE = re.compile(r"^(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?")
_VERSION_LIKE = re.compile(r"^\d+[-_.]\d+")
_NUMBER_PREFIX = re.compile(r"^\d+\s*[-_.]+\s*(?P<rest>[^-_.\s].*)$")

_URL_SAFE = "/@:!$&'()*+,;=~%"


def without_number(name: str) -> str:
    """`01-nodes` is `nodes`; dates and versions keep their numbers."""
    if _DATE_LIKE.match(name) or _VERSION_LIKE.match(name):
        return name
    match = _NUMBER_PREFIX.match(name)
    return match["rest"] if match else name


def docusaurus_route(path: PurePosixPath, front: FrontMatter) -> str:
    """The route under the docs' own prefix, with a leading slash."""
    folder = "/" + "".join(without_number(part) + "/" for part in path.parts[:-1])
    if front.slug.startswith("/"):
        return posixpath.normpath(front.slug).replace("//", "/") + _trailing(front.slug)
    stem = path.stem
    own_folder = path.parts[-2].lower() if len(path.parts) > 1 else None
    if not front.slug and stem.lower() in ("index", "readme", own_folder):
        return folder
    name = front.slug or front.id or without_number(stem)
    return posixpath.normpath(folder + name) + _trailing(name)


def _trailing(slug: str) -> str:
    return "/" if slug.endswith("/") and slug.strip("/") else ""


def mkdocs_route(path: PurePosixPath, *, directory_urls: bool) -> str:
    folder = "/" + "".join(part + "/" for part in path.parts[:-1])
    if path.stem in ("index", "README"):
        return folder if directory_urls else folder + "index.html"
    return f"{folder}{path.stem}/" if directory_urls else f"{folder}{path.stem}.html"


def html_route(path: PurePosixPath) -> str:
    folder = "/" + "".join(part + "/" for part in path.parts[:-1])
    return folder if path.stem == "index" else folder + path.name


def joined(base_url: str, *routes: str) -> str:
    """`https://book.example.com` + `docs` + `/nodes` is `https://book.example.com/docs/nodes`."""
    path = "/".join(route.strip("/") for route in routes[:-1] if route.strip("/"))
    last = routes[-1].lstrip("/")
    whole = "/".join(part for part in (path, last) if part)
    if routes[-1].endswith("/") and whole and not whole.endswith("/"):
        whole += "/"
    # A file's name need not be UTF-8: its bytes stand in the address as they are.
    return f"{base_url.rstrip('/')}/{quote(whole.encode('utf-8', 'surrogateescape'), safe=_URL_SAFE)}"


def path_of(url: str) -> str:
    """Of a site's address, without slashes at its ends; empty for what is no address."""
    try:
        return urlsplit(url).path.strip("/")
    except ValueError:
        return ""


def label_of(folder: str) -> str:
    """A folder's name as people read it."""
    words = re.sub(r"[-_]+", " ", without_number(legible(folder))).strip()
    return words[:1].upper() + words[1:]


def legible(name: str) -> str:
    """The name of a file for people: what of it is not UTF-8 is a question mark in a diamond."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
