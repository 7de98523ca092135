"""Compaction: a long conversation fits its budget, and signposts lead back to the original messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gieok import Gieok, Message, PersonaDraft, Settings
from gieok.app import offline_model
from gieok.app.decisions import CompactedConversation, Decisions
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused, ModelUnavailable, NotFound, PlanInvalid, StepFailed
from gieok.memory.decisions.compaction import (
    ConversationMessage,
    KeepSignpostsInputs,
    Signpost,
    count_fitting,
    shorten_hint,
    split_conversation,
)
from gieok.memory.sessions.records import ChatMessage
from gieok.plans import read_plan
from gieok.testing.contracts.decisions import START
from gieok.testing.models import CountingModel
from gieok.text import count_tokens
from tests.behind import Behind

BUDGET, CHUNK, HINT = 400, 100, 20


def plan(**metadata: Any) -> ExecutionPlan:
    """The shipped plan with a small budget."""
    document = json.loads(read_plan("compact_conversation"))
    compact = next(step for step in document["steps"] if step["id"] == "compact")
    small = {"tokenBudget": BUDGET, "maxTokenBudget": 2 * BUDGET, "chunkTokens": CHUNK, "hintTokens": HINT}
    compact["metadata"] |= small | metadata
    return make_plan(document)


def talk(messages: int, start: int = 0) -> list[Message]:
    """A conversation of distinct messages."""
    return [
        Message(
            role="user" if number % 2 == 0 else "assistant",
            content=f"메시지 {number}번: 면접 준비와 데이터베이스 설계를 이야기했다. "
            + "정말로. " * (number % 5),
        )
        for number in range(start, start + messages)
    ]


def size(compacted: CompactedConversation) -> int:
    """The size of a compacted conversation in tokens."""
    hints = sum(count_tokens(anchor.hint) for anchor in compacted.anchors)
    return hints + sum(count_tokens(f"{one.role}: {one.content}") for one in compacted.messages)


async def originals(decisions: Decisions, compacted: CompactedConversation) -> list[str]:
    """The evidence that the signposts lead to."""
    return [
        (await decisions.evidence(target.id)).content
        for anchor in compacted.anchors
        for target in anchor.targets
    ]


@pytest.fixture
def decisions(gieok: Gieok) -> Decisions:
    return gieok.user("minsu").decisions


@pytest.mark.req("DEC-1", "DEC-14")
async def test_a_long_conversation_fits_the_budget_and_its_messages_are_kept_as_evidence(
    decisions: Decisions,
) -> None:
    messages = talk(40)
    compacted = await decisions.compact("s1", messages, plan=plan())
    assert size(compacted) <= BUDGET
    assert compacted.left_out == 0
    kept = [message.content for message in messages[len(messages) - len(compacted.messages) :]]
    assert [message.content for message in compacted.messages] == kept
    spoken = "\n\n".join(await originals(decisions, compacted))
    expected = [f"{message.role}: {message.content}" for message in messages[: -len(kept)]]
    assert spoken == "\n\n".join(expected)
    assert {anchor.session_ref for anchor in compacted.anchors} == {"s1"}


async def test_a_conversation_within_its_budget_is_unchanged(decisions: Decisions, behind: Behind) -> None:
    messages = talk(3)
    compacted = await decisions.compact("s1", messages, plan=plan())
    assert (compacted.anchors, compacted.messages) == ((), messages)
    assert (behind.count("anchors"), behind.count("evidence")) == (0, 0)


@pytest.mark.req("DEC-14")
async def test_a_conversation_beyond_the_output_limit_of_a_step_is_compacted(decisions: Decisions) -> None:
    """Its messages are stored from the request and are in no step output."""
    messages = [Message(role="user", content=f"{number} " + "가나다라 " * 20_000) for number in range(24)]
    assert sum(len(message.content.encode()) for message in messages) > 5 * 1024 * 1024
    metadata = {
        "tokenBudget": 100_000,
        "maxTokenBudget": 100_000,
        "chunkTokens": 50_000,
        "hintTokens": 20,
    }
    compacted = await decisions.compact("s1", messages, plan=plan(**metadata))
    spoken = await originals(decisions, compacted)
    kept = len(messages) - len(compacted.messages)
    assert "\n\n".join(spoken) == "\n\n".join(f"user: {one.content}" for one in messages[:kept])


async def test_a_signpost_beyond_the_conversation_is_refused() -> None:
    with pytest.raises(ValidationError, match="a message that the conversation does not have"):
        KeepSignpostsInputs(
            session_ref="s1",
            messages=(ConversationMessage(role="user", content="one"),),
            signposts=(Signpost(hint="a hint", first=1, count=2),),
        )


class ScriptedModel(CountingModel):
    """Counts its calls, and returns or raises a given answer."""

    def __init__(self) -> None:
        self.calls = 0
        self.answer: str | Exception | None = None

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return await super().hint_conversation(messages, hint_tokens=hint_tokens, today=today)


async def test_a_longer_conversation_keeps_its_signposts(settings: Settings) -> None:
    """Earlier anchors stay, and the model is called only for new chunks."""
    model = ScriptedModel()
    async with await Gieok.open(settings, model=model) as gieok:
        decisions = gieok.user("minsu").decisions
        first = await decisions.compact("s1", talk(30), plan=plan())
        assert model.calls == len(first.anchors)
        second = await decisions.compact("s1", talk(40), plan=plan())
        assert second.anchors[: len(first.anchors)] == first.anchors
        assert model.calls == len(second.anchors) > len(first.anchors)
        assert len(await decisions.anchors("s1")) == len(second.anchors)


async def test_concurrent_compactions_save_each_anchor_once(decisions: Decisions) -> None:
    first, second = await asyncio.gather(*(decisions.compact("s1", talk(30), plan=plan()) for _ in range(2)))
    assert first.anchors == second.anchors
    assert len(await decisions.anchors("s1")) == len(first.anchors)


async def test_the_same_conversation_in_two_sessions_shares_its_evidence(
    decisions: Decisions, behind: Behind
) -> None:
    one = await decisions.compact("s1", talk(30), plan=plan())
    two = await decisions.compact("s2", talk(30), plan=plan())
    assert {anchor.session_ref for anchor in two.anchors} == {"s2"}
    assert [anchor.targets for anchor in one.anchors] == [anchor.targets for anchor in two.anchors]
    assert behind.count("evidence") == len(one.anchors)


@pytest.mark.req("DEC-14")
async def test_signposts_beyond_the_budget_are_stored_and_counted(settings: Settings) -> None:
    """Hints count too. The oldest are left out of the prompt first, and all are stored."""
    model = ScriptedModel()
    model.answer = "여기에서 저장소를 무엇으로 할지 정했다"
    async with await Gieok.open(settings, model=model) as gieok:
        decisions = gieok.user("minsu").decisions
        compacted = await decisions.compact("s1", talk(300), plan=plan())
        assert compacted.left_out > 0
        assert size(compacted) <= BUDGET
        everything = await decisions.anchors("s1", limit=1_000)
        assert len(everything) == len(compacted.anchors) + compacted.left_out


@pytest.mark.req("ENG-6", "DEC-14")
@pytest.mark.parametrize("answer", [ModelUnavailable("away"), "", " \n"])
async def test_nothing_is_stored_when_the_model_gives_no_hint(
    settings: Settings, behind: Behind, answer: str | Exception
) -> None:
    model = ScriptedModel()
    model.answer = answer
    async with await Gieok.open(settings, model=model) as gieok:
        with pytest.raises(StepFailed) as failed:
            await gieok.user("minsu").decisions.compact("s1", talk(30), plan=plan())
        assert isinstance(failed.value.cause, ModelUnavailable)
    assert (behind.count("anchors"), behind.count("evidence")) == (0, 0)


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize(
    "metadata", [{"tokenBudget": None}, {"chunkTokens": BUDGET}, {"hintTokens": CHUNK}, {"hintTokens": 0}]
)
async def test_invalid_sizes_in_the_plan_are_refused(decisions: Decisions, metadata: dict[str, Any]) -> None:
    with pytest.raises(PlanInvalid, match="metadata"):
        await decisions.compact("s1", talk(3), plan=plan(**metadata))


@pytest.mark.parametrize(
    ("session", "messages", "at"),
    [
        ("a b", talk(1), "sessionRef"),
        ("s", [], "messages"),
        ("s", [Message(role="user", content="\x00")], "content"),
    ],
)
async def test_an_invalid_conversation_is_refused(
    decisions: Decisions, session: str, messages: list[Message], at: str
) -> None:
    with pytest.raises(InputRefused, match=at):
        await decisions.compact(session, messages, plan=plan())


CONVERSATIONS = st.lists(
    st.builds(
        ConversationMessage,
        role=st.sampled_from(["user", "assistant"]),
        content=st.text("ab 가나.😀", max_size=60),
    ),
    min_size=1,
    max_size=30,
)


@given(CONVERSATIONS, st.integers(20, 200), st.integers(3, 19))
def test_splitting_loses_no_message_and_replaces_no_more_than_needed(
    messages: list[ConversationMessage], budget: int, chunk: int
) -> None:
    made = split_conversation(messages, budget, chunk, hint_tokens=2)
    replaced = [message for each in made.chunks for message in each.messages]
    assert [*replaced, *made.kept] == messages
    assert made.kept
    assert made.kept_tokens == sum(count_tokens(message.line) for message in made.kept)
    assert all(each.tokens <= chunk or len(each.messages) == 1 for each in made.chunks)
    if made.chunks:
        before = made.kept_tokens + made.chunks[-1].tokens
        assert before + 2 * (len(made.chunks) - 1) > budget, "the last chunk had to be replaced"


@settings(deadline=None)
@given(CONVERSATIONS, CONVERSATIONS, st.integers(20, 200))
def test_a_longer_conversation_is_split_at_the_same_places(
    messages: list[ConversationMessage], more: list[ConversationMessage], budget: int
) -> None:
    short, long = (
        split_conversation(messages, budget, 15, 2),
        split_conversation([*messages, *more], budget, 15, 2),
    )
    assert long.chunks[: len(short.chunks)] == short.chunks


@given(st.text("ab 가나\n.😀", max_size=700), st.integers(1, 60))
def test_a_hint_is_shortened_to_its_limits(hint: str, limit: int) -> None:
    made = shorten_hint(hint, limit)
    assert count_tokens(made) <= limit
    assert len(made) <= 500
    assert "\n" not in made
    assert " ".join(hint.split()).startswith(made)


def test_the_newest_hints_are_kept_within_the_budget() -> None:
    hints = ["가" * 10] * 5
    assert count_tokens(hints[0]) == 6
    assert [count_fitting(hints, 10, budget) for budget in (9, 10, 16, 27, 40, 99)] == [0, 0, 1, 2, 5, 5]


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        (["데이터베이스는 SQLite로 정했어.", "그래, 나중에 옮기자."], "데이터베이스"),
        (["I decided to keep the invoices in PostgreSQL.", "Noted."], "invoices"),
        (["안녕"], ""),
        ([""], ""),
    ],
)
async def test_the_offline_model_writes_hints_in_the_language_of_the_conversation(
    said: list[str], topic: str
) -> None:
    messages = [
        ConversationMessage(role="assistant" if number else "user", content=text)
        for number, text in enumerate(said)
    ]
    hint = await offline_model().hint_conversation(messages, hint_tokens=HINT, today=date(2026, 3, 5))
    assert hint.strip()
    assert topic in hint


@pytest.mark.req("ENG-5", "DEC-14")
async def test_a_request_chooses_its_budget_within_the_limits_of_the_plan(decisions: Decisions) -> None:
    """The chunks are the same, so the larger budget has anchors of the smaller one."""
    small = await decisions.compact("s", talk(30), budget=CHUNK + 50, plan=plan())
    large = await decisions.compact("s", talk(30), budget=2 * BUDGET, plan=plan())
    assert size(small) <= CHUNK + 50 < size(large) <= 2 * BUDGET
    assert len(large.messages) > len(small.messages)
    assert {anchor.id for anchor in large.anchors} <= {anchor.id for anchor in await decisions.anchors("s")}
    assert [card.id for card in large.evidence] == [anchor.targets[0].id for anchor in large.anchors]
    for budget in (CHUNK, 2 * BUDGET + 1):
        with pytest.raises(InputRefused, match="budget"):
            await decisions.compact("s", talk(30), budget=budget, plan=plan())


@pytest.mark.req("DEC-14", "DEC-1")
async def test_a_stored_session_is_compacted_from_its_log(gieok: Gieok, decisions: Decisions) -> None:
    """The evidence has the oldest messages word for word, and the log itself does not change."""
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="하나", system_prompt="너는 하나야."), persona_id="hana")
    await user.sessions.start("hana", plan="chat_turn", session_ref="talk")
    long = [
        ChatMessage(id=f"m{number}", role="user", content=f"{number}: " + "긴 이야기 " * 100, timestamp=START)
        for number in range(20)
    ]
    await user.sessions.save_messages("talk", long)
    compacted = await decisions.compact_session("talk", budget=1_500)
    assert [anchor.session_ref for anchor in compacted.anchors] == ["talk"] * len(compacted.anchors)
    first = await decisions.evidence(compacted.evidence[0].id)
    assert first.content.startswith(f"user: {long[0].content}\n\nuser: {long[1].content}".rstrip())
    assert 0 < len(compacted.messages) < 20
    assert list(await user.sessions.log("talk")) == long
    with pytest.raises(NotFound):
        await decisions.compact_session("unknown")
