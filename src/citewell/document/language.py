"""Language detection: by script, and among languages of one script by their commonest words. Pure.

Small on purpose: it tells the languages of one book apart, and says nothing where it cannot.
"""

import re
from collections import Counter
from collections.abc import Collection

_SCRIPTS: tuple[tuple[str, str, str], ...] = (
    (
        "latin",
        "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
        "en de fr es pt it nl sv da no fi pl cs ro hu tr id vi",
    ),
    ("arabic", "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufefc", "ar ur fa ps sd ug ckb"),
    ("cyrillic", "\u0400-\u04ff", "ru uk bg sr be mk kk ky mn tg"),
    ("hebrew", "\u0590-\u05ff", "he yi"),
    ("greek", "\u0370-\u03ff\u1f00-\u1fff", "el"),
    ("devanagari", "\u0900-\u097f", "hi mr ne sa"),
    ("bengali", "\u0980-\u09ff", "bn as"),
    ("gurmukhi", "\u0a00-\u0a7f", "pa"),
    ("gujarati", "\u0a80-\u0aff", "gu"),
    ("tamil", "\u0b80-\u0bff", "ta"),
    ("telugu", "\u0c00-\u0c7f", "te"),
    ("kannada", "\u0c80-\u0cff", "kn"),
    ("malayalam", "\u0d00-\u0d7f", "ml"),
    ("thai", "\u0e00-\u0e7f", "th"),
    ("georgian", "\u10a0-\u10ff", "ka"),
    ("armenian", "\u0530-\u058f", "hy"),
    ("hangul", "\uac00-\ud7af\u1100-\u11ff", "ko"),
    ("kana", "\u3040-\u30ff", "ja"),
    ("han", "\u4e00-\u9fff\u3400-\u4dbf", "zh"),
)
"""Names, ranges, and the languages written so, the commonest first."""
_IN_SCRIPT = {name: re.compile(f"[{letters}]") for name, letters, _ in _SCRIPTS}
_WRITTEN = {name: tuple(languages.split()) for name, _, languages in _SCRIPTS}
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN_SHARE = 0.3
"""Of the letters: a question in another script keeps the Latin names of things."""
_MOST = 1_500
"""Characters that are looked at."""
_NOT_FOREIGN = re.compile("[\x00-\u036f\u1e00-\u1eff\u2000-\u2fff\u3000-\u303f\ufe00-\ufe0f\uff00-\uffef]+")

_COMMON = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the and of to is that it for with this are be not you how what which when why can does do from an or if",
        "de": "der die das und ist nicht ein eine mit auf für von den dem des wie was wird kann sich auch sind im zu",
        "fr": "le la les et est des une un du que qui dans pour pas avec sur ce cette comment quel quelle sont au aux",
        "es": "el la los las y es de que un una en para con por no como cómo qué cuál se su del al más está son",
        "pt": "o os as e é de que um uma em para com por não como qual se seu do da dos das ao mais está são",
        "it": "il lo la gli le e è di che un una in per con non come quale si del della dei delle al più sono nel",
        "nl": "de het een en is van dat niet met voor op zijn wat hoe welke kan worden wordt aan bij ook naar deze",
        "sv": "och att det är en ett som på för med inte av den hur vad kan till från har eller om när vilken",
        "da": "og at det er en et som på for med ikke af den hvordan hvad kan til fra har eller om når hvilken",
        "no": "og å det er en et som på for med ikke av den hvordan hva kan til fra har eller om når hvilken",
        "fi": "ja on ei se että oli hän mutta kuin joka tai kun miten mikä voi ovat jos niin myös sekä",
        "pl": "i w na nie się z do jest że to jak co czy od po dla przez są który która oraz ale",
        "cs": "a v na se je že s z do to jak co pro od po jsou který která nebo ale jako by",
        "ro": "și în de la cu pe nu este un o ce care pentru din sunt cum mai sau prin al",
        "hu": "a az és hogy nem egy is van meg de mi hogyan melyik vagy ha ez azt lehet csak",
        "tr": "ve bir bu için ile de da ne nasıl olarak mi daha çok gibi olan var değil hangi veya",
        "id": "yang dan di dari untuk dengan ini itu tidak adalah pada ke apa bagaimana dapat atau oleh",
        "vi": "là và của có không được trong cho một các với này những như thế nào gì khi từ",
        "ru": "и в не на что с как это по для из от или но если то какой есть при является",
        "uk": "і в не на що з як це по для із від або але якщо то який є при та",
        "bg": "и в не на че с как това по за от или но ако то кой е при се да",
    }.items()
}
_LANGUAGES: dict[str, list[str]] = {}
for _language, _words in _COMMON.items():
    for _word in _words:
        _LANGUAGES.setdefault(_word, []).append(_language)
_LETTERS = {"ur": re.compile("[ٹڈڑںےہھ]"), "fa": re.compile("[پچژگ]"), "ps": re.compile("[ټډړښځ]")}
"""That only this language of its script has; looked for in this order."""


def language_of(text: str, among: Collection[str] = ()) -> str:
    """One of `among`, or of all that are known; empty when the text does not tell."""
    text = text[:_MOST]
    script = _script_of(text)
    if not script:
        return ""
    known = among or (*_COMMON, *(languages[0] for languages in _WRITTEN.values()), *_LETTERS)
    possible = [language for language in known if primary(language) in _WRITTEN[script]]
    if script == "han" and "ja" in map(primary, among) and "zh" not in map(primary, among):
        possible = [language for language in among if primary(language) == "ja"]
    if len(set(map(primary, possible))) < 2:
        return possible[0] if possible else ""
    return _by_letters(text, possible) if script == "arabic" else _by_words(text, possible)


def primary(language: str) -> str:
    """`pt-BR` is `pt`."""
    return language.replace("_", "-").partition("-")[0].lower()


def _script_of(text: str) -> str:
    foreign = "" if text.isascii() else _NOT_FOREIGN.sub("", text)
    latin = len(_IN_SCRIPT["latin"].findall(text))
    counts = {name: len(pattern.findall(foreign)) for name, pattern in _IN_SCRIPT.items()} if foreign else {}
    whole = latin + sum(counts.values())
    if counts and counts["kana"] and counts["kana"] + counts["han"] >= _FOREIGN_SHARE * whole:
        return "kana"
    best = max(counts, key=counts.__getitem__, default="")
    return best if counts and counts[best] > _FOREIGN_SHARE * whole else "latin" if latin else ""


def _by_letters(text: str, possible: list[str]) -> str:
    for language, pattern in _LETTERS.items():
        if found := [each for each in possible if primary(each) == language and pattern.search(text)]:
            return found[0]
    plain = [each for each in possible if primary(each) not in _LETTERS]
    return plain[0] if plain else possible[0]


def _by_words(text: str, possible: list[str]) -> str:
    """The language with the most of its common words, if it is ahead of the next."""
    common = Counter(
        language for word in _WORD.findall(text.lower()) if word in _LANGUAGES for language in _LANGUAGES[word]
    )
    seen = {language: common[primary(language)] for language in possible}
    (first, most), *others = sorted(seen.items(), key=lambda pair: -pair[1])
    return first if most and all(most > count for other, count in others if primary(other) != primary(first)) else ""
