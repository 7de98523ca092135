"""Imported conversations become sessions: whole or not at all, once, on both databases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gieok import Gieok, PersonaDraft, User
from gieok.adapters.sql.stores.sessions import SqlSessionStore
from gieok.errors import InputRefused, NotFound
from gieok.memory.companion.records import MemoryChanges
from tests.imports.chat_files import AGENT, CHATGPT, MEM0, jsonl, sillytavern
from tests.owner_data.world import export, pieces

pytestmark = pytest.mark.req("INT-4")
CHAT = jsonl(*sillytavern())


def as_file(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


async def with_hana(gieok: Gieok, owner: str = "minsu") -> User:
    user = gieok.user(owner)
    await user.personas.create(PersonaDraft(name="하나", system_prompt="너는 하나야."), persona_id="hana")
    return user


async def test_a_chat_is_a_session_that_has_ended(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    progress: list[tuple[int, int]] = []
    done = await user.imports.chats(CHAT, "hana", report=lambda done, all_: progress.append((done, all_)))
    [made] = done.conversations
    assert (made.title, made.messages, made.added, made.error) == ("하나", 3, 3, None)
    assert progress == [(1, 1), (1, 1)]
    session = (await user.sessions.get(made.session_ref)).session
    assert (session.persona_id, session.message_count) == ("hana", 3)
    assert session.started_at == made.started_at
    assert session.ended_at == session.last_activity_at == made.last_message_at
    log = await user.sessions.log(made.session_ref)
    assert [each.content for each in log] == ["왔어?", "내일 면접이야", "잘할 거야!"]
    assert await user.jobs.list() == []


async def test_repeating_an_import_changes_nothing(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    first = await user.imports.chats(CHAT, "hana")
    before = await export(user)
    again = await user.imports.chats(CHAT, "hana")
    assert again.conversations[0].session_ref == first.conversations[0].session_ref
    assert again.conversations[0].added == 0
    assert _records(await export(user)) == _records(before)


def _records(exported: bytes) -> list[bytes]:
    """The records of an export, without the audit trail, in which each export is recorded."""
    return [line for line in exported.splitlines()[1:-1] if b'"kind":"audit"' not in line]


async def test_a_grown_chat_adds_what_is_new(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    lines = sillytavern()
    [first] = (await user.imports.chats(CHAT, "hana")).conversations
    more = [{"is_user": True, "mes": f"고마워 {n}", "send_date": 1_718_900_000_000 + n} for n in range(2)]
    [second] = (await user.imports.chats(jsonl(*lines, more[0]), "hana")).conversations
    assert (await user.imports.chats(jsonl(*lines, more[0]), "hana")).conversations[0].added == 0
    [third] = (await user.imports.chats(jsonl(*lines, *more), "hana")).conversations
    refs = [each.session_ref for each in (first, second, third)]
    assert len(set(refs)) == 3
    logs = [[each.content for each in await user.sessions.log(ref)] for ref in refs[1:]]
    assert logs == [["고마워 0"], ["고마워 1"]]
    edited = [*lines[:2], {**lines[2], "mes": "다른 말"}, *lines[3:]]
    [changed] = (await user.imports.chats(jsonl(*edited), "hana")).conversations
    assert (changed.added, changed.error) == (0, "its messages were changed since they were imported")
    assert len((await user.sessions.list("hana")).sessions) == 3


async def test_a_dry_run_says_what_would_come_and_stores_nothing(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    for content in (CHAT, as_file(CHATGPT), as_file(AGENT), as_file(MEM0)):
        would = await user.imports.chats(content, "hana", dry_run=True)
        assert (await user.sessions.list("hana")).sessions == ()
        assert (await user.companion.list("hana")).total == 0
        assert await user.imports.chats(content, "hana") == would
        for each in would.conversations:
            await user.sessions.delete(each.session_ref)
        await user.companion.delete_all("hana")


async def test_a_conversation_is_stored_whole_or_not_at_all(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two conversations fails in its commit: the first stays, and a repeat adds the rest."""
    user = await with_hana(gieok)
    other = {**CHATGPT[0], "conversation_id": "conv-3", "title": "Other"}
    content = as_file([CHATGPT[0], other])
    stored: list[str] = []
    end = SqlSessionStore.end

    def fail_second(store: SqlSessionStore, session_ref: str, at: Any) -> Any:
        stored.append(session_ref)
        if len(stored) == 2:
            raise InputRefused("the disk is full")
        return end(store, session_ref, at)

    monkeypatch.setattr(SqlSessionStore, "end", fail_second)
    with pytest.raises(InputRefused, match="disk"):
        await user.imports.chats(content, "hana")
    assert [each.message_count for each in (await user.sessions.list("hana")).sessions] == [4]
    done = await user.imports.chats(content, "hana")
    assert [each.added for each in done.conversations] == [0, 4]


async def test_a_long_conversation_is_one_commit(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    said = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n}번"} for n in range(1_001)]
    [made] = (await user.imports.chats(as_file({"messages": said}), "hana")).conversations
    assert (await user.sessions.get(made.session_ref)).session.message_count == 1_001


async def test_remembering_is_optional(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    done = await user.imports.chats(CHAT, "hana", remember=True)
    kinds = {each.kind for each in await user.jobs.list()}
    assert kinds == {"remember", "summary"}
    await user.sessions.close(done.conversations[0].session_ref, wait=True)
    assert (await user.companion.list("hana")).total == 1


async def test_memories_are_imported_once_and_keep_their_edits(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    done = await user.imports.chats(as_file(MEM0), "hana")
    assert (done.format, done.memories, done.memories_added) == ("mem0", 2, 2)
    hit = (await user.companion.search("hana", "hiking"))[0]
    assert (hit.memory.summary, hit.memory.tags) == ("Likes hiking", ("hobbies",))
    assert f"{hit.memory.occurred_at:%Y-%m-%d}" == "2024-07-20"
    await user.companion.edit(hit.memory.id, MemoryChanges(summary="Loves hiking"))
    again = await user.imports.chats(as_file(MEM0), "hana")
    assert again.memories_added == 0
    assert (await user.companion.get(hit.memory.id)).summary == "Loves hiking"
    letta = await user.imports.chats(as_file(AGENT), "hana")
    assert (letta.memories_added, len(letta.conversations)) == (1, 1)


async def test_an_imported_session_is_in_the_export(gieok: Gieok) -> None:
    user, other = await with_hana(gieok), gieok.user("jisu")
    [made] = (await user.imports.chats(CHAT, "hana")).conversations
    await other.data.import_(pieces(await export(user)))
    assert await other.sessions.log(made.session_ref) == await user.sessions.log(made.session_ref)


async def test_an_unknown_persona_or_a_wrong_file_changes_nothing(gieok: Gieok) -> None:
    user = await with_hana(gieok)
    with pytest.raises(NotFound):
        await user.imports.chats(CHAT, "nobody")
    for content in (b"", b"{}", CHAT[:-30], CHAT + b"{"):
        with pytest.raises(InputRefused):
            await user.imports.chats(content, "hana")
    with pytest.raises(InputRefused):
        await user.imports.chats(CHAT, "hana", file_format="mem0")
    assert (await user.sessions.list("hana")).sessions == ()
