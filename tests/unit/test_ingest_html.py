import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.html import MAX_DEPTH, UnreadableHtml, fragment_markdown, read_html
from citewell.ingest.markdown import Flavour, read_markdown
from tests.support.blocks import check_blocks


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>a <b>b</b>\n c</p><p>d</p>", "a b c\n\nd"),
        ("<div>loose<p>para</p>tail</div>", "loose\n\npara\n\ntail"),
        ("<p>x<br>y <code>a  b</code> <img alt='pic'></p>", "x\ny `a b` pic"),
        ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>", "- a\n  - b\n- c\n\n  d"),
        ("<ol start='4'><li>a</li><li>b<pre>code\n  in</pre></li></ol>", "4. a\n5. b\n\n```\ncode\n  in\n```"),
        ("<pre><code class='language-py'>a &lt; b\n\n  c</code></pre>", "```py\na < b\n\n  c\n```"),
        ("<pre><code>```inner```</code></pre>", "````\n```inner```\n````"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "|  |  |\n| --- | --- |\n| a | b |"),
        ("<dl><dt>term</dt><dd>meaning</dd></dl>", "term\n: meaning"),
        ("<blockquote><p>said</p></blockquote>", "said"),
        ("<p># no heading</p>", "\\# no heading"),
        ("<p>keep<script>alert(1)</script><style>p{}</style></p>", "keep"),
        ("<a href='x'><div><p>boxed</p></div></a>", "boxed"),
        ("<p>unclosed <b>bold<p>next", "unclosed bold\n\nnext"),
    ],
)
def test_html_becomes_clean_markdown(source: str, text: str) -> None:
    assert fragment_markdown(source) == text


def test_paragraphs_stay_apart() -> None:
    """Text taken from HTML in one piece loses every paragraph: one passage a page."""
    page = read_html("<main><h1>T</h1>" + "<p>One.</p>\n<p>Two.</p>" + "</main>")
    assert page.text.text == "# T\n\nOne.\n\nTwo."


def test_the_article_comes_without_what_surrounds_it() -> None:
    source = (
        "<body><header>Top</header><nav>Menu</nav><main><article><h2 id='a'>A<a class='headerlink' href='#a'>#</a></h2>"
        "<p>Words.</p><button>Copy</button><footer>Edit</footer></article><aside>Contents</aside></main></body>"
    )
    page = read_html(source)
    assert page.text.text == "## A\n\nWords."
    assert [(h.title, h.anchor) for h in page.text.headings] == [("A", "a")]


def test_a_page_without_a_heading_is_named_by_its_title() -> None:
    assert read_html("<title>Pumps | The Book</title><p>x").title == "Pumps"


def test_a_page_that_asks_not_to_be_indexed_says_so() -> None:
    assert (
        read_html("<meta name='robots' content='noindex, nofollow'><p>x").rule_against == "It asks not to be indexed."
    )


@pytest.mark.parametrize(
    "listing",
    [
        "<table class='indextable genindextable'><tr><td><ul><li><a href='a.html#x'>x</a></li></ul></td></tr></table>",
        "<p>Searching for words.</p><div id='search-results'></div>",
    ],
)
def test_an_index_or_a_search_is_no_page(listing: str) -> None:
    page = read_html(f"<main><h1>Index</h1>{listing}</main>")
    assert page.rule_against == "It only leads to other pages: an index or a search."


def in_theme(article: str) -> str:
    """As Sphinx's themes lay a page out: links and labels around the article, with much blank space between."""
    blank = "\n" * 300
    return (
        f"<body><a class='jump' href='#main'>Skip to content</a>{blank}<div class='mobile'><a href='/'>The Book</a>"
        f"</div>{blank}<div class='container'><div class='icons'><a href='#'>Back to top</a></div>{blank}"
        f"<article role='main' id='main'>{article}</article></div><div class='drawer'><div>On this page</div>{blank}"
        "<ul><li><a href='#a'>Priming</a></li></ul><a href='_sources/a.txt'>Show Source</a></div></body>"
    )


def test_a_short_page_comes_without_what_its_theme_adds() -> None:
    page = read_html(in_theme("<h1>Priming</h1><p>Fill the pump before its first start.</p>"))
    assert page.text.text == "# Priming\n\nFill the pump before its first start."


