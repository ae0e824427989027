"""Numbers in prose: digits, words, units, dates and versions, in one form, so that equal amounts compare equal."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from citewell.text import STOPWORDS, stem

_SI = {"n": 1e-9, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SI_WORDS = {"nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "centi": 1e-2, "kilo": 1e3, "mega": 1e6, "giga": 1e9}


def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}

    def add(dimension: str, factor: float, names: str) -> None:
        for name in names.split():
            table[name] = (dimension, factor)

    scaled = {"s": "time", "m": "length", "g": "mass", "Hz": "frequency", "V": "voltage", "A": "current", "W": "power"}
    scaled |= {"N": "force", "Nm": "torque", "J": "energy", "Pa": "pressure", "rad": "angle_rad", "bps": "bitrate"}
    for unit, dimension in scaled.items():
        table[unit] = (dimension, 1.0)
        for prefix, factor in _SI.items():
            table[prefix + unit] = (dimension, factor)
    words = {"second": "time", "meter": "length", "metre": "length", "gram": "mass", "hertz": "frequency"}
    words |= {"volt": "voltage", "amp": "current", "ampere": "current", "watt": "power", "newton": "force"}
    words |= {"joule": "energy", "pascal": "pressure", "radian": "angle_rad"}
    for word, dimension in words.items():
        for form in (word, word + "s"):
            table[form] = (dimension, 1.0)
            for prefix, factor in _SI_WORDS.items():
                table[prefix + form] = (dimension, factor)
    for power, prefix in enumerate(("", "k", "m", "g", "t")):
        byte = 1000.0**power
        add("bytes", byte, f"{prefix.upper()}B {prefix}B {prefix.upper()}iB")
    del table["B"]
    add("bytes", 1e3, "kilobyte kilobytes")
    add("bytes", 1e6, "megabyte megabytes")
    add("bytes", 1e9, "gigabyte gigabytes")
    add("bytes", 1e12, "terabyte terabytes")
    add("bytes", 1, "byte bytes")
    add("time", 60, "minute minutes min mins")
    add("time", 3600, "hour hours hr hrs h")
    add("time", 86400, "day days")
    add("time", 604800, "week weeks")
    add("time", 2629746, "month months")
    add("time", 31556952, "year years yr yrs")
    add("time", 1, "sec secs")
    add("time", 1e-3, "msec")
    add("length", 0.0254, "inch inches")
    add("length", 0.3048, "foot feet ft")
    add("length", 1609.344, "mile miles mi")
    add("length", 1000, "km")
    add("mass", 453.59237, "pound pounds lb lbs")
    add("share", 1, "% percent pct percentage")
    add("angle", 1, "° degree degrees deg")
    add("temperature", 1, "°C celsius")
    add("temperature_f", 1, "°F fahrenheit")
    add("speed", 1, "m/s mps")
    add("speed", 1 / 3.6, "km/h kph")
    add("angular_speed", 1, "rad/s")
    add("frequency", 1 / 60, "rpm RPM")
    add("frequency", 1, "fps FPS")
    add("energy", 3600, "Wh")
    add("energy", 3.6e6, "kWh")
    add("charge", 1, "Ah")
    add("charge", 1e-3, "mAh")
    add("dollar", 1, "dollar dollars usd USD")
    return table


_UNITS = _units()
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_MONTHS = {
    name[:length]: month
    for month, name in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
    for length in ({3, len(name)} | ({4} if name == "september" else set()))
}
_SMALL = {
    w: float(i)
    for i, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_SMALL |= {w: 10.0 * i for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_SMALL |= {"dozen": 12.0, "twice": 2.0}
_ORDINALS = {w: float(i) for i, w in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?:(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y1>\d{{4}}))?"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})\b\.?(?:,?\s+(?P<y2>\d{{4}}))?"
    rf"|(?P<m3>{_MONTH})\.?,?\s+(?:of\s+)?(?P<y3>\d{{4}})"
    r"|(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})|(?P<m5>\d{1,2})/(?P<d5>\d{1,2})/(?P<y5>\d{4}))\b",
    re.IGNORECASE,
)
_NUMERAL = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)(?P<sign>(?<![\w)\]])[-−])?(?P<currency>[$€£])?"
    r"(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<rest>(?:\.\d+)*)"
    r"(?P<tail>(?:st|nd|rd|th)\b|s\b(?!/)|[xX×]\b)?"
    r"(?:(?P<gap>[ \u00a0-]?)(?P<unit>%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?))?"
)
_WORD_NUMBER = "|".join(sorted([*_SMALL, *_SCALES], key=len, reverse=True))
_SPELLED = re.compile(
    rf"\b(?:a\s+(?=hundred|thousand|million|billion|dozen))?(?:{_WORD_NUMBER})(?:(?:[-\s]+(?:and\s+)?)(?:{_WORD_NUMBER}))*\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])[vV]?\d+(?:\.\d+){2,}(?:[-.]?(?:rc|beta|alpha|dev)\d*)?\b|(?<![\w.])v\d+(?:\.\d+)*\b")
_NEXT_WORD = re.compile(r"[\s-]+([^\W\d_]+)")
_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:-|–|—|to|and|or)\s*")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in a text. `value` is in the base unit of `dimension`; without a known unit it is `raw`."""

    value: float
    raw: float
    dimension: str
    noun: str
    """The stem of the word that is counted."""
    start: int
    end: int
    text: str
    weak: bool = False
    """"one" is more often a pronoun than an amount."""

    def equals(self, other: "Quantity", *, tolerance: float = 1e-6) -> bool:
        if self.dimension == "version" or other.dimension == "version":
            return self.text.lstrip("vV") == other.text.lstrip("vV")
        if self.dimension == other.dimension:
            return _near(self.value, other.value, tolerance)
        if "" in (self.dimension, other.dimension) or "calendar" in (self.dimension, other.dimension):
            # A table's cell may leave the unit to its column; a count of things is no measure.
            bare = self if not self.dimension else other
            return not bare.noun and _near(self.raw, other.raw, tolerance)
        return False

    def stated_by(self, other: "Quantity") -> bool:
        """Whether evidence that has the other amount has this one: "5 kg" is no evidence for a bare 5."""
        if not self.dimension and other.dimension not in ("", "calendar", "share"):
            return False
        return self.equals(other)


