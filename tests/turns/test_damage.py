"""A damaged row fails the whole search."""

from __future__ import annotations

import pytest

from gieok import Gieok, Persona
from gieok.errors import GieokError, SealBroken, StepFailed, StoreDamaged
from gieok.testing.contracts.turns import item, save, search
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="Hana", language="en", system_prompt="You are Hana.")


TWO = "(SELECT {of} FROM turn_memories WHERE at = (SELECT max(at) FROM turn_memories))"
FIRST = "at = (SELECT min(at) FROM turn_memories)"
DAMAGE: list[tuple[str, str, type[GieokError]]] = [
    ("plaintext instead of a seal", "UPDATE turn_memories SET summary = {bytes}", SealBroken),
    (
        "another row's summary",
        f"UPDATE turn_memories SET summary = {TWO.format(of='summary')} WHERE {FIRST}",
        SealBroken,
    ),
    ("another column", "UPDATE turn_memories SET summary = keywords", SealBroken),
    ("the row is gone", f"DELETE FROM turn_memories WHERE {FIRST}", StoreDamaged),
    (
        "the row is in another session",
        f"UPDATE turn_memories SET session_ref = 'other' WHERE {FIRST}",
        StoreDamaged,
    ),
    ("the row has another time", f"UPDATE turn_memories SET at = at + 1 WHERE {FIRST}", StoreDamaged),
]


@pytest.mark.req("TURN-8", "ENG-7")
@pytest.mark.parametrize(("what", "sql", "error"), DAMAGE, ids=[what for what, _, _ in DAMAGE])
async def test_a_damaged_row_fails_the_search_and_the_cycle(
    gieok: Gieok, behind: Behind, what: str, sql: str, error: type[GieokError]
) -> None:
    scope = gieok.scope("minsu")
    await save(scope, item("interview", minute=1), item("interview", minute=2))
    assert len(await search(scope, "interview")) == 2
    literal = "X'706c61696e'" if gieok.database.dialect == "sqlite" else "'\\x706c61696e'::bytea"
    behind.run(sql.replace("{bytes}", literal))
    with pytest.raises(error):
        await search(scope, "interview")
    with pytest.raises(StepFailed) as failed:
        await run_turn(gieok.user("minsu"), "s", "the interview", persona=HANA)
    assert failed.value.step == "retrieve"
    assert isinstance(failed.value.cause, error)


@pytest.mark.req("TURN-8")
async def test_damaged_keywords_fail_a_partial_search(gieok: Gieok, behind: Behind) -> None:
    scope = gieok.scope("minsu")
    await save(scope, item("category", minute=1))
    behind.run("UPDATE turn_memories SET keywords = summary")
    with pytest.raises(SealBroken):
        await search(scope, "cat")


@pytest.mark.req("TURN-8")
async def test_a_posting_of_a_keyword_that_does_not_exist_fails_a_partial_search(
    gieok: Gieok, behind: Behind
) -> None:
    scope = gieok.scope("minsu")
    await save(scope, item("category", minute=1))
    behind.run("UPDATE turn_memory_index SET keyword = 9")
    with pytest.raises(StoreDamaged):
        await search(scope, "cat")


@pytest.mark.req("OPS-2", "TURN-1")
async def test_turn_memories_are_not_stored_in_clear(gieok: Gieok, behind: Behind) -> None:
    """Neither what was said nor a keyword is in any file of the database, its log or its keystore."""
    await run_turn(gieok.user("minsu"), "s-in-clear", "내일 zebrafish 스타트업 면접이 있어", persona=HANA)
    words = ("zebrafish", "면접", "스타트업", "내일")
    found = behind.files_with(*words, "s-in-clear")
    assert found.pop("s-in-clear"), "the search itself must be able to find what lies in clear"
    assert found == {word: [] for word in words}
