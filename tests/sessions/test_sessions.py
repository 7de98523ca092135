"""The facade of sessions: start, messages, log, end."""

from __future__ import annotations

import asyncio

import pytest

from gieok import Gieok, Settings
from gieok.engine import make_plan
from gieok.errors import Conflict, InputRefused, NotFound, SessionEnded
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.sessions.records import MAX_MESSAGES, Appended
from gieok.plans import load_plan
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.behind import Behind
from tests.sessions.conversation import NAMED_PLANS, PLAN, MoodyModel, begin, said, talk


async def test_a_session_starts_with_a_persona_and_a_plan(gieok: Gieok, clock: Clock) -> None:
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    started = await user.sessions.start("hana", plan=PLAN, account_plan="premium")
    view = await user.sessions.get(started.session_ref)
    assert view.session == started
    assert (started.persona_id, started.account_plan) == ("hana", "premium")
    assert (started.started_at, started.ended_at, view.messages) == (clock.now, None, ())
    assert started.last_execution_plan_hash == load_plan(PLAN).hash


async def test_a_session_needs_a_persona_that_exists(gieok: Gieok, behind: Behind) -> None:
    """Another owner's persona is none."""
    await begin(gieok.user("jiyoung"))
    with pytest.raises(NotFound):
        await gieok.user("minsu").sessions.start("hana", plan=PLAN, session_ref="s")
    assert behind.run("SELECT owner FROM sessions") == [("jiyoung",)]


async def test_a_session_of_another_owner_is_not_found(gieok: Gieok) -> None:
    await begin(gieok.user("minsu"))
    other = gieok.user("jiyoung").sessions
    attempts = other.get("s"), other.log("s"), other.save_messages("s", said(1, 1)), other.close("s")
    for attempt in attempts:
        with pytest.raises(NotFound):
            await attempt


