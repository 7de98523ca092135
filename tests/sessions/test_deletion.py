"""Listing sessions, reading their whole log, and deleting sessions and personas with what belongs to them."""

from __future__ import annotations

from typing import Any

import pytest

from gieok import Gieok, MemoryDraft
from gieok.app import User
from gieok.errors import InputRefused, NotFound
from gieok.memory.canon.records import FactDraft, FactSource
from gieok.memory.observations import Category
from tests.behind import Behind
from tests.owner_data.world import FRIEND, HANA, fill
from tests.sessions.conversation import said
from tests.turns.run_turn import run_turn


@pytest.fixture
def user(gieok: Gieok) -> User:
    return gieok.user("minsu")


async def talk(user: User, session_ref: str, persona_id: str = "hana", messages: int = 3) -> None:
    await user.sessions.start(persona_id, plan="chat_turn", session_ref=session_ref)
    await user.sessions.save_messages(session_ref, said(1, messages))


async def remember(gieok: Gieok, session_ref: str) -> None:
    """A memory and a fact that came from this session."""
    user = gieok.user("minsu")
    draft = MemoryDraft(persona_id="hana", summary=f"{session_ref}의 기억", session_ref=session_ref)
    await user.companion.create(draft, account_plan="premium")
    fact = FactDraft(
        category=Category.GOAL,
        key=session_ref,
        value="취업",
        importance=5,
        provenance="user",
        source=FactSource(session_ref=session_ref, message_id="m1"),
    )
    await save_fact(gieok, fact)


async def save_fact(gieok: Gieok, fact: FactDraft) -> None:
    now = gieok.engine.clock()

    def save(view: Any) -> None:
        view.facts.save("hana", fact, at=now)

    await gieok.scope("minsu").write(save)


@pytest.mark.req("COMP-10", "SESS-4")
async def test_sessions_are_listed_newest_first_in_pages(user: User) -> None:
    await user.personas.create(HANA, persona_id="hana")
    await user.personas.create(HANA, persona_id="duri")
    for number in range(3):
        await talk(user, f"s{number}")
    await talk(user, "other", "duri")
    first = await user.sessions.list("hana", limit=2)
    rest = await user.sessions.list("hana", limit=2, cursor=first.next_cursor)
    refs = [each.session_ref for each in (*first.sessions, *rest.sessions)]
    assert sorted(refs) == ["s0", "s1", "s2"]
    assert [each.started_at for each in first.sessions] == sorted(
        (each.started_at for each in first.sessions), reverse=True
    )
    assert rest.next_cursor is None
    assert {each.session_ref for each in (await user.sessions.list()).sessions} == {*refs, "other"}
    with pytest.raises(InputRefused, match="cursor"):
        await user.sessions.list(cursor="x")


@pytest.mark.req("COMP-10")
async def test_the_whole_log_is_read_in_pages(user: User) -> None:
    """Word for word, oldest first, also after the session has ended."""
    await user.personas.create(HANA, persona_id="hana")
    await talk(user, "s", messages=5)
    await user.sessions.close("s", wait=True)
    first = await user.sessions.log_page("s", limit=3)
    rest = await user.sessions.log_page("s", limit=3, cursor=first.next_cursor)
    assert [*first.messages, *rest.messages] == list(said(1, 5))
    assert rest.next_cursor is None
    with pytest.raises(NotFound):
        await user.sessions.log_page("unknown")


@pytest.mark.req("COMP-10", "SESS-4", "TURN-7")
async def test_a_deleted_session_leaves_its_memories_and_facts(
    gieok: Gieok, user: User, behind: Behind
) -> None:
    """Its messages, turn memories, moves and jobs are gone. Another session keeps everything."""
    await user.personas.create(HANA, persona_id="hana")
    for ref in ("s", "kept"):
        await talk(user, ref)
        await remember(gieok, ref)
    await run_turn(user, "turns", "내일 중요한 면접이 있어", persona=FRIEND)
    await user.sessions.close("s")
    deleted = await user.sessions.delete("s")
    assert (deleted.messages, deleted.memories, deleted.facts) == (3, 0, 0)
    with pytest.raises(NotFound):
        await user.sessions.get("s")
    assert behind.run("SELECT count(*) FROM jobs WHERE subject = 's'") == [(0,)]
    assert (await user.companion.list("hana")).total == 2
    assert len(await user.canon.facts("hana")) == 2
    assert len((await user.sessions.log_page("kept")).messages) == 3
    assert (await user.sessions.delete("turns")).turn_memories == 1
    assert behind.count("turn_memories") == 0
    await talk(user, "s")
    assert len((await user.sessions.log_page("s")).messages) == 3
    for ref in ("unknown", "turns"):
        with pytest.raises(NotFound):
            await user.sessions.delete(ref)


