import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.markdown import Flavour, read_markdown
from tests.support.blocks import check_blocks


def text_of(source: str, flavour: Flavour = "docusaurus") -> str:
    return read_markdown(source, flavour, lambda _: None).text.text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**bold** _em_ ~~gone~~ snake_case_name 2 * 3 * 4", "bold em gone snake_case_name 2 * 3 * 4"),
        ("[a `b`](x.md) ![alt *text*](y.png) <https://z.org>", "a `b` alt text https://z.org"),
        ("line one\nline two", "line one line two"),
        ("a  \nb", "a\nb"),
        ("> quoted\n> words", "quoted words"),
        ("\\# no heading", "\\# no heading"),
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("[ref][1]\n\n[1]: http://x.org", "ref"),
        ("costs $5 and $6", "costs $5 and $6"),
        ("sum $a_1 * b_1 * c$ here", "sum $a_1 * b_1 * c$ here"),
        ("`` a`b `` and `c|d`", "``a`b`` and `c|d`"),
    ],
)
def test_inline_marks_go_and_words_stay(source: str, text: str) -> None:
    assert text_of(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("import a from 'b';\n\nText", "Text"),
        ("import 'x.css'\nimport {\n  a,\n} from 'b'\n\nText", "Text"),
        ("export const a = {\n\n  b: '}',\n\n};\n\nText", "Text"),
        ("export default function X() {\n  return (\n\n    <p>x</p>\n\n  );\n}\n\nText", "Text"),
        ("Words\nimport words go on", "Words import words go on"),
        ("Import the package first.", "Import the package first."),
        ("<Box a={{b: '>'}} c=\"}\">Inner</Box> after", "Inner after"),
        ("<>Fragment</> {/* note */}end {`tpl`}", "Fragment end tpl"),
        ("{items.map(i => <li key={i}>{i} <b>kept</b></li>)}", "kept"),
        ("a < b and c > d", "a < b and c > d"),
        ("<Unclosed attr='x", "<Unclosed attr='x"),
        ("{unbalanced brace", "{unbalanced brace"),
        ("`<Tag>` and ``{x}``", "`<Tag>` and `{x}`"),
        ("$\\frac{a}{b}$ and {'x'}", "$\\frac{a}{b}$ and x"),
        ('<img src="x" alt="A lamp" /> glows', "A lamp glows"),
        ("<!-- gone\n```\nalso gone\n```\n-->\n\nText", "Text"),
        ("{/*\n```\ngone\n```\n*/}\n\nText", "Text"),
        ("<script>\nlet a = '<p>';\n</script>\n\nText", "Text"),
        ('<CodeBlock language="js">{`let a = 1;\nlet b;`}</CodeBlock>', "```js\nlet a = 1;\nlet b;\n```"),
        ("<pre>\na &lt; b\n  c\n</pre>", "```\na < b\n  c\n```"),
        ('<h3 id="x">Title <em>here</em></h3>\n\nText', "### Title here\n\nText"),
        ("<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>", "- one\n- two"),
        ('<Admonition type="tip" title="T">\n\nText\n\n</Admonition>', "T\n\nText"),
        ('<Admonition type="tip">\n\nText\n\n</Admonition>', "Tip: Text"),
    ],
)
def test_mdx_is_taken_out_and_its_text_kept(source: str, text: str) -> None:
    assert text_of(source) == text


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize("indent", ["", "  ", "    "])
def test_code_is_never_touched(fence: str, indent: str) -> None:
    code = ["import x from 'y'", "", "<Tabs>{a}</Tabs> :::note", "  $a$ <!-- b --> **c**", "# no heading"]
    source = "\n".join(["- item", "", *[f"{indent}{line}" for line in [fence + "jsx", *code, fence]]])
    read = read_markdown(source, "docusaurus", lambda _: None)
    assert "\n".join(code) in read.text.text
    assert not read.text.headings


def test_an_admonition_keeps_its_title_or_names_its_kind() -> None:
    assert text_of(":::note\n\nText\n\n:::") == "Note: Text"
    assert text_of(":::warning[Mind *this*]{.wide #x}\nText\n:::") == "Mind this\n\nText"
    assert text_of(":::tip Old style\nText\n:::") == "Old style\n\nText"
    assert text_of(":::info\n\n- item\n\n:::") == "Info:\n\n- item"
    assert (
        text_of('!!! note\n    Text\n\n    ??? tip "T"\n        Deep\n\nAfter', "mkdocs")
        == "Note: Text\n\nT\n\nDeep\n\nAfter"
    )
    assert text_of('!!! note ""\n    Text', "mkdocs") == "Text"


def test_an_admonition_in_code_is_code() -> None:
    assert text_of("```\n!!! note\n    Text\n```", "mkdocs") == "```\n!!! note\n    Text\n```"


