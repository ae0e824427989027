"""A PDF made by hand: lines of text at given places, in given sizes."""

import io
from collections.abc import Sequence
from typing import NamedTuple

from pypdf import PdfReader, PdfWriter


class Text(NamedTuple):
    x: float
    y: float
    size: float
    text: str
    font: str = "F1"
    """F2 is of letters that are all equally wide."""


def printed(pages: Sequence[Sequence[Text]], title: str = "") -> bytes:
    fonts = [f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} >>" for name in ("Helvetica", "Courier")]
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", *fonts]
    kids = []
    for texts in pages:
        stream = "\n".join(f"BT /{t.font} {t.size} Tf 1 0 0 1 {t.x} {t.y} Tm ({t.text}) Tj ET" for t in texts)
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
    xref = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{offset:010} 00000 n \n" for offset in offsets).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF".encode())
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(out.getvalue())))
    if title:
        writer.add_metadata({"/Title": title})
    result = io.BytesIO()
    writer.write(result)
    return result.getvalue()


def lines(texts: Sequence[str], *, top: float = 760, size: float = 10, left: float = 72) -> list[Text]:
    """One under another."""
    return [Text(left, top - 12 * i, size, text) for i, text in enumerate(texts)]