def _near(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-9)


def quantities(text: str) -> list[Quantity]:
    """The amounts of a text in order; identifiers such as `nav2` are none."""
    found: list[Quantity] = []
    taken: list[tuple[int, int]] = []
    if re.search(r"\d", text):
        for part in (_dates(text), _versions(text)):
            found.extend(part)
            taken.extend((q.start, q.end) for q in found)
        found.extend(q for q in _numerals(text) if not any(q.start < b and a < q.end for a, b in taken))
    found.extend(_spelled(text))
    found.sort(key=lambda q: q.start)
    return _with_range_units(text, found)


def _dates(text: str) -> list[Quantity]:
    found = []
    for match in _DATE.finditer(text):
        for dimension, key in (("month", "m"), ("day", "d"), ("calendar", "y")):
            part = next((p for i in "12345" if (p := match.groupdict().get(key + i))), None)
            if part is None:
                continue
            number = float(_MONTHS[part.lower()] if part[0].isalpha() else int(part))
            found.append(Quantity(number, number, dimension, "", match.start(), match.end(), part))
    return found


def _versions(text: str) -> list[Quantity]:
    return [Quantity(0.0, 0.0, "version", "", m.start(), m.end(), m.group()) for m in _VERSION.finditer(text)]


def _numerals(text: str) -> Iterator[Quantity]:
    for m in _NUMERAL.finditer(text):
        raw = float(m["whole"].replace(",", "") + (m["rest"] if m["rest"].count(".") == 1 else ""))
        if m["sign"]:
            raw = -raw
        unit, gap, tail = m["unit"] or "", m["gap"] or "", m["tail"] or ""
        dimension, factor = ("dollar", 1.0) if m["currency"] == "$" else ("", 1.0)
        end = m.end("tail") if tail else m.end("rest")
        known = _UNITS.get(unit) or _UNITS.get(unit.lower()) if unit and not tail else None
        if known and not (gap and unit in ("A", "m", "h", "in") and text[m.end() : m.end() + 1].isalpha()):
            dimension, factor = known
            end = m.end()
        elif unit and not gap and not tail:
            if unit not in ("k", "K", "M", "bn"):
                continue  # "3D", "2nd-stage": a name, not an amount
            raw *= {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9}[unit]
        if gap and unit.lower() in _SCALES:
            raw *= _SCALES[unit.lower()]
            end = m.end()
        if tail in ("x", "X", "×"):
            dimension = "times"
        noun = "" if dimension else _noun_after(text, end)
        yield Quantity(raw * factor, raw, dimension, noun, m.start(), end, text[m.start() : end])


