"""The facades of canon: `user.personas` and `user.canon`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar
from uuid import UUID

from gieok.adapters.imports.cards import ReadBook, ReadCard, card_bytes, read_file
from gieok.adapters.imports.files import write_png
from gieok.adapters.imports.lorebooks import merge
from gieok.app.cycles import Cycles, output_of, run_idempotent
from gieok.engine import CycleResult, ExecutionPlan
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.canon.deletion import DeleteFacts
from gieok.memory.canon.records import Fact, FactChange, FactVersion, PersonaCard, PersonaDraft
from gieok.memory.canon.rules import check_persona
from gieok.memory.canon.steps import (
    CreatePersona,
    EditPersona,
    LoadedState,
    LoadState,
    RetireFact,
    SetFact,
)
from gieok.memory.canon.store import CanonView
from gieok.memory.companion.steps.deletion import DeleteMemories
from gieok.memory.observations import Category
from gieok.memory.requests import RequestKey
from gieok.memory.sessions.deletion import DeleteSessions
from gieok.memory.turns.steps import DeleteTurnMemories
from gieok.refs import check_ref

F = TypeVar("F", bound=Fact)

CREATE_PLAN = "create_persona"
STATE_PLAN = "load_state"
PAGE = 100
MAX_PAGE = 1_000


@dataclass(frozen=True)
class DeletedPersona:
    """What was deleted with a persona, as counts."""

    memories: int
    facts: int
    sessions: int
    messages: int
    turn_memories: int


PREVIEW = "preview"
"""The id of a persona that an import would create."""


@dataclass(frozen=True)
class ImportedPersona:
    """The persona of an imported file."""

    persona: PersonaCard
    entries: int
    """How many entries the lorebook of the file has."""
    kept: tuple[str, ...]
    """The fields of the file that Gieok does not use. An export contains them."""
    left_out: tuple[str, ...]
    """Parts of the file that are not kept: `image`, `assets`."""


def _preview(draft: PersonaDraft, persona_id: str, version: int, now: datetime) -> PersonaCard:
    """The persona that a draft would become. InputRefused as for a stored one."""
    check_persona(draft)
    fields = {name: getattr(draft, name) for name in PersonaDraft.model_fields}
    return PersonaCard(**fields, id=persona_id, version=version, created_at=now)


class Personas:
    """One owner's personas. Only these calls change them; conversations do not."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def create(
        self, draft: PersonaDraft, *, persona_id: str | None = None, once: RequestKey | None = None
    ) -> PersonaCard:
        """Create a persona with a generated or a given id. Raises Conflict if the id is taken.

        `once` is an idempotency key: a repeated request returns the persona as it is now. Raises Conflict if
        the key was used for another request.
        """

        async def create(key: RequestKey | None) -> PersonaCard:
            request = {"personaId": persona_id, "draft": draft, "once": key}
            return (await self._cycles.output(CREATE_PLAN, CreatePersona, request)).persona

        return await run_idempotent(self._cycles, once, CREATE_PLAN, create, self.get)

    async def get_or_create(self, persona_id: str, draft: PersonaDraft) -> PersonaCard:
        """The persona with this id. If there is none, it is created; a persona that exists is not changed."""
        try:
            return await self.get(persona_id)
        except NotFound:
            pass
        try:
            return await self.create(draft, persona_id=persona_id)
        except Conflict:  # created by someone else meanwhile
            return await self.get(persona_id)

    async def edit(
        self,
        persona_id: str,
        draft: PersonaDraft,
        *,
        expected_version: int | None = None,
        once: RequestKey | None = None,
    ) -> PersonaCard:
        """Save a new version of the persona, or return the active one if nothing changed.

        Raises NotFound for an unknown persona, Conflict if it is not at `expected_version`. `once` as in
        `create`.
        """
        request = {"personaId": persona_id, "draft": draft, "expectedVersion": expected_version}

        def edited(result: CycleResult) -> str:
            return output_of(result, EditPersona).id

        return await self.get(await self._cycles.answer_once(once, "edit_persona", request, edited, str))

    async def import_file(
        self,
        content: bytes,
        *,
        persona_id: str | None = None,
        dry_run: bool = False,
        once: RequestKey | None = None,
    ) -> ImportedPersona:
        """Import a character card (V2 or V3; PNG, JSON or CHARX) or a lorebook (World Info, `lorebook_v3`).

        A card makes a new persona, or a new version of `persona_id`. A lorebook needs `persona_id`; entries
        that the persona has already are not added again. InputRefused says what is wrong with the file, and
        then nothing is changed. `dry_run` stores nothing, and returns the persona as it would be stored; a
        new one has the id `preview` then. `once` as in `create`.
        """
        read = await asyncio.to_thread(read_file, content)
        if persona_id is None:
            if isinstance(read, ReadBook):
                raise InputRefused("is a lorebook: name the persona that gets it", at="personaId")
            if dry_run:
                persona = _preview(read.draft, PREVIEW, 1, self._cycles.now)
            else:
                persona = await self.create(read.draft, once=once)
        else:
            persona = await self._edit_by(persona_id, read, once, dry_run=dry_run)
        book = read.book if isinstance(read, ReadBook) else read.draft.keyed_lorebook
        left_out = () if isinstance(read, ReadBook) else read.left_out
        return ImportedPersona(persona, len(book.entries), read.kept, left_out)

    async def _edit_by(
        self, persona_id: str, read: ReadCard | ReadBook, once: RequestKey | None, *, dry_run: bool
    ) -> PersonaCard:
        active = await self.get(persona_id)
        if isinstance(read, ReadCard):
            draft = read.draft
        else:
            draft = active.model_copy(update={"keyed_lorebook": merge(active.keyed_lorebook, read.book)})
        if dry_run:
            made = _preview(draft, persona_id, active.version + 1, self._cycles.now)
            unchanged = made.model_copy(update={"version": active.version, "created_at": active.created_at})
            return active if unchanged == active else made
        return await self.edit(persona_id, draft, expected_version=active.version, once=once)

    async def export_card(self, persona_id: str, *, png: bool = False, image: bytes | None = None) -> bytes:
        """The persona as a character card V3: JSON, or a PNG with this image or a plain one.

        Raises NotFound for the persona, InputRefused for an image that is not a PNG.
        """
        card = card_bytes(await self.get(persona_id))
        return write_png(card, image) if png or image is not None else card

    async def get(self, persona_id: str) -> PersonaCard:
        """The active version of a persona. Raises NotFound."""
        check_ref(persona_id, "personaId")
        found = await self._scope.read(lambda view: view.personas.get(persona_id))
        if found is None:
            raise NotFound("no such persona")
        return found

    async def list(self, *, after: str | None = None, limit: int = PAGE) -> Sequence[PersonaCard]:
        """Personas in the order of their creation; `after` is the id of the last one seen."""
        _check_page(limit)
        return await self._scope.read(lambda view: view.personas.list(after=after, limit=limit), replica=True)

    async def delete(self, persona_id: str, *, once: RequestKey | None = None) -> DeletedPersona:
        """Delete a persona with everything that belongs to it, for good: all versions, facts with their
        history, memories, sessions, messages and turn memories. Raises NotFound.
        """
        request = {"personaId": persona_id}
        return await self._cycles.answer_once(once, "delete_persona", request, _deleted, DeletedPersona)

    async def versions(self, persona_id: str, *, after: int = 0, limit: int = PAGE) -> Sequence[PersonaCard]:
        """The versions after number `after`, oldest first. Raises NotFound."""
        _check_page(limit)
        found = await self._scope.read(
            lambda view: view.personas.versions(persona_id, after=after, limit=limit)
        )
        if not found and after <= 0:
            raise NotFound("no such persona")
        return found


