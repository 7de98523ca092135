"""Between the user and the persona, from Korean: what they have become, and what they agreed on.

These are concluded as often by the one who answers as by the user, so both sides are read.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gieok.adapters.models.offline.analysis import Utterance
from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_clause import clauses_of
from gieok.adapters.models.offline.korean_relations import promises
from gieok.memory.observations import Category

_VERY = "(?:정말 |진짜 |너무 |좀 |많이 )*"
_LOVERS = re.compile(r"우리(?:는|도)? (?:이제 |오늘부터 )?연인|(?:연인|여자친구|남자친구)[이가] 되어 줄게")
_FIRST_DAY = re.compile(r"오늘부터 (?:우리 )?(?:1일|일일)")
# 나랑 사귀자 is said to the one who hears it, 지훈이랑 사귀자 is not.
_TO_YOU = r"^(?!.*(?<![나너])(?:랑|하고|[와과]) )(?:.*[\s,])?"
_DATING = re.compile(r"우리(?:는|도)? (?:이제 |오늘부터 )?사귀는")
_OFFERED = re.compile(rf"{_TO_YOU}사귀자(?:$|[.!~ ])")
_OFFERED_AGAIN = re.compile(rf"{_TO_YOU}다시 사귀자(?:$|[.!~ ])")
_REFUSED = re.compile(r"미안|안 ?[돼될]|싫어|못 ?(?:해|하겠|사귀)|거절|생각해 ?볼|시간이 필요")
_FRIENDS = re.compile(
    r"(?:우리(?:는|도)?|우린) (?:이제 |오늘부터 |진짜 )*(?:친구|단짝|베프)(?:야|다|네|지|이야|예요)|친구 하자"
)
_HURT = re.compile(rf"(?:너한테|네가|너에게|너 때문에) {_VERY}(?:서운|실망|섭섭|화났|화가 났|상처)")
_CALMED = re.compile(r"(?:화|마음) ?(?:다 )?풀렸|화 ?풀게")
_COMFORTED = re.compile(r"이제 안 (?:서운|섭섭)|서운한 거 (?:다 )?풀렸")
_FORGIVEN = re.compile(r"용서할게|용서했")
_MADE_UP = re.compile(r"화해하자|우리 화해(?:한 거|했)")
_ON_TERMS = re.compile(r"다시 잘 지내자")
_PARTED = re.compile(
    r"우리 (?:이제 |그냥 )?(?:그만 ?(?:만나자|하자)|헤어지자)(?:$|[.!])"
    r"|우리(?:는)? (?:이제 )?(?:끝이야|헤어진 거)"
)
_SWORN = re.compile(r"약속(?:할게|해|한다|이야|하자|!|\.|$)|맹세|기로 하자|걸로 하자")
# In the mouth of the one who answers, "you" is the user.
_YOUR = re.compile(r"(?:^|(?<=\s))(?:네|너의|니|상대의) ")
_STANDS = (
    (_PARTED, "서로 헤어짐"),
    (_HURT, "사용자가 서운해함"),
    # Each in words that were said: a value that no one said does not stand.
    (_CALMED, "화가 풀려 화해함"),
    (_COMFORTED, "서운한 마음이 풀려 화해함"),
    (_FORGIVEN, "용서하고 화해함"),
    (_MADE_UP, "서로 화해함"),
    (_ON_TERMS, "다시 잘 지내기로 함"),
    (_OFFERED_AGAIN, "다시 사귀는 중"),
    (_OFFERED, "서로 사귀는 중"),
    (_DATING, "서로 사귀는 중"),
    (_FIRST_DAY, "오늘부터 1일"),
    (_LOVERS, "연인 사이가 됨"),
    (_FRIENDS, "친구 사이가 됨"),
)


def between_us(utterance: Utterance, answer: str = "") -> list[Found]:
    """How the two stand by now, if a sentence says so. A question settles nothing, nor a refused offer."""
    refused = (_OFFERED, _OFFERED_AGAIN) if _REFUSED.search(answer) else ()
    stands = [(pattern, value) for pattern, value in _STANDS if pattern not in refused]
    found: list[Found] = []
    for sentence in utterance.sentences:
        if sentence.asks:
            continue
        value = next((value for pattern, value in stands if pattern.search(sentence.text)), "")
        found += [Found(Category.RELATIONSHIP, "us", value, extra=1)] if value else []
    return found


def agreed(utterance: Utterance) -> list[Found]:
    """What the one who answers promises or settles: …ㄹ게 with 약속, …기로 하자."""
    if not _SWORN.search(utterance.text):
        return []
    told = (sentence for sentence in utterance.informative if not sentence.asks)
    return [
        replace(fact, value=_YOUR.sub("사용자의 ", fact.value))
        for sentence in told
        for clause in clauses_of(sentence)
        for fact in promises(clause, sworn=True)
    ]
