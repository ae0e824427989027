"""PDF: what is printed, put together again; what stands on the pages is counted in what came in."""

import pytest

from citewell.document import Code, Heading, Paragraph, Table, prose
from citewell.ingest.formats.pdf import read_pdf
from citewell.ingest.formats.pdf_text import PdfText, PrintedLine, PrintedPage, PrintedPiece, assembled, lines_of
from tests.support.pdf import Text, lines, printed

PROSE = [
    "The arm has three joints, and each of them is moved by a motor of its own that",
    "turns at most by 270 degrees before it stops at the end of its way.",
]
WORDS = "none one two three four five".split()


def handbook() -> PdfText:
    pages = []
    for number in range(1, 6):
        head = [Text(72, 820, 9, "Small Arms" if number % 2 else "A Handbook"), Text(290, 20, 9, f"Page {number} of 5")]
        body = [Text(72, 780, 18, f"Chapter {number}"), *lines([*PROSE, f"So it is said in {WORDS[number]}."])]
        if number == 1:
            body.insert(0, Text(72, 800, 26, "A Handbook of Small Arms"))
        if number == 2:
            rows = [("Joint", "Torque", "Weight"), ("elbow", "20 Nm", "3 kg"), ("wrist", "5 Nm", "1 kg")]
            body += [
                Text(72 + 120 * j, 700 - 14 * i, 10, cell) for i, row in enumerate(rows) for j, cell in enumerate(row)
            ]
            body += lines(["After the table the text goes on for a while, as texts do when they can."], top=640)
        if number == 3:
            body += [Text(72, 60, 7, "1 Less when it is cold.")]
        if number == 5:
            body += [
                Text(72, 700, 18, "References"),
                *lines(["[1] A. Author. A paper.", "[2] B. Author. More."], top=680),
            ]
        pages.append([*head, *body])
    return read_pdf(printed(pages, "Microsoft Word - arms.docx"))


@pytest.fixture(scope="module")
def book() -> PdfText:
    return handbook()


def test_a_title_that_names_a_file_gives_way_to_the_largest_line(book: PdfText) -> None:
    assert book.title == "A Handbook of Small Arms"


def test_larger_lines_are_headings_where_there_are_no_bookmarks(book: PdfText) -> None:
    headings = [(b.level, b.title) for b in book.blocks if isinstance(b, Heading)]
    chapters = [(2, f"Chapter {number}") for number in range(1, 6)]
    assert headings == [(1, "A Handbook of Small Arms"), *chapters, (2, "References")]


def test_running_heads_of_left_and_right_pages_are_gone(book: PdfText) -> None:
    assert "Page" not in book.text
    assert "Small Arms" not in book.text.replace("A Handbook of Small Arms", "")


def test_a_table_is_rows(book: PdfText) -> None:
    (table,) = (block for block in book.blocks if isinstance(block, Table))
    assert table.header == ("Joint", "Torque", "Weight")
    assert [row.cells for row in table.rows] == [("elbow", "20 Nm", "3 kg"), ("wrist", "5 Nm", "1 kg")]
    assert table.anchor == "page=2"


def test_a_footnote_is_a_paragraph_of_its_own_and_references_are_marked(book: PdfText) -> None:
    paragraphs = [prose(book.text, b) for b in book.blocks if isinstance(b, Paragraph)]
    assert "1 Less when it is cold." in paragraphs
    marked = [prose(book.text, b) for b in book.blocks if b.part == "references"]
    assert marked == ["References", "[1] A. Author. A paper.", "[2] B. Author. More."]


def test_everything_but_running_heads_comes_in(book: PdfText) -> None:
    bare = "".join(book.text.split())
    for line in (*PROSE, "After the table the text goes on for a while, as texts do when they can."):
        assert "".join(line.split()) in bare
    assert bare.count("".join(PROSE[1].split())) == 5


def test_ligatures_are_letters() -> None:
    assert lines_of([PrintedPiece("The ﬁrst oﬃce\n", 10), PrintedPiece("ﬂow", 10)]) == [
        PrintedLine("The first office", 10),
        PrintedLine("flow", 10),
    ]


