"""Amounts in prose: digits, words, units, dates and versions in one form, so that equal amounts compare equal. Pure.

5 s is 5000 ms, GiB is not GB, "20 MB" is not 20, version 3.10 is not 3.1. Time is linear in the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

_SI: Final = {"n": 1e-9, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SI_WORDS: Final = {"nano": 1e-9, "micro": 1e-6, "milli": 1e-3, "centi": 1e-2, "kilo": 1e3, "mega": 1e6, "giga": 1e9}
_SYMBOLS: Final = {
    "s": "time", "m": "length", "g": "mass", "Hz": "frequency", "V": "voltage", "A": "current", "W": "power",
    "N": "force", "Nm": "torque", "J": "energy", "Pa": "pressure", "rad": "angle_rad", "bps": "bitrate",
}  # fmt: skip
_WORDS: Final = {
    "second": "time", "meter": "length", "metre": "length", "gram": "mass", "hertz": "frequency", "volt": "voltage",
    "amp": "current", "ampere": "current", "watt": "power", "newton": "force", "joule": "energy", "pascal": "pressure",
    "radian": "angle_rad", "byte": "bytes",
}  # fmt: skip
_OTHERS: Final = """
time 60 minute minutes min mins; time 3600 hour hours hr hrs h; time 86400 day days; time 604800 week weeks
time 2629746 month months; time 31556952 year years yr yrs; time 1 sec secs; time 1e-3 msec
length 0.0254 inch inches; length 0.3048 foot feet ft; length 1609.344 mile miles mi; mass 453.59237 pound pounds lb lbs
share 1 % percent pct percentage; angle 1 ° degree degrees deg; temperature 1 °C celsius; temperature_f 1 °F fahrenheit
speed 1 m/s mps; speed 0.2777777777777778 km/h kph; angular_speed 1 rad/s; frequency 0.016666666666666666 rpm RPM
frequency 1 fps FPS; energy 3600 Wh; energy 3.6e6 kWh; charge 1 Ah; charge 1e-3 mAh; dollar 1 dollar dollars usd USD
euro 1 euro euros EUR; bytes 0.125 bit bits; bytes 125 kbit; bytes 125000 Mbit; bytes 125000000 Gbit
"""


def _units() -> dict[str, tuple[str, float]]:
    table: dict[str, tuple[str, float]] = {}
    for names, prefixes, endings in ((_SYMBOLS, _SI, ("",)), (_WORDS, _SI_WORDS, ("", "s"))):
        for name, dimension in names.items():
            for prefix, factor in {"": 1.0, **prefixes}.items():
                table |= {prefix + name + ending: (dimension, factor) for ending in endings}
    for power, prefix in enumerate("kmgt", start=1):
        for written in (f"{prefix}b", f"{prefix.upper()}B", f"{prefix}B"):
            table[written] = ("bytes", 1000.0**power)
        table[f"{prefix.upper()}iB"] = table[f"{prefix.upper()}i"] = ("bytes", 1024.0**power)
    for line in _OTHERS.replace("\n", ";").split(";"):
        if words := line.split():
            table |= {name: (words[0], float(words[1])) for name in words[2:]}
    return table


_UNITS: Final = _units()
_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SHORT_SCALES: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9}
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL: Final = {w: float(i) for i, w in enumerate(_ONES.split())} | {
    w: 10.0 * i for i, w in enumerate(_TENS.split(), 2)
}
_MONTH_NAMES = "january february march april may june july august september october november december".split()
_MONTHS: Final = {n[:size].title(): float(i) for i, n in enumerate(_MONTH_NAMES, 1) for size in (3, 4, len(n))}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"\b(?:(?P<m1>{_MONTH})\.?\s(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s(?P<y1>\d{{4}}))?"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m2>{_MONTH})\b\.?(?:,?\s(?P<y2>\d{{4}}))?"
    rf"|(?P<m3>{_MONTH})\.?,?\s(?:of\s)?(?P<y3>\d{{4}})"
    r"|(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})|(?P<m5>\d{1,2})/(?P<d5>\d{1,2})/(?P<y5>\d{4}))\b"
)
_VERSION: Final = re.compile(
    r"(?<![\w.])[vV]?\d+(?:\.\d+){2,}(?:[-.]?(?:rc|beta|alpha|dev)\d*)?\b|(?<![\w.])v\d+(?:\.\d+)?\b"
)
_NUMERAL: Final = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)(?P<sign>(?<![\w)\]])[-−])?(?P<currency>[$€])?"
    r"(?P<whole>\d{1,3}(?:(?:,\d{3})++|(?:_\d{3})++)(?!\d)|\d++)(?P<rest>(?:\.\d+)?+)"
    r"(?P<tail>(?:st|nd|rd|th)\b|[xX×]\b)?"
    r"(?:(?P<gap>[ \u00a0-]?)(?P<unit>%|°[CF]?|[A-Za-zµμ]+(?:/[A-Za-z]+)?))?"
)
_NUMBER_WORD = "|".join(sorted([*_SMALL, *_SCALES, "dozen"], key=len, reverse=True))
_SPELLED: Final = re.compile(
    rf"\b(?:{_NUMBER_WORD})(?:[-\s](?:and\s)?(?:{_NUMBER_WORD}))*+\b(?:[-\s](?P<unit>[a-z]{{3,}}))?", re.IGNORECASE
)
_NAMED: Final = re.compile(r"(?:\b(?:version|release|v)|\b[A-Z][\w+#]*(?:\.js)?) ?$", re.ASCII)
_RANGE: Final = re.compile(r"\s?(?:-|–|—|to|and|or)\s?")
_HEDGE: Final = re.compile(
    r"\b(?:about|around|approx\w*|roughly|nearly|almost|some|circa|close to|over)\b|~|≈", re.IGNORECASE
)
_LEAST_TELLING: Final = 13.0
"""A whole number below this, without a unit, may count a list: it says too little to be wrong."""
_ROUNDED: Final = 0.05
_MOST_COMBINED: Final = 48


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount in a text. `value` is in the base unit of `dimension`; without a known unit it is `raw`."""

    value: float
    raw: float
    dimension: str
    start: int
    end: int
    text: str
    named: bool = False
    """The number of a version: it is compared as it is written."""

    @property
    def telling(self) -> bool:
        return bool(self.dimension) or self.named or self.raw >= _LEAST_TELLING or self.raw != int(self.raw)


