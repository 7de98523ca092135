"""How long a fact is current. Pure functions; days are days of the user's calendar.

A fact is current until the end of its `until`. If neither a model nor a person gave it, the kind of fact
decides: an appointment its day, a short illness some days, a mood a day. A fact that is no longer current is
past: it is shown as past for some days, then leaves the state. Its history stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from gieok.engine import Data
from gieok.memory.canon.records import Fact, FactDraft
from gieok.memory.canon.slots import slot_of
from gieok.memory.observations import Category
from gieok.text import normalize

Days = Annotated[int, Field(ge=0, le=3_650)]


class ValidityDays(Data):
    """How many days a fact stays current by its kind, counted from the day on which it was said."""

    appointment: Days
    """For one that is soon but has no date (`내일 면접`). One with a date is current until that day."""
    illness: Days
    mood: Days


UPCAST_DAYS = ValidityDays(appointment=7, illness=10, mood=1)
"""For facts that were stored before facts had `until`."""

_APPOINTMENT_KO = (
    "면접 예약 약속 진료 검진 내시경 수술 시험 고사 발표 회의 미팅 모임 소개팅 데이트 결혼식 장례식 돌잔치 "
    "공연 콘서트 경기 대회 여행 출장 이사 방문 예정 마감 파티 상담 입학식 졸업식 출근 회식 송별회 비행기"
)
_APPOINTMENT_EN = (
    "appointment interview exam test midterm final finals meeting date dentist checkup check-up surgery "
    "operation scan wedding funeral party concert show race match game trip flight visit move moving "
    "deadline presentation ceremony graduation reunion dinner lunch reservation booking audition rehearsal "
    "hearing demo stag"
)
_SOON = re.compile(
    r"오늘|내일|모레|글피|이번 ?주|다음 ?주|담주|주말|곧|예정|"
    r"\b(?:today|tonight|tomorrow|soon|upcoming|scheduled|"
    r"(?:this|next) (?:week|weekend|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b"
)
_ACUTE = (
    "감기|독감|몸살|장염|배탈|코로나|식중독|숙취|급체|flu|influenza|covid|hangover|hungover|food poisoning|"
    "stomach (?:bug|flu)|(?:a|the|bad|nasty|head|slight|common) cold|tonsillitis|pink eye"
)
_PASSING = (
    "두통|미열|고열|열이 나|설사|체함|체했|복통|다래끼|headache|fever|stomach ache|sore throat|nausea|queasy"
)
_APPOINTMENT = re.compile(
    rf"(?:{'|'.join(_APPOINTMENT_KO.split())})|\b(?:{'|'.join(_APPOINTMENT_EN.split())})s?\b"
)
_ILLNESS = re.compile(rf"{_ACUTE}|\bcold$")
_ILLNESS_EVENT = re.compile(rf"{_ACUTE}|\bcold$|{_PASSING}")
_ISO_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")
# What lasts is no appointment and no short illness, whatever its words are.
_LASTING = frozenset({Category.HABIT, Category.OPINION, Category.PREFERENCE, Category.RELATIONSHIP})

Kind = Literal["appointment", "illness", "mood"]
D = TypeVar("D", bound=FactDraft)


def kind_of(draft: FactDraft) -> Kind | None:
    """The kind of fact that decides how long it is current; None for what has no natural end."""
    if slot_of(draft.subject, draft.category, draft.key).name == "mood":
        return "mood"
    if draft.category in _LASTING:
        return None
    # The key last, because `cold` alone is only an illness as a key or at the end of a value.
    text = normalize(f"{draft.value}\n{draft.key}") if draft.category is not Category.GOAL else ""
    if (_ILLNESS_EVENT if draft.category is Category.EVENT else _ILLNESS).search(text):
        return "illness"
    if draft.category is Category.EVENT and _APPOINTMENT.search(text):
        return "appointment"
    return None


def with_validity(draft: D, said_on: date, days: ValidityDays) -> D:
    """The draft with `when` and `until` by its kind where they are not given. `said_on`: the day it was said.

    What had already happened when it was said does not end: `passed the exam` stays, the exam does not.
    """
    if draft.until is not None:
        return draft
    when, until = draft.when, None
    match kind_of(draft):
        case "mood":
            until = said_on + timedelta(days.mood)
        case "illness":
            until = max(when or said_on, said_on) + timedelta(days.illness)
        case "appointment":
            when = when or _only_day(draft.value)
            if when is not None:
                until = when if when >= said_on else None
            elif _SOON.search(normalize(draft.value)):
                until = said_on + timedelta(days.appointment)
        case None:
            pass
    return draft.model_copy(update={"when": when, "until": until})


def upcast(draft: D, said_on: date) -> D:
    """A fact that was stored before facts had `until`, with one by its kind."""
    return with_validity(draft, said_on, UPCAST_DAYS)


def is_past(draft: FactDraft, today: date) -> bool:
    """Whether the fact is no longer current on this day."""
    return draft.until is not None and draft.until < today


@dataclass(frozen=True)
class Standing:
    """The facts of a day: those that are current, and those that are shown as past."""

    current: tuple[Fact, ...]
    past: tuple[Fact, ...]


def standing(facts: Sequence[Fact], today: date, past_days: int) -> Standing:
    """Sort the facts by what they are today. A fact that ended more than `past_days` ago is in neither."""
    oldest = today - timedelta(past_days)
    return Standing(
        tuple(fact for fact in facts if not is_past(fact, today)),
        tuple(fact for fact in facts if fact.until is not None and oldest <= fact.until < today),
    )


def _only_day(value: str) -> date | None:
    """The day in a value that has exactly one."""
    days = set(_ISO_DAY.findall(value))
    if len(days) != 1:
        return None
    try:
        return date.fromisoformat(days.pop())
    except ValueError:
        return None
