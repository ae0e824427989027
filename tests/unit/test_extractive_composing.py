"""The answers of the built-in model: whole pieces, word for word, in readable Markdown."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.extractive import Numbered, compose, read, topic, unfinished
from citewell.extractive.forms import breaks_off

NODES = Numbered(
    1,
    "A node is a named participant in the graph that does one job. It talks to other nodes through topics. "
    "Good nodes are small.",
    "Nodes",
    score=0.8,
)
STEPS = Numbered(
    2,
    "1. Create the workspace.\n\n```bash\nmkdir -p ws/src\n```\n\n"
    "2. Install the dependencies.\n\n```bash\nrosdep install\n```",
    "Workspaces",
    ("How to build a workspace",),
    score=0.7,
)
MORE_STEPS = Numbered(
    5,
    "3. Build the workspace.\n\n```bash\ncolcon build\n```\n\nBuilding takes a while.",
    "Workspaces",
    ("How to build a workspace",),
    score=0.6,
)
WEATHER = Numbered(3, "The weather was mild. Apples grew well in the south.", "Weather", score=0.2)


def answer(question: str, *passages: Numbered) -> str:
    return compose(read(question, passages))


def test_a_definition_comes_first_and_goes_on_in_its_paragraph() -> None:
    assert answer("What is a node?", WEATHER, NODES) == (
        "A node is a named participant in the graph that does one job. [1] It talks to other nodes through topics. [1] "
        "Good nodes are small. [1]"
    )


def test_how_to_gives_the_steps_with_their_code() -> None:
    assert answer("How do I create a workspace?", STEPS, NODES) == (
        "1. Create the workspace. [2]\n\n   ```bash\n   mkdir -p ws/src\n   ```\n\n"
        "2. Install the dependencies. [2]\n\n   ```bash\n   rosdep install\n   ```"
    )


def test_steps_go_on_in_the_passage_that_continues_them() -> None:
    text = answer("How do I build a workspace?", MORE_STEPS, NODES, STEPS)
    assert [text.index(step) for step in ("1. Create", "2. Install", "3. Build")] == sorted(
        text.index(step) for step in ("1. Create", "2. Install", "3. Build")
    )
    assert "colcon build" in text
    assert "Building takes a while" not in text


def test_steps_that_break_off_name_the_passage_to_look_beside() -> None:
    assert unfinished(read("How do I build a workspace?", [STEPS, NODES])) == (2,)
    assert unfinished(read("How do I build a workspace?", [MORE_STEPS, NODES])) == (5,)
    assert unfinished(read("How do I build a workspace?", [STEPS, MORE_STEPS])) == ()
    assert unfinished(read("What is a node?", [STEPS])) == ()


def test_a_table_answers_with_header_and_row() -> None:
    table = Numbered(
        4,
        "URDF has six joint types.\n\n| Joint type | Motion |\n| --- | --- |\n| `fixed` | Does not move |\n"
        "| `floating` | Moves freely |",
        "Joints",
        score=0.7,
    )
    assert answer("How does a `floating` joint move?", table, NODES) == (
        "| Joint type | Motion |\n| --- | --- |\n| `floating` | Moves freely [4] |"
    )


def test_each_side_of_a_comparison_is_quoted() -> None:
    grasp = Numbered(
        1,
        "Grasping is an old art. Form closure holds by geometry alone. Many hands have five fingers. "
        "Force closure holds with friction.",
        score=0.7,
    )
    assert answer("What is the difference between form closure and force closure?", grasp, WEATHER) == (
        "Form closure holds by geometry alone. [1] Force closure holds with friction. [1]"
    )


def test_a_sentence_that_leans_on_another_brings_it_along() -> None:
    text = Numbered(1, "The lidar stands on the mast. It measures the distance to the wall in metres. Rain is rare.")
    reading = read("What measures the distance to the wall?", [text])
    assert compose(reading).startswith("The lidar stands on the mast. [1] It measures the distance")


def test_a_formula_follows_the_sentence_that_waits_for_it() -> None:
    text = Numbered(
        1, "The deviation of one sample is\n\n$$\n\\sigma = 1\n$$\n\nOther things are different.", score=0.7
    )
    assert "$$\n\\sigma = 1\n$$ [1]" in answer("What is the deviation of one sample?", text, WEATHER)


def test_a_list_is_announced() -> None:
    text = Numbered(
        1, "The four states are:\n\n- Unconfigured\n- Inactive\n- Active\n- Finalized\n\nSnow fell.", score=0.7
    )
    assert answer("Which states are there?", text, WEATHER) == (
        "The four states are: [1]\n\n- Unconfigured [1]\n- Inactive [1]\n- Active [1]\n- Finalized [1]"
    )


def test_a_selection_is_answered_with_at_most_two_sentences() -> None:
    text = "Warsaw lies on the Vistula. The city has 1.7 million people. Trade is old there. The river is long."
    said = compose(read("How many people live in the city?", [Numbered(1, text)]))
    assert "1.7 million" in said
    assert said.count("[1]") <= 2


def test_one_sentence_is_one_sentence() -> None:
    text = "The fleet left Messina. It reached Cyprus in May. The king was there."
    assert compose(read("When did it reach Cyprus?", [Numbered(1, text)]), limit=1) == "It reached Cyprus in May. [1]"


def test_nothing_is_said_when_there_is_nothing() -> None:
    assert compose(read("What is a node?", [])) == ""
    assert compose(read("???", [NODES])) == ""


@dataclass(frozen=True, slots=True)
class Disagreeing:
    first: int = 0
    first_sentence: str = "The buffer holds 10 seconds."
    second: int = 1
    second_sentence: str = "The buffer holds\n30 seconds."


def test_sources_that_disagree_are_both_quoted() -> None:
    assert compose(read("How long?", [NODES, MORE_STEPS]), Disagreeing()) == (
        "The sources disagree.\n\n- The buffer holds 10 seconds. [1]\n- The buffer holds 30 seconds. [5]"
    )


def test_the_same_input_gives_the_same_answer() -> None:
    assert len({answer("How do I build a workspace?", STEPS, NODES, MORE_STEPS) for _ in range(5)}) == 1


_pieces = st.sampled_from(
    [
        "A node runs well. ",
        "It stops the robot. ",
        "The robot moves 3 m.\n\n",
        "1. Start the node.\n",
        "2. Stop the robot.\n\n",
        "```sh\nros2 run node\n```\n\n",
        "- a robot item\n",
        "\n| robot | node |\n| --- | --- |\n| 1 | 2 |\n\n",
        "## The node\n\n",
        "Émile 🤖 robot. ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    question=st.sampled_from(
        ["How do I start the node?", "What is a robot?", "Which node stops?", "Why does it move?"]
    ),
    texts=st.lists(st.lists(_pieces, max_size=9).map("".join), min_size=1, max_size=4),
)
def test_every_line_is_taken_word_for_word_from_the_passage_it_cites(question: str, texts: list[str]) -> None:
    said = compose(read(question, [Numbered(i, text, score=0.5) for i, text in enumerate(texts, start=1)]))
    flat = {str(i): " ".join(text.split()) for i, text in enumerate(texts, start=1)}
    assert said.count("```") % 2 == 0
    for quoted, number in re.findall(r"(?:^|\]|\n)[ |]*([^\n\[\]]+?) \[(\d+)\]", said):
        words = re.sub(r"^(?:\d+\.|-) ", "", quoted.strip())
        assert words in flat[number]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is the capital of France?", "the capital of France"),
        ("Who painted the Mona Lisa?", "who painted the Mona Lisa"),
        ("How do I bake bread?", "how to bake bread"),
        ("How does photosynthesis work?", "how photosynthesis works"),
        ("What does cost_scaling_factor do?", "cost_scaling_factor"),
        ("Where is the Eiffel Tower?", "where the Eiffel Tower is"),
        ("Explain sensor fusion", "sensor fusion"),
        ("Why is the sky blue?", "“Why is the sky blue”"),
        ("  ??  ", "this question"),
        ("机器人是什么？", "机器人是什么"),
    ],
)
def test_the_topic_can_stand_after_information_about(question: str, about: str) -> None:
    assert topic(question) == about


@given(st.text(max_size=2000))
def test_a_topic_is_short_and_never_empty(question: str) -> None:
    assert 0 < len(topic(question)) <= 130


def test_steps_that_go_on_in_a_passage_that_overlaps_by_a_step_are_whole() -> None:
    head, path = "Maps", ("How to make a map",)
    first = Numbered(2, "1. Install the mapper.\n\n2. Save the map to a file.", head, path, 0.5, 3.0)
    second = Numbered(
        1, "2. Save the map to a file.\n\n```bash\nsave map\n```\n\n3. Check the map.", head, path, 0.6, 4.0
    )
    answer = compose(read("How do I make a map and save the map to a file?", [first, second]))
    assert answer.count("Save the map to a file.") == 1
    assert answer.index("Install the mapper.") < answer.index("Save the map") < answer.index("Check the map.")
    assert "save map" in answer


def test_a_comparison_in_a_table_is_quoted_with_all_its_rows() -> None:
    table = Numbered(
        1,
        "| Question | Topic | Service |\n| --- | --- | --- |\n| Who waits? | nobody | the client |\n"
        "| How many receivers? | any number | one server |",
        "Topics and services",
    )
    said = compose(read("How does a topic differ from a service?", [table, WEATHER]))
    assert "nobody" in said
    assert "any number" in said


def test_code_that_a_sentence_points_to_comes_with_it() -> None:
    text = Numbered(
        1, "The node below publishes a counter twice a second.\n\n```python\nnode.publish(count)\n```", "Nodes"
    )
    said = compose(read("Which node publishes a counter?", [text, WEATHER]))
    assert "node.publish(count)" in said


CODE_BEGINS = Numbered(
    1,
    "A node in Python is a class.\n\n```python\nclass Counter(Node):\n    pass\n\n\ndef main():\n```",
    "Nodes",
    ("A node in Python",),
)
CODE_GOES_ON = Numbered(2, "```python\n    rclpy.spin(Counter())\n```", "Nodes", ("A node in Python",))


def test_code_that_breaks_off_goes_on_with_what_the_next_passage_begins_with() -> None:
    said = compose(read("How do I create a node in Python?", [CODE_BEGINS, CODE_GOES_ON, WEATHER]))
    assert "def main():\n    rclpy.spin(Counter())\n```" in said


def test_a_passage_whose_code_breaks_off_wants_its_neighbours() -> None:
    question = "How do I create a node in Python?"
    assert unfinished(read(question, [CODE_BEGINS, WEATHER])) == (1,)
    assert unfinished(read(question, [CODE_BEGINS, CODE_GOES_ON, WEATHER])) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def main():", True),
        ("call(a,", True),
        ("x = {\n  'a': 1", True),
        ("if (a) { // then", True),
        ("run()", False),
        ("ros2 run a b", False),
        ("", False),
    ],
)
def test_code_breaks_off_where_something_is_left_open(body: str, expected: bool) -> None:
    assert breaks_off(f"```python\n{body}\n```") is expected
