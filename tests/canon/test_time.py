"""The state over time: what is current, what is past, and what was true at another moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime

import pytest

from gieok import Gieok, PersonaDraft, Settings
from gieok.memory.blocks import parse_state
from gieok.testing.clock import Clock

pytestmark = pytest.mark.req("MIND-7")

KO = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")
EN = PersonaDraft(name="Juno", language="en", system_prompt="You are Juno.")


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 3, 5, 12, 0, tzinfo=UTC))


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, clock=clock) as opened:
        await opened.user("minsu").personas.create(KO, persona_id="hana")
        await opened.user("minsu").personas.create(EN, persona_id="juno")
        yield opened


async def _shown(gieok: Gieok, persona: str = "hana") -> list[str]:
    state = await gieok.user("minsu").canon.state(persona)
    return [f"{line.key}: {line.value}" for line in parse_state(state.block)]


@pytest.mark.parametrize(("persona", "mark"), [("hana", "(지난 일)"), ("juno", "(past)")])
async def test_an_appointment_is_current_then_past_then_gone(
    gieok: Gieok, clock: Clock, persona: str, mark: str
) -> None:
    canon = gieok.user("minsu").canon
    await canon.set_fact(persona, "EVENT", "면접", "IT 스타트업 면접", when=date(2026, 3, 6))
    line = "면접: IT 스타트업 면접, 2026-03-06"
    assert await _shown(gieok, persona) == [line]
    clock.advance(days=1)
    assert await _shown(gieok, persona) == [line]
    clock.advance(days=1)
    assert await _shown(gieok, persona) == [f"{line} {mark}"]
    clock.advance(days=13)
    assert await _shown(gieok, persona) == [f"{line} {mark}"]
    clock.advance(days=1)
    assert await _shown(gieok, persona) == []
    assert [fact.value for fact in await canon.facts(persona)] == ["IT 스타트업 면접"]


async def test_a_day_in_the_value_is_not_repeated(gieok: Gieok, clock: Clock) -> None:
    await gieok.user("minsu").canon.set_fact("hana", "EVENT", "면접", "2026-03-06 면접")
    clock.advance(days=3)
    assert await _shown(gieok) == ["면접: 2026-03-06 면접 (지난 일)"]


async def test_past_facts_come_after_current_ones(gieok: Gieok, clock: Clock) -> None:
    canon = gieok.user("minsu").canon
    await canon.set_fact("hana", "EVENT", "시험", "토익", importance=9, when=date(2026, 3, 6))
    await canon.set_fact("hana", "GOAL", "취업", "준비 중", importance=1)
    clock.advance(days=2)
    assert await _shown(gieok) == ["취업: 준비 중 (2026-03-05)", "시험: 토익, 2026-03-06 (지난 일)"]


async def test_days_are_the_users(gieok: Gieok, clock: Clock) -> None:
    """At 16:00 UTC on 6 March it is already 7 March in Seoul."""
    user = gieok.user("minsu")
    await user.canon.set_fact("hana", "EVENT", "면접", "면접", when=date(2026, 3, 6))
    clock.advance(days=1, hours=4)
    assert (await user.canon.state("hana")).past == ()
    await user.profile.set(timezone="Asia/Seoul")
    assert len((await user.canon.state("hana")).past) == 1


async def test_the_state_of_a_moment_is_what_was_recorded_and_current_then(
    gieok: Gieok, clock: Clock
) -> None:
    canon = gieok.user("minsu").canon
    first = await canon.set_fact("hana", "RELATIONSHIP", "연인", "지훈과 사귀는 중")
    await canon.set_fact("hana", "EVENT", "health", "감기에 걸림")
    await canon.set_fact("hana", "PERSONAL_INFO", "나이", "27세")
    start = clock.now
    clock.advance(days=30)
    await canon.set_fact("hana", "EVENT", "boyfriend", "헤어짐")
    assert first.fact is not None

    async def at(moment: datetime) -> tuple[list[str], list[str]]:
        state = await canon.state("hana", as_of=moment)
        return [fact.value for fact in state.facts], [fact.value for fact in state.others]

    assert await at(start.replace(hour=11)) == ([], [])
    values, others = await at(start)
    assert (set(values), others) == ({"지훈과 사귀는 중", "감기에 걸림"}, ["27세"])
    assert await at(start.replace(day=31)) == (["지훈과 사귀는 중"], ["27세"])
    assert await at(clock.now) == (["헤어짐"], ["27세"])
    await canon.retire_fact("hana", first.fact.root_id)
    clock.advance(days=1)
    assert await at(clock.now) == ([], ["27세"])
