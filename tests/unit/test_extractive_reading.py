"""How a question is taken apart and passages are read for it."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.extractive import Kind, Numbered, read
from citewell.extractive.forms import dangling
from citewell.extractive.inquiry import inquire
from citewell.extractive.pieces import cut
from citewell_evaluation.answers import stands_in_place


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is ROS 2?", "definition"),
        ("Explain sensor fusion", "definition"),
        ("How do I build a workspace?", "procedure"),
        ("What are the steps to fuse odometry?", "procedure"),
        ("Why does the robot shake?", "reason"),
        ("How many particles does AMCL keep?", "count"),
        ("How long does a transform stay in the buffer?", "count"),
        ("Which command lists the nodes?", "command"),
        ("What is the difference between form closure and force closure?", "comparison"),
        ("Where does the launch file go?", "place"),
        ("Who introduced the zero moment point?", "person"),
        ("Until when is Jazzy supported?", "time"),
        ("Is ROS 2 an operating system?", "polarity"),
        ("What happens when the node stops?", "fact"),
        ("When should I use an action?", "fact"),
    ],
)
def test_the_kind_of_a_question_is_told_from_its_form(question: str, kind: Kind) -> None:
    assert inquire(question).kind == kind


def test_words_of_the_frame_are_no_terms() -> None:
    assert [t.stem for t in inquire("Please explain the costmap").terms] == ["costmap"]


def test_the_number_in_a_name_is_not_a_number_to_be_met() -> None:
    assert not [t for t in inquire("What is a ROS 2 node?").terms if t.number]


def test_sides_of_a_comparison_are_told_apart_by_what_they_do_not_share() -> None:
    assert inquire("What is the difference between form closure and force closure?").sides == (("form",), ("forc",))


def test_a_question_that_points_back_takes_words_from_the_one_before() -> None:
    plain = inquire("How long does it last?")
    leaning = inquire("How long does it last?", "What is the battery of the robot?")
    assert {"batteri", "robot"} <= {t.stem for t in leaning.terms} - {t.stem for t in plain.terms}


def test_a_question_that_stands_alone_does_not() -> None:
    assert inquire("What is URDF?", "What is the battery?") == inquire("What is URDF?")


def test_headings_and_labels_are_not_quoted_as_sentences() -> None:
    passage = Numbered(1, "## Links\n\nA link is a rigid body.\n\nPython\n\n```python\nx = 1\n```")
    assert [(p.kind, p.text.split("\n")[0]) for p in cut([passage])] == [
        ("heading", "Links"),
        ("sentence", "A link is a rigid body."),
        ("heading", "Python"),
        ("code", "```python"),
    ]


def test_a_sentence_that_two_passages_share_is_read_once() -> None:
    shared = "The filter runs at 30 Hz."
    pieces = cut([Numbered(1, f"It starts. {shared}"), Numbered(2, f"{shared} It stops.")])
    assert [p.text for p in pieces] == ["It starts.", shared, "It stops."]


def test_the_sign_of_a_note_is_left_out() -> None:
    pieces = cut([Numbered(1, ":::warning[Missing inertia]\nGazebo refuses the link.\n:::\n\nThe end comes.")])
    assert [p.text for p in pieces if p.kind == "sentence"] == ["Gazebo refuses the link.", "The end comes."]


def test_a_row_is_met_through_its_header() -> None:
    table = "| Category | Meaning |\n| --- | --- |\n| 0 | Power is cut |\n| 1 | Controlled stop |"
    best = read("What does category 1 mean?", [Numbered(1, table)]).ranked[0]
    assert best.piece.text == "| 1 | Controlled stop |"


def test_words_of_like_meaning_are_met() -> None:
    text = "The rebellion started in 1794. The weather was mild that year."
    assert read("When did the uprising begin?", [Numbered(1, text)]).ranked[0].piece.text.startswith("The rebellion")


def test_an_identifier_is_met_by_its_parts() -> None:
    text = "Widths are in metres. A larger scaling factor of the cost makes it fall faster."
    assert "scaling" in read("What does cost_scaling_factor do?", [Numbered(1, text)]).ranked[0].piece.text


def test_chinese_is_read_without_spaces() -> None:
    text = "机器人由关节连接。天气很好。"
    assert read("关节连接什么？", [Numbered(1, text)]).ranked[0].piece.text == "机器人由关节连接。"


def test_without_passages_there_is_nothing_to_answer_with() -> None:
    reading = read("What is a node?", [])
    assert reading.ranked == []
    assert reading.features.best == 0


def test_a_name_that_no_passage_has_is_noticed() -> None:
    passage = Numbered(1, "A topic is a named channel. Publishers send messages to a topic.")
    assert read("How do I publish a Kafka topic?", [passage]).features.names_absent == 1
    assert read("How do I publish a topic?", [passage]).features.names_absent == 0


def test_a_name_in_an_address_alone_does_not_make_the_passage_speak_of_it() -> None:
    passage = Numbered(1, "Get the code first.\n\n```bash\ngit clone https://github.com/example/robot.git\n```")
    assert read("How do I use GitHub?", [passage]).features.names_found == 0


@pytest.mark.parametrize(
    "text", ["This is why.", "However, it fails.", "They came later.", "For example, a wheel turns."]
)
def test_sentences_that_lean_on_others_are_known(text: str) -> None:
    assert dangling(text)


@pytest.mark.parametrize(
    "text", ["A node is a process.", "There are two kinds.", "Thisbe waits.", "Italy is a country."]
)
def test_sentences_that_stand_alone_are_known(text: str) -> None:
    assert not dangling(text)


_texts = st.text(max_size=400) | st.lists(
    st.sampled_from(
        [
            "A node runs. ",
            "| a | b |\n",
            "1. Do it.\n",
            "```sh\nls\n```\n",
            "🤖 ",
            "\n\n",
            "> quoted\n",
            "$$x$$\n",
            "::: tip\n",
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(question=st.text(max_size=80), texts=st.lists(_texts, max_size=3))
def test_every_piece_stands_where_it_says_whatever_the_text(question: str, texts: list[str]) -> None:
    reading = read(question, [Numbered(i, text) for i, text in enumerate(texts, start=1)])
    assert stands_in_place(reading)
    assert all(math.isfinite(value) for value in astuple(reading.features))
    assert all(0 <= s.score <= 1 for s in reading.scored)


@pytest.mark.parametrize("question", ["hello", "Hi there!", "thanks a lot", "ok", "Good morning."])
def test_small_talk_asks_for_nothing(question: str) -> None:
    passage = Numbered(1, "Hello and thanks: it is good in the morning, ok?")
    assert not read(question, [passage]).ranked


def test_words_of_small_talk_inside_a_question_count() -> None:
    assert [t.stem for t in inquire("hello world node").terms] == ["hello", "world", "node"]


@pytest.mark.parametrize(
    "question", ["explain this", "What does this mean?", "Summarize the selected text", "what is that?"]
)
def test_a_question_after_the_text_itself_is_answered_by_its_beginning(question: str) -> None:
    text = "Plugins are the building blocks of a site. Each handles a feature of its own. Some work together."
    best, second, *_ = (s.piece.text for s in read(question, [Numbered(1, text)]).ranked)
    assert (best, second) == ("Plugins are the building blocks of a site.", "Each handles a feature of its own.")


def test_the_better_ranked_of_two_passages_is_read_first() -> None:
    text = "The planner keeps a list of goals."
    one, other = Numbered(1, f"{text} It is short.", rank=0.4), Numbered(2, f"Here {text.lower()}", rank=1.0)
    assert read("What does the planner keep?", [one, other]).ranked[0].piece.passage == 1


def test_what_is_said_of_another_number_is_not_the_answer() -> None:
    text = "Module 1 is about ROS 2 and its tools.\n\nModule 2 is about simulation."
    assert read("What is in module 2?", [Numbered(1, text)]).ranked[0].piece.text == "Module 2 is about simulation."


def test_the_first_sentence_under_the_name_of_a_function_explains_it() -> None:
    passage = Numbered(1, "Register an extra command. The hook is called once.", heading_path=("extendCli(cli)",))
    other = Numbered(2, "The command line can be extended by plugins.", rank=0.5)
    best = read("What is extendCli for?", [passage, other]).ranked[0]
    assert best.piece.text == "Register an extra command."


def test_a_trail_of_links_and_a_repeated_title_cannot_be_quoted() -> None:
    text = "Part 2 · Unit 1 · Unit vectors?\n\nUnit vectors\n\nA unit vector has the length 1."
    assert [p.text for p in cut([Numbered(1, text, title="Unit vectors")])] == ["A unit vector has the length 1."]
