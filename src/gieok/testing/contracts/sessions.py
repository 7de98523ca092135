"""Contract suite for stores of sessions and messages. Subclass it and define the fixture `log_scope_of`.

class TestMyStore(MessageStoreContract):
    @pytest.fixture
    def log_scope_of(self): ...   # owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

import pytest

from gieok.errors import Conflict, InputRefused, NotFound, PlanHashMismatch, SessionEnded
from gieok.memory.sessions.records import (
    Appended,
    ChatMessage,
    MessageRange,
    Role,
    Session,
    SessionPlans,
    SessionStart,
)
from gieok.memory.sessions.store import LogView

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
HASH, OTHER_HASH = "a" * 64, "b" * 64
PLANS = SessionPlans(
    save_messages=f"save@{HASH}",
    close=f"close@{HASH}",
    close_inactive=f"close_inactive@{HASH}",
    request_summary=f"request@{HASH}",
    summarize=f"summarize@{HASH}",
    remember=None,
    move=f"move@{HASH}",
)
"""What the chat plan of these sessions names."""


class LogScope(Protocol):
    """One owner's sessions and their messages, with one transaction per call."""

    async def read(self, work: Callable[[LogView], T]) -> T: ...
    async def write(self, work: Callable[[LogView], T]) -> T: ...


LogScopeOf = Callable[[str], LogScope]


def message(number: int, content: str | None = None, role: Role = "user") -> ChatMessage:
    """A message with the id `m<number>`, sent this many minutes after the start."""
    return ChatMessage(
        id=f"m{number}",
        role=role,
        content=f"message {number}" if content is None else content,
        timestamp=START + timedelta(minutes=number),
    )


async def start(scope: LogScope, session_ref: str = "s") -> Session:
    begun = SessionStart(
        session_ref=session_ref, persona_id="hana", account_plan="free", plan_hash=HASH, plans=PLANS
    )
    return await scope.write(lambda view: view.sessions.start(begun, START))


async def remember(scope: LogScope, plan_hash: str = HASH, persona_id: str | None = None) -> None:
    await scope.write(
        lambda view: view.sessions.record_plan(
            "s",
            plan_hash,
            START,
            plans=PLANS,
            persona_id=persona_id,
            account_plan="premium",
            default_account_plan="free",
        )
    )


async def append(
    scope: LogScope,
    *messages: ChatMessage,
    session_ref: str = "s",
    at: datetime = START,
    expected_revision: int | None = None,
) -> Appended:
    return await scope.write(lambda view: view.messages.append(session_ref, messages, at, expected_revision))


async def logged(scope: LogScope, session_ref: str = "s") -> Sequence[ChatMessage]:
    span = MessageRange(first=1, last=1000)
    return await scope.read(lambda view: view.messages.between(session_ref, span))


