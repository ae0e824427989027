"""Contradictions between passages: found on what was asked, silent when passages complement each other."""

import pytest

from citewell.grounding import contradictions

CONFLICTS = [
    ("How fast can the robot drive?", "The robot can drive at 1.5 m/s.", "The robot can drive at a speed of 2.5 m/s."),
    ("What is the payload of the arm?", "The payload of the arm is 5 kg.", "The arm has a payload of 10 kg."),
    (
        "When was the project released?",
        "The project was released in 2019.",
        "The project was first released in May 2021.",
    ),
    ("How many joints does the arm have?", "The arm has six joints.", "The arm has 7 joints."),
    ("Does the planner avoid obstacles?", "The planner avoids obstacles.", "The planner does not avoid obstacles."),
    (
        "Is the gripper included?",
        "The gripper is included in the delivery.",
        "The gripper is not included in the delivery.",
    ),
    ("Is the laser scanner required?", "The laser scanner is required.", "The laser scanner is optional."),
    ("Who wrote the driver?", "The driver was written by Anna Berg.", "The driver was written by Tom Hale."),
    (
        "How often is the costmap updated by default?",
        "The costmap is updated at 5 Hz.",
        "The costmap is updated at 10 Hz.",
    ),
    # what happens once has one date, whatever else the sentences name
    (
        "When did Maria Oller die?",
        "Maria Oller died in Lisbon in 1972.",
        "Maria Oller died on 15 January 1971 at the Ribera clinic.",
    ),
    # amounts that are not rounded
    (
        "How long is the test track?",
        "The length of the test track is 1,333 m.",
        "The test track has a length of 1,342 m.",
    ),
]
AGREEMENTS = [
    # what may happen again elsewhere
    (
        "When was the simulator released?",
        "The simulator was released in Japan in 2019.",
        "The simulator was released in Norway in 2020.",
    ),
    # rounded
    (
        "How long is the test track?",
        "The length of the test track is 1,333 m.",
        "The test track has a length of 1,340 m.",
    ),
    # a duration or a year where neither was asked for
    (
        "When is the maintenance held?",
        "The maintenance is held on Mondays and lasts 45 minutes.",
        "The maintenance is held twice and lasts 90 minutes.",
    ),
    (
        "How many drivers joined the project in 2019?",
        "The project was joined by 11 drivers in 2019.",
        "Drivers of the project were listed in 2020.",
    ),
    ("How fast can the robot drive?", "The robot can drive at 1.5 m/s.", "The robot can drive at 1500 mm per second."),
    ("What is the payload of the arm?", "The payload of the arm is 5 kg.", "The arm carries 5000 g."),
    ("How many joints does the arm have?", "The arm has six joints.", "The arm has 6 joints and 2 grippers."),
    # other models, versions, years, parameters
    ("What is the payload of the arm?", "The UR5 arm has a payload of 5 kg.", "The UR10 arm has a payload of 10 kg."),
    (
        "What is the timeout by default?",
        "In Humble the timeout is 5 s by default.",
        "In Jazzy the timeout is 10 s by default.",
    ),
    ("How many users are there?", "In 2019 there were 500 users.", "In 2023 there were 900 users."),
    ("What is the range of the sensors?", "The lidar has a range of 30 m.", "The lidar weighs 2 kg."),
    ("How do I start the robot?", "Start the robot with 2 commands.", "Start the robot after 10 seconds."),
    # other subjects, other matters
    ("Does the planner avoid obstacles?", "The planner does not avoid obstacles.", "The controller avoids obstacles."),
    ("Who wrote the driver?", "The driver was written by Anna Berg.", "The manual was written by Tom Hale."),
    ("Who wrote the driver?", "Anna Berg also wrote the driver.", "The driver was written by Tom Hale and others."),
    ("Is the gripper included?", "The gripper is included.", "Batteries are not included."),
    ("What does the costmap do?", "The costmap represents obstacles.", "The costmap is updated at 5 Hz."),
]


@pytest.mark.parametrize(("question", "one", "other"), CONFLICTS)
def test_a_contradiction_on_the_question_is_found(question: str, one: str, other: str) -> None:
    found = contradictions(question, ["Welcome to the manual.", f"{one} See below.", other])
    assert found is not None
    assert (found.first, found.second) == (1, 2)
    assert (found.first_sentence, found.second_sentence) == (one, other)
    assert found.reason


@pytest.mark.parametrize(("question", "one", "other"), AGREEMENTS)
def test_passages_that_complement_each_other_do_not_conflict(question: str, one: str, other: str) -> None:
    assert contradictions(question, [one, other]) is None


def test_a_contradiction_on_something_else_is_not_reported() -> None:
    passages = ["The arm has six joints. The arm is red.", "The arm has seven joints. The arm is heavy."]
    assert contradictions("How heavy is the arm?", passages) is None


@pytest.mark.parametrize("question", ["", "?", "the of and"])
def test_a_question_without_words_has_no_conflict(question: str) -> None:
    assert contradictions(question, ["The arm has six joints.", "The arm has seven joints."]) is None


def test_a_question_that_denies_is_not_answered_by_yes_and_no() -> None:
    one = (
        "Isaac Sim needs an NVIDIA RTX graphics card.\n\nIsaac Lab is an open-source framework on top of Isaac Sim, "
        "with thousands of environments running in parallel on one GPU.\n\n| Tool | Strength |\n| --- | --- |\n"
        "| Gazebo | Runs on any laptop |"
    )
    other = "Everything in them runs on a laptop, and only the Isaac Sim sections need an NVIDIA RTX graphics card."
    assert contradictions("Can I run Isaac Sim on a laptop without GPU?", [one, other]) is None