@pytest.mark.parametrize(
    ("printed_line", "read"),
    [
        ("T able 2 is on A WS now.", "Table 2 is on AWS now."),
        ("The table of AWS, and I am at a desk.", "The table of AWS, and I am at a desk."),
        ("A cat and A PI here, A PI there, A USB port.", "A cat and API here, API there, A USB port."),
    ],
)
def test_split_capitals_are_joined_where_the_document_has_the_word(printed_line: str, read: str) -> None:
    other = "See the table: AWS, the USB, a scatter plot, am."
    text = assembled([PrintedPage([PrintedLine(printed_line, 10), PrintedLine(other, 10)])], {}, "").text
    assert text == f"{read} {other}" or text == f"{read}\n\n{other}"


def test_columns_of_prose_are_no_table() -> None:
    left = "words of the left column that are many"
    layout = [f"{left}      and as many of the right column here" for _ in range(5)]
    page = PrintedPage([PrintedLine(" ".join(line.split()), 10) for line in layout], layout)
    assert not [block for block in assembled([page], {}, "").blocks if isinstance(block, Table)]


def said(*texts: str) -> list[PrintedLine]:
    return [PrintedLine(text, 10) for text in texts]


def test_lines_of_equally_wide_letters_are_code_as_it_is_indented() -> None:
    code = [(72, 700, "def turn(joint):"), (72 + 4 * 5.4, 688, "joint.go()"), (72, 664, "turn(elbow)")]
    shown = [Text(x, y, 9, text, "F2") for x, y, text in code]
    page = [*lines(PROSE), *shown, *lines(["After the code the text goes on."], top=600)]
    read = read_pdf(printed([page]))
    (block,) = (block for block in read.blocks if isinstance(block, Code))
    assert prose(read.text, block) == "def turn(joint):\n    joint.go()\n\nturn(elbow)"
    assert read.text.endswith("```\n\nAfter the code the text goes on.")


def test_a_name_in_code_that_fills_a_line_stays_in_its_sentence() -> None:
    page = [*said("The arm turns when you call"), PrintedLine("turn_all_joints()", 10, "turn_all_joints()")]
    text = assembled([PrintedPage([*page, *said("with nothing in its hand.")])], {}, "").text
    assert text == "The arm turns when you call turn_all_joints() with nothing in its hand."


def test_heads_and_feet_are_told_by_their_place_when_they_are_printed_after_the_text() -> None:
    pages = []
    for number in (1, 2):
        foot = [Text(40, 25, 8, "https://arms.example/a"), Text(540, 25, 8, f"{number}/2")]
        text = lines([f"So it is said in {WORDS[number]}.", *PROSE])
        pages.append([*text, Text(40, 820, 8, "A Handbook"), *foot])
    read = read_pdf(printed(pages)).text
    assert "Handbook" not in read
    assert "https" not in read
    assert "two" in read


def test_a_heading_over_two_lines_is_found_by_its_bookmark() -> None:
    page = PrintedPage(said(*PROSE, "How the arm is", "mounted", "It hangs from the wall."))
    text = assembled([page], {0: [(1, "How the arm is mounted")]}, "").text
    assert text.endswith("\n\n## How the arm is mounted\n\nIt hangs from the wall.")


def test_text_on_the_next_page_does_not_go_on_with_a_heading() -> None:
    pages = [
        PrintedPage(said(*PROSE, "Mounting")),
        PrintedPage(said("pip is not needed to mount it, nor is anything else.")),
    ]
    text = assembled(pages, {0: [(1, "Mounting")]}, "").text
    assert text.endswith("## Mounting\n\npip is not needed to mount it, nor is anything else.")


def test_a_line_that_ends_where_the_next_word_had_room_ends_its_paragraph() -> None:
    options = ["-c FILE", "Another file.", "-v", "Tells more of what it does."]
    text = assembled([PrintedPage(said(*PROSE, "So it is.", *options))], {}, "").text
    assert text.split("\n\n")[1:] == options


def test_a_sign_above_a_heading_stays_where_it_is() -> None:
    lines_above = [PrintedLine("go(", 9, "go("), PrintedLine(")", 9, ")")]
    page = PrintedPage([*said(*PROSE), *lines_above, *said("Mounting", "It hangs from the wall.")])
    text = assembled([page], {0: [(1, "Mounting"), (2, "12")]}, "").text
    assert text.startswith("### 12\n\n")
    assert text.endswith("```\ngo(\n)\n```\n\n## Mounting\n\nIt hangs from the wall.")
