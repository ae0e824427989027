"""What a section is for, by its heading: the body of the book, or objectives, exercises, a summary and the like. Pure.

The one place that decides it by words; formats add what their containers tell. Only titles that name nothing else
are here: "History", "Resources" or "Challenges" may as well be what a book is about.
"""

import re

from citewell.document.blocks import Part

_LISTED: dict[Part, str] = {
    "objectives": "objectives; learning objectives; learning goals; learning outcomes; what you will learn; "
    "what youll learn; what we will learn; what you will be able to do; goals of this chapter",
    "exercise": "exercise; exercises; problems; practice problems; your turn; homework; try it yourself; "
    "challenge problem; challenge problems; practice questions; review questions",
    "quiz": "quiz; quizzes; knowledge check; check your knowledge; check your understanding; self check; "
    "self assessment; self test; test your knowledge; test your understanding",
    "summary": "summary; recap; conclusion; conclusions; key takeaways; takeaways; key points; key ideas; "
    "what you learned; what you learnt; what we learned; what we covered; in summary; wrapping up; wrap up",
    "navigation": "next; next up; next step; next steps; next lesson; next chapter; next module; whats next; "
    "where to go next; where to go from here; see also; related; related pages; related topics; related articles",
    "contents": "contents; table of contents; in this chapter; in this section; in this lesson; in this module; "
    "in this part; in this book; on this page; indices and tables; chapter outline; lesson outline; course outline",
    "changelog": "changelog; change log; changelogs; release notes; release history; version history; whats new",
    "references": "bibliography; further reading; works cited; footnotes; references and further reading",
}
_TITLES: dict[str, Part] = {title: part for part, titles in _LISTED.items() for title in titles.split("; ")}
_VERSION = r"v?\d+(?:\.\d+)+[\w.+-]*"
_MONTH_YEAR = r"[A-Z][a-z]{2,8}\.?(?: \d{1,2}[a-z]{0,2},?)? (?:19|20)\d\d"
_DATE = rf"(?:\d{{4}}[-/.]\d{{1,2}}|(?:\d{{1,2}} )?{_MONTH_YEAR})"
_RELEASE = re.compile(
    rf"^(?:\S+ ){{0,2}}?\W{{0,2}}{_VERSION}\W{{0,4}}(?i:released )?(?i:on )?\W{{0,2}}(?:{_DATE}|(?i:unreleased))|"
    rf"^(?:(?i:version|release) {_VERSION}|v?\d+\.\d+\.\d+[\w.+-]*)$"
)
"""A release by its number and date, or by nothing but its number. "Python 3.8" may be anything."""
_CHANGES = re.compile(
    rf"^(?:what'?s new|changes|release notes|change ?log|(?:change|release|version) history)\b.*\b{_VERSION}|"
    rf"{_VERSION} (?:release notes|change ?log)\b",
    re.IGNORECASE,
)
_OF_CHANGES = re.compile(
    rf"\b(?:change ?logs?|new|chang(?:es|ed) (?:in|since|between|from)|changed|releas\w+|versions?|since|until|"
    rf"deprecat\w+|removed|added|introduced|fixed|upgrad\w+|migrat\w+|{_VERSION})(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^(?:[\dIVX]+(?:\.\d+)*|[A-Z](?=\.\s))\s*[.:)–—-]*\s+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = re.compile(r"[^\W_]+")
_QUALIFIERS = frozenset("chapter lesson module unit section coding programming practical practice hands on".split())
_LONGEST = 80


def part_of(title: str) -> Part | None:
    """None: the heading says nothing about it, and the section is what the section around it is."""
    if len(title) > _LONGEST:
        return None
    if _RELEASE.search(title) or _CHANGES.search(title.replace("’", "'").replace("`", "")):
        return "changelog"
    said = _NUMBER.sub("", title.strip()).partition(":")[0]
    words = _WORDS.findall(re.sub("['’]", "", said).lower())
    while len(words) > 1 and words[-1].isdigit():
        words.pop()  # "Exercise 3"
    if part := _TITLES.get(" ".join(words)):
        return part
    while len(words) > 1 and words[0] in _QUALIFIERS:
        words.pop(0)
    return _TITLES.get(" ".join(words))


ASIDE: frozenset[Part] = frozenset(
    ("objectives", "exercise", "quiz", "navigation", "contents", "changelog", "references")
)
"""Parts that have the words of the book and say nothing of its subject. A summary does: it says it in short."""

_ASKED: dict[Part, re.Pattern[str]] = {
    "exercise": re.compile(r"\b(?:exercis|homework)", re.IGNORECASE),
    "objectives": re.compile(r"\b(?:objectives?|goals?)\b", re.IGNORECASE),
    "quiz": re.compile(r"\bquiz", re.IGNORECASE),
    "references": re.compile(r"\b(?:references?\b|bibliograph)", re.IGNORECASE),
    "contents": re.compile(r"\bcontents?\b", re.IGNORECASE),
    "changelog": _OF_CHANGES,
}


def asked_parts(question: str) -> frozenset[Part]:
    """Parts beside the body that a question asks for. What was once changed answers only who asks for changes."""
    return frozenset(part for part, pattern in _ASKED.items() if pattern.search(question))


_CONTAINERS: dict[str, Part] = {
    "doc toc": "contents",
    "toc": "contents",
    "landmarks": "contents",
    "doc index": "contents",
    "doc bibliography": "references",
    "doc endnotes": "references",
    "doc footnote": "references",
    "endnotes": "references",
    "footnote": "references",
    "assessment": "quiz",
    "assessments": "quiz",
    "practices": "exercise",
    "practice": "exercise",
}
_TOLD_BY_CONTAINERS = frozenset(("objectives", "exercise", "quiz", "references"))


def container_part(*names: str) -> Part | None:
    """What a container is for, by its classes and roles. A class such as "contents" or "summary" may mean anything."""
    for name in " ".join(names).split():
        words = _WORDS.findall(_CAMEL.sub(" ", name).lower())
        for said in (" ".join(words), *words[:1]):  # "QuizQuestion" is of a quiz
            part = _CONTAINERS.get(said) or _TITLES.get(said)
            if part in _TOLD_BY_CONTAINERS or said in _CONTAINERS:
                return part
    return None
