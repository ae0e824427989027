"""Book files made in the test: a PDF with an outline and running headers, and an EPUB."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from citewell.errors import IngestError
from citewell.ingest import Failure, IngestOptions, PageRead, Source, source_of
from citewell.ingest.splitting import Limit, split

LIMIT = Limit(lambda text: len(text.split()), 40)


def pdf(pages: Sequence[Sequence[str]], outline: Mapping[str, int]) -> bytes:
    """A PDF with one line of text under another, by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 50 780 Td {shown} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, io.SEEK_END)
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode())
    xref = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{offset:010} 00000 n \n" for offset in offsets).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF".encode())
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(out.getvalue())))
    writer.add_metadata({"/Title": "Pumps"})
    for title, number in outline.items():
        writer.add_outline_item(title, number)
    result = io.BytesIO()
    writer.write(result)
    return result.getvalue()


def epub(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return out.getvalue()


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>Valves</dc:title><dc:language>de-AT</dc:language></metadata><manifest>"
    '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="bad" href="text/bad.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="n"/><itemref idref="one"/><itemref idref="two"/><itemref idref="bad"/></spine></package>'
)


def book_source(path: Path, data: bytes) -> Source:
    path.write_bytes(data)
    return source_of(str(path), IngestOptions(base_url="https://book.example.com"))


async def outcomes(path: Path, data: bytes) -> list[PageRead | Failure]:
    source = book_source(path, data)
    return [o async for o in source.read({}) if isinstance(o, PageRead | Failure)]


async def test_a_pdf_is_one_page_with_page_numbers_and_the_headings_of_its_outline(tmp_path: Path) -> None:
    header = "The Pump Handbook"
    pages = [
        [
            header,
            "Chapter One",
            "A pump moves water from one place to another place, and it",
            "never stops to rest.",
            "1",
        ],
        [header, "The second page tells of valves that open and close, of pres-", "sure and of flow that", "2"],
        [header, "goes on over the page.", "Chapter Two", "Valves are small.", "3"],
        [header, "The end is near.", "4"],
    ]
    (read,) = await outcomes(tmp_path / "pumps.pdf", pdf(pages, {"Chapter One": 0, "Chapter Two": 2}))
    assert isinstance(read, PageRead)
    page = read.page
    assert (page.url, page.title) == ("https://book.example.com/pumps.pdf", "Pumps")
    assert header not in page.text
    assert "of pressure and of flow that goes on over the page." in page.text
    found = split(page, LIMIT)
    assert [(p.heading_path, p.section_url.partition("#")[2], p.page_number) for p in found] == [
        (("Chapter One",), "page=1", 1),
        (("Chapter One",), "page=2", 2),
        (("Chapter Two",), "page=3", 3),
    ]
    assert page.text[page.page_starts[3] :] == "The end is near."


@pytest.mark.parametrize(("data", "code"), [(b"no pdf at all", "damaged"), (pdf([[]], {}), "empty_page")])
async def test_a_pdf_that_cannot_be_read_is_a_failure(tmp_path: Path, data: bytes, code: str) -> None:
    (failure,) = await outcomes(tmp_path / "x.pdf", data)
    assert isinstance(failure, Failure)
    assert failure.error_code == code


async def test_an_epub_has_its_documents_in_reading_order(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": OPF,
        "OEBPS/text/one.xhtml": "<html><head><title/></head><body><h1>Eins</h1><p>Wasser.</p></body></html>",
        "OEBPS/text/two.xhtml": "<html><body><h1 id='z'>Zwei</h1><p>Ventil.</p></body></html>",
        "OEBPS/text/bad.xhtml": b"<p>\xff</p>",
    }
    one, two, bad = await outcomes(tmp_path / "v.epub", epub(files))
    assert isinstance(one, PageRead)
    assert isinstance(two, PageRead)
    assert (one.page.url, one.page.title) == ("https://book.example.com/v.epub/text/one.xhtml", "Eins")
    assert (one.page.module, one.page.language, one.page.text) == ("Valves", "de", "# Eins\n\nWasser.")
    assert two.page.headings[0].anchor == "z"
    assert isinstance(bad, Failure)


@pytest.mark.parametrize(
    "files",
    [
        {"mimetype": "application/epub+zip"},
        {"META-INF/container.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'},
        {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": " " * 20_000_000},
    ],
)
async def test_a_damaged_or_hostile_epub_is_refused(tmp_path: Path, files: Mapping[str, str]) -> None:
    with pytest.raises(IngestError, match=r"b\.epub cannot be read"):
        await outcomes(tmp_path / "b.epub", epub(files))


async def test_what_is_neither_folder_nor_book_nor_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="no folder"):
        source_of(str(tmp_path / "nothing"), IngestOptions())
