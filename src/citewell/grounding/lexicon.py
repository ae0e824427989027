"""What the judge knows of single words: weight, likeness, broader words, opposites. Read from a shipped file, once."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from citewell.text import STOPWORDS, stem

_FILE: Final = Path(__file__).parent.parent / "assets" / "lexicon" / "lexicon.npz"

# Words that speak about the answer, not about its subject.
FRAMING: Final = frozenset(
    stem(w)
    for w in "according documentation docs passage passages mentioned mention mentions say says said described "
    "explained therefore thus however additionally furthermore moreover overall specifically essentially "
    "basically e.g i.e etc".split()
)

# Function words that the stop list leaves out.
_LIGHT: Final = frozenset(
    "per once via within during among amongst upon toward towards between across through along since whether "
    "either rather quite thus hence before after above below".split()
)

# Opposites that WordNet does not pair, or pairs in rare senses only.
_PAIRS: Final = (
    "more/less more/fewer most/least higher/lower high/low highest/lowest increase/decrease increase/reduce "
    "increase/drop raise/lower rise/fall grow/shrink before/after above/below over/under faster/slower fast/slow "
    "quickly/slowly larger/smaller large/small big/small biggest/smallest longer/shorter long/short earlier/later "
    "early/late first/last minimum/maximum min/max enable/disable enabled/disabled start/stop begin/end open/close "
    "opened/closed left/right on/off input/output up/down always/never allow/forbid allow/prevent allow/prohibit "
    "permit/prohibit with/without accept/reject add/remove attach/detach connect/disconnect lock/unlock load/unload "
    "install/uninstall install/remove add/drop attach/remove insert/remove "
    "mount/unmount success/failure succeed/fail pass/fail true/false valid/invalid safe/unsafe "
    "safe/dangerous required/optional mandatory/optional require/forbid inside/outside internal/external "
    "synchronous/asynchronous static/dynamic public/private local/remote online/offline "
    "positive/negative active/inactive clockwise/counterclockwise forward/backward forwards/backwards "
    "horizontal/vertical ascending/descending hot/cold warm/cool strong/weak heavy/light hard/soft easy/difficult "
    "easy/hard simple/complex cheap/expensive better/worse best/worst good/bad advantage/disadvantage "
    "benefit/drawback improve/worsen improve/degrade help/harm activate/inhibit activate/deactivate promote/inhibit "
    "promote/suppress induce/inhibit induce/suppress stimulate/inhibit upregulate/downregulate enhance/reduce "
    "enhance/impair enhance/inhibit gain/loss lose/gain win/lose buy/sell push/pull send/receive publish/subscribe "
    "encode/decode encrypt/decrypt read/write upload/download import/export full/empty alive/dead day/night "
    "same/different similar/different alike/different known/unknown possible/impossible likely/unlikely "
    "common/rare often/rarely frequently/rarely many/few all/none everyone/nobody both/neither sit/stand sit/run "
    "sleep/awake asleep/awake indoors/outdoors inside/outdoors indoor/outdoor man/woman men/women boy/girl boys/girls "
    "male/female young/old father/mother brother/sister king/queen husband/wife major/minor direct/indirect "
    "sensitive/resistant sensitivity/resistance susceptible/resistant protect/damage activation/inhibition "
    "presence/absence present/absent blocking/nonblocking deterministic/random wired/wireless "
    "cause/prevent harden/soften accelerate/decelerate accelerate/slow extend/retract ascend/descend "
    "north/south east/west closer/farther closer/further near/far nearer/farther older/newer "
    "old/new older/younger deprecated/recommended"
).split()

_UP: Final = frozenset(
    stem(w)
    for w in "increase raise enhance promote induce stimulate activate upregulate improve accelerate elevate boost "
    "augment facilitate higher greater more gain expand grow strengthen rise trigger enable effective "
    "beneficial accurate positive protect better faster larger longer worsen efficacy".split()
) - {stem("worsen")}
_DOWN: Final = frozenset(
    stem(w)
    for w in "decrease reduce lower inhibit suppress diminish impair attenuate block prevent downregulate decline slow "
    "limit less fewer weaken shrink lose loss lessen minimize deactivate disable ineffective harmful "
    "inaccurate negative worse worsen smaller shorter slower drop fall abolish delay restrict".split()
)
_UNDOING: Final = frozenset(("un", "in", "im", "dis", "non", "mis", "de"))


@dataclass(frozen=True, slots=True)
class Lexicon:
    rows: dict[str, int]
    weights: NDArray[np.float32]
    vectors: NDArray[np.float32]
    entail_offsets: NDArray[np.int32]
    entail_targets: NDArray[np.uint16]
    opposites: dict[str, frozenset[str]]
    parents: NDArray[np.int32]

    def row(self, stemmed: str) -> int:
        return self.rows.get(stemmed, -1)

    def weight(self, word: str, stemmed: str) -> float:
        """How much a word says: nothing for a function word, most for a rare one."""
        if word in STOPWORDS or word in _LIGHT or stemmed in FRAMING:
            return 0.0
        row = self.rows.get(stemmed, -1)
        return float(self.weights[row]) if row >= 0 else 1.0

    def entailing(self, row: int) -> NDArray[np.uint16]:
        """Rows of the words that say as much as this one."""
        return self.entail_targets[self.entail_offsets[row] : self.entail_offsets[row + 1]]

    def direction(self, stemmed: str) -> int:
        """1 for words of more and better, -1 for words of less and worse."""
        return (stemmed in _UP) - (stemmed in _DOWN)

    def opposed(self, first: str, second: str) -> bool:
        """Whether two stems exclude each other: by the lists, or as "stable" and "unstable" do."""
        if second in self.opposites.get(first, ()):
            return True
        longer, shorter = (first, second) if len(first) > len(second) else (second, first)
        return len(shorter) > 3 and longer.endswith(shorter) and longer[: -len(shorter)] in _UNDOING


@cache
def lexicon() -> Lexicon:
    with np.load(_FILE) as data:
        stems = str(data["stems"]).split(" ")
        ranks = data["ranks"].astype(np.float32)
        offsets, targets = data["opposite_offsets"], data["opposite_targets"]
        opposites: dict[str, set[str]] = {}
        for row, name in enumerate(stems):
            if offsets[row + 1] > offsets[row]:
                opposites[name] = {stems[t] for t in targets[offsets[row] : offsets[row + 1]]}
        for pair in _PAIRS:
            first, second = (stem(w) for w in pair.split("/"))
            opposites.setdefault(first, set()).add(second)
            opposites.setdefault(second, set()).add(first)
        return Lexicon(
            rows={s: i for i, s in enumerate(stems)},
            weights=(0.35 + 0.6 * np.log1p(ranks) / np.log1p(ranks.max())).astype(np.float32),
            vectors=data["vectors"].astype(np.float32) / 127,
            entail_offsets=data["entail_offsets"],
            entail_targets=data["entail_targets"],
            opposites={k: frozenset(v - {k}) for k, v in opposites.items()},
            parents=data["parents"],
        )
