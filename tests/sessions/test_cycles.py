"""Stored cycle records: how turns and jobs ran, bounded for each owner, without content."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import cast
from uuid import NAMESPACE_OID, uuid5

import pytest

from gieok import Gieok, MemoryDraft, Settings, User
from gieok.app.background.worker import Worker
from gieok.engine import StepRecord
from gieok.errors import InputRefused, NotFound
from gieok.memory.cycle_records import StoredCycle
from gieok.settings import RetentionSettings
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.owner_data.world import HANA

SECRET = "quokka"


@pytest.fixture
async def kept(settings: Settings) -> AsyncIterator[Gieok]:
    """A Gieok that keeps four records of each owner."""
    few = replace(settings, retention=RetentionSettings(keep_cycles=4))
    async with await Gieok.open(few, background=False) as opened:
        await opened.user("minsu").personas.create(HANA, persona_id="hana")
        yield opened


async def say(user: User, text: str, session_ref: str = "s") -> str:
    return (await user.chat.send("hana", text, session_ref=session_ref)).turn_id


async def cycles(user: User, session_ref: str = "s") -> tuple[StoredCycle, ...]:
    return (await user.sessions.cycles(session_ref)).cycles


async def test_a_turn_stores_the_record_that_it_returns(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    draft = MemoryDraft(persona_id="hana", summary="민수는 면접을 앞두고 있다.")
    memory = (await user.companion.create(draft, account_plan="premium")).memory
    turn = await user.chat.send("hana", "면접이 걱정돼", session_ref="s")
    (stored,) = (await user.sessions.cycles("s", turn_id=turn.turn_id)).cycles
    made = turn.record
    assert (stored.cycle_id, stored.plan_name, stored.plan_hash) == (
        made.cycle_id,
        "chat_turn",
        turn.plan_hash,
    )
    assert (stored.session_ref, stored.turn_id, stored.job_id) == ("s", turn.turn_id, None)
    assert [step.id for step in stored.steps] == [step.id for step in made.steps]
    assert 0 < stored.commit_ms <= stored.duration_ms <= made.duration_ms
    recall = step_of(stored, "RecallMemories")
    assert str(memory.id) in noted(recall, "recalled")
    names = ("recalled", "kinds", "confidence", "signals", "sessions")
    assert [len(noted(recall, name)) for name in names] == [1] * 5


def step_of(cycle: StoredCycle, kind: str) -> StepRecord:
    return next(step for step in cycle.steps if step.type == kind)


def noted(step: StepRecord, name: str) -> list[str]:
    return [str(each) for each in cast("Sequence[object]", step.notes[name])]


async def test_a_turn_names_its_job_and_the_job_has_a_record(kept: Gieok) -> None:
    user = kept.user("minsu")
    await say(user, "나 부산에 살아")
    (turn,) = await cycles(user)
    (job_id,) = noted(step_of(turn, "QueueRemembering"), "jobs")
    while await Worker(kept).run_once(kept.engine.clock()):
        pass
    newest = (await cycles(user))[0]
    assert (str(newest.job_id), newest.plan_name, newest.turn_id) == (job_id, "remember_turn", None)
    assert (await user.sessions.cycles("s", job_id=newest.job_id)).cycles == (newest,)


async def test_records_have_no_content(kept: Gieok, behind: Behind) -> None:
    user = kept.user("minsu")
    await say(user, f"My name is {SECRET} and I live in {SECRET}")
    await say(user, f"Do you remember {SECRET}?", "second")
    while await Worker(kept).run_once(kept.engine.clock()):
        pass
    assert SECRET not in repr([await cycles(user), await cycles(user, "second")])
    assert behind.count("cycle_records") > 0


async def test_the_last_ones_of_an_owner_are_kept(kept: Gieok, behind: Behind) -> None:
    user, other = kept.user("minsu"), kept.user("jiyoung")
    await other.personas.create(HANA, persona_id="hana")
    await say(other, "안녕")
    turns = [await say(user, f"{number}번째 말이야", f"s{number % 2}") for number in range(7)]
    left = [*await cycles(user, "s0"), *await cycles(user, "s1")]
    assert {cycle.turn_id for cycle in left} == set(turns[-4:])
    assert len(await cycles(other)) == 1
    with pytest.raises(NotFound):
        await other.sessions.cycles("s0")


async def test_zero_stores_none_and_deletes_the_rest_in_the_background(
    kept: Gieok, settings: Settings, behind: Behind
) -> None:
    await say(kept.user("minsu"), "안녕")
    await kept.close()
    clock = Clock()
    off = replace(settings, retention=RetentionSettings(keep_cycles=0))
    async with await Gieok.open(off, clock=clock, background=False) as gieok:
        user = gieok.user("minsu")
        await say(user, "반가워", "another")
        assert (len(await cycles(user)), await cycles(user, "another")) == (1, ())
        worker = Worker(gieok)
        while await worker.run_once(clock()):
            pass
        clock.advance(hours=7)
        await worker.run_once(clock())
        assert behind.count("cycle_records") == 0


async def test_a_read_and_a_failed_turn_store_none(kept: Gieok, behind: Behind) -> None:
    user = kept.user("minsu")
    await user.context("hana", "안녕")
    with pytest.raises(InputRefused):
        await user.chat.send("hana", "", session_ref="s")
    await user.reply("hana", "안녕")
    assert behind.count("cycle_records") == 0


async def test_records_go_with_their_turn_their_session_and_their_owner(kept: Gieok, behind: Behind) -> None:
    user = kept.user("minsu")
    first = await say(user, "나 부산에 살아")
    while await Worker(kept).run_once(kept.engine.clock()):
        pass
    await say(user, "나 서울로 이사했어")
    while await Worker(kept).run_once(kept.engine.clock()):
        pass
    assert len(await cycles(user)) == 4
    await user.sessions.withdraw("s")
    left = await cycles(user)
    assert [cycle.plan_name for cycle in left] == ["remember_turn", "chat_turn"]
    assert left[1].turn_id == first
    await say(user, "안녕", "other")
    await user.sessions.delete("s")
    assert behind.count("cycle_records") == 1
    await user.data.erase()
    assert behind.count("cycle_records") == 0


async def test_records_go_with_their_persona(kept: Gieok, behind: Behind) -> None:
    user = kept.user("minsu")
    await say(user, "안녕")
    await user.personas.delete("hana")
    assert behind.count("cycle_records") == 0


async def test_pages_and_bad_arguments(kept: Gieok) -> None:
    user = kept.user("minsu")
    turns = [await say(user, f"{number}번째") for number in range(3)]
    page = await user.sessions.cycles("s", limit=2)
    rest = await user.sessions.cycles("s", limit=2, cursor=page.next_cursor)
    assert [cycle.turn_id for cycle in (*page.cycles, *rest.cycles)] == turns[::-1]
    assert rest.next_cursor is None
    with pytest.raises(InputRefused):
        await user.sessions.cycles("s", limit=0)
    with pytest.raises(InputRefused):
        await user.sessions.cycles("s", cursor="x")


async def test_a_recalled_message_may_have_a_korean_id(gieok: Gieok) -> None:
    """Ids that callers choose may have letters of any script. A note has a digest of such an id."""
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    await user.chat.send(
        "hana", "내일 면접이 있어", session_ref="첫째", message_id="메시지1", wait_memory=True
    )
    turn = await user.chat.send("hana", "면접이 언제였지?", session_ref="둘째")
    (stored,) = await cycles(user, "둘째")
    assert "메시지1" in [hit.id for hit in turn.recalled]
    assert str(uuid5(NAMESPACE_OID, "메시지1")) in noted(step_of(stored, "RecallMemories"), "recalled")
