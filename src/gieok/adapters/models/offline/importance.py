"""How much a conversation matters: 1 is small talk, 10 changes a life."""

from __future__ import annotations

import re
from itertools import pairwise

from gieok.adapters.models.offline.analysis import Sentence, Utterance
from gieok.adapters.models.offline.emotion import feelings
from gieok.adapters.models.offline.lexicon import either, listed

_KOREAN_TURNING = listed("""
    결혼 이혼 약혼 임신 출산 유산 사망 장례 돌아가시 죽 암 수술 입원 이별 헤어지 해고 파산 파혼
    낳 태어나 사고 진단 재결합 고백 청혼 프러포즈
""")
_KOREAN_CHANGES = listed("""
    면접 시험 이사 취업 취직 입사 이직 퇴사 그만두 합격 불합격 승진 병원 아프 다치 사귀 화해 싸우
    유학 이민 졸업 입학 대학원 수능 창업 계약 대출 빚 꿈 목표 마감 발표 대회 남자친구 여자친구
    남친 여친 애인 입양 약속 우울증 병 퇴원 붙 떨어지
""")
_KOREAN_PLANS = listed("""
    여행 생일 기념일 공연 콘서트 데이트 소개팅 공부 운동 예정 계획 기로 싶 회사 가족 엄마 아빠 친구
""")


def _any_of(phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{either(phrases)})\b", re.IGNORECASE)


_ENGLISH_TURNING = _any_of(r"""
    married / wedding / divorc\w* / engaged / pregnant / gave birth / born / died / passed away
    funeral / cancer / surgery / hospital\w* / broke up / breakup / laid off / fired / accident
    diagnos\w* / propos\w*
""")
_ENGLISH_CHANGES = _any_of(r"""
    interview\w* / exams? / mov(?:ed|ing) / hired / new job / quit / resign\w* / promot\w* / passed
    failed / sick / ill / injur\w* / dating / boyfriend / girlfriend / made up / fight / fought
    graduat\w* / visa / deadline\w* / goal / dream / adopted / depress\w* / debt / loan
    promise\w* / doctor / accepted
""")
_ENGLISH_PLANS = _any_of(r"""
    trip / birthday / anniversary / concert / date / plan\w* / want to / going to / work / family
    mom / dad / friend\w* / study\w* / training
""")
_TURNING, _CHANGE, _PLAN = 5, 3, 1
_MOST = 10


def importance(utterance: Utterance) -> int:
    """From 1 to 10: the weightiest thing said, then how strongly it was felt and what else there was."""
    spoken = utterance.informative
    if not spoken:
        return 1
    weights = sorted((weight(sentence, utterance.language) for sentence in spoken), reverse=True)
    felt = sum(len(feelings(sentence, utterance.language)) for sentence in spoken)
    further = sum(1 for each in weights[1:] if each >= _CHANGE)
    return min(_MOST, 2 + weights[0] + min(further, 2) + min(felt, 2))


def weight(sentence: Sentence, language: str) -> int:
    """How much of a life one sentence touches; a question touches less."""
    found = _korean(sentence) if language == "ko" else _english(sentence.text)
    return found // 2 if sentence.asks else found


def _korean(sentence: Sentence) -> int:
    forms = [morpheme.form for morpheme in sentence.morphemes]
    words = {*forms, *(a + b for a, b in pairwise(forms))}
    return _heaviest(words & _KOREAN_TURNING, words & _KOREAN_CHANGES, words & _KOREAN_PLANS)


def _english(text: str) -> int:
    return _heaviest(
        _ENGLISH_TURNING.search(text), _ENGLISH_CHANGES.search(text), _ENGLISH_PLANS.search(text)
    )


def _heaviest(turning: object, change: object, plan: object) -> int:
    return _TURNING if turning else _CHANGE if change else _PLAN if plan else 0
