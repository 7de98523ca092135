"""Idempotency keys: a repeated request returns the stored result and creates nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gieok import Gieok, Settings
from gieok.errors import Conflict, InputRefused, MemoryLimitReached, NotFound
from gieok.memory.canon.records import FactChange, PersonaDraft
from gieok.memory.companion.records import MemoryChanges, MemoryDraft
from gieok.memory.decisions.records import DecisionProposal
from gieok.memory.requests import RequestKey
from gieok.testing.clock import Clock
from tests.behind import Behind

HANA = PersonaDraft(name="하나", language="ko")
WALK = MemoryDraft(persona_id="hana", summary="한강을 함께 걸었음.")
RAIN = MemoryDraft(persona_id="hana", summary="비가 많이 왔음.")
RUST = DecisionProposal(statement="Write the parser in Rust", strength="normal", scope="global")


def named(key: str = "k1", body: bytes = b"{}") -> RequestKey:
    return RequestKey(key=key, body=body)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    async with await Gieok.open(settings, clock=clock) as opened:
        yield opened


async def test_a_repeated_request_returns_the_memory_as_it_is_now(gieok: Gieok, behind: Behind) -> None:
    companion = gieok.user("minsu").companion
    first = await companion.create(WALK, account_plan="free", once=named())
    await companion.edit(first.memory.id, MemoryChanges(importance=9))
    again = await companion.create(WALK, account_plan="free", once=named())
    assert (again.memory.id, again.memory.importance) == (first.memory.id, 9)
    assert again.archived == again.notices == ()
    assert behind.count("memories") == 1


async def test_another_request_under_the_same_key_is_a_conflict(gieok: Gieok, behind: Behind) -> None:
    companion = gieok.user("minsu").companion
    await companion.create(WALK, account_plan="free", once=named(body=b"walk"))
    with pytest.raises(Conflict, match="Idempotency-Key"):
        await companion.create(RAIN, account_plan="free", once=named(body=b"rain"))
    await companion.create(RAIN, account_plan="free", once=named("k2", b"rain"))
    assert behind.count("memories") == 2


async def test_a_persona_is_created_once(gieok: Gieok) -> None:
    """Also where the client chose its id, which is taken the second time."""
    personas = gieok.user("minsu").personas
    made = [await personas.create(HANA, once=named("k1")) for _ in range(2)]
    chosen = [await personas.create(HANA, persona_id="hana", once=named("k2")) for _ in range(2)]
    assert made[0] == made[1]
    assert chosen[0] == chosen[1]
    assert len(await personas.list()) == 2


async def test_a_decision_is_saved_once_and_its_version_is_returned(gieok: Gieok) -> None:
    """Someone else has appended a version since: the request made the one before."""
    decisions = gieok.user("minsu").decisions
    root = (await decisions.save(RUST)).root_id
    change = RUST.model_copy(update={"root_id": root, "statement": "Write the parser in Zig"})
    saved = await decisions.save(change, once=named())
    await decisions.save(RUST.model_copy(update={"root_id": root}))
    again = await decisions.save(change, once=named())
    assert (again.id, again.version, again.statement) == (saved.id, 2, "Write the parser in Zig")
    assert len(await decisions.history(root)) == 3


async def test_a_fact_is_set_and_retired_once_with_the_same_answer(gieok: Gieok, behind: Behind) -> None:
    """Also under a new data key, and although the fact was set to another value since."""
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")

    async def set_job(value: str, key: str) -> FactChange:
        return await user.canon.set_fact(
            "hana", "PERSONAL_INFO", "직업", value, once=named(key, value.encode())
        )

    first = await set_job("간호사", "k1")
    await set_job("의사", "k2")
    await user.rotate_key()
    assert await set_job("간호사", "k1") == first
    assert first.fact
    root_id = first.fact.root_id
    assert len(await user.canon.history("hana", root_id)) == 2
    with pytest.raises(Conflict, match="Idempotency-Key"):
        await set_job("요리사", "k1")
    retired = [await user.canon.retire_fact("hana", root_id, once=named("k3")) for _ in range(2)]
    assert retired[0] == retired[1]
    assert behind.files_with("간호사") == {"간호사": []}


async def test_concurrent_requests_set_a_fact_once(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await user.personas.create(HANA, persona_id="hana")
    changes = await asyncio.gather(
        *(user.canon.set_fact("hana", "PERSONAL_INFO", "직업", "간호사", once=named()) for _ in range(5))
    )
    assert all(change == changes[0] for change in changes)
    assert changes[0].fact
    assert len(await user.canon.history("hana", changes[0].fact.root_id)) == 1


async def test_evidence_is_kept_once_with_the_same_answer(gieok: Gieok) -> None:
    decisions = gieok.user("minsu").decisions
    cards = [await decisions.keep_evidence("회의록", "결정했다", once=named()) for _ in range(2)]
    assert cards[0] == cards[1]


async def test_a_repeated_import_returns_the_same_counts(gieok: Gieok) -> None:
    await gieok.user("minsu").companion.create(WALK, account_plan="free")
    exported = b"".join([piece async for piece in gieok.user("minsu").data.export()])

    async def stream() -> AsyncIterator[bytes]:
        yield exported

    data = gieok.user("jiyoung").data
    results = [await data.import_(stream(), once="k1") for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].counts["memory"] == 1
    assert (await data.import_(stream())).counts == {}


async def test_the_time_of_a_key_is_a_setting(settings: Settings, clock: Clock) -> None:
    service = replace(settings.service, idempotency_hours=2)
    async with await Gieok.open(replace(settings, service=service), clock=clock) as gieok:
        decisions = gieok.user("minsu").decisions
        first = await decisions.keep_evidence("회의록", "결정했다", once=named())
        clock.advance(hours=1, minutes=59)
        assert await decisions.keep_evidence("회의록", "결정했다", once=named()) == first
        clock.advance(minutes=1)
        await decisions.keep_evidence("회의록", "다른 내용", once=named(body=b"other"))


async def test_a_key_belongs_to_one_operation(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    await user.companion.create(WALK, account_plan="free", once=named())
    with pytest.raises(Conflict):
        await user.personas.create(HANA, once=named())


async def test_concurrent_requests_create_one_and_return_it(
    gieok: Gieok, settings: Settings, clock: Clock, behind: Behind
) -> None:
    """From two processes' worth of Gieok on the same database."""
    async with await Gieok.open(settings, clock=clock) as other:
        asked = [
            each.user("minsu").companion.create(WALK, account_plan="free", once=named())
            for each in (gieok, other) * 5
        ]
        answers = await asyncio.gather(*asked)
    assert len({kept.memory.id for kept in answers}) == 1
    assert behind.count("memories") == behind.count("requests") == 1


