"""Small talk: greetings, thanks and back-channels, which say nothing worth remembering."""

from __future__ import annotations

import re
from enum import StrEnum

from gieok.adapters.models.offline.lexicon import either


class SmallTalk(StrEnum):
    """What a message without information was there for."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    APOLOGY = "apology"
    ASSENT = "assent"


_KOREAN = {
    SmallTalk.GREETING: """
        안녕(?:하세요|하십니까|하신가요)? / 하이+ / 헬로우? / 방가+ / 반가워요? / 반갑습니다 / 여보세요
        굿모닝 / 좋은 ?아침(?:이야|이에요)? / 잘 ?잤어요? / 오랜만이?(?:야|에요|네|네요|다)?
        (?:나 ?)?왔어 / 뭐 ?해요?
    """,
    SmallTalk.FAREWELL: """
        잘 ?자요? / 굿나잇 / 안녕히 ?(?:계세요|가세요|주무세요) / 바이+ / 잘 ?가
        (?:내일|다음에|또) ?(?:봐요?|보자) / 또 ?올게 / 들어갈게
        좋은 ?(?:하루|밤|꿈)(?: ?보내(?:요|세요)?| ?꿔)?
    """,
    SmallTalk.THANKS: """
        (?:정말 |너무 |진짜 )?(?:고마워요?|고맙습니다|감사합니다|감사해요?|땡큐|ㄱㅅ)
    """,
    SmallTalk.APOLOGY: """
        (?:정말 |너무 |진짜 )?(?:미안(?:해요?|합니다)?|죄송(?:해요|합니다)?)
    """,
    SmallTalk.ASSENT: """
        응+ / 어+ / 음+ / 네+ / 넵 / 넹 / 예 / 그래요? / 그렇구나 / 그렇군요? / 그러게요? / 맞아요?
        맞습니다 / 알았어요? / 알겠어요? / 알겠습니다 / 좋아요? / 오케이 / ㅇㅇ / ㅇㅋ / 아니요?
        아니야 / 진짜 / 정말 / 헐 / 와+ / 오+ / 아+ / 아하 / ㅋ+ / ㅎ+ / ㅠ+ / ㅜ+ / ㄴㄴ / 하하+
        히히+ / 흠+ / 글쎄요? / 그치 / 그쵸 / 대박
    """,
}
_ENGLISH = {
    SmallTalk.GREETING: """
        hi+(?: there)? / hello+(?: there)? / hey+(?: there)? / hiya / yo / howdy / greetings / sup
        i'?m back / good (?:morning|afternoon|evening) / nice to meet you / long time no see
        what'?s up / how are you(?: doing)?(?: today)? / how'?s it going
    """,
    SmallTalk.FAREWELL: """
        good ?night / (?:good)?bye+ / bye bye / see (?:you|ya)(?: later| soon| tomorrow)?
        talk to you later / later / take care
        have a (?:good|nice|great) (?:day|night|one|evening|weekend) / sleep well / ttyl
    """,
    SmallTalk.THANKS: """
        (?:ok(?:ay)? )?(?:thanks?|thank you|thx|ty|cheers|much appreciated)(?: so much| a lot| very
        much| again)?
    """,
    SmallTalk.APOLOGY: """
        (?:i'?m )?(?:so |really |very )?sorry / my bad / apologies
    """,
    SmallTalk.ASSENT: """
        ok(?:ay)? / k+ / yes+ / yeah+ / yep / yup / no+ / nope / nah / sure / right / exactly / true
        i see / got it / cool / nice / great / wow / haha+ / lol / lmao / hm+ / oh+ / ah+ / really
        sounds good / of course / indeed / awesome / fine / alright / uh huh / makes sense / agreed
        me too / same
    """,
}
_EDGE = re.compile(r"^[^\w]+|[^\w]+$")
_PARTS = re.compile(r"[.!?,~…\n]+")
_MAX_CHARS = 40


def _compiled(table: dict[SmallTalk, str]) -> re.Pattern[str]:
    """One expression for all kinds; the group that matched has the kind's name."""
    kinds = "|".join(f"(?P<{kind}>{either(phrases)})" for kind, phrases in table.items())
    return re.compile(kinds, re.IGNORECASE)


_PATTERNS = {"ko": _compiled(_KOREAN), "en": _compiled(_ENGLISH)}


def small_talk_in(text: str, language: str) -> SmallTalk | None:
    """Which small talk `text` is, or None when it says more than that."""
    if len(text) > 3 * _MAX_CHARS:
        return None
    kinds: set[SmallTalk] = set()
    for part in _PARTS.split(text):
        bare = _EDGE.sub("", part)
        if not bare:
            continue
        kind = _kind(bare, language)
        if kind is None:
            return None
        kinds.add(kind)
    return next((kind for kind in SmallTalk if kind in kinds), None)


def _kind(bare: str, language: str) -> SmallTalk | None:
    if len(bare) > _MAX_CHARS:
        return None
    match = _PATTERNS[language].fullmatch(bare)
    if match and match.lastgroup:
        return SmallTalk(match.lastgroup)
    words = bare.split(" ")
    if not 1 < len(words) <= 4:
        return None
    kinds = [_kind(word, language) for word in words]
    return kinds[0] if None not in kinds else None