def test_a_partial_is_put_in_with_its_props_and_cannot_include_itself_for_ever() -> None:
    partials = {"./_a.mdx": "Hello {props.name}\n\nimport A from './_a.mdx';\n\n<A name='again' />"}
    source = "import A from './_a.mdx';\n\n<A name=\"Ada\" />\n\nEnd"
    read = read_markdown(source, "docusaurus", partials.get)
    assert read.text.text.startswith("Hello Ada\n\nHello again")
    assert read.text.text.endswith("End")
    assert read.text.text.count("Hello") == 5


def test_a_footnote_stands_after_the_block_that_refers_to_it() -> None:
    source = "First.[^a]\n\n## Next\n\nSecond.^[inline note]\n\n[^a]: The note."
    assert text_of(source) == "First.\n\nThe note.\n\n## Next\n\nSecond.\n\ninline note"


def test_unclosed_tags_are_named() -> None:
    read = read_markdown("<Tabs>\n\nText <b>bold\n\n<p>fine\n", "docusaurus", lambda _: None)
    assert read.unclosed == ("Tabs", "b")
    assert read.text.text == "Text bold\n\nfine"


def test_headings_know_where_they_stand() -> None:
    page = read_markdown("# T\n\nA\n\n## B `c` {#d}\n\nE\n\nF\n===\n", "docusaurus", lambda _: None).text
    assert [(h.level, h.title, h.anchor) for h in page.headings] == [(1, "T", ""), (2, "B c", "d"), (1, "F", "")]
    assert [page.text[h.start :].split("\n")[0] for h in page.headings] == ["# T", "## B `c`", "# F"]


def test_a_table_keeps_its_rows_and_the_pipes_in_its_cells() -> None:
    assert text_of("a | b\n--|--\n`x\\|y` | **z**<br/>w") == "| a | b |\n| --- | --- |\n| `x\\|y` | z w |"


SNIPPETS = st.lists(
    st.sampled_from(
        [
            "text ",
            "<Tag>",
            "</Tag>",
            "<b>",
            "{",
            "}",
            "`",
            "```\n",
            "\n",
            "\n\n",
            "$",
            ":::note\n",
            ":::\n",
            "<!--",
            "-->",
            "# h ",
            "| a |",
            "|---|",
            "- ",
            "1. ",
            "    ",
            "![",
            "](",
            "[^1]",
            "[^1]: n",
            "import x\n",
            "\\",
            "{/*",
            "*/}",
            "&",
            '=== "T"\n',
            "!!! note\n",
            "\n/// note | T\n",
            "\n///\n",
            "# h\n:   ",
            "<table><tr><td>",
            "</table>",
            "<pre>",
            "\x00",
            "\ue000",
            "::: note\n",
            "\n:::\n",
            "<details><summary>",
            "</details>",
            "\nterm\n:   ",
            "> [!NOTE]\n",
            "é",
            "文",
        ]
    ),
    max_size=30,
).map("".join)


@settings(deadline=None)  # a busy machine is no failure
@given(SNIPPETS, st.sampled_from(["docusaurus", "mkdocs"]))
def test_any_text_is_read_into_blocks_that_cover_it(source: str, flavour: Flavour) -> None:
    page = read_markdown(source, flavour, lambda _: None).text
    check_blocks(page.text, page.blocks)
    assert not re.search("[\ue000-\ue008\x00]", page.text)


def test_deep_nesting_is_read_in_bounded_time() -> None:
    for source in ("> " * 3000 + "x", "- " * 3000 + "x", "<div>" * 5000 + "x", "{" * 5000, "[" * 5000, "*a " * 5000):
        read_markdown(source, "docusaurus", lambda _: None)


@pytest.mark.parametrize("flavour", ["docusaurus", "mdbook", "mkdocs"])
def test_a_definition_list_of_tags_is_one_of_definitions(flavour: Flavour) -> None:
    source = (
        "<dl>\n<dt id='a'>Term `x`</dt>\n<dt>Other</dt>\n<dd>Meaning.\n\n```sh\ncode\n```\n\n</dd>\n"
        "<dt>Outer</dt>\n<dd>Holds <dl><dt>In</dt><dd>ner</dd></dl></dd>\n</dl>\n\nAfter.\n"
    )
    page = read_markdown(source, flavour, lambda _: None).text
    assert [(page.text[b.start : b.end], b.anchor, b.within) for b in page.blocks] == [
        ("Term `x`\nOther\n: Meaning.", "a", ()),
        ("```sh\ncode\n```", "a", (0,)),
        ("Outer\n: Holds", "", ()),
        ("In\n: ner", "", (2,)),
        ("After.", "", ()),
    ]