async def test_a_failed_request_does_not_use_up_its_key(gieok: Gieok, behind: Behind) -> None:
    """Nothing is remembered of a request that made nothing, so it can be sent again."""
    companion = gieok.user("minsu").companion
    for _ in range(5):
        await companion.create(WALK, account_plan="free")
    with pytest.raises(MemoryLimitReached):
        await companion.create(RAIN, account_plan="free", auto_archive=False, once=named())
    assert behind.count("requests") == 0
    assert (await companion.create(RAIN, account_plan="premium", auto_archive=False, once=named())).memory


async def test_a_key_is_free_again_after_a_day(gieok: Gieok, clock: Clock, behind: Behind) -> None:
    """And what is past its time is swept with the next request."""
    companion = gieok.user("minsu").companion
    first = await companion.create(WALK, account_plan="free", once=named())
    await companion.create(WALK, account_plan="free", once=named("k2"))
    clock.advance(hours=23, minutes=59)
    assert (await companion.create(WALK, account_plan="free", once=named())).memory.id == first.memory.id
    clock.advance(minutes=1)
    later = await companion.create(RAIN, account_plan="free", once=named(body=b"rain"))
    assert later.memory.id != first.memory.id
    assert behind.count("requests") == 1


async def test_each_owner_has_keys_of_their_own(gieok: Gieok) -> None:
    answers = [
        await gieok.user(owner).companion.create(WALK, account_plan="free", once=named())
        for owner in ("minsu", "jiyoung")
    ]
    assert answers[0].memory.id != answers[1].memory.id


async def test_a_deleted_memory_is_not_created_again(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    kept = await companion.create(WALK, account_plan="free", once=named())
    await companion.delete(kept.memory.id)
    with pytest.raises(NotFound):
        await companion.create(WALK, account_plan="free", once=named())


async def test_idempotency_keys_survive_a_new_data_key(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    first = await user.companion.create(WALK, account_plan="free", once=named())
    await user.rotate_key()
    again = await user.companion.create(WALK, account_plan="free", once=named())
    assert again.memory.id == first.memory.id


@pytest.mark.req("OPS-2")
async def test_neither_key_nor_request_is_stored_in_clear(gieok: Gieok, behind: Behind) -> None:
    request = named("order-7731", "비밀 이야기".encode())
    await gieok.user("minsu").companion.create(WALK, account_plan="free", once=request)
    assert behind.files_with("order-7731", "비밀 이야기") == {"order-7731": [], "비밀 이야기": []}
    assert "order-7731" not in repr(request)


@pytest.mark.req("OPS-3")
async def test_an_erasure_deletes_idempotency_keys(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("minsu")
    await user.companion.create(WALK, account_plan="free", once=named())
    await user.data.erase()
    assert behind.count("requests") == 0


@pytest.mark.parametrize("key", ["", "x" * 256, "a\nb", "a\0", "a\x7f", "\ud800"])
def test_an_invalid_key_is_refused(key: str) -> None:
    with pytest.raises(InputRefused) as refused:
        RequestKey(key=key, body=b"")
    assert refused.value.at == "Idempotency-Key"


def test_a_key_may_be_long_and_in_any_script() -> None:
    assert [RequestKey(key=key, body=b"").key for key in ("x" * 255, "주문 7", "🙂")]
