"""Which blocks are quoted, with a reader that follows a script: the structure decides what belongs together."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from citewell.document import Block, Part, read_plain, sentences
from citewell.ingest.markdown import read_markdown
from citewell.reader import Inquiry, PassageReading, Unit, choose, compose
from citewell.values import SELECTION_URL, Passage


def reading(
    text: str, scores: Mapping[str, float], *, answers: float = 0.9, url: str = "/p", blocks: tuple[Block, ...] = ()
) -> PassageReading:
    """A passage whose units have the score of the phrase that they hold; any other has next to none."""
    blocks = blocks or read_plain(text)
    passage = Passage(f"{url}-0", url, "Page", text, 0, 0, len(text), blocks=blocks)

    def score(unit: str) -> float:
        return max((value for phrase, value in scores.items() if phrase in unit), default=0.02)

    units = tuple(tuple(Unit(s, e, score(text[s:e])) for s, e in sentences(text, block)) for block in blocks)
    return PassageReading(passage, answers, units)


def answer(question: str, *readings: PassageReading) -> str:
    numbers: dict[str, int] = {}
    groups = choose(Inquiry(question), readings, {})
    return compose(groups, lambda passage: numbers.setdefault(passage.id, len(numbers) + 1))


FILLER = " ".join(
    ["The rotor is light and turns fast in its bearings, which are lubricated for life at the factory."] * 6
)

JOINTS = """A joint connects two links.

URDF has six joint types.

| Joint type | Motion | Needs limits |
| --- | --- | --- |
| `revolute` | Turns between two limits | Yes |
| `continuous` | Turns without limits | No |
| `prismatic` | Slides | Yes |

The origin places the frame.
"""


def test_a_sentence_that_counts_things_brings_their_table_with_its_header() -> None:
    text = answer("Which joint types does URDF have?", reading(JOINTS, {"six joint types": 0.9}))
    assert text.splitlines()[0] == "URDF has six joint types. [1]"
    assert "| Joint type | Motion | Needs limits |" in text
    assert "| `prismatic` | Slides | Yes [1] |" in text
    assert "origin" not in text


def test_a_table_comes_whole_when_no_row_is_named_however_well_one_answers() -> None:
    text = answer("Where does a child slide?", reading(JOINTS, {"Slides": 0.9}))
    assert [line for line in text.splitlines() if "[1] |" in line] == [
        "| `revolute` | Turns between two limits | Yes [1] |",
        "| `continuous` | Turns without limits | No [1] |",
        "| `prismatic` | Slides | Yes [1] |",
    ]


def test_one_row_comes_alone_when_the_question_names_it() -> None:
    text = answer("Does a prismatic joint need limits?", reading(JOINTS, {"prismatic": 0.9}))
    assert text.splitlines() == [
        "| Joint type | Motion | Needs limits |",
        "| --- | --- | --- |",
        "| `prismatic` | Slides | Yes [1] |",
    ]


def test_every_row_that_answers_comes_and_no_other() -> None:
    text = answer("Which of the joints need limits?", reading(JOINTS, {"Yes": 0.9}))
    assert "revolute" in text
    assert "prismatic" in text
    assert "continuous" not in text


LIMITS = """Use the `limits` argument. It takes:

- `max_connections`, the most connections.
- `keepalive`, how many stay open.
- `expiry`, when they close.

```python
limits = Limits(max_connections=10)
```
"""


def test_when_two_items_answer_the_list_comes_whole_with_its_lead_in() -> None:
    text = answer("What can I limit?", reading(LIMITS, {"max_connections`": 0.8, "expiry": 0.7}))
    assert text.splitlines() == [
        "Use the `limits` argument. It takes: [1]",
        "",
        "- `max_connections`, the most connections. [1]",
        "- `keepalive`, how many stay open. [1]",
        "- `expiry`, when they close. [1]",
    ]


STEPS = """1. Install it.

   ```bash
   pip install it
   ```