@pytest.mark.req("SESS-1")
async def test_the_window_is_the_last_ten_messages(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await begin(user)
    await talk(user, 1, 13)
    assert (await user.sessions.get("s")).messages == tuple(said(4, 13))


@pytest.mark.req("SESS-4", "COMP-10")
async def test_saved_messages_are_durable(settings: Settings, clock: Clock) -> None:
    async with await Gieok.open(settings, model=MoodyModel(), clock=clock) as gieok:
        await begin(gieok.user("minsu"))
        await gieok.user("minsu").sessions.save_messages("s", said(1, 3))
    async with await Gieok.open(settings, model=MoodyModel(), clock=clock) as gieok:
        assert list(await gieok.user("minsu").sessions.log("s")) == said(1, 3)
        assert list(await gieok.user("minsu").sessions.log("s", after=1, limit=1)) == said(2, 2)


@pytest.mark.req("SESS-4")
async def test_a_client_may_send_the_same_batch_again(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await begin(user)
    await user.sessions.save_messages("s", said(1, 3))
    again = await user.sessions.save_messages("s", said(2, 5))
    assert again == Appended(added=2, message_count=5)
    with pytest.raises(Conflict, match="m2"):
        await user.sessions.save_messages("s", [message(2, "something else")])


@pytest.mark.req("SESS-2")
async def test_a_closed_session_accepts_no_messages(gieok: Gieok, clock: Clock) -> None:
    user = gieok.user("minsu")
    await begin(user)
    clock.advance(minutes=3)
    await user.sessions.close("s")
    assert (await user.sessions.get("s")).session.ended_at == clock.now
    with pytest.raises(SessionEnded):
        await user.sessions.save_messages("s", said(1, 1))


@pytest.mark.req("SESS-2")
async def test_a_turn_in_an_ended_session_is_refused_before_the_model_call(gieok: Gieok) -> None:
    plan = make_plan(
        {
            "name": "resume",
            "version": 1,
            "request": ["sessionRef"],
            "steps": [
                {
                    "id": "resume",
                    "type": "ResumeSession",
                    "stage": "ContextSelect",
                    "inputs": {"sessionRef": "request.sessionRef"},
                }
            ],
        }
    )
    user = gieok.user("minsu")
    await begin(user, plan=plan)
    await user.run(plan, {"sessionRef": "s"})
    await user.sessions.close("s")
    with pytest.raises(SessionEnded):
        await user.run(plan, {"sessionRef": "s"})


@pytest.mark.parametrize("count", [0, MAX_MESSAGES + 1])
async def test_the_size_of_a_batch_is_limited(gieok: Gieok, count: int) -> None:
    user = gieok.user("minsu")
    await begin(user)
    with pytest.raises(InputRefused, match="messages"):
        await user.sessions.save_messages("s", said(1, count))


@pytest.mark.parametrize("asked", [{"after": -1}, {"limit": 0}])
async def test_an_invalid_page_of_the_log_is_refused(gieok: Gieok, asked: dict[str, int]) -> None:
    await begin(gieok.user("minsu"))
    with pytest.raises(InputRefused) as refused:
        await gieok.user("minsu").sessions.log("s", **asked)
    assert [refused.value.at] == list(asked)


@pytest.mark.req("SESS-4")
async def test_concurrent_sends_neither_interleave_nor_lose_a_message(
    settings: Settings, clock: Clock, gieok: Gieok
) -> None:
    """From two processes: each batch lies together, in its order, and all of them are there."""
    async with await Gieok.open(settings, model=MoodyModel(), clock=clock) as other:
        await begin(gieok.user("minsu"))
        batches = [said(number * 10 + 1, number * 10 + 3) for number in range(12)]
        await asyncio.gather(
            *(
                (gieok, other)[number % 2].user("minsu").sessions.save_messages("s", batch)
                for number, batch in enumerate(batches)
            )
        )
    log = list(await gieok.user("minsu").sessions.log("s"))
    arrived = [log[start : start + 3] for start in range(0, len(log), 3)]
    assert sorted(arrived, key=lambda batch: batch[0].timestamp) == batches


async def test_the_later_of_two_concurrent_turns_is_a_conflict(gieok: Gieok) -> None:
    """Both began when the session had no messages; what the second says is not stored."""
    plan = make_plan(
        {
            "name": "append_turn",
            "version": 1,
            "request": ["sessionRef", "message", "reply", "revision"],
            "steps": [
                {
                    "id": "append",
                    "type": "AppendTurn",
                    "stage": "Persist",
                    "inputs": {
                        "sessionRef": "request.sessionRef",
                        "message": "request.message",
                        "reply": "request.reply",
                        "revision": "request.revision",
                    },
                    "metadata": {"plans": NAMED_PLANS},
                }
            ],
        }
    )
    await begin(gieok.user("minsu"), plan=plan)

    async def turn(text: str) -> None:
        request = {"sessionRef": "s", "message": text, "reply": f"{text}!", "revision": 0}
        await gieok.user("minsu").run(plan, request)

    outcomes = await asyncio.gather(turn("first"), turn("second"), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [Conflict]
    kept = "first" if outcomes[0] is None else "second"
    log = await gieok.user("minsu").sessions.log("s")
    assert [(each.role, each.content) for each in log] == [("user", kept), ("assistant", f"{kept}!")]


async def test_the_second_send_of_a_process_waits_for_the_first(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await begin(user)
    async with gieok.session_locks.of("minsu", "s"):
        waiting = asyncio.create_task(user.sessions.save_messages("s", said(1, 1)))
        await begin(user, "t")
        await user.sessions.save_messages("t", said(1, 1))
        assert list(await user.sessions.log("s")) == []
    assert (await waiting).message_count == 1


async def test_a_job_of_another_owner_is_not_found(gieok: Gieok) -> None:
    minsu = gieok.user("minsu")
    await begin(minsu)
    await minsu.sessions.save_messages("s", said(1, 1))
    (job,) = (await minsu.sessions.close("s")).jobs
    assert (await minsu.jobs.get(job.id)).status == "queued"
    with pytest.raises(NotFound):
        await gieok.user("jiyoung").jobs.get(job.id)
