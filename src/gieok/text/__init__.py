"""Text analysis for Korean and English.

One analyzer decides what a term is, for keywords, for the index and for queries. All functions accept any
`str`, need no set-up, are thread-safe, and take time proportional to the length of the text.
"""

from gieok.text.analyzer import ANALYZER_VERSION, terms, words
from gieok.text.korean.morphemes import Morpheme, morphemes
from gieok.text.korean.romanization import hangul_names, other_script_terms
from gieok.text.measure import count_tokens, language
from gieok.text.normalization import normalize
from gieok.text.sentence import is_question, sentences
from gieok.text.spelling import joined_terms, one_edit_away, split_words, syllable_pairs
from gieok.text.time.calendar import Period
from gieok.text.time.mentions import TimeMentions, time_mentions

__all__ = [
    "ANALYZER_VERSION",
    "Morpheme",
    "Period",
    "TimeMentions",
    "count_tokens",
    "hangul_names",
    "is_question",
    "joined_terms",
    "language",
    "morphemes",
    "normalize",
    "one_edit_away",
    "other_script_terms",
    "sentences",
    "split_words",
    "syllable_pairs",
    "terms",
    "time_mentions",
    "words",
]
