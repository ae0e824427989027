"""HTML as generators and publishers write it: what stands on the page comes in, as what it is."""

import pytest

from citewell.document import Definition, Table, prose, type_name
from citewell.ingest.html import read_html
from citewell.ingest.pagetext import PageText


def read(source: str) -> PageText:
    return read_html(source).text


def outline(page: PageText) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(type_name(b), prose(page.text, b), b.within) for b in page.blocks]


CLASS = """
<section id="client"><h2>Client<a class="headerlink" href="#client">¶</a></h2>
<dl class="py class"><dt class="sig sig-object py" id="pump.Client">
<em class="property">class </em><span class="sig-name">Client</span>(<em>*</em>, <em>timeout=5</em>)<a
 class="headerlink" href="#pump.Client">¶</a></dt>
<dd><p>Talks to the pump.</p><p>It is closed by itself.</p>
<dl class="py method"><dt class="sig" id="pump.Client.start"><span>start</span>(<em>speed</em>)</dt>
<dd><p>Start it.</p><dl class="field-list"><dt>Parameters</dt><dd><ul><li>speed – in litres</li></ul></dd></dl>
<details class="changelog"><summary>Changelog</summary><p>Added in version 2.</p></details></dd></dl>
<dl class="py attribute"><dt class="sig" id="pump.Client.speed">speed</dt><dd></dd></dl>
</dd></dl></section>"""


def test_an_api_page_of_sphinx_is_definitions_with_their_own_anchors() -> None:
    page = read(f"<div class=body role=main>{CLASS}</div>")
    found = [(b.term, b.anchor, b.within) for b in page.blocks if isinstance(b, Definition)]
    assert found == [
        ("class Client(*, timeout=5)", "pump.Client", ()),
        ("start(speed)", "pump.Client.start", (1,)),
        ("Parameters", "pump.Client.start", (1, 3)),
        ("speed", "pump.Client.speed", (1,)),
    ]
    assert "`class Client(*, timeout=5)`\n: Talks to the pump.\n\nIt is closed by itself." in page.text
    added = next(b for b in page.blocks if "Added" in page.text[b.start : b.end])
    assert (added.part, added.anchor) == ("changelog", "pump.Client.start")
    assert "Changelog" not in page.text
    assert "¶" not in page.text


def test_options_of_a_program_keep_their_text_and_are_told_apart() -> None:
    page = read(
        "<dl class='std option'><dt id='cmdoption-v'>-v, --verbose</dt><dd><p>Say more.</p></dd>"
        "<dt id='cmdoption-q'>-q</dt><dt>--quiet</dt><dd>Say less.</dd></dl>"
    )
    assert [(type_name(b), prose(page.text, b), b.anchor) for b in page.blocks] == [
        ("definition", "-v, --verbose: Say more.", "cmdoption-v"),
        ("definition", "-q, --quiet: Say less.", "cmdoption-q"),
    ]


@pytest.mark.parametrize(
    "around",
    [
        "<body><article class=card><h3>Buy</h3><p>A card.</p></article><div>{}</div></body>",
        "<body><div class=body><p>A teaser.</p></div><section>{}</section></body>",
        "<body><main><p>Hello.</p></main><div id=text>{}</div></body>",
        "<body><div id=menu>" + "<a href=x>One of many links</a>" * 200 + "</div><main>{}</main></body>",
    ],
)
def test_the_content_root_is_taken_only_if_it_holds_most_of_the_text(around: str) -> None:
    body = "<h1>Pumps</h1>" + "<p>A pump moves water from one place to another.</p>" * 20
    page = read(around.replace("{}", body))
    assert page.text.count("A pump moves water") == 20


def test_the_menu_beside_the_content_does_not_come_in() -> None:
    links = "<a href=x>One of many links</a>" * 200
    assert "links" not in read(f"<body><div id=menu>{links}</div><main><p>A pump moves water.</p></main></body>").text


