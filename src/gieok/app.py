"""The whole of Gieok put together: the only place that knows every concrete class.

Interfaces and programs call the facade here; it holds no rule of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from uuid import UUID

from gieok.adapters.sql.database import Database
from gieok.adapters.sql.open import open_database, open_keystore
from gieok.adapters.sql.owners import erase_owner, finish_erasures, rotate_data_key
from gieok.adapters.sql.scope import OwnerScope
from gieok.app_canon import Canon, Personas, register_canon_steps
from gieok.app_chat import Chat, check_message
from gieok.app_companion import Companion, register_companion_steps
from gieok.app_decisions import Decisions, register_decision_steps
from gieok.app_exchange import DecisionExchange
from gieok.app_jobs import JOB_PLANS, JobPlans, register_job_steps
from gieok.app_sessions import SessionLocks, Sessions, register_session_steps
from gieok.engine import (
    CheckedPlan,
    CycleRecord,
    CycleResult,
    Engine,
    ExecutionPlan,
    Registry,
    StepEvent,
    utc_now,
)
from gieok.errors import Conflict, NotFound, PlanHashMismatch, StepFailed
from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.companion.summarizer import SessionSummarizer
from gieok.memory.conversation.model import ChatModel
from gieok.memory.conversation.records import Message, Persona, Prompt, StateFact
from gieok.memory.conversation.steps import ContextSelect, LLMCall, PromptAssemble
from gieok.memory.decisions.summarizer import ConversationSummarizer
from gieok.memory.sessions.records import PlanMove, Session
from gieok.memory.sessions.steps import MoveSession, RememberPlan, ResumeSession
from gieok.memory.turns.records import RecalledMemory
from gieok.memory.turns.steps import PersistMemory, RetrieveMemory, SummarizeMemory
from gieok.memory.turns.summarizer import TurnSummarizer
from gieok.plans import load_plan
from gieok.refs import check_ref
from gieok.settings import Settings, load_settings
from gieok.vault import RootKeySource, Vault, choose_root_key

TURN_PLAN = "turn_memory"
MOVE_PLAN = "move_session"
CHECKED_PLANS = 256


class Model(ChatModel, TurnSummarizer, SessionSummarizer, ConversationSummarizer, FactExtractor, Protocol):
    """Everything that the steps ask of a language model."""


def build_registry(model: Model) -> Registry[OwnerScope]:
    """Every step that a plan may name."""
    registry = Registry[OwnerScope]()
    registry.register(ResumeSession, ResumeSession)
    registry.register(RetrieveMemory, RetrieveMemory)
    registry.register(ContextSelect, lambda _: ContextSelect())
    registry.register(PromptAssemble, lambda _: PromptAssemble())
    registry.register(LLMCall, lambda _: LLMCall(model))
    registry.register(SummarizeMemory, lambda _: SummarizeMemory(model))
    registry.register(PersistMemory, lambda _: PersistMemory())
    registry.register(RememberPlan, lambda _: RememberPlan())
    registry.register(MoveSession, lambda _: MoveSession())
    register_companion_steps(registry)
    register_session_steps(registry)
    register_job_steps(registry, model)
    register_canon_steps(registry, model)
    register_decision_steps(registry, model)
    return registry


def root_key_source(settings: Settings) -> RootKeySource:
    """Where the settings take the root key from. RootKeyUnsafe for a file inside the data folder."""
    environ = dict(settings.secrets)
    if settings.root_key_file:
        environ["GIEOK_ROOT_KEY_FILE"] = str(settings.root_key_file)
    # The home folder holds everything of a user: a database that lies there does not make it a data folder.
    folder = settings.data_folder
    own_folder = None if folder and Path.home().is_relative_to(folder) else folder
    return choose_root_key(environ, settings.own_key_file, own_folder)


def open_vault(settings: Settings) -> Vault:
    """The keystore that the settings name, opened with its root key. Blocks for a moment."""
    root = root_key_source(settings)
    keystore = open_keystore(settings.keystore_url)
    try:
        return Vault(keystore, root)
    except BaseException:
        keystore.close()
        raise


def offline_model() -> Model:
    """The model that needs no network and no key."""
    from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

    return OfflineModel()


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
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
        job_plans: JobPlans = JOB_PLANS,
    ) -> None:
        self.database = database
        self.vault = vault
        self.engine = Engine(build_registry(model), clock=clock, observe=observe)
        self.job_plans = job_plans
        self.session_locks = SessionLocks()
        self._checked: dict[str, CheckedPlan] = {}

    @classmethod
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        model: Model | None = None,
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
        job_plans: JobPlans = JOB_PLANS,
    ) -> Self:
        """Open what the settings name, and finish erasures that a stopped process left half done."""
        settings = settings or load_settings()
        database = await asyncio.to_thread(open_database, settings.database_url)
        try:
            vault = await asyncio.to_thread(open_vault, settings)
            await finish_erasures(database, vault)
        except BaseException:
            await database.close()
            raise
        return cls(
            database, vault, model or offline_model(), clock=clock, observe=observe, job_plans=job_plans
        )

    async def close(self) -> None:
        """Finish what is under way and let go of everything."""
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
        made = load_plan(plan) if isinstance(plan, str) else plan
        if made.hash not in self._checked:
            if len(self._checked) >= CHECKED_PLANS:
                self._checked.clear()
            self._checked[made.hash] = self.engine.registry.check(made)
        return self._checked[made.hash]


class User:
    """One owner's memory. Everything read or written here is theirs alone."""

    def __init__(self, gieok: Gieok, owner: str) -> None:
        self._gieok = gieok
        self._scope = OwnerScope(gieok.database, gieok.vault, owner)
        self.chat = Chat(gieok, self._scope, self._run)
        self.sessions = Sessions(gieok, self._scope, self._run)
        self.personas = Personas(self._scope, self._run)
        self.canon = Canon(self._scope, self._run)
        self.companion = Companion(self._scope, self._run)
        self.decisions = Decisions(self._scope, self._run)
        self.exchange = DecisionExchange(self._scope, self._run)

    async def turn(
        self,
        session_ref: str,
        message: str,
        *,
        persona: Persona,
        state: Sequence[StateFact] = (),
        recent_messages: Sequence[Message] = (),
        plan: str | ExecutionPlan = TURN_PLAN,
        listen: Callable[[StepEvent], None] | None = None,
    ) -> TurnResult:
        """Run one turn of conversation: recall, reply, remember. Whole, or nothing of it is stored.

        `listen` hears the reply piece by piece. PlanHashMismatch where the session ran another plan before.
        """
        check_ref(session_ref, "sessionRef")
        check_message(message)
        result = await self._run(
            plan,
            {
                "sessionRef": session_ref,
                "message": message,
                "persona": persona,
                "state": tuple(state),
                "recentMessages": tuple(recent_messages),
            },
            listen,
        )
        return _turn_result(result)

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
        result = await self._run(MOVE_PLAN, request)
        return result.committed["move"][0]

    async def moves(self, session_ref: str) -> Sequence[PlanMove]:
        """Every move of a session between plans, oldest first."""
        return await self._scope.read(lambda rooms: rooms.sessions.moves(session_ref))

    async def rotate_key(self, report: Callable[[int], None] = lambda _: None) -> int:
        """Seal everything of this owner under a new key; returns how many rows. `report` hears it so far."""
        return await rotate_data_key(self._gieok.database, self._gieok.vault, self._scope.owner, report)

    async def erase(self) -> Mapping[str, int]:
        """Destroy this owner's keys and rows for good; returns how many rows, by table."""
        return await erase_owner(self._gieok.database, self._gieok.vault, self._scope.owner)

    async def _run(
        self,
        plan: str | ExecutionPlan,
        request: Mapping[str, Any],
        listen: Callable[[StepEvent], None] | None = None,
    ) -> CycleResult:
        try:
            return await self._gieok.engine.run(self._gieok.check(plan), self._scope, request, listen)
        except StepFailed as failed:
            if isinstance(failed.cause, Conflict):
                raise failed.cause from failed
            raise


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