2. Start it.
3. Look at it.
"""


def test_steps_come_whole_with_the_code_inside_them() -> None:
    text = answer("How do I install it?", reading(STEPS, {"Install": 0.9}))
    assert text.splitlines() == [
        "1. Install it. [1]",
        "",
        "   ```bash",
        "   pip install it",
        "   ```",
        "",
        "2. Start it. [1]",
        "3. Look at it. [1]",
    ]


def test_code_comes_whole_with_the_sentence_before_it() -> None:
    text = answer(
        "Show me an example.",
        reading(f"{FILLER}\n\nAssign to a name:\n\n```python\na = 1\nb = 2\n```\n\n{FILLER}", {"a = 1": 0.9}),
    )
    assert text == "Assign to a name: [1]\n\n```python\na = 1\nb = 2\n```"


def test_a_lead_in_that_says_nothing_brings_what_it_is_an_example_of() -> None:
    text = answer(
        "What is `sni` for?",
        reading("Other.\n\nNames the host.\n\nFor example:\n\n```python\nsni = 1\n```", {"sni = 1": 0.9}),
    )
    assert text == "Names the host. [1]\n\nFor example: [1]\n\n```python\nsni = 1\n```"


def test_a_definition_is_the_sentence_that_begins_with_the_thing() -> None:
    text = answer(
        "What is a costmap?",
        reading("The planner reads the costmap.\n\nA costmap is a grid of cells.", {"planner": 0.4, "grid": 0.6}),
    )
    assert text == "A costmap is a grid of cells. [1]"


def test_code_that_nobody_asked_for_stands_behind_prose() -> None:
    text = answer(
        "Which version is needed?",
        reading("It needs version 3.\n\n## Use\n\n```python\nprint(version)\n```", {"needs": 0.6, "print": 0.6}),
    )
    assert text.startswith("It needs version 3. [1]")


def test_of_a_long_paragraph_the_relevant_sentences_come_as_a_run() -> None:
    filler = " ".join(["This sentence fills the paragraph with words that nobody asked for at all."] * 4)
    text = answer(
        "When?", reading(f"{filler} The fair was in May. Rain fell. {filler}", {"May": 0.9, "Rain fell": 0.6})
    )
    assert text == "The fair was in May. Rain fell. [1]"


def test_what_is_not_the_body_of_the_book_is_not_quoted_unless_asked_for() -> None:
    read = reading("Build a robot that walks.", {"robot": 0.9})
    exercise = as_part(read, "exercise")
    assert answer("How do I build a robot?", exercise) == ""
    assert answer("Which exercise is about a robot?", exercise) == "Build a robot that walks. [1]"


def test_a_summary_answers_like_the_body_of_the_book() -> None:
    read = as_part(reading("A twin is a model that follows one robot.", {"twin": 0.9}), "summary")
    assert answer("What is a twin?", read) == "A twin is a model that follows one robot. [1]"


def as_part(read: PassageReading, part: Part) -> PassageReading:
    blocks = tuple(replace(block, part=part) for block in read.passage.blocks)
    return replace(read, passage=replace(read.passage, blocks=blocks))


@pytest.mark.parametrize("scores", [{}, {"joint": 0.0}])
def test_quotes_are_word_for_word(scores: dict[str, float]) -> None:
    for line in answer("What is a joint?", reading(JOINTS, scores)).splitlines():
        told = line.replace(" [1] |", " |").replace(" [1]", "")
        assert told in JOINTS or set(told) <= set("| -")


def test_what_a_passage_says_is_its_answering_sentences_best_first_and_no_code() -> None:
    read = reading(
        "It waits 5 s. It may wait 9 s. It rains.\n\n```python\nwait(5)\n```", {"5 s": 0.7, "9 s": 0.9, "wait(5)": 0.99}
    )
    assert read.said(2) == ("It may wait 9 s.", "It waits 5 s.")
    assert read.said(1) == ("It may wait 9 s.",)


def test_what_is_quoted_of_running_text_stands_in_its_order() -> None:
    text = (
        "This can confuse:\n\n```\n>>> find(path)\n[]\n```\n\nA sentence between them that says nothing of it.\n\n"
        "The solution is to escape the path:\n\n```\n>>> find(escaped(path))\n[1]\n```"
    )
    said = answer("Why does `find` say nothing?", reading(text, {"This can": 0.7, "The solution": 0.9}))
    assert 0 <= said.index("This can confuse") < said.index("The solution")


def test_an_option_that_the_question_names_is_told_from_its_neighbour() -> None:
    options = "- `-p` stores the process id in a file.\n- `-P` adds paths to look for modules in."
    scores = {"process id": 0.5, "adds paths": 0.4}
    assert answer("What does the `-P` option do?", reading(options, scores)).startswith("`-P` adds paths")
    assert answer("What does the `-p` option do?", reading(options, scores)).startswith("`-p` stores")


def test_an_item_that_announces_code_brings_it_along_though_it_stands_behind_the_list() -> None:
    text = "- To set a cookie, assign it.\n- To delete a cookie, let it expire:\n\n```python\ncookie.expires = 0\n```\n"
    found = answer("How do I delete a cookie?", reading(text, {"To delete": 0.9}))
    assert "let it expire" in found
    assert "cookie.expires = 0" in found


def test_a_sentence_that_counts_what_the_paragraphs_after_it_tell_brings_them_along() -> None:
    first = "When an integer overflows, Rust does one of two things."
    told = f"{first}\n\nIn debug mode it panics.\n\nIn release mode it wraps.\n\n- {FILLER}\n"
    text = answer("What happens when an integer overflows?", reading(told, {"two things": 0.9}))
    assert text.splitlines()[::2] == [
        "When an integer overflows, Rust does one of two things. [1]",
        "In debug mode it panics. [1]",
        "In release mode it wraps. [1]",
    ]


def test_a_sentence_that_leans_on_the_one_before_comes_with_it() -> None:
    rule = "Reflected inertia grows with the square of the ratio. A 100:1 drive therefore feels much heavier."
    text = answer("Why does it feel heavier?", reading(f"{FILLER} {rule}", {"therefore feels": 0.9}))
    assert text == f"{rule} [1]"


BACKDOOR = """The backdoor shows a running process.

