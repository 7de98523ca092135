"""A Korean clause as a note: 나 어제 부산으로 이사했어 becomes 부산으로 이사함."""

from __future__ import annotations

import re

from gieok.adapters.models.offline.korean_clause import Clause
from gieok.adapters.models.offline.korean_person import retell
from gieok.adapters.models.offline.korean_predicate import Predicate, parse
from gieok.adapters.models.offline.korean_verb import Mark
from gieok.adapters.models.offline.lexicon import either, listed
from gieok.text.hangul import final_consonant, with_final, without_final

# A note is read much later, so it keeps no word that is only true on the day, and none that only colours.
_PASSING = re.compile(
    r"(?:^|(?<=\s))(?:{})(?=\s|$),?".format(
        either("""
            오늘(?:은|부터)? / 어제는? / 그제 / 그저께 / 내일(?:은|부터)? / 모레 / 방금 / 아까 / 지금은?
            (?:지난|다음|이번) ?(?:주말?|달|학기)(?:에|에는|부터|은|는)? / 이번에 / 최근에 / 얼마 전에
            나중에 / 이제는? / 요즘은? / 요새는? / 드디어 / 벌써 / 결국 / 진짜 / 정말 / 너무 / 완전
            사실은? / 솔직히 / 그냥 / 막 / 좀 / 꼭 / 대신 / 근데 / 그래서 / 그리고 / 있잖아 / 아
            더 이상 / 더는 / 다시는 / 나 / 난 / 나는 / 내가 / 나도 / 저 / 저는 / 제가 / 저도 / 우리
        """)
    )
)
# Stems whose last consonant changes or goes before a vowel.
_SOFTENED = listed("듣 걷 싣 깨닫 묻")
_DROPPED = listed("낫 짓 붓 잇")


def note(clause: Clause) -> str:
    """The clause without its speaker and its day, ending in a noun; "" when its end is unknown."""
    parsed = parse(clause.sentence)
    if parsed is None or parsed.predicate is None:
        return ""
    told = retell(clause.sentence, parsed.predicate.start, parsed.first).words
    words = " ".join(_PASSING.sub(" ", told).split())
    end = _end(clause, parsed.predicate)
    planned = Mark.PLANNED in clause.marks and words.endswith((" 거", " 것", " 꺼"))
    if planned:
        return f"{words[:-2]} 예정임".strip()
    glue = "" if parsed.predicate.glued and words else " "
    return f"{words}{glue}{end}".strip()


def _end(clause: Clause, predicate: Predicate) -> str:
    if predicate.stem == "싶":
        return "싶어함"
    if Mark.PROMISED in clause.marks and predicate.tag in ("VV", "VX", "XSV"):
        return f"{predicate.stem}기로 함"
    if predicate.tag == "VCP":
        return "임"
    if predicate.ending in ("려고", "으려고"):
        return f"{predicate.surface.rstrip('요')} 함"
    return nominal(predicate.stem)


def deed(clause: Clause) -> str:
    """The verb as a noun: 취업 of 취업하다, 달리기 of 달리다."""
    made = clause.verb.endswith("하") and len(clause.verb) > 2
    return clause.verb.removesuffix("하") if made else f"{clause.verb}기"


def nominal(stem: str) -> str:
    """The noun of a verb: 헤어지 → 헤어짐, 끊 → 끊음, 살 → 삶, 낫 → 나음, 듣 → 들음."""
    if stem in _DROPPED:
        return f"{without_final(stem)}음"
    if stem in _SOFTENED:
        return f"{with_final(stem, 'ㄹ')}음"
    final = final_consonant(stem)
    if final == "":
        return with_final(stem, "ㅁ")
    return with_final(stem, "ㄻ") if final == "ㄹ" else f"{stem}음"
