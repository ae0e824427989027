from pathlib import PurePosixPath

import pytest

from citewell.ingest.anchors import Anchors, explicit_id, github_slug
from citewell.ingest.formats.includes import chosen_lines
from citewell.ingest.frontmatter import FrontMatter, category_label, load_yaml, split_front_matter
from citewell.ingest.routes import docusaurus_route, joined, label_of, mkdocs_route, path_of, without_number


@pytest.mark.parametrize(
    ("path", "front", "route"),
    [
        ("nodes.md", FrontMatter(), "/nodes"),
        ("01-ros/02-nodes.mdx", FrontMatter(), "/ros/nodes"),
        ("dir/index.md", FrontMatter(), "/dir/"),
        ("dir/reADMe.mdx", FrontMatter(), "/dir/"),
        ("dir/subdir/Subdir.md", FrontMatter(), "/dir/subdir/"),
        ("dir/index.md", FrontMatter(slug="/mine"), "/mine"),
        ("dir/doc.md", FrontMatter(slug="abc/def"), "/dir/abc/def"),
        ("dir/doc.md", FrontMatter(slug="./abc/../def"), "/dir/def"),
        ("dir/sub/doc.md", FrontMatter(slug="../../../../abc"), "/abc"),
        ("dir/doc.md", FrontMatter(id="other"), "/dir/other"),
        ("intro.md", FrontMatter(slug="/"), "/"),
        ("docusaurus.config.js.mdx", FrontMatter(), "/docusaurus.config.js"),
    ],
)
def test_routes_are_those_of_docusaurus(path: str, front: FrontMatter, route: str) -> None:
    assert docusaurus_route(PurePosixPath(path), front) == route


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("01-nodes", "nodes"),
        ("3. Tools", "Tools"),
        ("2021-11-foo", "2021-11-foo"),
        ("7.0-foo", "7.0-foo"),
        ("42", "42"),
    ],
)
def test_number_prefixes_go_but_dates_and_versions_stay(name: str, kept: str) -> None:
    assert without_number(name) == kept


@pytest.mark.parametrize(
    ("path", "is_directory", "route"),
    [
        ("index.md", True, "/"),
        ("a/README.md", True, "/a/"),
        ("a/b.md", True, "/a/b/"),
        ("a/b.md", False, "/a/b.html"),
        ("a/index.md", False, "/a/index.html"),
    ],
)
def test_routes_are_those_of_mkdocs(path: str, is_directory: bool, route: str) -> None:
    assert mkdocs_route(PurePosixPath(path), directory_urls=is_directory) == route


@pytest.mark.parametrize(
    ("parts", "url"),
    [
        (("", "docs", "/a/b"), "/docs/a/b"),
        (("https://x.org", "docs", "/a/"), "https://x.org/docs/a/"),
        (("https://x.org/book/", "", "/a"), "https://x.org/book/a"),
        (("https://x.org", "docs", "/"), "https://x.org/docs/"),
        (("", "", "/"), "/"),
        (("", "docs", "/my dôc"), "/docs/my%20d%C3%B4c"),
        (("", "docs", "/@scope/x"), "/docs/@scope/x"),
    ],
)
def test_urls_are_the_base_and_the_route(parts: tuple[str, ...], url: str) -> None:
    assert joined(*parts) == url


def test_a_folders_label_is_its_name_as_people_read_it() -> None:
    assert label_of("02-getting_started") == "Getting started"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("What's new?", "whats-new"),
        ("A & B", "a--b"),
        ("Größe & Maß", "größe--maß"),
        ("snake_case and `code()`", "snake_case-and-code"),
        ("日本語 の", "日本語-の"),
        ("v2.0", "v20"),
    ],
)
def test_anchors_are_those_of_github_slugger(text: str, slug: str) -> None:
    assert github_slug(text) == slug


def test_a_repeated_heading_is_numbered_as_each_generator_does() -> None:
    github, toc = Anchors("github"), Anchors("toc")
    assert [github.of(t) for t in ("Use", "Use", "Use 1", "Use")] == ["use", "use-1", "use-1-1", "use-2"]
    assert [toc.of(t) for t in ("Use", "Use", "Über uns", "日本", "Use")] == ["use", "use_1", "uber-uns", "_1", "use_2"]


def test_an_explicit_id_is_not_counted_by_docusaurus_but_taken_for_mkdocs() -> None:
    github, toc = Anchors("github"), Anchors("toc")
    assert [github.explicit("use"), github.of("Use")] == ["use", "use"]
    assert [toc.explicit("use"), toc.of("Use")] == ["use", "use_1"]


@pytest.mark.parametrize(
    ("heading", "text", "anchor"),
    [
        ("Use {#my-id}", "Use", "my-id"),
        ("Use {/* #my-id */}", "Use", "my-id"),
        ("Use { #my-id .wide }", "Use", "my-id"),
        ("Use {: #my-id }", "Use", "my-id"),
        ("Use C# ## {: #my-id }", "Use C#", "my-id"),
        ("Use {braces}", "Use {braces}", None),
    ],
)
def test_explicit_ids_are_taken_off_the_heading(heading: str, text: str, anchor: str | None) -> None:
    assert explicit_id(heading) == (text, anchor)


def test_front_matter_scalars_stay_strings() -> None:
    front, body = split_front_matter("---\ntitle: 'A: b'\nslug: 2024-01-01\nid: 007\ndraft: True\n---\nText\n")
    assert (front.title, front.slug, front.id, front.hidden, body) == ("A: b", "2024-01-01", "007", True, "Text\n")


@pytest.mark.parametrize("source", ["---\ntitle: [unclosed\n---\nText", "---\na: *nothing\n---\nText"])
def test_front_matter_that_cannot_be_read_is_a_problem_and_the_body_goes_on(source: str) -> None:
    front, body = split_front_matter(source)
    assert front.problem
    assert body == "Text"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert split_front_matter("---\n\njust a rule") == (FrontMatter(), "---\n\njust a rule")


def test_yaml_tags_build_nothing() -> None:
    assert load_yaml("a: !!python/object/apply:os.system ['true']") == {"a": ["true"]}


def test_category_labels_come_from_json_and_yaml() -> None:
    assert category_label("_category_.json", '{"label": "Arm"}') == "Arm"
    assert category_label("_category_.yml", "label: Arm\nposition: 2") == "Arm"
    assert category_label("_category_.json", "{broken") == ""
    assert category_label("_category_.json", '["label"]') == ""


def test_equal_headings_are_numbered_without_asking_at_every_number() -> None:
    anchors = Anchors("toc")
    made = [anchors.of(text) for text in ["Use"] * 30_000 + ["Use_3", "Use", "=", "="]]
    assert made[-5:] == ["use_29999", "use_30000", "use_30001", "_1", "_2"]


@pytest.mark.parametrize("deep", ["[", "{", "- ", "? "])
def test_front_matter_nested_without_end_is_a_problem_not_a_crash(deep: str) -> None:
    front, body = split_front_matter(f"---\n{deep * 30_000}\n---\nBody")
    assert "nested deeper" in front.problem
    assert body == "Body"


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [("2", "b"), ("2:3", "bc"), (":2", "ab"), ("3:", "cd"), ("1,3:", "acd"), ("9", ""), ("x", ""), ("1" * 5000, "")],
)
def test_lines_are_chosen_by_their_numbers(wanted: str, chosen: str) -> None:
    assert "".join(chosen_lines(list("abcd"), wanted)) == chosen


def test_what_is_no_address_has_no_path() -> None:
    assert (path_of("https://a.example/docs/"), path_of("http://["), path_of("")) == ("docs", "", "")