Start it on a socket:

```
spawn(backdoor_server, listen(3000))
```

It is reached by telnet.
"""


def test_what_stands_around_a_short_answer_in_its_section_comes_with_it() -> None:
    found = answer("how can I look into my server", reading(BACKDOOR, {"telnet": 0.9}))
    assert found.splitlines()[0] == "The backdoor shows a running process. [1]"
    assert "backdoor_server" in found


def test_what_stands_around_stays_out_when_it_is_long_or_belongs_to_another_section() -> None:
    text = f"{FILLER}\n\nIt is reached by telnet.\n\n## Stopping\n\nClose the socket.\n"
    assert answer("how can I look into my server", reading(text, {"telnet": 0.9})) == "It is reached by telnet. [1]"


def test_a_definition_and_a_selected_text_are_not_filled() -> None:
    asked = "What is the backdoor?"
    assert answer(asked, reading(BACKDOOR, {"shows": 0.9})) == "The backdoor shows a running process. [1]"
    found = answer("how is it reached", reading(BACKDOOR, {"telnet": 0.9}, url=SELECTION_URL))
    assert found == "It is reached by telnet. [1]"


BOX = read_markdown(
    "It throws an error.\n\n:::note\n\nOnly a build looks for links.\n\n:::\n", "docusaurus", print
).text


def test_a_box_of_which_a_part_is_quoted_already_does_not_add_its_title() -> None:
    found = answer("is it an error", reading(BOX.text, {"throws": 0.9, "Only a build": 0.85}, blocks=tuple(BOX.blocks)))
    assert found.splitlines() == ["It throws an error. [1]", "", "Only a build looks for links. [1]"]


def test_a_box_that_fits_comes_whole() -> None:
    found = answer("is it an error", reading(BOX.text, {"throws": 0.9}, blocks=tuple(BOX.blocks)))
    assert "Note" in found
    assert "Only a build looks" in found


def test_in_a_long_description_a_list_is_a_list_and_code_has_its_lead_in() -> None:
    described = "\n\n".join(
        [
            "`connect(dsn)`\n:   Opens a session.",
            "    Give a string:",
            '    ```\n    connect("dbname=test")\n    ```',
            f"    {FILLER} {FILLER}",
            "    The parameters are:",
            "    - `user`, who.\n    - `host`, where.\n    - `port`, which.",
        ]
    )
    page = read_markdown(described, "mkdocs", print).text
    shown = reading(page.text, {"dbname": 0.97, "`user`": 0.8}, blocks=tuple(page.blocks))
    text = answer("How do I give all the parameters?", shown)
    assert text.splitlines() == [
        "**connect(dsn)**: Opens a session. [1]",
        "",
        "Give a string: [1]",
        "",
        "```",
        'connect("dbname=test")',
        "```",
        "",
        "The parameters are: [1]",
        "",
        "- `user`, who. [1]",
        "- `host`, where. [1]",
        "- `port`, which. [1]",
    ]