def test_an_article_without_text_is_an_empty_page() -> None:
    page = read_html("<title>&lt;no title&gt; - Pumps</title><a href='#m'>Skip</a><article id='m'></article></body>")
    assert (page.text.text, page.title) == ("", "")


def test_a_table_of_contents_in_the_text_is_a_menu_and_not_missing() -> None:
    menu = "".join(f"<li><a href='{i}.html'>A long title of chapter {i}</a></li>" for i in range(50))
    page = read_html(
        in_theme(f"<h1>Pumps</h1><p>They move water.</p><div class='toctree-wrapper'><ul>{menu}</ul></div>")
    )
    assert page.text.text == "# Pumps\n\nThey move water."
    assert page.letters < 80


def test_the_sign_of_a_note_goes_and_the_note_stays() -> None:
    source = (
        "<main><p>It runs anywhere <a class='footnote-reference brackets' href='#n' role='doc-noteref'>[1]</a>.</p>"
        "<aside class='footnote-list'><aside class='footnote' id='n' role='doc-footnote'><span class='label'>[1]</span>"
        "<p>Except under water.</p></aside></aside></main>"
    )
    assert read_html(source).text.text == "It runs anywhere .\n\nExcept under water."


def test_the_name_of_a_picture_s_file_is_no_text() -> None:
    source = "<p><img alt='_images/pump.svg'></p><p><img alt='A pump, seen from above'></p>"
    assert fragment_markdown(source) == "A pump, seen from above"


def test_links_are_those_of_the_whole_page() -> None:
    assert read_html("<nav><a href='/a'>A</a></nav><main><p><a href='b#c'>B</a> x</p></main>").links == ("/a", "b#c")


def test_nesting_deeper_than_any_real_page_is_refused() -> None:
    with pytest.raises(UnreadableHtml, match="nested"):
        read_html("<div>" * 100_000)
    assert read_html("<div>" * (MAX_DEPTH - 5) + "<p>deep").text.text == "deep"


PIECES = st.lists(
    st.sampled_from(
        "text |<p>|</p>|<ul>|<li>|</ul>|<table>|<tr>|<td>|</table>|<pre>|</pre>|<code>|</code>|<h2 id=a>|</h2>|<br>"
        "|<div>|</div>|<a href=x>|</a>|<div class=admonition>|<p class=admonition-title>|<div role=tablist>"
        "|<div role=tabpanel>|<!--|-->|<|&amp;|&#0;|<details>|<summary>|<dl>"
        "|<dt>|<span class=katex>|<script>|<template>|\x00|文|\n".split("|")
    ),
    max_size=25,
).map("".join)


@settings(deadline=None)  # a busy machine is no failure
@given(PIECES)
def test_any_html_is_read_into_blocks_that_cover_it(source: str) -> None:
    page = read_html(source).text
    check_blocks(page.text, page.blocks)


UNSEEN = """<p>Seen first.</p><p hidden>Not 1</p><div style="display:none">Not 2</div><span
style="visibility: hidden">Not 3</span><p style="color: red; font-size:0px">Not 4</p><p style="opacity:0">Not 5</p>
<!-- Not 6 --><p style="position:absolute;left:-9999px">Not 7</p><div role="tabpanel" hidden><p>Seen in a tab.</p></div>
<p style="opacity: 0.5; font-size: 0.9em">Seen last.</p>"""


@pytest.mark.fault("text that readers cannot see", "does not become text of the page")
def test_what_readers_cannot_see_is_no_text() -> None:
    text = read_html(f"<main>{UNSEEN}</main>").text.text
    assert text == "Seen first.\n\nSeen in a tab.\n\nSeen last."


@pytest.mark.parametrize("flavour", ["docusaurus", "mkdocs"])
def test_what_readers_cannot_see_is_no_text_of_a_markdown_page(flavour: Flavour) -> None:
    hidden = "Seen <b hidden>Not 8</b> inline.\n\n<div style={{display: 'none'}}>\n\nNot 9\n\n</div>\n"
    source = f"# A\n\n{UNSEEN}\n\n{hidden}"
    text = read_markdown(source, flavour, lambda _: None).text.text
    assert "Not" not in text
    assert text.count("Seen") == 4
