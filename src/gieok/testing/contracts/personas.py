"""Contract suite for stores of personas. Subclass it and define the fixture `scope_of`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import uuid4

import pytest

from gieok.errors import Conflict, NotFound
from gieok.memory.canon.records import PersonaCard, PersonaDraft
from gieok.testing.contracts.facts import ALL, START, CanonScope, ScopeOf


def draft(prompt: str = "너는 하나야.") -> PersonaDraft:
    """A persona with every field set."""
    return PersonaDraft(
        name="하나",
        language="ko",
        system_prompt=prompt,
        card="다정한 친구",
        lorebook=("하나는 부산에 산다.",),
        boundaries=("의학 조언은 하지 않는다.",),
        relationships=("사용자와 처음 만난 사이",),
    )


async def create(scope: CanonScope, persona: str = "hana", minute: int = 0) -> PersonaCard:
    """Create a persona, this many minutes after the start."""
    at = START + timedelta(minutes=minute)
    return await scope.write(lambda view: view.personas.create(persona, draft(), version_id=uuid4(), at=at))


async def edit(
    scope: CanonScope, made: PersonaDraft, expected: int | None = None, persona: str = "hana"
) -> PersonaCard:
    """Edit a persona a day after the start."""
    at = START + timedelta(days=1)
    return await scope.write(
        lambda view: view.personas.edit(persona, made, version_id=uuid4(), at=at, expected_version=expected)
    )


async def get(scope: CanonScope, persona: str = "hana") -> PersonaCard | None:
    """The active version of a persona."""
    return await scope.read(lambda view: view.personas.get(persona))


async def versions(scope: CanonScope, persona: str = "hana") -> Sequence[PersonaCard]:
    """Every version of a persona."""
    return await scope.read(lambda view: view.personas.versions(persona, after=0, limit=ALL))


class PersonaStoreContract:
    """Run against every store of personas."""

    @pytest.mark.req("CANON-1")
    async def test_an_edit_appends_a_version_and_keeps_the_old_one(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await create(scope)
        second = await edit(scope, draft("너는 이제 조금 더 차분해."), expected=1)
        assert (first.version, second.version) == (1, 2)
        assert (first.created_at, second.created_at) == (START, START + timedelta(days=1))
        assert await get(scope) == second
        assert await versions(scope) == [first, second]

    async def test_an_edit_without_a_change_makes_no_version(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await create(scope)
        assert await edit(scope, draft()) == first
        assert await versions(scope) == [first]

    @pytest.mark.parametrize("text", ["너는 하나야.", "달라진 하나"])
    async def test_a_stale_expected_version_is_a_conflict(self, scope_of: ScopeOf, text: str) -> None:
        scope = scope_of("minsu")
        first = await create(scope)
        with pytest.raises(Conflict, match="version 1, and version 2 was expected"):
            await edit(scope, draft(text), expected=2)
        assert await versions(scope) == [first]

    async def test_an_id_cannot_be_created_twice(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await create(scope)
        with pytest.raises(Conflict, match="edit it, or choose another id"):
            await create(scope, minute=1)
        assert await versions(scope) == [first]

    async def test_an_unknown_persona_is_not_found(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        await create(scope_of("other"))
        assert await get(scope) is None
        assert await versions(scope) == []
        with pytest.raises(NotFound):
            await edit(scope, draft())

    async def test_a_list_is_in_pages_in_the_order_of_creation(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        made = [await create(scope, name, minute) for minute, name in enumerate(("c", "a", "b"))]
        await create(scope_of("other"), "d")
        edited = await edit(scope, draft("달라진 하나"), persona="a")
        first = await scope.read(lambda view: view.personas.list(after=None, limit=2))
        rest = await scope.read(lambda view: view.personas.list(after="a", limit=2))
        assert first == [made[0], edited]
        assert rest == [made[2]]
        with pytest.raises(NotFound):
            await scope.read(lambda view: view.personas.list(after="d", limit=2))
