"""What a word is.

One analyzer for keywords, for the index and for queries, in Korean and English. Everything here accepts
any `str`, needs no set-up, may be called from several threads, and takes time in proportion to the text.
"""

from gieok.text.analyzer import ANALYZER_VERSION, terms, words
from gieok.text.korean import Morpheme, morphemes
from gieok.text.measure import count_tokens, language
from gieok.text.normal import normalize
from gieok.text.sentence import sentences

__all__ = [
    "ANALYZER_VERSION",
    "Morpheme",
    "count_tokens",
    "language",
    "morphemes",
    "normalize",
    "sentences",
    "terms",
    "words",
]