class MessageStoreContract:
    """Run against every store of sessions and messages."""

    @pytest.mark.req("ENG-9")
    async def test_a_session_keeps_the_plans_that_serve_it(self, log_scope_of: LogScopeOf) -> None:
        """As its first turn or its start named them, until it is moved to another plan."""
        scope = log_scope_of("minsu")
        await remember(scope)
        await start(scope, "t")
        for session_ref in ("s", "t"):
            session = await scope.read(lambda view, ref=session_ref: view.sessions.get(ref))
            assert session is not None
            assert session.plans == PLANS
        other = PLANS.model_copy(update={"close": f"other@{HASH}"})
        await scope.write(lambda view: view.sessions.move("s", OTHER_HASH, other, START))
        assert (await scope.write(lambda view: view.sessions.lock("s"))).plans == other
        await scope.write(lambda view: view.sessions.move("s", HASH, None, START))
        assert (await scope.write(lambda view: view.sessions.lock("s"))).plans is None

    async def test_the_open_session_with_a_persona_is_the_one_used_last(
        self, log_scope_of: LogScopeOf
    ) -> None:
        """Of one owner, persona and plan, not ended, and used after a time."""
        scope = log_scope_of("minsu")

        async def found(since: datetime | None = None, persona_id: str = "hana") -> str | None:
            session = await scope.read(lambda view: view.sessions.find_open(persona_id, HASH, since))
            return session and session.session_ref

        assert await found() is None
        for session_ref in ("s", "t"):
            await start(scope, session_ref)
        await append(scope, message(1), session_ref="s", at=START + timedelta(minutes=1))
        await start(log_scope_of("jiyoung"), "u")
        assert (await found(), await found(persona_id="hugo")) == ("s", None)
        assert await found(START) == "s"
        assert await found(START + timedelta(minutes=1)) is None
        await scope.write(lambda view: view.sessions.move("s", OTHER_HASH, None, START))
        assert await found() == "t"
        await scope.write(lambda view: view.sessions.end("t", START))
        assert await found() is None

    @pytest.mark.req("COMP-10", "SESS-4")
    async def test_messages_are_returned_in_order_and_unchanged(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        said = (message(1, "내일 면접이 있어"), message(2, "떨리겠다! 🙂", role="assistant"), message(3))
        assert await append(scope, *said[:2]) == Appended(added=2, message_count=2)
        assert await append(scope, said[2]) == Appended(added=1, message_count=3)
        assert tuple(await logged(scope)) == said

    @pytest.mark.req("SESS-1")
    async def test_the_window_is_the_newest_messages_oldest_first(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        await append(scope, *(message(number) for number in range(1, 14)))
        window = await scope.read(lambda view: view.messages.window("s", 10))
        assert [said.id for said in window] == [f"m{number}" for number in range(4, 14)]

    @pytest.mark.req("SESS-4")
    async def test_a_repeated_message_changes_nothing(self, log_scope_of: LogScopeOf) -> None:
        """Also within one batch, and also after the session has ended."""
        scope = log_scope_of("minsu")
        await start(scope)
        await append(scope, message(1))
        assert await append(scope, message(1), message(2), message(2)) == Appended(added=1, message_count=2)
        await scope.write(lambda view: view.sessions.end("s", START))
        assert await append(scope, message(1), message(2)) == Appended(added=0, message_count=2)
        assert [said.id for said in await logged(scope)] == ["m1", "m2"]

    @pytest.mark.req("SESS-4")
    @pytest.mark.parametrize("other", [message(1, "changed"), message(1, role="assistant")])
    async def test_a_repeated_id_with_other_content_is_a_conflict(
        self, log_scope_of: LogScopeOf, other: ChatMessage
    ) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        await append(scope, message(1))
        with pytest.raises(Conflict, match="m1"):
            await append(scope, message(2), other)
        assert tuple(await logged(scope)) == (message(1),)

    async def test_a_stale_expected_revision_is_a_conflict(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        await append(scope, message(1), expected_revision=0)
        with pytest.raises(Conflict, match="added or withdrawn"):
            await append(scope, message(2), expected_revision=0)
        assert tuple(await logged(scope)) == (message(1),)

    @pytest.mark.req("SESS-2")
    async def test_an_ended_session_accepts_no_messages(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        ended = await scope.write(lambda view: view.sessions.end("s", START))
        with pytest.raises(SessionEnded):
            await append(scope, message(1))
        with pytest.raises(SessionEnded):
            await remember(scope)
        later = START + timedelta(hours=1)
        assert await scope.write(lambda view: view.sessions.end("s", later)) == ended

    async def test_an_unknown_session_is_not_found(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        with pytest.raises(NotFound):
            await append(scope, message(1))
        with pytest.raises(NotFound):
            await scope.write(lambda view: view.sessions.end("s", START))
        assert await scope.read(lambda view: view.sessions.get("s")) is None
        assert list(await logged(scope)) == []

    async def test_a_session_cannot_be_started_twice(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        first = await start(scope)
        with pytest.raises(Conflict, match="already"):
            await start(scope)
        assert await scope.read(lambda view: view.sessions.get("s")) == first

    async def test_messages_need_a_session_with_a_persona(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await remember(scope)
        with pytest.raises(InputRefused, match="persona"):
            await append(scope, message(1))
        await remember(scope, persona_id="hana")
        await append(scope, message(1))
        session = await scope.read(lambda view: view.sessions.get("s"))
        assert session is not None
        assert (session.persona_id, session.account_plan) == ("hana", "premium")

    @pytest.mark.req("ENG-9", "COMP-7")
    async def test_the_plan_and_persona_of_a_session_do_not_change(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        with pytest.raises(PlanHashMismatch):
            await remember(scope, OTHER_HASH)
        with pytest.raises(Conflict, match="another persona"):
            await remember(scope, persona_id="mina")

    async def test_the_time_of_the_last_activity_never_decreases(self, log_scope_of: LogScopeOf) -> None:
        scope = log_scope_of("minsu")
        await start(scope)
        later = START + timedelta(minutes=9)
        await append(scope, message(1), at=later)
        await append(scope, message(2), at=START + timedelta(minutes=3))
        session = await scope.read(lambda view: view.sessions.get("s"))
        assert session is not None
        assert (session.started_at, session.last_activity_at) == (START, later)

    @pytest.mark.req("OPS-4", "COMP-7")
    async def test_owners_and_sessions_are_isolated(self, log_scope_of: LogScopeOf) -> None:
        minsu, jiyoung = log_scope_of("minsu"), log_scope_of("jiyoung")
        await start(minsu)
        await start(minsu, "s2")
        await start(jiyoung)
        await append(minsu, message(1, "minsu's"))
        await append(jiyoung, message(1, "jiyoung's"))
        assert [said.content for said in await logged(minsu)] == ["minsu's"]
        assert list(await logged(minsu, "s2")) == []
        assert [said.content for said in await logged(jiyoung)] == ["jiyoung's"]
