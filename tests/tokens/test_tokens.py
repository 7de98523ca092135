"""Tokens: created once, stored as a hash, refused as soon as they are invalid. On both databases."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest

from gieok import Gieok, Settings
from gieok.access import OWNER_SCOPES, Principal
from gieok.errors import InputRefused, NotFound, OwnerErased, StoreUnavailable, Unauthenticated
from gieok.memory.audit import OPERATOR
from tests.behind import Behind

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
UNKNOWN = "gk_" + "A" * 43
GARBAGE = [
    "",
    " ",
    "gk_",
    "gk_" + "A" * 42,
    "gk_" + "A" * 44,
    UNKNOWN + "\n",
    UNKNOWN + "가",
    " " + UNKNOWN,
    UNKNOWN.upper(),
    "gk_" + "A" * 42 + "\0",
    "gk_" + "é" * 43,
    "gk_" + "가" * 43,
    "gk_" + "\ud800" * 43,
    "gk_" + "A" * 1_000_000,
    "'; DROP TABLE tokens; --",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJraW0ifQ.",
]
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"owner": ""}, "owner"),
    ({"owner": "a b"}, "owner"),
    ({"account_plan": "gold"}, "accountPlan"),
    ({"scopes": []}, "scopes"),
    ({"scopes": ["read", "root"]}, "scopes"),
    ({"label": ""}, "label"),
    ({"label": "x" * 129}, "label"),
    ({"label": "a\0b"}, "label"),
    ({"label": "a\x1b[31mb"}, "label"),
    ({"expires_at": START}, "expiresAt"),
    ({"expires_at": datetime(2027, 1, 1)}, "expiresAt"),
]


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    """Gieok with a clock that the test moves."""
    async with await Gieok.open(settings, clock=clock) as opened:
        yield opened


async def refused(gieok: Gieok, token: str) -> str:
    """What is said to one who calls with this token and is not let in."""
    with pytest.raises(Unauthenticated) as caught:
        await gieok.tokens.authenticate(token)
    assert caught.value.code == "UNAUTHENTICATED"
    return str(caught.value)


async def test_a_token_authenticates_its_owner(gieok: Gieok) -> None:
    made = await gieok.tokens.create("kim", account_plan="premium", scopes=["read", "write"], label="노트북")
    assert re.fullmatch(r"gk_[A-Za-z0-9_-]{43}", made.token)
    assert await gieok.tokens.authenticate(made.token) == Principal(
        owner="kim",
        account_plan="premium",
        scopes=frozenset({"read", "write"}),
        token_id=made.record.id,
    )


async def test_a_token_is_premium_and_has_all_scopes_by_default(gieok: Gieok) -> None:
    made = await gieok.tokens.create("kim")
    caller = await gieok.tokens.authenticate(made.token)
    assert (caller.account_plan, caller.scopes) == ("premium", OWNER_SCOPES)
    assert (made.record.label, made.record.expires_at, made.record.revoked_at) == (None, None, None)


async def test_two_tokens_are_never_the_same(gieok: Gieok) -> None:
    first, second = await gieok.tokens.create("kim"), await gieok.tokens.create("kim")
    assert first.token != second.token
    assert first.record.id != second.record.id


async def test_tokens_are_listed_for_one_owner_and_for_all(gieok: Gieok, clock: Clock) -> None:
    """Oldest first, as they were made."""
    kims = [(await gieok.tokens.create("kim", label="a")).record]
    clock.now += timedelta(seconds=1)
    lees = [(await gieok.tokens.create("lee", expires_at=START + timedelta(days=1))).record]
    kims.append((await gieok.tokens.create("kim", scopes=["read"])).record)
    assert list(await gieok.tokens.list("kim")) == kims
    assert list(await gieok.tokens.list("lee")) == lees
    assert list(await gieok.tokens.list()) == [*kims, *lees]
    assert list(await gieok.tokens.list("nobody")) == []


async def test_a_revoked_token_is_refused_at_once_by_every_process(
    gieok: Gieok, settings: Settings, clock: Clock
) -> None:
    """Also by one that let it in a moment ago. The other token of the same owner goes on."""
    made, other = await gieok.tokens.create("kim"), await gieok.tokens.create("kim")
    async with await Gieok.open(settings, clock=clock) as elsewhere:
        assert await elsewhere.tokens.authenticate(made.token)
        revoked = await gieok.tokens.revoke(made.record.id)
        assert revoked.revoked_at == START
        await refused(elsewhere, made.token)
        await refused(gieok, made.token)
        assert await elsewhere.tokens.authenticate(other.token)


async def test_revoking_again_changes_nothing(gieok: Gieok, clock: Clock) -> None:
    made = await gieok.tokens.create("kim")
    clock.now += timedelta(seconds=1)
    first = await gieok.tokens.revoke(made.record.id)
    clock.now += timedelta(days=1)
    assert await gieok.tokens.revoke(made.record.id) == first
    assert [each.action for each in await gieok.user("kim").audit.list()] == [
        "token.revoked",
        "token.created",
    ]


async def test_an_unknown_token_cannot_be_revoked(gieok: Gieok) -> None:
    with pytest.raises(NotFound, match="no such token"):
        await gieok.tokens.revoke(uuid4())


async def test_a_token_expires_at_its_time(gieok: Gieok, clock: Clock) -> None:
    made = await gieok.tokens.create("kim", expires_at=START + timedelta(days=1))
    clock.now += timedelta(days=1, microseconds=-1)
    assert await gieok.tokens.authenticate(made.token)
    clock.now += timedelta(microseconds=1)
    await refused(gieok, made.token)


async def test_the_reason_of_a_refusal_is_not_disclosed(gieok: Gieok, clock: Clock) -> None:
    expired = await gieok.tokens.create("kim", expires_at=START + timedelta(seconds=1))
    revoked = await gieok.tokens.create("kim")
    erased = await gieok.tokens.create("lee")
    await gieok.tokens.revoke(revoked.record.id)
    await gieok.user("lee").data.erase()
    clock.now += timedelta(days=1)
    tokens = (expired.token, revoked.token, erased.token, UNKNOWN, "nonsense")
    assert len({await refused(gieok, token) for token in tokens}) == 1


async def test_malformed_tokens_are_refused_alike(gieok: Gieok) -> None:
    """Empty, too short, too long, huge, with NUL, in other scripts, half of a surrogate pair, SQL, a JWT."""
    expected = await refused(gieok, UNKNOWN)
    for token in GARBAGE:
        assert await refused(gieok, token) == expected


async def test_invalid_arguments_are_refused(gieok: Gieok) -> None:
    """The error names the place, and nothing is stored."""
    for wrong, at in WRONG:
        with pytest.raises(InputRefused) as caught:
            await gieok.tokens.create(**cast(Any, {"owner": "kim", **wrong}))
        assert caught.value.at == at
    assert list(await gieok.tokens.list()) == []


async def test_the_token_itself_is_stored_nowhere(gieok: Gieok, behind: Behind) -> None:
    """Neither in the database nor in its log nor in the keystore, where its label is found."""
    made = await gieok.tokens.create("kim", label="label-to-be-found")
    await gieok.tokens.authenticate(made.token)
    secret = made.token.removeprefix("gk_")
    found = behind.files_with(secret, "label-to-be-found")
    assert found[secret] == []
    assert found["label-to-be-found"]
    assert made.token not in repr(made)


async def test_an_erased_owner_has_no_token(gieok: Gieok, behind: Behind) -> None:
    """A new token for the name belongs to a new owner; the former one stays refused."""
    made = await gieok.tokens.create("kim")
    assert (await gieok.user("kim").data.erase()).erased["tokens"] == 1
    await refused(gieok, made.token)
    assert behind.count("tokens") == 0
    assert behind.run("SELECT DISTINCT owner FROM audit_entries") == [(OPERATOR,)]
    new = await gieok.tokens.create("kim")
    assert (await gieok.tokens.authenticate(new.token)).owner == "kim"
    await refused(gieok, made.token)


async def test_a_name_gets_no_token_while_its_erasure_is_not_finished(gieok: Gieok, behind: Behind) -> None:
    await gieok.tokens.create("kim")
    gieok.vault.begin_erasure("kim")
    with pytest.raises(OwnerErased):
        await gieok.tokens.create("kim")
    assert behind.count("tokens") == 1


async def test_an_interrupted_erasure_has_revoked_the_tokens(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of the tokens are still there, and refused."""
    made = await gieok.tokens.create("kim")
    write, units = gieok.database.write, 0

    async def first_only(*args: Any, **options: Any) -> Any:
        nonlocal units
        units += 1
        if units > 1:
            raise StoreUnavailable("the power went")
        return await write(*args, **options)

    monkeypatch.setattr(gieok.database, "write", first_only)
    with pytest.raises(StoreUnavailable):
        await gieok.user("kim").data.erase()
    assert len(await gieok.tokens.list()) == 1
    await refused(gieok, made.token)