def _spelled(text: str) -> Iterator[Quantity]:
    for m in _SPELLED.finditer(text):
        total = part = 0.0
        for word in re.findall(r"[a-z]+", m.group().lower()):
            if word in _SMALL:
                part = part + _SMALL[word] if word != "dozen" else max(part, 1.0) * 12
            elif word in _SCALES:
                if not part and not total and m.start() and text[: m.start()].rstrip()[-1:].isdigit():
                    break  # "5 million" was read as a numeral
                part = max(part, 1.0) * _SCALES[word]
                if word != "hundred":
                    total, part = total + part, 0.0
        else:
            half = _HALF.match(text, m.end())
            raw, end = (total + part + 0.5, half.end()) if half else (total + part, m.end())
            after = _NEXT_WORD.match(text, end)
            known = _UNITS.get(after.group(1).lower()) if after and len(after.group(1)) > 2 else None
            dimension, factor = known or ("", 1.0)
            noun = "" if known else _noun_after(text, end)
            weak = raw == 1.0 and not known
            yield Quantity(raw * factor, raw, dimension, noun, m.start(), end, text[m.start() : end], weak)


def _noun_after(text: str, end: int) -> str:
    match = _NEXT_WORD.match(text, end)
    if not match or match.group(1).lower() in STOPWORDS or "\n" in match.group():
        return ""
    return stem(match.group(1))


def _with_range_units(text: str, found: list[Quantity]) -> list[Quantity]:
    """In "5 to 10 m" the unit belongs to both numbers."""
    for i in range(len(found) - 2, -1, -1):
        first, second = found[i], found[i + 1]
        if first.dimension or not second.dimension or second.dimension in ("version", "month", "day", "calendar"):
            continue
        if first.end <= second.start and _RANGE.fullmatch(text, first.end, second.start):
            factor = second.value / second.raw if second.raw else 1.0
            found[i] = replace(first, value=first.raw * factor, dimension=second.dimension, noun="")
    return found


_HEDGES = re.compile(
    r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa|close to)\b|~|≈", re.IGNORECASE
)


def unmatched(claim: Sequence[Quantity], evidence: Sequence[Quantity], claim_text: str) -> list[Quantity]:
    """The amounts of a claim that the evidence does not have."""
    missing = []
    for quantity in claim:
        if quantity.weak or any(quantity.stated_by(other) for other in evidence):
            continue
        hedge = _HEDGES.search(claim_text, max(0, quantity.start - 24), quantity.start + 1)
        if hedge and any(_rounds_to(other, quantity) for other in evidence):
            continue
        missing.append(quantity)
    return missing


def _rounds_to(exact: Quantity, rounded: Quantity) -> bool:
    if exact.dimension != rounded.dimension and exact.dimension and rounded.dimension:
        return False
    a, b = (exact.value, rounded.value) if exact.dimension == rounded.dimension else (exact.raw, rounded.raw)
    return abs(a - b) <= 0.05 * abs(a)


def miscounted(claim: Sequence[Quantity], evidence: Sequence[Quantity]) -> Quantity | None:
    """An amount whose value stands in the evidence, but for something else that is counted there differently."""
    for quantity in claim:
        if not quantity.noun or quantity.weak:
            continue
        same_noun = [q for q in evidence if q.noun == quantity.noun and not q.weak]
        if same_noun and not any(q.equals(quantity) for q in same_noun):
            return quantity
    return None