_FORMULA: Final = re.compile(r"\\(?:text|mathrm|rm)\{([^{}]{0,20})\}|\\[ ,;:!]")


def quantities(text: str) -> list[Quantity]:
    """The amounts of a text in order; identifiers such as `nav2` are none."""
    text = _FORMULA.sub(r"\1", text)  # 0.5\ \text{s} is half a second
    found = [*_dates(text), *_versions(text)]
    taken = {place for q in found for place in range(q.start, q.end)}
    found += [q for q in _numerals(text) if q.start not in taken]
    found += _spelled(text)
    found.sort(key=lambda q: q.start)
    return _with_units_of_ranges(text, found)


def _dates(text: str) -> Iterator[Quantity]:
    for match in _DATE.finditer(text):
        for dimension, key in (("month", "m"), ("day", "d"), ("", "y")):
            part = next((p for i in "12345" if (p := match.groupdict().get(key + i))), None)
            if part is not None:
                number = _MONTHS[part] if part[0].isalpha() else float(part)
                yield Quantity(number, number, dimension, match.start(), match.end(), part)


def _versions(text: str) -> Iterator[Quantity]:
    for match in _VERSION.finditer(text):
        yield Quantity(0.0, 0.0, "version", match.start(), match.end(), match.group().lstrip("vV"), named=True)


def _numerals(text: str) -> Iterator[Quantity]:
    for m in _NUMERAL.finditer(text):
        written = m["whole"].replace(",", "").replace("_", "") + m["rest"]
        raw = -float(written) if m["sign"] else float(written)
        unit, gap = m["unit"] or "", m["gap"] or ""
        dimension, factor, end = {"$": "dollar", "€": "euro"}.get(m["currency"] or "", ""), 1.0, m.end("rest")
        if m["tail"]:
            end = m.end("tail")
            dimension = "times" if m["tail"] in "xX×" else dimension
        elif unit and (known := _known(unit, gap)):
            dimension, factor, end = *known, m.end()
        elif unit and not gap:
            if unit not in _SHORT_SCALES:
                continue  # "3D": a name, no amount
            raw, end = raw * _SHORT_SCALES[unit], m.end()
        elif unit.lower() in _SCALES:
            raw, end = raw * _SCALES[unit.lower()], m.end()
        named = bool(m["rest"]) and not dimension and _NAMED.search(text, max(0, m.start() - 24), m.start()) is not None
        yield Quantity(raw * factor, raw, dimension, m.start(), end, written, named)