@pytest.mark.req("COMP-9", "COMP-10")
async def test_a_cascade_deletes_what_came_from_the_session(gieok: Gieok, user: User) -> None:
    """A fact that another session has changed since stays."""
    await user.personas.create(HANA, persona_id="hana")
    for ref in ("s", "kept"):
        await talk(user, ref)
        await remember(gieok, ref)
    elsewhere = FactDraft(
        category=Category.HABIT,
        key="운동",
        value="달리기",
        importance=5,
        provenance="user",
        source=FactSource(session_ref="s", message_id="m1"),
    )
    await save_fact(gieok, elsewhere)
    later = elsewhere.model_copy(
        update={"value": "수영", "source": FactSource(session_ref="kept", message_id="m1")}
    )
    await save_fact(gieok, later)
    deleted = await user.sessions.delete("s", cascade=True)
    assert (deleted.messages, deleted.memories, deleted.facts) == (3, 1, 1)
    assert [each.summary for each in (await user.companion.list("hana")).memories] == ["kept의 기억"]
    assert {each.key for each in await user.canon.facts("hana")} == {"kept", "운동"}


@pytest.mark.req("COMP-9", "COMP-10", "OPS-3")
async def test_a_persona_is_deleted_with_everything_that_belongs_to_it(
    gieok: Gieok, user: User, behind: Behind
) -> None:
    """Facts with their history, memories, sessions, messages. The rest of the owner's data stays."""
    await fill(user)
    await user.personas.create(HANA, persona_id="duri")
    await talk(user, "with-duri", "duri")
    deleted = await user.personas.delete("hana")
    assert min(deleted.memories, deleted.facts, deleted.sessions, deleted.messages) > 0
    assert [each.id for each in await user.personas.list()] == ["duri"]
    assert (await user.companion.list("hana", status="all")).total == 0
    assert (await user.companion.config("hana")).active_limit is None
    kinds = behind.run("SELECT DISTINCT kind FROM chain_versions WHERE kind <> 'persona'")
    assert {kind for (kind,) in kinds} == {"decision", "document", "policy"}
    assert behind.run("SELECT count(*) FROM sessions WHERE persona_id = 'hana'") == [(0,)]
    assert behind.run("SELECT DISTINCT session_ref FROM messages") == [("with-duri",)]
    assert len((await user.decisions.list()).decisions) > 0
    with pytest.raises(NotFound):
        await user.personas.delete("hana")
    await user.personas.create(HANA, persona_id="hana")
    assert await user.canon.facts("hana") == []


@pytest.mark.req("OPS-4")
async def test_nothing_of_another_owner_is_deleted(gieok: Gieok, user: User) -> None:
    other = gieok.user("yuna")
    for each in (user, other):
        await each.personas.create(HANA, persona_id="hana")
        await talk(each, "s")
    await user.sessions.delete("s", cascade=True)
    await user.personas.delete("hana")
    assert len((await other.sessions.log_page("s")).messages) == 3
    assert (await other.personas.get("hana")).name == HANA.name


async def test_a_deleted_session_takes_the_results_of_its_jobs_along(user: User, behind: Behind) -> None:
    """They quote the conversation."""
    await user.personas.create(HANA, persona_id="hana")
    turn = await user.chat.send("hana", "나 부산으로 이사했어", wait_memory=True)
    assert behind.count("remembered") == 1
    await user.sessions.delete(turn.session_ref)
    assert behind.count("remembered") == 0