@pytest.mark.parametrize(
    "tabs",
    [
        "<div class=tabs><ul role=tablist><li role=tab>Linux</li><li role=tab>Mac</li></ul>"
        "<div><div role=tabpanel><p>apt</p></div><div role=tabpanel hidden><p>brew</p></div></div></div>",
        "<div class='tabbed-set'><input type=radio><input type=radio><div class=tabbed-labels><label>Linux</label>"
        "<label>Mac</label></div><div class=tabbed-content><div class=tabbed-block><p>apt</p></div>"
        "<div class=tabbed-block><p>brew</p></div></div></div>",
        "<div class=sd-tab-set><input type=radio><label class=sd-tab-label>Linux</label><div class=sd-tab-content>"
        "<p>apt</p></div><input type=radio><label class=sd-tab-label>Mac</label><div class=sd-tab-content>"
        "<p>brew</p></div></div>",
        "<div class=sphinx-tabs><div role=tablist><button role=tab>Linux</button><button role=tab>Mac</button></div>"
        "<div role=tabpanel><p>apt</p></div><div role=tabpanel><p>brew</p></div></div>",
    ],
)
def test_tabs_keep_their_labels(tabs: str) -> None:
    assert outline(read(f"{tabs}<p>after</p>")) == [
        ("tab", "Linux", ()),
        ("paragraph", "apt", (0,)),
        ("tab", "Mac", ()),
        ("paragraph", "brew", (2,)),
        ("paragraph", "after", ()),
    ]


def test_tabs_in_tabs_keep_theirs() -> None:
    inner = "<div><ul role=tablist><li role=tab>x86</li></ul><div role=tabpanel><p>apt</p></div></div>"
    page = read(f"<div><ul role=tablist><li role=tab>Linux</li></ul><div role=tabpanel>{inner}</div></div>")
    assert outline(page) == [("tab", "Linux", ()), ("tab", "x86", (0,)), ("paragraph", "apt", (0, 1))]


@pytest.mark.parametrize(
    ("math", "text"),
    [
        ("<math alttext='E = mc^2'><mi>E</mi></math>", "So $E = mc^2$ holds."),
        (
            "<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>\\vec x</annotation></semantics>"
            "</math>",
            "So $\\vec x$ holds.",
        ),
        (
            "<math><mi>v</mi><mo>=</mo><mfrac><mrow><mi>s</mi><mo>+</mo><mn>1</mn></mrow><mi>t</mi></mfrac></math>",
            "So v = (s+1)/t holds.",
        ),
        ("<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><msqrt><mi>y</mi></msqrt></math>", "So x^2+√y holds."),
        ("<math><msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup></math>", "So a_i^2 holds."),
        ("<script type='math/tex'>a^2</script>", "So $a^2$ holds."),
        ("10<sup>6</sup>", "So 10^6 holds."),
        ("the 1<sup>st</sup>", "So the 1st holds."),
        ("x<sup>2</sup> + e<sup>-t</sup>", "So x^2 + e^-t holds."),
        ("the rule<sup>2</sup>", "So the rule2 holds."),
    ],
)
def test_formulas_in_a_line_can_be_read(math: str, text: str) -> None:
    assert read(f"<p>So {math} holds.</p>").text == text


@pytest.mark.parametrize(
    "math",
    [
        "<math display=block alttext='a=b'><mi>a</mi></math>",
        "<div class='math'>\\[a=b\\]</div>",
        "<span class=katex-display><span class=katex><annotation>a=b</annotation></span></span>",
        "<script type='math/tex; mode=display'>a=b</script>",
        "<mjx-container display=true><mjx-assistive-mml><math display=block alttext='a=b'></math></mjx-assistive-mml>"
        "</mjx-container>",
    ],
)
def test_formulas_by_themselves_are_formulas(math: str) -> None:
    assert outline(read(f"<p>before</p>{math}<p>after</p>"))[1] == ("formula", "a=b", ())


def test_captions_stand_with_what_they_name() -> None:
    page = read(
        "<figure><img src=a.png alt='a pump'><figcaption>Figure 1: a pump</figcaption></figure>"
        "<div class=literal-block-wrapper><div class=code-block-caption>run.py<a class=headerlink>¶</a></div>"
        "<div class='highlight-python'><pre>run()</pre></div></div>"
        "<table><caption>Table 1</caption><tr><th>a</th></tr><tr><td>1</td></tr></table>"
    )
    assert outline(page) == [
        ("paragraph", "a pump", ()),
        ("caption", "Figure 1: a pump", ()),
        ("caption", "run.py", ()),
        ("code", "run()", ()),
        ("caption", "Table 1", ()),
        ("table", "a\n1", ()),
    ]
    code = page.blocks[3]
    assert getattr(code, "caption", "") == "run.py"


def test_a_cell_that_spans_rows_is_said_in_each_of_them() -> None:
    page = read(
        "<table><tr><th>part</th><th>size</th><th>price</th></tr><tr><td rowspan=2>pump</td><td>S</td><td>1</td></tr>"
        "<tr><td>L</td><td>2</td></tr><tr><td colspan=2>valve</td><td>3</td></tr></table>"
    )
    (table,) = page.blocks
    assert isinstance(table, Table)
    assert [row.cells for row in table.rows] == [("pump", "S", "1"), ("pump", "L", "2"), ("valve", "", "3")]