def _known(unit: str, gap: str) -> tuple[str, float] | None:
    if gap and unit in ("A", "m", "h", "s", "N", "V", "W", "g", "J", "ms"):
        return _UNITS[unit] if unit in ("m", "h", "s", "V", "W", "g", "ms") else None  # "5 A" may be an answer
    return _UNITS.get(unit) or _UNITS.get(unit.lower())


def _spelled(text: str) -> Iterator[Quantity]:
    for m in _SPELLED.finditer(text):
        words = [
            w for w in re.split(r"[-\s]+", m.group()[: m.start("unit") - m.start() if m["unit"] else None].lower()) if w
        ]
        if words[0] in _SCALES and text[max(0, m.start() - 2) : m.start()].strip()[-1:].isdigit():
            continue  # "5 million" was read as a numeral
        total = part = 0.0
        for word in words:
            if word in _SMALL:
                part += _SMALL[word]
            elif word == "dozen":
                part = max(part, 1.0) * 12
            elif word in _SCALES:
                part = max(part, 1.0) * _SCALES[word]
                if word != "hundred":
                    total, part = total + part, 0.0
        raw = total + part
        dimension, factor = _UNITS.get((m["unit"] or "").lower(), ("", 1.0))
        end = m.end() if dimension else m.start("unit") - 1 if m["unit"] else m.end()
        yield Quantity(raw * factor, raw, dimension, m.start(), end, f"{raw:g}")


def _with_units_of_ranges(text: str, found: list[Quantity]) -> list[Quantity]:
    """In "5 to 10 m" the unit belongs to both numbers."""
    for i in range(len(found) - 2, -1, -1):
        first, second = found[i], found[i + 1]
        if first.dimension or not second.dimension or second.dimension in ("version", "month", "day"):
            continue
        if 0 <= second.start - first.end <= 5 and _RANGE.fullmatch(text, first.end, second.start):
            factor = second.value / second.raw if second.raw else 1.0
            found[i] = replace(first, value=first.raw * factor, dimension=second.dimension)
    return found


class Amounts:
    """The amounts of the evidence, to look others up in."""

    def __init__(self) -> None:
        self._values: dict[str, set[str]] = {}
        self._written: set[str] = set()
        self._majors: set[str] = set()
        """ "Node 18" stands for Node 18.2.1."""
        self._sorted: dict[str, list[float]] = {}

    def add(self, found: Sequence[Quantity]) -> None:
        for q in found:
            self._written.add(q.text)
            if q.named:
                self._majors.add(q.text.partition(".")[0])
            self._values.setdefault(q.dimension, set()).add(_key(q.value))
        self._sorted = {}

    def missing(self, text: str) -> Quantity | None:
        """The first telling amount of a sentence that the evidence does not have and that cannot be made of it."""
        for q in quantities(text):
            if q.telling and not self._has(q) and not self._near(q, text) and not self._made(q):
                return q
        return None

    def _has(self, q: Quantity) -> bool:
        if q.named:
            return q.text in self._written
        if _key(q.value) in self._values.get(q.dimension, ()) or (not q.dimension and q.text in self._majors):
            return True
        # A table's cell may leave the unit to its column; "20 MB" is no evidence for a bare 20.
        return bool(q.dimension) and _key(q.raw) in self._values.get("", ())

    def _near(self, q: Quantity, text: str) -> bool:
        """ "About 20 cm" may stand for 0.204 m."""
        if q.named or not _HEDGE.search(text, max(0, q.start - 24), q.start + 1):
            return False
        values = self._of(q.dimension)
        room = abs(q.value) * _ROUNDED
        place = bisect_left(values, q.value - room)
        return place < len(values) and values[place] <= q.value + room

    def _made(self, q: Quantity) -> bool:
        """A sum, a difference or a product of two amounts of the evidence."""
        if q.named:
            return False
        values = self._of(q.dimension)
        plain = self._of("") if q.dimension else values
        if len(values) > _MOST_COMBINED or len(plain) > _MOST_COMBINED:
            return False
        wanted = _key(q.value)
        return any(wanted in (_key(a + b), _key(abs(a - b))) for a in values for b in values) or any(
            wanted == _key(a * b) for a in values for b in plain
        )

    def _of(self, dimension: str) -> list[float]:
        if dimension not in self._sorted:
            self._sorted[dimension] = sorted(map(float, self._values.get(dimension, ())))
        return self._sorted[dimension]


def _key(value: float) -> str:
    return f"{value:.6g}"