class Canon:
    """The facts and the current state of one owner, by persona."""

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._scope = cycles.scope

    async def state(
        self,
        persona_id: str,
        *,
        as_of: datetime | None = None,
        plan: str | ExecutionPlan = STATE_PLAN,
    ) -> LoadedState:
        """The current state as in a prompt: the facts, the text block and its length.

        `as_of`: what was recorded by that moment and current then. Raises NotFound for the persona.
        """
        loaded = await self._cycles.output(plan, LoadState, {"personaId": persona_id, "asOf": as_of})
        facts, others = await self._mark_sources(loaded.facts), await self._mark_sources(loaded.others)
        return loaded.model_copy(update={"facts": facts, "others": others})

    async def facts(self, persona_id: str, *, limit: int = PAGE) -> Sequence[Fact]:
        """Active facts of every category, most important first, then newest."""
        _check_page(limit)
        found = await self._scope.read(
            lambda view: view.facts.active(persona_id, only_state=False, limit=limit)
        )
        return list(await self._mark_sources(found))

    async def set_fact(  # noqa: PLR0913  options by keyword
        self,
        persona_id: str,
        category: Category | str,
        key: str,
        value: str,
        *,
        importance: int | None = None,
        subject: str = "user",
        when: date | None = None,
        until: date | None = None,
        once: RequestKey | None = None,
    ) -> FactChange:
        """Set a fact by hand; it supersedes the one with that key, or in its slot. NotFound for the persona.

        `subject` is user, character or person:NAME; `when` the day on which it happens, `until` the last day
        on which it is current (by default as long as its kind of fact is).
        `once` is an idempotency key: a repeated request returns the same result, and nothing is set again.
        """
        request = {
            "personaId": persona_id,
            "category": _category(category),
            "key": key,
            "value": value,
            "importance": importance,
            "subject": subject,
            "when": when,
            "until": until,
        }
        return await self._cycles.output_once(once, "set_fact", SetFact, request)

    async def retire_fact(
        self, persona_id: str, root_id: UUID, *, once: RequestKey | None = None
    ) -> FactChange:
        """Retire a fact; its history stays. Raises NotFound if the persona has no such active fact.

        `once` as in `set_fact`.
        """
        request = {"personaId": persona_id, "rootId": root_id}
        return await self._cycles.output_once(once, "retire_fact", RetireFact, request)

    async def history(
        self, persona_id: str, root_id: UUID, *, after: int = 0, limit: int = PAGE
    ) -> Sequence[FactVersion]:
        """The versions of a fact after number `after`, oldest first. Raises NotFound."""
        _check_page(limit)
        found = await self._scope.read(
            lambda view: view.facts.history(persona_id, root_id, after=after, limit=limit)
        )
        if not found and after <= 0:
            raise NotFound(f"there is no fact {root_id}")
        return await self._mark_sources(found)

    async def timelines(self, persona_id: str, *, limit: int = PAGE) -> Sequence[Sequence[FactVersion]]:
        """The histories of the facts of a persona, also of retired ones, those that changed last first."""
        _check_page(limit)

        def read(view: CanonView) -> list[Sequence[FactVersion]]:
            roots = view.facts.roots(persona_id, limit=limit)
            return [view.facts.history(persona_id, root, after=0, limit=MAX_PAGE) for root in roots]

        found = await self._scope.read(read)
        return [await self._mark_sources(versions) for versions in found if versions]

    async def _mark_sources(self, facts: Sequence[F]) -> tuple[F, ...]:
        """The facts, with a mark on sources that retention has deleted."""
        sources = [fact.source for fact in facts if fact.source is not None]
        if not sources:
            return tuple(facts)
        refs, ids = [each.session_ref for each in sources], [each.message_id for each in sources]
        deleted = await self._scope.read(lambda view: view.messages.deleted(refs, ids))
        return tuple(_mark_source(fact, deleted) for fact in facts)


def _deleted(result: CycleResult) -> DeletedPersona:
    sessions = output_of(result, DeleteSessions)
    return DeletedPersona(
        memories=output_of(result, DeleteMemories).deleted,
        facts=output_of(result, DeleteFacts).deleted,
        sessions=len(sessions.session_refs),
        messages=sessions.messages,
        turn_memories=output_of(result, DeleteTurnMemories).deleted,
    )


def _mark_source(fact: F, deleted: Set[tuple[str, str]]) -> F:
    source = fact.source
    if source is None or (source.session_ref, source.message_id) not in deleted:
        return fact
    return fact.model_copy(update={"source": source.model_copy(update={"is_deleted": True})})


def _category(name: Category | str) -> Category:
    try:
        return Category(name)
    except ValueError:
        raise InputRefused(f"must be one of {', '.join(Category)}", at="category") from None


def _check_page(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InputRefused(f"must be between 1 and {MAX_PAGE}", at="limit")
