"""The facade that interfaces and programs call. It holds no rule of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from gieok.adapters.sql.cache import Caches
from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.lifecycle.owners import rotate_data_key
from gieok.adapters.sql.scope import OwnerScope
from gieok.app.assembly import Closing, Model, build_registry, choose_model
from gieok.app.audit import Audit
from gieok.app.canon import Canon, Personas
from gieok.app.chat import Chat
from gieok.app.companion import Companion
from gieok.app.cycles import Cycles, Listener, Plans
from gieok.app.decisions import Decisions
from gieok.app.embedding import open_meaning
from gieok.app.exchange import DecisionExchange
from gieok.app.jobs import JOB_PLANS, JobPlans
from gieok.app.messages import check_message, check_recent
from gieok.app.opening import open_stores
from gieok.app.owner_data import EXPORTS_AT_ONCE, OwnerData
from gieok.app.sessions import SessionLocks, Sessions
from gieok.app.tokens import Tokens
from gieok.app.usage import DEFAULT_DAYS, read_usage
from gieok.engine import AnyStep, CheckedPlan, CycleRecord, CycleResult, Engine, ExecutionPlan, utc_now
from gieok.errors import NotFound, PlanHashMismatch
from gieok.memory.companion.embedder import Embedder
from gieok.memory.companion.vectors import Meaning
from gieok.memory.conversation.records import Message, Persona, Prompt, StateFact
from gieok.memory.conversation.steps import LLMCall, PromptAssemble
from gieok.memory.sessions.records import PlanMove, Session
from gieok.memory.sessions.steps import MoveSession
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import PersistMemory, RetrieveMemory, SummarizeMemory
from gieok.memory.usage.records import UsageDay
from gieok.plans import load_plan
from gieok.refs import check_ref
from gieok.settings import Settings, load_settings
from gieok.vault import Vault

TURN_PLAN = "turn_memory"
MOVE_PLAN = "move_session"


@dataclass(frozen=True)
class TurnResult:
    """What one turn of conversation came to. What its plan has no step for is None, or empty."""

    reply: str | None
    recalled: tuple[RecalledMemory, ...]
    memory_id: UUID | None
    summary: str | None
    prompt: Prompt | None
    plan_hash: str
    record: CycleRecord


class Gieok:
    """An open memory: one database, one vault, one model. Use it as an async context manager."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        model: Model,
        *,
        meaning: Meaning | None = None,
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
        job_plans: JobPlans = JOB_PLANS,
        steps: Iterable[AnyStep] = (),
    ) -> None:
        self.database = database
        self.vault = vault
        self.meaning = meaning
        self.caches = Caches.create()
        vault.on_keys_removed(self.caches.clear)
        if meaning is not None:
            vault.on_keys_removed(meaning.forget)
        self.engine = Engine(build_registry(model, meaning, steps), clock=clock, observe=observe)
        self.job_plans = job_plans
        self.session_locks = SessionLocks()
        self.exports = asyncio.Semaphore(EXPORTS_AT_ONCE)
        self.tokens = Tokens(database, vault, clock)
        self._plans = Plans(self.engine, load_plan)
        self._own_model: Model | None = None

    @classmethod
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        model: Model | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
        job_plans: JobPlans = JOB_PLANS,
        steps: Iterable[AnyStep] = (),
    ) -> Self:
        """Open what the settings name, and finish erasures that a stopped process left half done.

        `steps` are steps of your own that plans may name, besides those that Gieok has.
        If this fails or is cancelled, nothing stays open. StoreDamaged where the database was sealed with
        another keystore than the one that is there; no new one is made then.
        """
        settings = settings or load_settings()
        async with AsyncExitStack() as unless_done:
            database, vault = await open_stores(settings, unless_done)
            meaning = await open_meaning(settings, embedder, database, unless_done)
            chosen = model or await asyncio.to_thread(choose_model, settings)
            opened = cls(
                database,
                vault,
                chosen,
                meaning=meaning,
                clock=clock,
                observe=observe,
                job_plans=job_plans,
                steps=steps,
            )
            opened._own_model = None if model else chosen
            if settings.jwt:
                opened.tokens.accept_jwts(settings.jwt)
            unless_done.pop_all()
        return opened

    async def close(self) -> None:
        """Finish what is under way and let go of everything."""
        if isinstance(self._own_model, Closing):
            await self._own_model.close()
        if self.meaning is not None:
            await self.meaning.close()
        await self.database.close()
        await asyncio.to_thread(self.vault.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def user(self, owner: str) -> User:
        """One owner's memory. InputRefused for a name that cannot be one."""
        return User(self, owner)

    def check(self, plan: str | ExecutionPlan) -> CheckedPlan:
        """A plan that can run, by name, by file or as it is. PlanInvalid says what is wrong with it."""
        return self._plans.check(plan)

    def cycles(self, scope: OwnerScope) -> Cycles:
        """Runs plans inside a scope."""
        return Cycles(self.engine, self._plans, scope)

    def scope(self, owner: str) -> OwnerScope:
        """Transactions of one owner. InputRefused for an invalid name."""
        return OwnerScope(self.database, self.vault, owner, self.caches)


class User:
    """One owner's memory. Everything read or written here is theirs alone."""

    def __init__(self, gieok: Gieok, owner: str) -> None:
        self._gieok = gieok
        self._scope = gieok.scope(owner)
        self._cycles = gieok.cycles(self._scope)

    @cached_property
    def chat(self) -> Chat:
        return Chat(self._cycles, self._gieok.session_locks)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self._gieok, self._cycles)

    @cached_property
    def personas(self) -> Personas:
        return Personas(self._cycles)

    @cached_property
    def canon(self) -> Canon:
        return Canon(self._cycles)

    @cached_property
    def companion(self) -> Companion:
        return Companion(self._cycles, self._gieok.database, self._gieok.meaning)

    @cached_property
    def decisions(self) -> Decisions:
        return Decisions(self._cycles)

    @cached_property
    def exchange(self) -> DecisionExchange:
        return DecisionExchange(self._cycles)

    @cached_property
    def audit(self) -> Audit:
        return Audit(self._scope)

    @cached_property
    def data(self) -> OwnerData:
        return OwnerData(self._gieok, self._scope)

    async def turn(
        self,
        session_ref: str,
        message: str,
        *,
        persona: Persona,
        state: Sequence[StateFact] = (),
        recent_messages: Sequence[Message] = (),
        plan: str | ExecutionPlan = TURN_PLAN,
        listen: Listener | None = None,
    ) -> TurnResult:
        """Run one turn of conversation: recall, reply, remember. Whole, or nothing of it is stored.

        `listen` hears the reply piece by piece. PlanHashMismatch where the session ran another plan before.
        """
        check_ref(session_ref, "sessionRef")
        check_message(message)
        result = await self._cycles.run(
            plan,
            {
                "sessionRef": session_ref,
                "message": message,
                "persona": persona,
                "state": tuple(state),
                "recentMessages": check_recent(recent_messages),
            },
            listen,
        )
        return _turn_result(result)

    async def run(
        self, plan: str | ExecutionPlan, request: Mapping[str, Any], listen: Listener | None = None
    ) -> CycleResult:
        """Run any plan for this owner: one of your own, with what its `request` lists."""
        return await self._cycles.run(plan, request, listen)

    async def session(self, session_ref: str) -> Session:
        """The state of a session; NotFound where it never ran."""
        state = await self._scope.read(lambda rooms: rooms.sessions.get(session_ref))
        if state is None:
            raise NotFound("no such session")
        return state

    async def resume(self, session_ref: str, plan: str | ExecutionPlan) -> Session:
        """The session, if this is the plan that it last ran; PlanHashMismatch otherwise."""
        state = await self.session(session_ref)
        actual = self._gieok.check(plan).plan.hash
        if state.last_execution_plan_hash != actual:
            raise PlanHashMismatch(state.last_execution_plan_hash, actual)
        return state

    async def move(self, session_ref: str, plan: str | ExecutionPlan) -> PlanMove:
        """Move a session to another plan on purpose. The move is kept as an audit entry."""
        request = {"sessionRef": session_ref, "toHash": self._gieok.check(plan).plan.hash}
        return (await self._cycles.output(MOVE_PLAN, MoveSession, request)).move

    async def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """Every move of a session between plans, oldest first."""
        return await self._scope.read(lambda rooms: rooms.sessions.moves(session_ref))

    async def usage(self, days: int = DEFAULT_DAYS) -> Sequence[UsageDay]:
        """What language models were used for this owner: the last days in UTC, newest first.

        A day without use is left out. What a failed cycle spent is not counted: nothing of it is stored.
        """
        return await read_usage(self._cycles, days)

    async def rotate_key(self, report: Callable[[int], None] = lambda _: None) -> int:
        """Seal everything of this owner under a new key; returns how many rows. `report` hears it so far."""
        return await rotate_data_key(self._gieok.database, self._gieok.vault, self._scope.owner, report)


def _turn_result(result: CycleResult) -> TurnResult:
    answer = result.output_of(LLMCall)
    retrieved = result.output_of(RetrieveMemory)
    summary = result.output_of(SummarizeMemory)
    persisted = result.output_of(PersistMemory)
    assembled = result.output_of(PromptAssemble)
    return TurnResult(
        reply=answer.text if answer else None,
        recalled=retrieved.memories if retrieved else (),
        memory_id=persisted.id if persisted else None,
        summary=summary.summary if summary else None,
        prompt=assembled.prompt if assembled else None,
        plan_hash=result.record.plan_hash,
        record=result.record,
    )
