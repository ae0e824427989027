"""What the blocks of a page know, whichever format it was read from."""

from citewell.document import Block, prose, type_name
from citewell.ingest.html import read_html
from citewell.ingest.markdown import Flavour, read_markdown
from citewell.ingest.pagetext import PageText


def markdown(source: str, flavour: Flavour = "docusaurus") -> PageText:
    return read_markdown(source, flavour, lambda _: None).text


def outline(page: PageText) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(type_name(b), prose(page.text, b), b.within) for b in page.blocks]


def one(page: PageText, kind: str) -> Block:
    return next(block for block in page.blocks if type_name(block) == kind)


def test_code_in_a_step_knows_its_step() -> None:
    page = markdown("1. Build it:\n\n   ```bash\n   make\n   ```\n\n2. Run it.\n   - now\n\n     Or later.\n")
    assert outline(page) == [
        ("list_item", "Build it:", ()),
        ("code", "make", (0,)),
        ("list_item", "Run it.", ()),
        ("list_item", "now", (2,)),
        ("paragraph", "Or later.", (2, 3)),
    ]


def test_an_item_that_begins_with_code_holds_it() -> None:
    page = markdown("- ```\n  make\n  ```\n- text\n")
    assert outline(page) == [("list_item", "", ()), ("code", "make", (0,)), ("list_item", "text", ())]


def test_what_a_box_holds_is_within_it_until_it_closes() -> None:
    page = markdown(":::tip[Faster]\n\nUse `-j`.\n\n:::\n\nOutside.")
    assert outline(page) == [
        ("admonition", "Faster", ()),
        ("paragraph", "Use `-j`.", (0,)),
        ("paragraph", "Outside.", ()),
    ]


def test_a_box_without_a_title_is_named_by_its_kind_in_the_line_of_its_text() -> None:
    page = markdown(":::note\n\nMind the gap.\n\n:::\n")
    assert page.text == "Note: Mind the gap."
    assert outline(page) == [("admonition", "Note", ()), ("paragraph", "Mind the gap.", (0,))]


def test_a_box_that_never_closes_ends_with_the_item_it_began_in() -> None:
    page = markdown("- one\n\n  :::note\n\n  inside\n\nafter\n")
    assert outline(page)[-2:] == [("paragraph", "inside", (0, 1)), ("paragraph", "after", ())]


def test_a_quoted_alert_is_a_box() -> None:
    page = markdown("> [!WARNING]\n> It bites.\n\nafter", "mkdocs")
    assert outline(page) == [
        ("admonition", "Warning", ()),
        ("paragraph", "It bites.", (0,)),
        ("paragraph", "after", ()),
    ]


def test_mkdocs_boxes_and_tabs_hold_their_content() -> None:
    page = markdown('!!! note "Mind"\n    gap\n\n=== "Linux"\n    apt\n=== "Mac"\n    brew\n\nafter', "mkdocs")
    assert outline(page) == [
        ("admonition", "Mind", ()),
        ("paragraph", "gap", (0,)),
        ("tab", "Linux", ()),
        ("paragraph", "apt", (2,)),
        ("tab", "Mac", ()),
        ("paragraph", "brew", (4,)),
        ("paragraph", "after", ()),
    ]


def test_a_quoted_box_of_another_kind_keeps_no_sign() -> None:
    page = markdown("> [!new] New in 12.0\n> It was rewritten.", "mkdocs")
    assert outline(page) == [("paragraph", "New in 12.0 It was rewritten.", ())]


def test_blocks_between_slashes_hold_their_content() -> None:
    page = markdown(
        "/// warning | Mind\n    open: true\n\ngap\n\n//// tab | Linux\n```\n///\n```\n////\n///\n\n"
        "/// html | div.result\nshown\n///\n\n/// note\nnever closed",
        "mkdocs",
    )
    assert outline(page) == [
        ("admonition", "Mind", ()),
        ("paragraph", "gap", (0,)),
        ("tab", "Linux", (0,)),
        ("code", "///", (0, 2)),
        ("paragraph", "shown", ()),
        ("paragraph", "/// note never closed", ()),
    ]


def test_a_picture_that_stands_indented_in_tags_is_no_code() -> None:
    page = markdown(
        '<div>\n<p>\n<a href="/x">\n    <img src="b.svg" alt="Test Suite">\n</a>\n</p>\n</div>\n\nafter', "mkdocs"
    )
    assert outline(page) == [("paragraph", "Test Suite", ()), ("paragraph", "after", ())]


def test_what_a_heading_means_is_text_and_no_code() -> None:
    page = markdown("### limit\n:   How many.\n\n    At most ten.\n\nterm\n:   meaning", "mkdocs")
    assert outline(page) == [
        ("heading", "limit", ()),
        ("paragraph", "How many.", ()),
        ("paragraph", "At most ten.", ()),
        ("definition", "term: meaning", ()),
    ]


