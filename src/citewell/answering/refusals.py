"""Refusals (abstention): what is said when nothing answers, and the sections offered as places to look. Pure."""

import re
from collections.abc import Sequence

from citewell.answering.topics import topic
from citewell.document import Caption, Definition, Heading, ListItem, Paragraph, prose, split_sentences
from citewell.instructions import is_instruction
from citewell.reader import PassageReading
from citewell.values import Passage, Question, Related

NOT_IN_BOOK = "I don't have information about that in the available documentation."
NOTHING_FOUND = "I couldn't find relevant information in the documentation for your question."
NOT_IN_SELECTION = (
    "The provided selection does not contain information about {}. Would you like me to search the full documentation?"
)
PART_NOT_IN_BOOK = "I don't have information about {} in the available documentation."
OFFERED = 3
_LONGEST_LINE = 160
_BLANKS = re.compile(r"\s+")


def refusal_of(question: Question, *, found: bool) -> tuple[str, str]:
    """The safe sentence and the reason."""
    if question.mode == "selected_text":
        return NOT_IN_SELECTION.format(topic(question.text)), "The selection does not contain the answer"
    if not found:
        return NOTHING_FOUND, "No relevant content found"
    return NOT_IN_BOOK, "No relevant content found with sufficient confidence"


def related_to(readings: Sequence[PassageReading]) -> tuple[Related, ...]:
    """The nearest sections, nearest first, each once."""
    found: dict[str, Related] = {}
    for reading in sorted(readings, key=lambda r: -r.answers):
        passage = reading.passage
        if len(found) < OFFERED:
            found.setdefault(passage.section_url, Related(passage.place, passage.section_url, _first_line(passage)))
    return tuple(found.values())


def _first_line(passage: Passage) -> str:
    """The first words of prose; of a passage without any, its heading or its first words."""
    told = (b for b in passage.blocks if isinstance(b, Paragraph | ListItem | Definition | Caption))
    titles = (block.title for block in passage.blocks if isinstance(block, Heading))
    line = next((prose(passage.text, block) for block in told), None) or next(titles, passage.text)
    said = (line[span.start : span.end] for span in split_sentences(line))
    flat = _BLANKS.sub(" ", " ".join(sentence for sentence in said if not is_instruction(sentence))).strip()
    return flat if len(flat) <= _LONGEST_LINE else f"{flat[:_LONGEST_LINE].rsplit(' ', 1)[0]} …"
