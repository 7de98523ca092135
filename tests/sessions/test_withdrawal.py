"""Withdrawing turns: the messages stay in the log, marked, and what was remembered of them goes back."""

from __future__ import annotations

import asyncio

import pytest

from gieok import Gieok, Settings, User, Worker
from gieok.adapters.sql.scope import SqlView
from gieok.engine.cycle import apply_writes
from gieok.errors import Conflict, NotFound
from gieok.memory.companion.records import MemoryChanges
from gieok.memory.observations import Category, Conversation, Observation, Understood, VerbatimLimit
from gieok.memory.sessions.records import Withdrawal
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.behind import Behind
from tests.canon.scripted_turns import HANA, Scripted, found
from tests.companion.test_persona_index import found as in_index
from tests.owner_data.world import export, pieces, records
from tests.sessions.conversation import MoodyModel, begin, memories, said, talk, work

BUSAN, SEOUL = "나 부산에 살아", "나 서울로 이사했어"
LEFT, PROMISE = "이제 그 집에 안 살아", "약속 하나 해줘"


def home(value: str, op: str = "add") -> Observation:
    return found(value, "사는 곳", Category.PERSONAL_INFO).model_copy(update={"op": op})


class Gated(Scripted):
    """Knows where the user lives, and remembers only while its gate is open."""

    def __init__(self) -> None:
        super().__init__(
            {
                BUSAN: [home("부산")],
                SEOUL: [home("서울")],
                LEFT: [home("부산", "retire")],
                PROMISE: [found("내일 같이 걷기로 약속함", "산책", Category.GOAL, says="assistant")],
            },
            {PROMISE: "내일 같이 걷자고 약속할게."},
        )
        self.gate, self.asked = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        self.asked.set()
        await self.gate.wait()
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )


async def opened(user: User) -> None:
    await user.personas.create(HANA, persona_id="hana")


async def values(user: User) -> list[str]:
    return [fact.value for fact in await user.canon.facts("hana")]


async def say(user: User, text: str, session_ref: str = "s") -> str:
    turn = await user.chat.send("hana", text, session_ref=session_ref, wait_memory=True)
    return turn.turn_id


@pytest.mark.req("MIND-12")
async def test_what_a_turn_changed_is_changed_back_and_history_says_so(
    settings: Settings, behind: Behind
) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        first = await say(user, BUSAN)
        await say(user, SEOUL)
        assert await values(user) == ["서울"]
        withdrawn = await user.sessions.withdraw("s")
        assert withdrawn == Withdrawal(messages=2, facts=1, memories=1)
        (fact,) = await user.canon.facts("hana")
        assert (fact.value, fact.version) == ("부산", 3)
        assert fact.source is not None
        assert fact.source.message_id == first
        versions = await user.canon.history("hana", fact.root_id)
        assert [(each.value, each.reason) for each in versions] == [
            ("부산", None),
            ("서울", None),
            ("부산", "withdrawn"),
        ]
        log = await user.sessions.log("s")
        assert [each.withdrawn_at is not None for each in log] == [False, False, True, True]
        window = await user.sessions.get("s")
        assert (window.session.message_count, len(window.messages)) == (2, 2)
        assert behind.count("turn_memories") == 1
        assert await user.sessions.withdraw("s") == Withdrawal(messages=2, facts=1, memories=1)
        assert await values(user) == []
        retired = await user.canon.history("hana", fact.root_id)
        assert (retired[-1].retired_at is not None, retired[-1].reason) == (True, "withdrawn")
        with pytest.raises(NotFound, match="no such turn"):
            await user.sessions.withdraw("s")


