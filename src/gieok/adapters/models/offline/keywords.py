"""Keywords: the words by which a turn will be searched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gieok.adapters.models.offline.emotion import shows_emotion
from gieok.adapters.models.offline.english_speech import (
    ADVERBS,
    BASE_FORMS,
    FUNCTION_WORDS,
    is_irregular_past,
    is_past,
)
from gieok.adapters.models.offline.korean_speech import ADJECTIVE_ROOTS
from gieok.adapters.models.offline.reading import Sentence, Utterance, listed
from gieok.text import Morpheme
from gieok.text.english.stemming import is_stop_word

MAX_KEYWORD_CHARS = 40
_SHARED = 0.5

_PARTS = frozenset({"NNG", "NNP", "SL", "SH", "SN", "XSN", "XPN", "XR"})
# 세 잔씩, 친구들: these are no part of the word.
_LOOSE_SUFFIXES = frozenset({"씩", "들", "쯤", "째"})
_KOREAN_STOP = listed("""
    것 거 수 때 데 중 번 말 점 쪽 등 안 뒤 앞 위 전 후 일 정도 생각 지금 요즘 진짜 정말 사실 오늘 내일
    어제 모레 그때 이번 다음 지난 사람 이야기 얘기 느낌 경우 자체 조금 기분 마음 주 달 년 날 시간 이유
    무엇 언제 어디 누구 뭐 안녕 응 네 예 누가 하나 다음주 다음달 이번주 지난주 지난달 작년 올해 내년
    다음날 아침 점심 저녁 밤 새벽 오전 오후 매일 주말 평일 평소 최근 나중 처음 마지막 개 명 마리 하루
    종일 끝 잔 추천 부탁 감사 죄송 미안 인사
""")
_EMPTY_STEMS = listed("""
    하 되 있 없 가 오 보 같 그렇 이렇 저렇 어떻 알 모르 좋 싫 주 받 나 들 싶 않 말 아니 이 두 놓 많 크
    작 맞 고맙 그러 이러 어쩌 기억나 도와주 알려주 괜찮
""")
_CORE = frozenset({"JKS", "JKO", "JX", "JKC", "VCP"})

_WORD = re.compile(r"[^\W_][\w'’+#-]*")
_NOT_PLURAL = ("ss", "us", "is", "as", "os", "ics", "news")
_IE_PLURALS = listed("movies cookies selfies calories brownies hoodies zombies ties pies lies")
_ENGLISH_EMPTY = listed("""
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


def keywords(utterance: Utterance, answer: str, limit: int) -> tuple[str, ...]:
    """At most `limit` content words of what the user said, best first, each once regardless of case.

    A word that `answer`, the reply, uses too is the topic and ranks higher.
    """
    found = _korean(utterance) if utterance.language == "ko" else _english(utterance)
    shared = answer.casefold()
    ranked: dict[str, tuple[str, float]] = {}
    for word, weight in found:
        key = word.casefold()
        if 0 < len(word) <= MAX_KEYWORD_CHARS:
            bonus = _SHARED if len(word) > 1 and key in shared else 0.0
            spelling, total = ranked.get(key) or (word, bonus)
            ranked[key] = (spelling, total + weight)
    best = sorted(ranked.values(), key=lambda pair: -pair[1])
    return tuple(word for word, _ in best[: max(limit, 0)])


def _korean(utterance: Utterance) -> Iterator[tuple[str, float]]:
    """Words with their weights, in their order."""
    spare: list[tuple[str, float]] = []
    nouns = 0
    for sentence in utterance.informative:
        for word in _nouns(sentence):
            nouns += 1
            yield word
        spare.extend(_stems(sentence))
    yield from (word for word in spare if not nouns or word[1] >= 0.5)


def _nouns(sentence: Sentence) -> Iterator[tuple[str, float]]:
    found = sentence.morphemes
    index = 0
    while index < len(found):
        end = _run(found, index)
        if end == index:
            index += 1
            continue
        # IT 스타트업 is one thing: a foreign word takes the noun after it along.
        is_foreign = end - index == 1 and found[index].tag == "SL" and end < len(found)
        if is_foreign and found[end].tag in ("NNG", "NNP") and found[end].start == found[index].end + 1:
            end = _run(found, end)
        if weight := _noun_weight(found, index, end):
            yield sentence.text[found[index].start : found[end - 1].end], weight
        index = end


