"""Korean reported speech: 내일 면접이 있어 becomes 내일 면접이 있다고 함.

The end of a Korean sentence says whether it states, asks, orders or intends. The rules here take that end off
and put the reported one on the same stem.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from gieok.adapters.models.offline.analysis import Sentence
from gieok.adapters.models.offline.korean_person import Told, retell
from gieok.adapters.models.offline.korean_predicate import QUESTION_WORDS, Parsed, Predicate, parse
from gieok.adapters.models.offline.lexicon import listed
from gieok.text.hangul import final_consonant, particle, with_final, without_final

# A clause that ends so is not a statement yet: 돈이 많으면 …
_UNFINISHED = listed("""
    면 으면 다면 ㄴ다면 는다면 라면 려면 으려면 도록 거나 든지 게 러 으러 면서 으면서 자마자 아야 어야
    다가 ㄹ수록 을수록 느라
""")
_PROMISES = listed("ㄹ게 을게 ㄹ께 을께 ㄹ래 을래")
_INTENTIONS = listed("려고 으려고 려구 으려구")
_ORDERS = listed("어라 아라 으라 라 거라")
_FAVOURS = listed("어 아 ㅓ 라 어라 ㄹ래 을래 세 지")
_BEFORE_GIVING = re.compile(r"[가-힣]*?(?=[주줘줄])")
_SAID_OF_WHAT = listed("어 아 야 ㅕ ㅑ 지 니")


def report(sentence: Sentence) -> Told | None:
    """The sentence as someone else tells it, without its subject: 내일 면접이 있다고 함.

    None when its end is not a form that these rules know; say what it was about instead.
    """
    parsed = parse(sentence)
    if parsed is None:
        return None
    predicate = parsed.predicate
    if predicate is None:
        calls = parsed.found[-1].form == "야" and len(parsed.found) > 1
        told = retell(sentence, parsed.found[-2 if calls else -1].end, parsed.first)
        return _finish(told, f"{particle(told.words, '이라고/라고')} 함", glued=True) if told.words else None
    if predicate.ending in _UNFINISHED:
        return None
    return _say(parsed, predicate, retell(sentence, predicate.start, parsed.first))


def _say(parsed: Parsed, predicate: Predicate, told: Told) -> Told:
    if _is_favour(parsed, predicate):
        return _favour(told, predicate)
    if predicate.tag == "VX" and predicate.stem == "말" and not predicate.tensed:
        return _finish(told, "말라고 함")
    if _asks(parsed, predicate):
        return _ask(told, predicate)
    if _is_plan(parsed, predicate):
        return _plan(told, parsed)
    return _finish(told, f"{_that(predicate, told)} 함", glued=predicate.glued)


def _finish(told: Told, end: str, *, glued: bool = False) -> Told:
    """`told` with its end. A quotation mark that lost its other half goes."""
    words = told.words if told.words.count('"') % 2 == 0 else told.words.replace('"', "")
    return replace(told, words=f"{words}{'' if glued else ' '}{end}".strip())


def _is_favour(parsed: Parsed, predicate: Predicate) -> bool:
    """해 줘, 해 줄래, 해 주세요, 해 줄 수 있어: all of them ask for a favour."""
    if predicate.tensed:
        return False
    if predicate.stem == "있":
        return [m.form for m in parsed.found[-5:-2]] == ["주", "ㄹ", "수"]
    gives = predicate.stem == "주" and predicate.tag == "VX"
    return (gives or predicate.stem in ("도와주", "알려주")) and predicate.ending in _FAVOURS


def _favour(told: Told, predicate: Predicate) -> Told:
    if predicate.stem == "있":
        kept = told.words.removesuffix("수").rstrip().removesuffix("줄").rstrip()
        return _finish(replace(told, words=kept), "달라고 함")
    front = _BEFORE_GIVING.match(predicate.surface)
    return _finish(told, f"{front[0] if front else ''} 달라고 함".strip())


def _asks(parsed: Parsed, predicate: Predicate) -> bool:
    if parsed.sentence.asks or predicate.ending.endswith(("까", "냐")):
        return True
    near = any(m.form in QUESTION_WORDS for m in parsed.found[-4:])
    return near and not predicate.tensed and predicate.ending in _SAID_OF_WHAT


def _ask(told: Told, predicate: Predicate) -> Told:
    if predicate.tag == "VCP" and not predicate.tensed and told.words.endswith(("뭐", "거")):
        return replace(told, words=f"{with_final(told.words, 'ㄴ')}지 물음")
    return _finish(told, f"{_whether(predicate)} 물음", glued=predicate.glued)


def _is_plan(parsed: Parsed, predicate: Predicate) -> bool:
    """갈 거야: the speaker's own plan, when it is a deed and nobody else is named as the one who does it."""
    found = parsed.found
    if predicate.tag != "VCP" or predicate.tensed or len(found) < 5:
        return False
    verb, mark, noun = found[-5], found[-4], found[-3]
    if noun.form not in ("거", "것", "꺼") or mark.form not in ("ㄹ", "을") or verb.tag not in ("VV", "XSV"):
        return False
    others = any(mark.tag == "JKS" and before.tag != "NP" for before, mark in pairwise(found[:-5]))
    return not others and verb.form not in ("있", "되")


