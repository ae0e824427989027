"""What a page is: typed blocks with their places and anchors, and the sentences in them. Pure: no I/O, no parser."""

from citewell.document.blocks import (
    Admonition,
    Block,
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Placed,
    Row,
    Span,
    Tab,
    Table,
    announces,
    moved,
)
from citewell.document.encoding import blocks_from_json, blocks_to_json, type_name
from citewell.document.parts import container_part, part_of
from citewell.document.plain import code_info, read_plain
from citewell.document.splitter import SENTENCE_END, STOPWORDS, code_spans, ends_sentence, split_sentences
from citewell.document.words import content, fenced, prose, sentences, standing_alone, table_row

__all__ = [
    "SENTENCE_END",
    "STOPWORDS",
    "Admonition",
    "Block",
    "Caption",
    "Code",
    "Definition",
    "Formula",
    "Heading",
    "ListItem",
    "Paragraph",
    "Part",
    "Placed",
    "Row",
    "Span",
    "Tab",
    "Table",
    "announces",
    "blocks_from_json",
    "blocks_to_json",
    "code_info",
    "code_spans",
    "container_part",
    "content",
    "ends_sentence",
    "fenced",
    "moved",
    "part_of",
    "prose",
    "read_plain",
    "sentences",
    "split_sentences",
    "standing_alone",
    "table_row",
    "type_name",
]
