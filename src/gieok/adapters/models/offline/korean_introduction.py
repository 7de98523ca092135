"""How Koreans introduce themselves: name, age, birthday, home town, major, tastes.

These are read from the text itself, because the dictionary takes names and ages for all sorts of words.
"""

from __future__ import annotations

import re

from gieok.adapters.models.offline.found import Found
from gieok.memory.canon.records import Category

_SAYS = "(?:해|해요|합니다|불러 ?줘|불러 ?주세요)"
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
        ("name", rf"^(?:안녕[가-힣]*[,.!]? ?)?{_MY} 이름은 (?P<x>[가-힣a-z]{{1,12}}?){_IS}"),
        ("name", rf"^(?:{_I}|날|나를|저를|그냥) (?P<x>[가-힣a-z]{{2,8}}?)이?라고 {_SAYS}[.!]?$"),
        (
            "age",
            rf"^(?:{_I}|{_MY} 나이는|올해|이제)(?: (?:올해|이제|벌써|지금|한국 나이로|만))* "
            rf"(?P<x>{_YEARS}) ?[살세]?(?:{_IS}|이? ?됐어|되었어)",
        ),
        ("birthday", rf"{_MY} 생일은 (?P<x>(?:음력 )?\d{{1,2}}월 ?\d{{1,2}}일){_IS}"),
        ("hometown", rf"^(?:{_MY} |우리 )?고향은 (?P<x>[가-힣 ]{{1,20}}?){_IS}"),
        ("mbti", rf"(?:^|\s)(?:{_MY}|{_I}) (?:mbti는 )?(?P<x>[ei][ns][ft][jp])"),
        ("major", rf"^{_MY} 전공은 (?P<x>[가-힣a-z ]{{2,20}}?){_IS}"),
        ("major", rf"^{_I} (?P<x>[가-힣a-z]{{2,20}}?)[을를]? 전공(?:이야|이에요|입니다|해|했어|하고 있어)"),
    )
)
_FAVOURITE = re.compile(
    rf"(?:제일|가장) 좋아하는 (?P<kind>[가-힣]{{1,8}}?)[은는] (?P<x>[가-힣A-Za-z0-9 ]{{1,20}}?){_IS}"
)
_ALLERGY = re.compile(rf"^{_I} (?P<x>[가-힣]{{1,10}}) ?알레르기[가도]? ?있(?:어|거든|습니다)")


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
    return found
