"""A damaged row fails the whole search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, Persona
from gieok.errors import GieokError, SealBroken, StepFailed, StoreDamaged
from gieok.ranking import pack_keywords
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
]
RECORD = 12
DAMAGED_TERMS: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda _: b"",
    "a part of the header": lambda terms: terms[: RECORD - 1],
    "a part of a record": lambda terms: terms[:-1],
    "no header": lambda terms: terms[RECORD:],
    "another version": lambda terms: pack_keywords(2, [(5,)])[:RECORD] + terms[RECORD:],
    "tokens that do not ascend": lambda terms: terms + terms[RECORD : 2 * RECORD],
    "a token of no keyword": lambda terms: terms[:-4] + bytes(4),
}


@pytest.mark.req("TURN-8", "ENG-7")
@pytest.mark.parametrize(("what", "sql", "error"), DAMAGE, ids=[what for what, _, _ in DAMAGE])
async def test_a_damaged_row_fails_the_search_and_the_cycle(
    gieok: Gieok, behind: Behind, what: str, sql: str, error: type[GieokError]
) -> None:
    scope = gieok.scope("minsu")
    await save(scope, item("interview", minute=1), item("interview", minute=2))
    assert len(await search(scope, "interview")) == 2
    behind.run(sql.replace("{bytes}", behind.literal(b"plain")))
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


@pytest.mark.req("TURN-8", "ENG-7")
@pytest.mark.parametrize("damaged", DAMAGED_TERMS.values(), ids=DAMAGED_TERMS)
async def test_damaged_terms_fail_the_search_and_the_cycle(
    gieok: Gieok, behind: Behind, damaged: Callable[[bytes], bytes]
) -> None:
    """The error names the row, although another row of the session is intact."""
    scope, broken = gieok.scope("minsu"), item("interview", minute=2)
    await save(scope, item("interview", minute=1), broken)
    damage_terms(behind, damaged)
    with pytest.raises(StoreDamaged, match=str(broken.id)):
        await search(scope, "interview")
    with pytest.raises(StepFailed) as failed:
        await run_turn(gieok.user("minsu"), "s", "the interview", persona=HANA)
    assert failed.value.step == "retrieve"
    assert isinstance(failed.value.cause, StoreDamaged)


@pytest.mark.req("TURN-8")
async def test_a_token_of_a_keyword_that_does_not_exist_fails_a_partial_search(
    gieok: Gieok, behind: Behind
) -> None:
    scope = gieok.scope("minsu")
    await save(scope, item("category", minute=1))
    damage_terms(behind, of_keyword_nine)
    with pytest.raises(StoreDamaged):
        await search(scope, "cat")


def of_keyword_nine(terms: bytes) -> bytes:
    """The terms of a memory, all of them of a ninth keyword."""
    tokens = [terms[start : start + RECORD - 4] for start in range(RECORD, len(terms), RECORD)]
    return terms[:RECORD] + b"".join(token + b"\0\x09\0\0" for token in tokens)


def damage_terms(behind: Behind, damaged: Callable[[bytes], bytes]) -> None:
    """Replace the terms of the newest memory."""
    where = "at = (SELECT max(at) FROM turn_memories)"
    ((terms,),) = behind.run(f"SELECT terms FROM turn_memories WHERE {where}")
    behind.run(f"UPDATE turn_memories SET terms = {behind.literal(damaged(bytes(terms)))} WHERE {where}")


@pytest.mark.req("OPS-2", "TURN-1")
async def test_turn_memories_are_not_stored_in_clear(gieok: Gieok, behind: Behind) -> None:
    """Neither what was said nor a keyword is in any file of the database, its log or its keystore."""
    await run_turn(gieok.user("minsu"), "s-in-clear", "내일 zebrafish 스타트업 면접이 있어", persona=HANA)
    words = ("zebrafish", "면접", "스타트업", "내일")
    found = behind.files_with(*words, "s-in-clear")
    assert found.pop("s-in-clear"), "the search itself must be able to find what lies in clear"
    assert found == {word: [] for word in words}