@pytest.mark.req("MIND-12")
async def test_a_turn_is_withdrawn_with_all_later_ones_and_only_once(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        second = await say(user, SEOUL)
        await say(user, "안녕")
        assert (await user.sessions.withdraw("s", second)).messages == 4
        later = await say(user, "또 왔어")
        nothing = Withdrawal(messages=0, facts=0, memories=0)
        assert await user.sessions.withdraw("s", second) == nothing
        window = await user.sessions.get("s")
        assert [each.id for each in window.messages if each.role == "user"][-1] == later
        assert window.session.message_count == 4
        with pytest.raises(NotFound):
            await user.sessions.withdraw("s", "unknown")
        with pytest.raises(NotFound):
            await user.sessions.withdraw("unknown")
        with pytest.raises(NotFound):
            await gieok.user("jieun").sessions.withdraw("s", second)


@pytest.mark.req("MIND-12")
async def test_a_fact_that_a_turn_retired_comes_back(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        await say(user, LEFT)
        assert await values(user) == []
        assert (await user.sessions.withdraw("s")).facts == 1
        assert await values(user) == ["부산"]


async def test_a_version_of_a_turn_that_was_withdrawn_before_does_not_come_back(settings: Settings) -> None:
    """Also if another session had stated a newer value at that time."""
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN, "first")
        await say(user, SEOUL, "second")
        assert (await user.sessions.withdraw("first")).facts == 0
        assert await values(user) == ["서울"]
        await user.sessions.withdraw("second")
        assert await values(user) == []


async def test_an_edit_by_hand_stays(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        await user.canon.set_fact("hana", Category.PERSONAL_INFO, "사는 곳", "대전")
        assert (await user.sessions.withdraw("s")).facts == 0
        assert await values(user) == ["대전"]


@pytest.mark.req("MIND-12")
async def test_facts_of_the_reply_lead_to_the_reply_and_go_with_it(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, PROMISE)
        (fact,) = await user.canon.facts("hana")
        reply = (await user.sessions.log("s"))[-1]
        assert fact.source is not None
        assert (fact.source.message_id, reply.role) == (reply.id, "assistant")
        await user.sessions.withdraw("s")
        assert await values(user) == []


@pytest.mark.req("MIND-12")
async def test_a_job_that_has_not_run_is_cancelled(settings: Settings) -> None:
    model, clock = Gated(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        turn = await user.chat.send("hana", BUSAN, session_ref="s")
        assert turn.remembering is not None
        assert (await user.sessions.withdraw("s")).messages == 2
        job = await user.jobs.get(turn.remembering.job_id)
        assert (job.status, job.error) == ("done", "WITHDRAWN")
        await work(Worker(gieok), clock)
        assert (model.asked.is_set(), await values(user)) == (False, [])


@pytest.mark.req("MIND-12")
async def test_a_job_that_runs_at_that_moment_stores_nothing(settings: Settings, behind: Behind) -> None:
    """And the next turn of the persona is remembered after it."""
    model, clock = Gated(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user, worker = gieok.user("minsu"), Worker(gieok)
        await opened(user)
        await say(user, BUSAN)
        model.asked.clear()
        model.gate.clear()
        await user.chat.send("hana", SEOUL, session_ref="s")
        running = asyncio.create_task(worker.run_once(clock()))
        await model.asked.wait()
        assert (await user.sessions.withdraw("s")).messages == 2
        model.gate.set()
        await running
        assert await values(user) == ["부산"]
        assert behind.count("turn_memories") == 1
        await say(user, SEOUL)
        assert await values(user) == ["서울"]


@pytest.mark.req("MIND-12")
async def test_a_race_never_leaves_a_fact_of_a_withdrawn_turn(settings: Settings, behind: Behind) -> None:
    """The commit of the job and the withdrawal at once, in either order."""
    model, clock = Gated(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        for number in range(12):
            session = f"s{number}"
            model.asked.clear()
            model.gate.clear()
            await user.chat.send("hana", SEOUL, session_ref=session)
            running = asyncio.create_task(Worker(gieok).run_once(clock()))
            await model.asked.wait()
            model.gate.set()
            for _ in range(number % 6):
                await asyncio.sleep(0)
            withdrawing = asyncio.create_task(user.sessions.withdraw(session))
            await asyncio.gather(running, withdrawing)
            assert await values(user) == []
            assert behind.count("turn_memories") == 0
            await work(Worker(gieok), clock)
            assert await values(user) == []


@pytest.mark.req("MIND-12")
async def test_a_withdrawal_that_fails_before_its_commit_changes_nothing(
    settings: Settings, behind: Behind
) -> None:
    """A regenerated turn is withdrawn in the commit of the next one, which may still fail."""
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        before = await user.sessions.log("s")
        request = {"sessionRef": "s", "turnId": None}

        def fail(view: SqlView) -> None:
            outputs = apply_writes(gieok.check("withdraw_turn"), view, request, gieok.engine.clock())
            assert len(outputs) == 6
            raise Conflict("another writer was faster")

        with pytest.raises(Conflict):
            await gieok.scope("minsu").write(fail)
        assert await user.sessions.log("s") == before
        assert (await values(user), behind.count("turn_memories")) == (["부산"], 1)


async def test_a_job_for_several_exchanges_remembers_the_earlier_ones(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await begin(user, plan="chat_turn")
        saved = await user.sessions.save("s", said(1, 6))
        assert saved.remembering is not None
        assert (await user.sessions.withdraw("s", "m3")).messages == 4
        job = await user.jobs.get(saved.remembering.job_id)
        assert (job.first_seq, job.last_seq, job.status) == (1, 2, "queued")
        assert (await user.jobs.wait(job.id)).status == "done"


@pytest.mark.req("MIND-12")
async def test_what_was_withdrawn_is_not_found_and_not_answered_again(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await user.chat.send("hana", BUSAN, session_ref="s", message_id="m1", wait_memory=True)
        await user.sessions.withdraw("s")
        with pytest.raises(Conflict, match="withdrawn"):
            await user.chat.send("hana", BUSAN, session_ref="s", message_id="m1")
        assert await in_index(gieok.scope("minsu"), "부산") == []
        await say(user, BUSAN)
        assert await in_index(gieok.scope("minsu"), "부산") == [BUSAN, "사는 곳: 부산"]


async def test_the_turn_is_that_of_any_of_its_messages(settings: Settings) -> None:
    async with await Gieok.open(settings, model=MoodyModel()) as gieok:
        user = gieok.user("minsu")
        await begin(user)
        two = [*said(1, 2), message(3), message(4), message(5, role="assistant")]
        await user.sessions.save_messages("s", two)
        assert (await user.sessions.withdraw("s", "m4")).messages == 3
        with pytest.raises(Conflict, match="withdrawn"):
            await user.sessions.save_messages("s", [message(3)])
        await user.sessions.save_messages("s", said(7, 8))
        assert [each.id for each in (await user.sessions.get("s")).messages] == ["m1", "m2", "m7", "m8"]


@pytest.mark.req("MIND-12")
async def test_a_summary_that_covers_other_messages_too_is_made_again(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user, worker = gieok.user("minsu"), Worker(gieok)
        await begin(user)
        await talk(user, 1, 4)
        await user.sessions.close("s", wait=True)
        (memory,) = await memories(gieok)
        assert (await user.sessions.withdraw("s")).memories == 1
        assert await memories(gieok) == []
        await work(worker, clock)
        (again,) = await memories(gieok)
        assert again.id != memory.id
        assert model.summarized == [tuple(f"message {n}" for n in range(1, 5)), ("message 1", "message 2")]
        assert (await user.sessions.get("s")).messages == ()
        assert (await user.sessions.withdraw("s")).memories == 1
        assert await work(worker, clock) == 0
        assert await memories(gieok) == []


async def test_a_memory_that_was_edited_by_hand_stays(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await begin(user)
        await talk(user, 1, 4)
        await user.sessions.close("s", wait=True)
        (memory,) = await memories(gieok)
        await user.companion.edit(memory.id, MemoryChanges(summary="내가 쓴 글"))
        assert (await user.sessions.withdraw("s")).memories == 0
        assert [each.summary for each in await memories(gieok)] == ["내가 쓴 글"]


async def test_a_summary_that_runs_at_that_moment_is_made_of_the_rest(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user, worker = gieok.user("minsu"), Worker(gieok)
        await begin(user)
        await talk(user, 1, 4)
        model.gate = asyncio.Event()
        await user.sessions.close("s")
        running = asyncio.create_task(worker.run_once(clock()))
        await model.asked.wait()
        await user.sessions.withdraw("s")
        model.gate.set()
        await running
        assert await memories(gieok) == []
        await work(worker, clock)
        assert model.summarized[-1] == ("message 1", "message 2")
        assert len(await memories(gieok)) == 1


async def test_withdrawn_messages_do_not_count_for_a_summary(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user, worker = gieok.user("minsu"), Worker(gieok)
        await begin(user)
        await talk(user, 1, 18)
        await user.sessions.withdraw("s")
        await talk(user, 21, 24)
        await work(worker, clock)
        assert model.summarized == [tuple(f"message {n}" for n in (*range(1, 17), *range(21, 25)))]


async def test_a_session_of_which_nothing_is_left_needs_no_summary(settings: Settings) -> None:
    model, clock = MoodyModel(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock) as gieok:
        user = gieok.user("minsu")
        await begin(user)
        await talk(user, 1, 4)
        await user.sessions.withdraw("s", "m1")
        assert (await user.sessions.close("s", wait=True)).jobs == ()
        assert await work(Worker(gieok), clock) <= 1  # the watch over its inactivity
        assert model.summarized == []


async def test_an_export_keeps_what_was_withdrawn(settings: Settings) -> None:
    async with await Gieok.open(settings, model=Gated()) as gieok:
        user, other = gieok.user("minsu"), gieok.user("jieun")
        await opened(user)
        await say(user, BUSAN)
        await say(user, SEOUL)
        await user.sessions.withdraw("s")
        taken = await export(user)
        await other.data.import_(pieces(taken))
        assert records(await export(other)) == records(taken)
        assert await other.sessions.log("s") == await user.sessions.log("s")
        assert (await other.sessions.get("s")).session.message_count == 2
        assert await other.sessions.withdraw("s") == Withdrawal(messages=2, facts=1, memories=1)
        assert await values(other) == []
        await user.data.import_(pieces(taken))