def test_docusaurus_tabs_and_details_hold_their_content() -> None:
    page = markdown(
        '<Tabs><TabItem value="a" label="npm">\n\nnpm i\n\n</TabItem></Tabs>\n\n'
        "<details><summary>More **here**</summary>\n\nhidden\n\n</details>\n\nafter"
    )
    assert outline(page) == [
        ("tab", "npm", ()),
        ("paragraph", "npm i", (0,)),
        ("admonition", "More here", ()),
        ("paragraph", "hidden", (2,)),
        ("paragraph", "after", ()),
    ]


def test_a_definition_has_its_term_and_holds_the_rest_of_its_text() -> None:
    page = markdown("timeout\n:   Seconds to wait.\n\n    Five by default.\n\nretries\n:   How often.\n", "mkdocs")
    assert outline(page) == [
        ("definition", "timeout: Seconds to wait.", ()),
        ("paragraph", "Five by default.", (0,)),
        ("definition", "retries: How often.", ()),
    ]


def test_a_figure_has_its_caption() -> None:
    page = markdown("<figure>\n\n![a plot](x.png)\n\n<figcaption>Fig. 1: *speed*</figcaption></figure>\n\nafter")
    assert outline(page) == [("paragraph", "a plot", ()), ("caption", "Fig. 1: speed", ()), ("paragraph", "after", ())]


def test_a_caption_that_stands_indented_in_tags_is_no_code() -> None:
    source = '<div>\n    <img src="a.png"/>\n    <figcaption>How <code>a</code> is made.</figcaption>\n</div>\n\nText.'
    for page in (markdown(source, "mkdocs"), markdown(source, "docusaurus")):
        assert outline(page) == [("caption", "How `a` is made.", ()), ("paragraph", "Text.", ())]


def test_every_block_has_the_anchor_of_its_heading() -> None:
    page = markdown("# T\n\na\n\n## Setup {#go}\n\nb\n\n- c\n")
    assert [block.anchor for block in page.blocks] == ["", "", "go", "go", "go"]


def test_what_is_not_the_body_is_marked_by_its_heading_down_to_the_next_of_its_level() -> None:
    page = markdown("# T\n\na\n\n## 9. Knowledge Check\n\n### One\n\nb\n\n## Motors\n\nc\n\n## Chapter Summary\n\nd\n")
    assert [block.part for block in page.blocks] == [
        "body", "body", "quiz", "quiz", "quiz", "body", "body", "summary", "summary",
    ]  # fmt: skip


def test_html_lists_and_boxes_hold_their_content() -> None:
    page = read_html(
        "<ol><li>Build:<pre>make</pre></li></ol>"
        "<div class='admonition tip'><p class=admonition-title>Tip</p><p>Use it.</p></div><p>after</p>"
    ).text
    assert outline(page) == [
        ("list_item", "Build:", ()),
        ("code", "make", (0,)),
        ("admonition", "Tip", ()),
        ("paragraph", "Use it.", (2,)),
        ("paragraph", "after", ()),
    ]


def test_what_a_quiz_is_given_to_show_is_kept_as_a_quiz() -> None:
    page = markdown(
        "# T\n\n<Quiz questions={[{question: 'What moves water?', options: ['Pump', \"Valve\"], answer: 0}]} />\n\n"
        '<Exercise title="Build it" className="big red box here">\n\nDo it.\n\n</Exercise>\n\nafter\n\n'
        '<Card text="All that a reader must know" icon="pump" />'
    )
    assert [(prose(page.text, b), b.part) for b in page.blocks[1:]] == [
        ("What moves water?", "quiz"),
        ("Pump", "quiz"),
        ("Valve", "quiz"),
        ("Build it", "exercise"),
        ("Do it.", "exercise"),
        ("after", "body"),
        ("All that a reader must know", "body"),
    ]


def test_mermaid_is_a_drawing_with_its_source_and_no_prose() -> None:
    for source in ("```mermaid\ngraph TD\n```", "<Mermaid chart={`graph TD`} />"):
        (drawing,) = markdown(source).blocks
        assert (type_name(drawing), getattr(drawing, "language", "")) == ("code", "mermaid")


def test_a_heading_written_as_a_tag_without_an_id_has_no_anchor_as_on_the_site() -> None:
    page = markdown('<h1 align="center">Pumps</h1>\n\n<h2 id="use">Use</h2>\n\n## Use\n', "mkdocs")
    assert [(h.title, h.anchor) for h in page.headings] == [("Pumps", ""), ("Use", "use"), ("Use", "use_1")]