async def test_a_token_survives_a_new_data_key(gieok: Gieok) -> None:
    made = await gieok.tokens.create("kim")
    await gieok.user("kim").rotate_key()
    assert (await gieok.tokens.authenticate(made.token)).owner == "kim"


@pytest.mark.req("OPS-4")
async def test_the_system_role_on_postgresql_reads_tokens_and_changes_none(
    gieok: Gieok, database_url: str
) -> None:
    """By raw SQL under row-level security: without the door nobody's tokens, with it only to look."""
    if gieok.database.dialect != "postgres":
        pytest.skip("SQLite has no row-level security")
    for owner in ("kim", "lee"):
        await gieok.tokens.create(owner)
    with psycopg.connect(database_url, autocommit=True, options="-c search_path=gieok") as connection:
        assert connection.execute("SELECT count(*) FROM tokens").fetchone() == (0,)
        connection.execute("SET gieok.owner = 'lee'")
        assert connection.execute("SELECT owner FROM tokens").fetchall() == [("lee",)]
        connection.execute("SET gieok.owner = ''")
        connection.execute("SET gieok.worker = 'on'")
        assert connection.execute("SELECT count(*) FROM tokens").fetchone() == (2,)
        for table in ("owners", "audit_entries", "sessions"):
            assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)
        assert connection.execute("UPDATE tokens SET plan = 'premium'").rowcount == 0
        assert connection.execute("DELETE FROM tokens").rowcount == 0
