"""How Koreans introduce themselves: name, age, birthday, home town, major, tastes.

These are read from the text itself, because the dictionary takes names and ages for all sorts of words.
"""

from __future__ import annotations

import re

from gieok.adapters.models.offline.found import Found
from gieok.adapters.models.offline.korean_words import ANIMALS
from gieok.memory.observations import Category
from gieok.text.hangul import with_particle

_SAYS = "(?:해|해요|합니다|불러(?: ?줘| ?주세요)?)"
_IS = rf"(?:이야|야|이에요|예요|에요|입니다|이?라고 {_SAYS}|이?고|인데)(?=[\s.,!]|$)"
_I = "(?:나는?|저는?|난|전)"
_MY = "(?:내|제|나의|저의)"
_UNIT = "(?:한|하나|두|둘|세|셋|네|넷|다섯|여섯|일곱|여덟|아홉)"
_TENS = "(?:스물|서른|마흔|쉰|예순)"
# Without 살, only numbers that cannot be anything else in this place.
_YEARS = rf"(?:\d{{1,2}}|(?:열|스무|{_TENS})?{_UNIT}?)(?= ?[살세])|{_TENS}{_UNIT}?"
_INTRODUCTIONS = tuple(
    (key, re.compile(pattern, re.IGNORECASE))
    for key, pattern in (
        ("name", rf"^(?:안녕[가-힣]*[,.!]? ?)?{_MY} 이름은? (?P<x>[가-힣a-z]{{1,12}}?){_IS}"),
        (
            "name",
            rf"^(?:{_I}|날|나를|저를|그냥|앞으로는?|편하게) "
            rf"(?P<x>[가-힣a-z]{{1,8}}?)이?라고 {_SAYS}[.!]?$",
        ),
        (
            "age",
            rf"^(?:{_I}|{_MY} 나이는|올해|이제)(?: (?:올해|이제|벌써|지금|한국 나이로|만))* "
            rf"(?P<x>{_YEARS}) ?[살세]?(?:{_IS}|이? ?됐어|되었어)",
        ),
        ("birthday", rf"{_MY} 생일은? (?P<x>(?:음력 )?\d{{1,2}}월 ?\d{{1,2}}일){_IS}"),
        ("hometown", rf"^(?:{_MY} |우리 )?고향은 (?P<x>[가-힣 ]{{1,20}}?){_IS}"),
        ("birthyear", rf"^(?:{_I} )?(?P<x>(?:19|20)?\d\d년생){_IS}"),
        ("mbti", rf"(?:^|\s)(?:{_MY}|{_I}) (?:mbti는 )?(?P<x>[ei][ns][ft][jp]|[인엔잇엣][티프][제피])"),
        ("school", rf"^(?:{_I} )?(?P<x>(?:[가-힣]{{1,8}} )?[1-6]학년){_IS}"),
        (
            "siblings",
            rf"^{_I} (?P<x>(?:[가-힣]*남매 (?:중 )?)?(?:막내|외동|외동딸|외동아들|맏이|장남|장녀)){_IS}",
        ),
        ("handedness", rf"^{_I} (?P<x>(?:왼손|오른손|양손)잡이){_IS}"),
        ("major", rf"^{_MY} 전공은 (?P<x>[가-힣a-z ]{{2,20}}?){_IS}"),
        ("major", rf"^{_I} (?P<x>[가-힣a-z]{{2,20}}?)[을를]? 전공(?:이야|이에요|입니다|해|했어|하고 있어)"),
    )
)
_FAVOURITE = re.compile(
    rf"(?:제일 좋아하는|가장 좋아하는|최애) "
    rf"(?P<kind>[가-힣]{{1,8}}?)[은는] (?P<x>[가-힣A-Za-z0-9 ]{{1,20}}?){_IS}"
)
_ALLERGY = re.compile(
    rf"^(?:{_I} )?(?P<x>[가-힣]{{1,10}}?)(?:[을를]? 먹으면 (?:두드러기|발진|탈)[가이]? ?나(?:요|$|거든|서)"
    r"| ?알레르기[가도]? ?있(?:어|거든|습니다))"
)
_PET_NAME = re.compile(
    rf"(?:^|\s)(?P<kind>{'|'.join(sorted(ANIMALS, key=len, reverse=True))}) "
    rf"이름은? (?P<x>[가-힣a-z]{{1,8}}?){_IS}"
)
_STATUS = re.compile(
    rf"^{_I} (?:이제 |다시 |아직 )?(?P<x>돌싱|솔로|싱글|모솔|모쏠|유부남|유부녀|기혼|미혼){_IS}"
)
_PASTIME = re.compile(rf"^(?:{_MY} |{_I} |요즘 )?취미[는가]? (?P<x>[가-힣a-z ]{{2,15}}?){_IS}", re.IGNORECASE)
_VERY = "(?:(?:딱|진짜|완전|너무|정말|개) ?)*"
_AVERSION = re.compile(
    rf"^(?:{_I} )?(?P<x>[가-힣a-z ]{{1,15}}?)[은는이가]? {_VERY}"
    r"(?:극혐|질색)(?:이야|이에요|임)?[.!~ㅋㅠㅜ ]*$"
)


def introduced(text: str) -> list[Found]:
    """What the sentence says of its speaker."""
    found: list[Found] = []
    for key, pattern in _INTRODUCTIONS:
        match = pattern.search(text)
        if match and match[1].strip():
            gap = "" if match[1].isdigit() else " "
            value = f"{match[1]}{gap}살" if key == "age" else match[1]
            found.append(Found(Category.PERSONAL_INFO, key, value))
    if match := _FAVOURITE.search(text):
        found.append(Found(Category.PREFERENCE, f"favorite:{match['kind']}", match["x"]))
    if match := _ALLERGY.search(text):
        found.append(Found(Category.PERSONAL_INFO, f"allergy:{match['x']}", f"{match['x']} 알레르기가 있음"))
    return [*found, *_leaning(text)]


def _leaning(text: str) -> list[Found]:
    """What a noun alone says at the end: 취미는 뜨개질이에요, 고수 극혐, 나 돌싱이야."""
    found: list[Found] = []
    if match := _PET_NAME.search(text):
        kind, name = match["kind"], match["x"]
        found.append(Found(Category.PERSONAL_INFO, f"pet:{kind}", f"{kind} 이름은 {name}"))
    if match := _STATUS.search(text):
        found.append(Found(Category.RELATIONSHIP, "partner", match["x"]))
    if match := _PASTIME.search(text):
        found.append(Found(Category.HABIT, match["x"], f"취미는 {match['x']}"))
    if match := _AVERSION.search(text):
        thing = match["x"]
        found.append(Found(Category.PREFERENCE, f"likes:{thing}", f"{with_particle(thing, '을/를')} 질색함"))
    return found
