"""What background work leaves to be told: in the next turn with that persona, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from gieok import Gieok, Settings
from gieok.app import User
from gieok.app.background.worker import Worker
from gieok.errors import StepFailed, StoreDamaged
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.fields import AccountPlan
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from gieok.plans import plan_names
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.behind import Behind
from tests.sessions.conversation import PLAN, MoodyModel, job_plans, work

FULL = "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다."
MORE = "더 많은 메모리를 원하시면 Knock Plus를 이용하세요"
EXCERPT = "대화를 요약하지 못해 대화의 앞부분을 그대로 저장했습니다."
CHAT_PLANS = [name for name in plan_names() if name.startswith("chat_turn")]


class StumblingModel(MoodyModel):
    """Answers, and may then stumble over what comes after the answer."""

    stumbles = False

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        if self.stumbles:
            raise RuntimeError("stumbled")
        return await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model() -> StumblingModel:
    return StumblingModel()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock, model: StumblingModel) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, model=model, clock=clock, job_plans=job_plans("excerpt")) as opened:
        for owner in ("minsu", "jiyoung"):
            for persona in ("hana", "mina"):
                await opened.user(owner).personas.create(PersonaDraft(name=persona), persona_id=persona)
        yield opened


@pytest.fixture
def user(gieok: Gieok) -> User:
    return gieok.user("minsu")


async def fill(user: User) -> None:
    """Take every place of a free account with something more important than the model's summaries."""
    for number in range(5):
        draft = MemoryDraft(persona_id="hana", summary=f"{number}번째 일이 있었음.", importance=9)
        await user.companion.create(draft, account_plan="free")


async def converse(
    gieok: Gieok, clock: Clock, *, session: str = "before", account: AccountPlan = "free"
) -> None:
    """A conversation with hana that ends and is summarised in the background."""
    sessions = gieok.user("minsu").sessions
    await sessions.start("hana", plan=PLAN, session_ref=session, account_plan=account)
    await sessions.save_messages(session, [message(1, f"{session} said something")])
    await sessions.close(session)
    await work(Worker(gieok), clock)


async def told(user: User, persona: str = "hana", plan: str = "chat_turn") -> list[str]:
    turn = await user.chat.send(persona, "안녕", plan=plan)
    return [notice.korean for notice in turn.notices]


@pytest.mark.req("COMP-5")
@pytest.mark.parametrize("plan", CHAT_PLANS)
async def test_the_next_turn_has_a_notice_that_a_memory_was_archived(
    gieok: Gieok, user: User, clock: Clock, plan: str
) -> None:
    """Once, with whatever plan; a second background summary before that turn adds nothing."""
    await fill(user)
    for session in ("one", "two"):
        await converse(gieok, clock, session=session)
    assert await told(user, plan=plan) == [FULL, MORE]
    assert await told(user, plan=plan) == []


@pytest.mark.req("COMP-5")
async def test_a_notice_is_delivered_in_both_languages(gieok: Gieok, user: User, clock: Clock) -> None:
    await fill(user)
    await converse(gieok, clock)
    turn = await user.chat.send("hana", "안녕")
    assert [notice.english for notice in turn.notices] == [
        "Memory is full. Earlier conversations of lower importance are archived.",
        "For more memory, use Knock Plus",
    ]


@pytest.mark.req("COMP-7")
async def test_a_notice_is_delivered_only_to_its_user_and_persona(
    gieok: Gieok, user: User, clock: Clock
) -> None:
    await fill(user)
    await converse(gieok, clock)
    assert await told(user, "mina") == []
    assert await told(gieok.user("jiyoung")) == []
    assert await told(user) == [FULL, MORE]


@pytest.mark.req("COMP-3")
async def test_the_next_turn_has_a_notice_that_an_excerpt_replaces_a_summary(
    gieok: Gieok, user: User, clock: Clock, model: StumblingModel
) -> None:
    """The attempts that follow and fail too are not told again."""
    model.failures = 6
    await converse(gieok, clock, account="premium")
    assert await told(user) == [EXCERPT]
    clock.advance(minutes=15)
    await work(Worker(gieok), clock)
    assert model.failures == 0
    assert await told(user) == []


@pytest.mark.req("COMP-3")
async def test_a_notice_in_an_answer_is_not_delivered_again_by_a_turn(
    user: User, model: StumblingModel
) -> None:
    await fill(user)
    await user.sessions.start("hana", plan=PLAN, account_plan="free", session_ref="s")
    await user.sessions.save_messages("s", [message(1, "something")])
    model.failures = 3
    closed = await user.sessions.close("s", wait=True)
    assert [notice.korean for notice in closed.notices] == [FULL, MORE, EXCERPT]
    assert await told(user) == []


@pytest.mark.req("ENG-6")
async def test_a_failed_turn_leaves_the_notices_waiting(
    gieok: Gieok, user: User, clock: Clock, model: StumblingModel
) -> None:
    await fill(user)
    await converse(gieok, clock)
    model.stumbles = True
    with pytest.raises(StepFailed):
        await user.chat.send("hana", "안녕", plan="chat_turn_whole")
    model.stumbles = False
    assert await told(user) == [FULL, MORE]


async def test_of_concurrent_turns_one_delivers_the_notice(gieok: Gieok, user: User, clock: Clock) -> None:
    await fill(user)
    await converse(gieok, clock)
    answers = await asyncio.gather(*(told(user) for _ in range(4)))
    assert sorted(answers) == [[], [], [], [FULL, MORE]]


async def test_a_notice_of_an_unknown_kind_is_damage(
    gieok: Gieok, user: User, clock: Clock, behind: Behind
) -> None:
    await fill(user)
    await converse(gieok, clock)
    behind.run("UPDATE notices SET kind = 'other' WHERE kind = 'more'")
    with pytest.raises(StepFailed) as failed:
        await told(user)
    assert isinstance(failed.value.cause, StoreDamaged)


@pytest.mark.req("OPS-3")
async def test_erasing_an_owner_erases_notices(
    gieok: Gieok, user: User, clock: Clock, behind: Behind
) -> None:
    await fill(user)
    await converse(gieok, clock)
    assert behind.count("notices") == 2
    await user.data.erase()
    assert behind.count("notices") == 0
