"""Personas and what is true by now, as `client.personas`."""

from __future__ import annotations

from uuid import UUID, uuid4

from gieok.client.line import Call, Line, path
from gieok.memory.canon.records import Category, PersonaCard, PersonaDraft
from gieok.memory.companion.records import MemoryConfig
from gieok.wire import Configured, FactChange, FactVersion, State


class Personas:
    """One owner's personas. An edit makes a new version; a conversation never does."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def create(
        self, draft: PersonaDraft, *, persona_id: str | None = None, idempotency_key: str | None = None
    ) -> PersonaCard:
        """Begin a persona, under an id of its own or a given one. Conflict where that is taken.

        Each call has an Idempotency-Key, the given one or a new one, so that trying again is safe.
        """
        body = {**draft.model_dump(by_alias=True), "id": persona_id}
        call = Call("POST", "/personas", body=body, key=idempotency_key or str(uuid4()))
        return await self._line.ask(call, PersonaCard, "persona")

    async def list(self, *, after: str | None = None, limit: int | None = None) -> tuple[PersonaCard, ...]:
        """In the order of their creation; `after` is the id of the last one seen."""
        query = {"after": after, "limit": limit}
        return await self._line.ask(Call("GET", "/personas", query), tuple[PersonaCard, ...], "personas")

    async def get(self, persona_id: str) -> PersonaCard:
        """The persona as its author last wrote it; NotFound where there is none."""
        return await self._line.ask(Call("GET", path("personas", persona_id)), PersonaCard, "persona")

    async def edit(
        self, persona_id: str, draft: PersonaDraft, *, expected_version: int | None = None
    ) -> PersonaCard:
        """The whole persona as it is to be. Conflict where it is not at `expected_version` any more."""
        body = {**draft.model_dump(by_alias=True), "expectedVersion": expected_version}
        call = Call("PUT", path("personas", persona_id), body=body)
        return await self._line.ask(call, PersonaCard, "persona")

    async def versions(
        self, persona_id: str, *, after: int = 0, limit: int | None = None
    ) -> tuple[PersonaCard, ...]:
        """Every version after a version, oldest first."""
        call = Call("GET", path("personas", persona_id, "versions"), {"after": after, "limit": limit})
        return await self._line.ask(call, tuple[PersonaCard, ...], "versions")

    async def config(self, persona_id: str) -> Configured:
        """What is set for a persona's memories, and how many there are."""
        return await self._line.ask(Call("GET", path("personas", persona_id, "memory-config")), Configured)

    async def configure(self, persona_id: str, config: MemoryConfig) -> Configured:
        """Set it. `recall=False` keeps memories out of prompts; they are kept and listed as before."""
        body = config.model_dump(by_alias=True)
        call = Call("PUT", path("personas", persona_id, "memory-config"), body=body, sends_null=True)
        return await self._line.ask(call, Configured)

    async def state(self, persona_id: str) -> State:
        """The current state as a turn would be told it, and the ordinary facts."""
        return await self._line.ask(Call("GET", path("personas", persona_id, "state")), State)

    async def set_fact(
        self,
        persona_id: str,
        category: Category | str,
        key: str,
        value: str,
        *,
        importance: int | None = None,
    ) -> FactChange:
        """Set a fact by hand. It supersedes the active one with that key."""
        body = {"category": category, "key": key, "value": value, "importance": importance}
        return await self._line.ask(Call("PUT", path("personas", persona_id, "state"), body=body), FactChange)

    async def retire_fact(self, persona_id: str, root_id: UUID) -> FactChange:
        """Retire a fact; its history stays. NotFound where the persona has no such active fact."""
        return await self._line.ask(
            Call("DELETE", path("personas", persona_id, "state", root_id)), FactChange
        )

    async def fact_history(
        self, persona_id: str, root_id: UUID, *, after: int = 0, limit: int | None = None
    ) -> tuple[FactVersion, ...]:
        """The versions of a fact after a version, oldest first."""
        place = path("personas", persona_id, "state", root_id, "history")
        call = Call("GET", place, {"after": after, "limit": limit})
        return await self._line.ask(call, tuple[FactVersion, ...], "versions")
