"""What a word is.

One analyzer for keywords, for the index and for queries, in Korean and English. Everything here accepts
any `str`, needs no set-up, may be called from several threads, and takes time in proportion to the text.
"""

from gieok.text.analyzer import ANALYZER_VERSION, terms, words
from gieok.text.calendar import Period
from gieok.text.korean import Morpheme, morphemes
from gieok.text.measure import count_tokens, language
from gieok.text.normal import normalize
from gieok.text.pairs import pairs
from gieok.text.periods import When, when
from gieok.text.romanized import names_in_hangul, spelled_otherwise
from gieok.text.sentence import asks, sentences
from gieok.text.spelling import joined, one_slip_away, one_space_away

__all__ = [
    "ANALYZER_VERSION",
    "Morpheme",
    "Period",
    "When",
    "asks",
    "count_tokens",
    "joined",
    "language",
    "morphemes",
    "names_in_hangul",
    "normalize",
    "one_slip_away",
    "one_space_away",
    "pairs",
    "sentences",
    "spelled_otherwise",
    "terms",
    "when",
    "words",
]
