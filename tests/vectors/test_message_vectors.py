"""Vectors of messages: made in the background, sealed, and found in a search like those of memories."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from gieok import Gieok, PersonaDraft, Settings, User, Worker
from gieok.errors import StepFailed
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.contracts.companion import memory, save
from gieok.testing.embedders import LetterEmbedder
from tests.behind import Behind

SAID = ("zebra zebra", "an ox in the mud", "quiet fjord")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def embedding(settings: Settings) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, embedder=LetterEmbedder(), background=False) as opened:
        yield opened


async def tell(gieok: Gieok, *texts: str, session: str = "s1") -> User:
    user = gieok.user("minsu")
    if not await user.personas.list():
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    await user.sessions.start("hana", plan="chat_turn", session_ref=session)
    messages = [
        ChatMessage(id=f"{session}-{number}", role="user", content=text, timestamp=AT)
        for number, text in enumerate(texts)
    ]
    await user.sessions.save_messages(session, messages, remember=False)
    return user


async def by_meaning(user: User, query: str) -> list[str]:
    """The hits that have a vector, the closest first."""
    hits = await user.companion.search("hana", query, kinds="all")
    close = [hit for hit in hits if "vectors" in hit.why.signals]
    return [hit.text for hit in sorted(close, key=lambda hit: -hit.why.signals["vectors"].value)]


@pytest.mark.req("MIND-10")
async def test_a_message_is_found_by_its_vector(embedding: Gieok) -> None:
    """Among memories, without a word in common, and with a confidence that says so."""
    user = await tell(embedding, *SAID)
    await save(embedding.scope("minsu"), memory("bold fox", persona_id="hana"))
    assert await by_meaning(user, "brazeaze") == []
    assert await user.companion.embed() == 4
    assert (await by_meaning(user, "brazeaze"))[0] == "zebra zebra"
    hit = (await user.companion.search("hana", "brazeaze", kinds="all"))[0]
    assert hit.why.matched_words == ()
    assert hit.confidence == hit.why.confidence.meaning > 0.3


async def test_later_messages_are_embedded_too_and_each_once(settings: Settings) -> None:
    embedder = LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder, background=False) as gieok:
        user = await tell(gieok, *SAID)
        assert await user.companion.embed(limit=1) >= 1
        await user.companion.embed()
        await tell(gieok, "a lazy zebra", session="s2")
        assert await user.companion.embed() == 1
        assert sorted(embedder.embedded) == sorted([*SAID, "a lazy zebra"])
        assert set((await by_meaning(user, "zebra"))[:2]) == {"zebra zebra", "a lazy zebra"}


async def test_another_embedder_embeds_messages_again(settings: Settings) -> None:
    async with await Gieok.open(settings, embedder=LetterEmbedder(), background=False) as gieok:
        user = await tell(gieok, *SAID)
        await user.companion.embed()
    async with await Gieok.open(
        settings, embedder=LetterEmbedder("other", dimension=16), background=False
    ) as gieok:
        user = gieok.user("minsu")
        assert await by_meaning(user, "zebra") == []
        assert await user.companion.embed() == len(SAID)
        assert (await by_meaning(user, "zebra"))[0] == "zebra zebra"


async def test_the_background_embeds_messages(settings: Settings) -> None:
    async with await Gieok.open(settings, embedder=LetterEmbedder(), background=False) as gieok:
        user, worker = await tell(gieok, *SAID), Worker(gieok)
        while await worker.run_once(gieok.engine.clock()):
            pass
        assert (await by_meaning(user, "brazeaze"))[0] == "zebra zebra"


async def test_a_message_that_is_deleted_or_withdrawn_is_not_found(embedding: Gieok) -> None:
    user = await tell(embedding, *SAID)
    turn = await user.chat.send("hana", "crazy zebra", new_session=True)
    await user.companion.embed()
    assert "crazy zebra" in await by_meaning(user, "zebra")
    await user.sessions.withdraw(turn.session_ref)
    assert "crazy zebra" not in await by_meaning(user, "zebra")
    await user.sessions.delete("s1")
    assert "zebra zebra" not in await by_meaning(user, "zebra")


async def test_a_vector_is_sealed_and_bound_to_its_message(embedding: Gieok, behind: Behind) -> None:
    user = await tell(embedding, *SAID)
    await user.companion.embed()
    one = "(SELECT vector FROM messages WHERE number = 1)"
    behind.run(f"UPDATE messages SET vector = {one} WHERE number = 2")
    with pytest.raises(StepFailed, match="cannot be opened"):
        await by_meaning(user, "zebra")


async def test_vectors_of_messages_survive_a_new_key(embedding: Gieok, behind: Behind) -> None:
    user = await tell(embedding, *SAID)
    await user.companion.embed()
    before = behind.run("SELECT vector FROM messages ORDER BY number")
    await user.rotate_key()
    assert behind.run("SELECT vector FROM messages ORDER BY number") != before
    assert (await by_meaning(user, "brazeaze"))[0] == "zebra zebra"
