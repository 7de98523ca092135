"""Which of the recalled memories a reply should speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from gieok.adapters.models.offline.emotion import Emotion, emotion_of
from gieok.adapters.models.offline.lexicon import either
from gieok.adapters.models.offline.moment import day_meant, local_day
from gieok.memory.conversation.records import ContextMemory, KnownFact, StateFact
from gieok.text import sentences, terms

# Things that one waits for, and is asked about afterwards.
_KOREAN_EVENTS = """
    면접 / 시험 / 여행 / 발표 / 수술 / 데이트 / 결혼식 / 이사 / 공연 / 콘서트 / 대회 / 경기 / 출장
    소개팅 / 미팅 / 검진 / 예약 / 생일 / 파티 / 입학식 / 졸업식 / 인터뷰 / 수능 / 토익 / 오디션 / 마감
    회의 / 상견례 / 약속 / 모임 / 캠핑 / 등산 / 축제 / 첫 ?출근
"""
_ENGLISH_EVENTS = """
    interview / exam / test / trip / presentation / surgery / appointment / date / wedding / concert
    competition / game / match / party / meeting / audition / deadline / flight / recital / marathon
    festival / birthday
"""
_EVENT = re.compile(rf"{either(_KOREAN_EVENTS)}|\b(?:{either(_ENGLISH_EVENTS)})\b", re.IGNORECASE)
_OVER = re.compile(
    r"[았었했갔왔봤쳤렸났됐웠졌냈켰였]다고|\bthe user (?:had|was|went|saw|did|met|\w+ed)\b", re.IGNORECASE
)
# What a question says that asks for one of the slots of `facts`.
_SLOTS = {
    "name": re.compile(r"(?:내|제|나|저) ?이름|\bmy name\b|\bcall me\b", re.IGNORECASE),
    "home": re.compile(r"어디 ?(?:에|서|에서)? ?(?:사|살|산)|사는 (?:곳|데|동네)|\bi live\b", re.IGNORECASE),
    "job": re.compile(
        r"직업|직장|하는 일|무슨 일 (?:하|해)|\bmy job\b|\bi (?:work|do for a)\b", re.IGNORECASE
    ),
    "birthday": re.compile(r"(?:내|제|나|저) ?생일|\bmy (?:birthday|bday)\b", re.IGNORECASE),
    "age": re.compile(r"(?:내|제|나|저|내가|제가) ?(?:나이|몇 ?살)|\bhow old (?:am i|i am)\b", re.IGNORECASE),
}
_ASKED = re.compile(r"물음\.?$|\basked\b")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the user was waiting for when the memory was made, and the day of it."""

    name: str
    day: date

    def is_due(self, now: datetime) -> bool:
        """Whether its day has come."""
        return self.day <= local_day(now, now)

    def is_over(self, now: datetime) -> bool:
        """On the day itself it is taken to be over from noon on."""
        today = local_day(now, now)
        return self.day < today or (self.day == today and now.hour >= 12)


def event_in(memories: Iterable[ContextMemory], now: datetime, already_said: str) -> Event | None:
    """The newest awaited event of which nobody has spoken in `already_said`."""
    for memory in sorted(memories, key=lambda memory: memory.timestamp, reverse=True):
        for sentence in sentences(memory.summary):
            match = _EVENT.search(sentence)
            awaited = not _OVER.search(sentence) and not _ASKED.search(sentence)
            if match and awaited and match[0] not in already_said:
                return Event(match[0], day_meant(sentence, local_day(memory.timestamp, now)))
    return None


def had_a_hard_time(memories: Iterable[ContextMemory]) -> bool:
    """Whether the newest memory with a feeling is one of stress or sadness."""
    for memory in sorted(memories, key=lambda memory: memory.timestamp, reverse=True):
        felt = emotion_of(memory.summary)
        if felt is not None:
            return felt in (Emotion.STRESS, Emotion.SADNESS)
    return False


def answering_memory(question: str, memories: Iterable[ContextMemory]) -> tuple[str, datetime] | None:
    """The remembered sentence sharing most words with `question`, the newest of equals; None if none does."""
    asked = set(terms(question))
    best: tuple[int, datetime, str] | None = None
    for memory in memories:
        for sentence in sentences(memory.summary):
            shared = len(asked & set(terms(sentence)))
            if not shared or _ASKED.search(sentence.strip()):
                continue
            if best is None or (shared, memory.timestamp) > best[:2]:
                best = (shared, memory.timestamp, sentence)
    return (best[2], best[1]) if best else None


def answering_fact(question: str, state: Iterable[StateFact]) -> StateFact | None:
    """The fact whose key the question names."""
    asked = set(terms(question))
    for fact in state:
        named = set(terms(fact.key))
        if named and named <= asked:
            return fact
    return None


def answering_known(question: str, facts: Iterable[KnownFact]) -> KnownFact | None:
    """The fact of a slot that the question asks for, or of a thing that it names: pet:강아지 for 강아지."""
    asked = set(terms(question))
    for fact in facts:
        slot, _, thing = fact.key.partition(":")
        wanted = _SLOTS.get(slot)
        if wanted.search(question) if wanted else bool(asked.intersection(terms(thing))):
            return fact
    return None