def _plan(told: Told, parsed: Parsed) -> Told:
    words = told.words[: -len(parsed.found[-3].form)].rstrip()
    return _finish(replace(told, words=words), "예정이라고 함")


def _that(predicate: Predicate, told: Told) -> str:
    """…다고, …(이)라고, …더라고: what was stated."""
    if predicate.ending.startswith("더라"):
        return f"{_past(predicate) if predicate.tensed else predicate.stem}더라고"
    if predicate.tensed:
        return f"{_past(predicate)}다고"
    if predicate.tag == "VCP":
        return particle(told.words, "이라고/라고")
    if predicate.tag == "VCN":
        return f"{predicate.stem}라고"
    if predicate.adjective:
        return f"{predicate.stem}다고"
    return _does(predicate)


def _does(predicate: Predicate) -> str:
    """…ㄴ다고, …겠다고, …자고, …라고: what is done, promised, intended, proposed or ordered."""
    stem, ending = predicate.stem, predicate.ending
    closed = final_consonant(stem) not in ("", "ㄹ")
    if ending in _PROMISES:
        return f"{stem}겠다고"
    if ending in _INTENTIONS:
        return f"{predicate.surface.rstrip('요')} 한다고"
    if ending == "자":
        return f"{stem}자고"
    if ending in _ORDERS:
        return f"{stem}{'으' if closed else ''}라고"
    return f"{stem}는다고" if closed else f"{with_final(stem, 'ㄴ')}다고"


def _past(predicate: Predicate) -> str:
    """The surface up to its last tense syllable: those (았 었 겠 했 …) always close with ㅆ."""
    surface = predicate.surface
    for index in range(len(surface) - 1, -1, -1):
        if final_consonant(surface[index]) == "ㅆ":
            return surface[: index + 1]
    return predicate.stem


def _whether(predicate: Predicate) -> str:
    """…는지, …ㄴ지, …인지, …ㄹ지."""
    stem = predicate.stem
    if predicate.ending.endswith(("까", "래")):
        return f"{predicate.surface.rstrip('요')[:-1]}지"
    if predicate.tensed:
        return f"{_past(predicate)}는지"
    if predicate.tag == "VCP":
        return "인지"
    if stem.endswith(("있", "없")) or not predicate.adjective:
        return f"{without_final(stem) if final_consonant(stem) == 'ㄹ' else stem}는지"
    return f"{_adnominal(stem)}지"


def _adnominal(stem: str) -> str:
    """An adjective before a noun: 좋 → 좋은, 춥 → 추운, 어떻 → 어떤, 힘들 → 힘든."""
    final = final_consonant(stem)
    if final == "ㅂ" and not stem.endswith(("좁", "곱", "굽")):
        return f"{without_final(stem)}운"
    if final in ("", "ㄹ") or (final == "ㅎ" and not stem.endswith("좋")):
        return with_final(stem, "ㄴ")
    return f"{stem}은"
