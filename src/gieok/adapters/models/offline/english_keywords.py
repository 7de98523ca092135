"""English keywords: content words in their plain form; names and acronyms keep their capitals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gieok.adapters.models.offline.analysis import Utterance
from gieok.adapters.models.offline.english_verbs import BASE_FORMS, is_irregular_past, is_past
from gieok.adapters.models.offline.english_words import ADVERBS, FUNCTION_WORDS
from gieok.adapters.models.offline.lexicon import listed
from gieok.text.english.stemming import is_stop_word

_WORD = re.compile(r"[^\W_][\w'’+#-]*")
_NOT_PLURAL = ("ss", "us", "is", "as", "os", "ics", "news")
_IE_PLURALS = listed("""
    movies cookies selfies calories brownies hoodies zombies ties pies lies
""")
_EMPTY = listed("""
    thing things stuff lot lots bit kind sort way day days week weeks month months year years time times
    hour hours morning evening night afternoon good great nice bad big small new old really okay ok
    hello hey hi hiya thanks thank yes yeah no nope well oh wow please sorry sure maybe gonna wanna
    gotta today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday next
    last ago soon later again much many one two three four five someone something anything everything
    nothing people person guy guys got getting going went gone make made making said says say saying
    know knew think thought want wanted need needed like liked feel feeling felt lately haha lol don't
    doesn't didn't can't couldn't won't wouldn't isn't aren't wasn't weren't i'm i've i'll i'd it's
    that's what's let's you're we're they're there's remember tell ask asked told come came take took
    give gave let put try tried bye goodbye welcome us myself first ever since around every another
    other else never always important favorite favourite best better worse worst amazing terrible
    together someday decided used able nobody hand open explain
""")


def english_candidates(utterance: Utterance) -> Iterator[tuple[str, float]]:
    """Words with their weight, in the order in which they stand."""
    spare: list[str] = []
    told = False
    for sentence in utterance.informative:
        words = _WORD.findall(sentence.text)
        shouting = sentence.text.isupper()
        index = 0
        while index < len(words):
            end = index if shouting else _name(words, index)
            if end > index:
                yield " ".join(words[index:end]), 1.5
                index, told = end, True
                continue
            word = _plain(words[index])
            if word in BASE_FORMS or is_irregular_past(word):
                spare.append(word)
            elif _tells(word):
                yield word, _weight(word)
                told = True
            index += 1
    if not told:
        yield from ((word, 0.4) for word in spare if _tells(word))


def _name(words: list[str], start: int) -> int:
    """The end of a name (New York) or an acronym (IT) that begins at `start`; `start` when there is none."""
    end = start
    while end < len(words) and _is_capital(words[end], first=end == 0):
        end += 1
    single = end == start + 1 and words[start].lower() in _EMPTY
    return start if single else end


def _is_capital(word: str, *, first: bool) -> bool:
    if len(word) > 1 and word.isupper() and word.isalpha():
        return True
    lowered = word.lower().replace("’", "'")
    if first or not word[0].isupper() or len(word) < 2:
        return False
    return not is_stop_word(lowered) and lowered not in FUNCTION_WORDS


def _plain(word: str) -> str:
    """Lower case, no possessive, singular where the plural is regular."""
    lowered = word.lower().replace("’", "'").removesuffix("'s").strip("'-")
    if len(lowered) > 4 and lowered.endswith("ies") and lowered not in _IE_PLURALS:
        return f"{lowered[:-3]}y"
    plural = len(lowered) > 3 and lowered.endswith("s") and not lowered.endswith(_NOT_PLURAL)
    return lowered[:-1] if plural else lowered


def _tells(word: str) -> bool:
    short = len(word) < 2 or word.isdigit()
    return not (short or is_stop_word(word) or word in _EMPTY or word in ADVERBS)


def _weight(word: str) -> float:
    verb = is_past(word) or word.endswith(("ing", "ly", "ful", "ous"))
    return 0.7 if verb else 1.0 + 0.05 * min(len(word), 8)
