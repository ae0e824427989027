"""What must hold for the blocks of any text."""

from collections.abc import Sequence

from citewell.document import Block, Table, sentences


def check_blocks(text: str, blocks: Sequence[Block]) -> None:
    """In order, not overlapping, over everything but blank space; each held only by blocks before it."""
    end = 0
    for number, block in enumerate(blocks):
        assert end <= block.start < block.end <= len(text), block
        assert not text[end : block.start].strip(), text[end : block.start]
        assert list(block.within) == sorted(set(block.within)), block
        assert all(i < number for i in block.within), block
        end = block.end
        if isinstance(block, Table):
            _check_rows(text, block)
        for span in sentences(text, block):
            assert block.start <= span.start < span.end <= block.end, (block, span)
    assert not text[end:].strip(), text[end:]


def _check_rows(text: str, table: Table) -> None:
    end = table.start
    for row in table.rows:
        assert end <= row.start < row.end <= table.end, (table, row)
        written = text[row.start : row.end].replace("\\|", "|")
        assert all(cell in written for cell in row.cells), (row, written)
        end = row.end