def _run(found: tuple[Morpheme, ...], start: int) -> int:
    """The end of the nouns that are written together from `start` on."""
    end = start
    while end < len(found) and found[end].tag in _PARTS and found[end].form not in _LOOSE_SUFFIXES:
        if end > start and found[end].start > found[end - 1].end:
            break
        end += 1
    return end


def _noun_weight(found: tuple[Morpheme, ...], start: int, end: int) -> float:
    tags = {m.tag for m in found[start:end]}
    after = found[end].tag if end < len(found) else ""
    form = "".join(m.form for m in found[start:end])
    if form in _KOREAN_STOP or tags <= {"SN"} or tags <= {"XSN", "XPN", "XR"}:
        return 0.0
    if after == "XSA" or (after == "XSV" and form in ADJECTIVE_ROOTS) or (after == "NNBC" and "SN" in tags):
        return 0.0
    weight = 1.0 + (0.3 if tags & {"NNP", "SL"} else 0.0) + 0.05 * min(len(form), 4)
    return weight + (0.4 if after in _CORE else 0.0)


def _stems(sentence: Sentence) -> Iterator[tuple[str, float]]:
    found = sentence.morphemes
    for index, morpheme in enumerate(found):
        stem = morpheme.form
        if morpheme.tag in ("VV", "VA") and stem not in _EMPTY_STEMS:
            yield f"{stem}다", 0.6 if shows_emotion(stem) else 0.3
        elif morpheme.tag in ("XSV", "XSA") and index:
            # 피곤하다, 우울하다: an emotion whose noun is no keyword by itself.
            root = found[index - 1].form
            if shows_emotion(root) and (morpheme.tag == "XSA" or root in ADJECTIVE_ROOTS):
                yield f"{root}{stem}다", 0.6


def _english(utterance: Utterance) -> Iterator[tuple[str, float]]:
    """Words with their weights, in their order."""
    spare: list[str] = []
    has_word = False
    for sentence in utterance.informative:
        words = _WORD.findall(sentence.text)
        is_shouted = sentence.text.isupper()
        index = 0
        while index < len(words):
            end = index if is_shouted else _name_end(words, index)
            if end > index:
                yield " ".join(words[index:end]), 1.5
                index, has_word = end, True
                continue
            word = _singular(words[index])
            if word in BASE_FORMS or is_irregular_past(word):
                spare.append(word)
            elif _is_content(word):
                is_weak = is_past(word) or word.endswith(("ing", "ly", "ful", "ous"))
                yield word, 0.7 if is_weak else 1.0 + 0.05 * min(len(word), 8)
                has_word = True
            index += 1
    if not has_word:
        yield from ((word, 0.4) for word in spare if _is_content(word))


def _name_end(words: list[str], start: int) -> int:
    """The end of a name (New York) or an acronym (IT) that begins at `start`; `start` if there is none."""
    end = start
    while end < len(words) and _is_capital(words[end], first=end == 0):
        end += 1
    is_empty = end == start + 1 and words[start].lower() in _ENGLISH_EMPTY
    return start if is_empty else end


def _is_capital(word: str, *, first: bool) -> bool:
    if len(word) > 1 and word.isupper() and word.isalpha():
        return True
    lowered = word.lower().replace("’", "'")
    if first or not word[0].isupper() or len(word) < 2:
        return False
    return not is_stop_word(lowered) and lowered not in FUNCTION_WORDS


def _singular(word: str) -> str:
    """Lower case, without a possessive, singular if the plural is regular."""
    lowered = word.lower().replace("’", "'").removesuffix("'s").strip("'-")
    if len(lowered) > 4 and lowered.endswith("ies") and lowered not in _IE_PLURALS:
        return f"{lowered[:-3]}y"
    is_plural = len(lowered) > 3 and lowered.endswith("s") and not lowered.endswith(_NOT_PLURAL)
    return lowered[:-1] if is_plural else lowered


def _is_content(word: str) -> bool:
    is_short = len(word) < 2 or word.isdigit()
    return not (is_short or is_stop_word(word) or word in _ENGLISH_EMPTY or word in ADVERBS)
