import pytest

from citewell.reader import Inquiry, parts_of, sides_of
from citewell.retrieval import standing_alone
from citewell.retrieval.spelling import Vocabulary
from citewell.values import Message


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a node?", ["What is a node?"]),
        ("What does x do and what is its default?", ["What does x do?", "what is its default?"]),
        ("What is a node? How do I start one?", ["What is a node?", "How do I start one?"]),
        ("What is the difference between data and content?", ["What is the difference between data and content?"]),
    ],
)
def test_a_question_is_taken_apart_where_another_begins(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between Rc and Arc?", ["What is Rc?", "What is Arc?"]),
        ("difference between a Box, an Rc and a RefCell", ["What is Box?", "What is Rc?", "What is RefCell?"]),
        ("How do tumbling and hopping windows differ?", ["What is tumbling?", "What is hopping windows?"]),
        ("How do red flags differ from green ones?", ["What is red flags?", "What is green flags?"]),
        ("cast vs. ask", ["What is cast?", "What is ask?"]),
        ("Compare topics with services.", ["What is topics?", "What is services?"]),
        ("What is a difference engine?", []),
        ("How long does the battery last, and what is its capacity?", []),
    ],
)
def test_a_comparison_has_its_sides(question: str, sides: list[str]) -> None:
    assert sides_of(question) == sides


def test_forms_of_questions() -> None:
    assert Inquiry("Which joint types does URDF have?").several
    assert not Inquiry("What is the default timeout?").several
    assert not Inquiry("What should I use in place of TYPE_FILE when listening?").several
    assert Inquiry("What does each of the four parameters mean?").several
    assert Inquiry("Which do the two solvers need?").several
    assert Inquiry("explain this").about_text
    assert not Inquiry("explain the battery").about_text


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        ("What is URDF?", "Which joint types does it have?", "Which joint types does URDF have?"),
        ("What is AMCL?", "how do I tune it?", "how do I tune AMCL?"),
        ("What is a bag?", "What are its options?", "What are a bag's options?"),
        ("What does LookupError mean?", "And KeyError?", "What does KeyError mean?"),
        ("What is a baseline?", "And the entries that are fixed?", "the entries that are fixed (a baseline)?"),
        ("What is a node?", "What does a topic of the graph carry?", "What does a topic of the graph carry?"),
    ],
)
def test_a_follow_up_is_made_to_stand_alone(before: str, question: str, alone: str) -> None:
    assert standing_alone(question, [Message("user", before)])[0] == alone


def test_a_question_that_may_lean_is_also_asked_with_the_subject() -> None:
    forms = standing_alone("How can I tell which version was used?", [Message("user", "How do I turn on HTTP/2?")])
    assert forms == ("How can I tell which version was used?", "How can I tell which version was used (HTTP/2)?")


BOOK = ["Set a proxy for all requests. The proxy is used.", "Requests go over HTTP/2 with max_connections and ROS 1."]


@pytest.mark.parametrize(
    ("question", "spelt"),
    [
        ("how do i set a prxoy for all reqests", "how do i set a proxy for all requests"),
        ("What is the capital of France?", "What is the capital of France?"),
        ("does HTTP2 work", "does HTTP/2 work"),
        ("what is maxconnections", "what is max_connections"),
        ("about ROS1", "about ROS 1"),
        ("what is max_connections", "what is max_connections"),
    ],
)
def test_words_are_put_right_from_the_books_own(question: str, spelt: str) -> None:
    assert Vocabulary.of(BOOK * 2).corrected(question) == spelt


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What does --dry do?", ("--dry",)),
        ("What is the default of sudo.prompt?", ("sudo.prompt",)),
        ("How does `khal at` differ from max_size?", ("khal at", "max_size")),
        ("How do I use AsyncClient()?", ("AsyncClient",)),
        ("What is a well-known place?", ()),
    ],
)
def test_options_functions_and_settings_that_a_question_names(question: str, names: tuple[str, ...]) -> None:
    assert Inquiry(question).names == names