def test_what_generators_add_is_left_out() -> None:
    page = read(
        "<div role=main><h1>Guide<a href='#guide' class=headerlink>¶</a></h1><h2 id=x>Use <a href='#x'>#</a></h2>"
        "<p>Read it.</p><div class='toctree-wrapper'><ul><li><a href=a>Install</a></li></ul></div>"
        "<div class='contents local topic'><ul><li>On this page</li></ul></div></div>"
    )
    assert page.text == "# Guide\n\n## Use\n\nRead it."


def test_boxes_folded_text_and_mermaid_are_what_they_are() -> None:
    page = read(
        "<div class='admonition warning'><p class=admonition-title>Warning</p><p>Hot.</p></div>"
        "<details><summary>More</summary><p>Hidden.</p></details><pre class=mermaid>graph TD; A-->B</pre>"
        "<div class='markdown-alert markdown-alert-tip'><p class=markdown-alert-title>Tip</p><p>Cool.</p></div>"
    )
    assert outline(page) == [
        ("admonition", "Warning", ()),
        ("paragraph", "Hot.", (0,)),
        ("admonition", "More", ()),
        ("paragraph", "Hidden.", (2,)),
        ("code", "graph TD; A-->B", ()),
        ("admonition", "Tip", ()),
        ("paragraph", "Cool.", (5,)),
    ]


def test_parts_are_told_by_containers_too() -> None:
    page = read(
        "<section class=learning-objectives><p>Know pumps.</p></section><p>Body.</p>"
        "<aside class='footnote topic' role=doc-footnote><p>A note.</p></aside><div class=exercises><p>Try.</p></div>"
        "<div class=contents><p>More body.</p></div>"
    )
    assert [b.part for b in page.blocks] == ["objectives", "body", "references", "exercise", "body"]


def test_a_list_that_stands_beside_the_items_is_deeper_than_they_are() -> None:
    assert read("<ul><li>a</li><ul><li>b</li></ul></ul>").text == "- a\n  - b"


def test_several_meanings_of_a_term_stay_with_it() -> None:
    page = read_html("<dl><dt id='a'>A</dt><dt>B</dt><dd>Both.</dd><dd>Also.</dd><dt>C</dt><dd>Third.</dd></dl>").text
    assert [(type(b).__name__, b.anchor, b.within) for b in page.blocks] == [
        ("Definition", "a", ()),
        ("Paragraph", "a", (0,)),
        ("Definition", "", ()),
    ]
    assert page.text == "A\nB\n: Both.\n\nAlso.\n\nC\n: Third."


def test_a_box_beside_the_text_is_kept_and_a_menu_beside_it_is_not() -> None:
    links = "".join(f"<a href='/{n}'>Page {n}</a>" for n in range(5))
    page = read_html(f"<main><p>Text.</p><aside><p>A story.</p></aside><aside>{links}</aside></main>")
    assert page.text.text == "Text.\n\nA story."


def test_a_page_that_calls_itself_next_steps_is_read_where_it_has_headings_of_its_own() -> None:
    page = read("<h1>Next steps</h1><p>See the other pages.</p><h2>Starting it</h2><p>Run the command.</p>")
    assert [b.part for b in page.blocks] == ["navigation", "navigation", "body", "body"]


def test_headings_in_a_container_are_the_part_that_it_is() -> None:
    page = read_html(
        "<section id='c'><h1>C</h1><section epub:type='learning-objectives'><h2>By the end</h2><p>Know.</p></section>"
        "<h3>After</h3><p>Body.</p></section>"
    ).text
    assert [(block.part, block.anchor) for block in page.blocks] == [
        ("body", "c"),
        ("objectives", ""),
        ("objectives", "c"),
        ("body", ""),
        ("body", "c"),
    ]


def test_elements_with_a_prefix_are_read_as_what_they_are() -> None:
    source = "<html xmlns:m='http://www.w3.org/1998/Math/MathML'>"
    formula = "<m:math><m:mi>x</m:mi><m:mo>=</m:mo><m:mn>1</m:mn></m:math>"
    assert read_html(f"{source}<p>So {formula}.</p>").text.text == "So x = 1."


def test_a_caption_above_code_is_that_of_the_code() -> None:
    above = read_html("<div class='code-block-caption'>one.py</div><pre>1</pre>").text.blocks
    below = read_html("<pre>1</pre><figcaption>Listing 1</figcaption><pre>2</pre>").text.blocks
    assert [getattr(block, "caption", "-") for block in above] == ["-", "one.py"]
    assert [getattr(block, "caption", "-") for block in below] == ["", "-", ""]
