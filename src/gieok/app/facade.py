"""The facade: `Gieok` opens the stores and the model, `User` is the API for one owner's data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from gieok.adapters.sql.cache import Caches
from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.lifecycle.integrity import IntegrityReport, Report, check_integrity
from gieok.adapters.sql.lifecycle.owners import rotate_data_key
from gieok.adapters.sql.scope import Outbox, OwnerScope
from gieok.adapters.sql.stores.events import count_all as count_all_events
from gieok.adapters.sql.stores.jobs import count_all, list_all
from gieok.app.archive import Archive
from gieok.app.assembly import Closing, Model, build_registry, choose_memory_model, choose_model
from gieok.app.background.jobs import ANALYZER, JOB_PLANS, MAX_JOBS, JobPlans, Jobs
from gieok.app.background.worker import Background
from gieok.app.cache import SharedCache
from gieok.app.canon import Canon, Personas
from gieok.app.chat import Chat, check_message, shown_messages
from gieok.app.chat_imports import Imports
from gieok.app.companion import Companion
from gieok.app.context import CONTEXT_PLAN, PromptContext, load_context, session_to_read
from gieok.app.cycles import KEEP_RESULTS, Cycles, Listener, Locks, Plans
from gieok.app.decisions import DecisionExchange, Decisions
from gieok.app.documents import Documents
from gieok.app.embedding import choose_near_words, open_vector_search
from gieok.app.opening import ANALYZER as ANALYZER_KEY
from gieok.app.opening import open_stores
from gieok.app.owner_data import EXPORTS_AT_ONCE, OwnerData
from gieok.app.profile import UserProfile
from gieok.app.reply import REPLY_PLAN, UnstoredReply, reply_of
from gieok.app.session_plans import check_caller_plan
from gieok.app.sessions import Sessions
from gieok.app.tokens import Tokens
from gieok.app.webhooks import WebhookConsumer, Webhooks
from gieok.engine import AnyStep, CheckedPlan, CycleRecord, CycleResult, Engine, ExecutionPlan, utc_now
from gieok.errors import InputRefused
from gieok.memory.audit import AuditEntry
from gieok.memory.companion.recall.query import NearWords
from gieok.memory.companion.vectors.search import Embedder, VectorSearch
from gieok.memory.conversation.records import Message, ToolUse
from gieok.memory.cursors import decode_cursor, encode_cursor
from gieok.memory.events.records import WEBHOOK, EventCounts
from gieok.memory.events.store import EventConsumer
from gieok.memory.fields import DEFAULT_ACCOUNT_PLAN, AccountPlan
from gieok.memory.jobs.records import JobPosition, JobStatus, ServiceJobs
from gieok.memory.usage import UsageDay, day_of
from gieok.plans import load_plan
from gieok.settings import RetentionSettings, Settings, load_settings
from gieok.vault import Vault

if TYPE_CHECKING:
    from gieok.adapters.webhooks import WebhookSender

DEFAULT_AUDIT_ENTRIES = 50
MAX_AUDIT_ENTRIES = 1000
DEFAULT_USAGE_DAYS = 30
MAX_USAGE_DAYS = 366


class Gieok:
    """An open database with its vault and its model. Use it as an async context manager."""

    _webhook_allow_private = False
    retention = RetentionSettings()
    """How long jobs, watches, audit entries, usage, dead letters, cycle records and raw messages are kept."""
    keep_results = KEEP_RESULTS
    """How long a repeated idempotency key gets the same answer, where no plan says otherwise."""
    archive: Archive | None = None
    """The archive of messages and memories; None without GIEOK_ARCHIVE_URL."""
    _own_models: Sequence[Model] = ()
    _background: Background | None = None

    def __init__(  # noqa: PLR0913  options by keyword
        self,
        database: Database,
        vault: Vault,
        model: Model,
        *,
        memory_model: Model | None = None,
        vector_search: VectorSearch | None = None,
        near_words: NearWords | None = None,
        timezone: str = "UTC",
        account_plan: AccountPlan = DEFAULT_ACCOUNT_PLAN,
        tokens_per_day: int | None = None,
        clock: Callable[[], datetime] = utc_now,
        observe: Callable[[CycleRecord], None] | None = None,
        job_plans: JobPlans = JOB_PLANS,
        steps: Iterable[AnyStep] = (),
        cache: SharedCache | None = None,
    ) -> None:
        self.database = database
        self.vault = vault
        self.cache = cache
        self.vector_search = vector_search
        self.caches = Caches.create()
        vault.on_keys_removed(self.caches.clear)
        if vector_search is not None:
            vault.on_keys_removed(vector_search.clear)
        registry = build_registry(
            model,
            vector_search,
            steps,
            memory_model=memory_model,
            timezone=timezone,
            account_plan=account_plan,
            tokens_per_day=tokens_per_day,
            near_words=near_words,
        )
        self.engine = Engine(registry, clock=clock, observe=observe)
        self.job_plans = job_plans
        self.session_locks = Locks()
        self.exports = asyncio.Semaphore(EXPORTS_AT_ONCE)
        self.account_plan: AccountPlan = account_plan
        self.timezone = timezone
        self.job_queued = asyncio.Event()
        """Set when this process has queued a job, so that its worker need not wait for the next look."""
        self.consumers: dict[str, EventConsumer] = {}
        """Consumers of the events of all owners, by name."""
        self._outbox = Outbox(clock=clock, wake=self.job_queued.set)
        self.tokens = Tokens(database, vault, clock, account_plan, self._outbox)
        self._plans = Plans(self.engine, load_plan)

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
        background: bool | None = None,
    ) -> Self:
        """Open the database, the keystore and the model of the settings, and finish interrupted erasures.

        `steps` are your own steps, besides the built-in ones. `model`, `embedder` and `job_plans` replace
        those of the settings; `model` then also remembers. Background work runs in a task of its own;
        `background=False` leaves it to workers (default: GIEOK_BACKGROUND, or true). If this fails or is
        cancelled, nothing stays open. StoreDamaged if the keystore is missing or of another database.
        """
        settings = settings or load_settings()
        async with AsyncExitStack() as unless_done:
            database, vault, cache = await open_stores(settings, unless_done)
            vector_search = await open_vector_search(settings, embedder, database, unless_done)
            chosen = model or await asyncio.to_thread(choose_model, settings)
            remembering = None if model else await asyncio.to_thread(choose_memory_model, settings)
            opened = cls(
                database,
                vault,
                chosen,
                memory_model=remembering,
                vector_search=vector_search,
                near_words=choose_near_words(settings),
                timezone=settings.timezone,
                account_plan=settings.account_plan,
                tokens_per_day=settings.service.tokens_per_day or None,
                clock=clock,
                observe=observe,
                job_plans=job_plans,
                steps=steps,
                cache=cache,
            )
            opened._own_models = [] if model else [each for each in (chosen, remembering) if each]
            opened._configure(settings)
            unless_done.pop_all()
        if settings.background if background is None else background:
            opened._background = Background(opened)
        return opened

    def _configure(self, settings: Settings) -> None:
        """Take over settings that have a default."""
        self.retention = settings.retention
        self._webhook_allow_private = settings.service.webhook_allow_private
        self.keep_results = timedelta(hours=settings.service.idempotency_hours)
        if settings.archive.archive_url is not None:
            self.archive = Archive(self, settings.archive)
            self.add_consumer(self.archive)
        if settings.jwt:
            self.tokens.accept_jwts(settings.jwt)

    @cached_property
    def webhook_sender(self) -> WebhookSender:
        """What sends webhooks to their receivers."""
        from gieok.adapters.webhooks import WebhookSender  # noqa: PLC0415  httpx takes 7 MB, few have webhooks

        return WebhookSender(allow_private=self._webhook_allow_private)

    async def close(self) -> None:
        """Finish background work within a few seconds, wait for transactions and close every connection.

        Work that is left is done at the next start, or by a worker.
        """
        if self._background is not None:
            await self._background.close()
        for model in self._own_models:
            if isinstance(model, Closing):
                await model.close()
        if self.vector_search is not None:
            await self.vector_search.close()
        if self.cache is not None:
            await self.cache.close()
        if self.archive is not None:
            await self.archive.close()
        await self.database.close()
        await asyncio.to_thread(self.vault.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def jobs(
        self, *, status: JobStatus | None = None, limit: int = 50, cursor: str | None = None
    ) -> ServiceJobs:
        """The background jobs of all owners, by owner, and their counts. For operators: without content."""
        if not 1 <= limit <= MAX_JOBS:
            raise InputRefused(f"must be 1 to {MAX_JOBS}", at="limit")
        after = decode_cursor(JobPosition, cursor) if cursor is not None else None
        found = await self.database.system_read(
            lambda tx: list_all(tx, status, after, limit + 1), replica=True
        )
        page, last = found[:limit], None
        if len(found) > limit:
            last = encode_cursor(JobPosition(owner=page[-1].owner, id=page[-1].id))
        counts = await self.database.system_read(count_all, replica=True)
        return ServiceJobs(jobs=tuple(page), counts=tuple(counts), next_cursor=last)

    def add_consumer(self, consumer: EventConsumer) -> None:
        """Deliver the events of all owners to this consumer. Call it before anything is stored.

        Owners who exist already are backfilled by a worker.
        """
        self.consumers[consumer.name] = consumer
        self._outbox.consumers = tuple(sorted(self.consumers))

    def consumer(self, name: str) -> EventConsumer | None:
        """The consumer with this name. None if this process is not configured for it."""
        if name.startswith(WEBHOOK):
            return WebhookConsumer(self, name, UUID(name.removeprefix(WEBHOOK)))
        return self.consumers.get(name)

    async def event_counts(self) -> EventCounts:
        """The outbox of all owners in figures. For operators."""
        return await self.database.system_read(count_all_events, replica=True)

    def user(self, owner: str) -> User:
        """The API for one owner's data. Raises InputRefused for an invalid owner name."""
        return User(self, owner)

    def check(self, plan: str | ExecutionPlan) -> CheckedPlan:
        """Check a plan, given by name, by file or as an object. PlanInvalid says what is wrong with it."""
        return self._plans.check(plan)

    async def check_integrity(
        self, *, owner: str | None = None, repair: bool = False, report: Report = lambda _done, _all: None
    ) -> IntegrityReport:
        """Check that every seal opens, that index columns and counts are right and that every chain has one
        active version, of one owner or of all. The service may run meanwhile.

        `repair` rebuilds index columns, counts and heads; the report says what is left. `report` is called
        with the number of checks that are done, and the number of all.
        """
        is_current = await self.database.get_meta(ANALYZER_KEY) == ANALYZER
        return await check_integrity(
            self.database,
            self.vault,
            owner=owner,
            repair=repair,
            is_analyzer_current=is_current,
            report=report,
        )

    def cycles(self, scope: OwnerScope) -> Cycles:
        """A runner of plans for the owner of the scope."""
        return Cycles(
            self.engine,
            self._plans,
            scope,
            self.session_locks,
            self.keep_results,
            self.account_plan,
            self.retention.keep_cycles,
            # SQLite reads a window in less time than any server answers.
            self.cache if self.database.dialect == "postgres" else None,
        )

    def scope(self, owner: str) -> OwnerScope:
        """Transactions of one owner. InputRefused for an invalid name."""
        return OwnerScope(self.database, self.vault, owner, self.caches, self._outbox, self.archive)


class User:
    """The API for one owner's data. No call can read or change the data of another owner."""

    def __init__(self, gieok: Gieok, owner: str) -> None:
        self._gieok = gieok
        self._scope = gieok.scope(owner)
        self._cycles = gieok.cycles(self._scope)

    def check_caller_plan(self, plan: ExecutionPlan) -> ExecutionPlan:
        """A plan that a caller of a service sends, if it is one for conversations. PlanInvalid otherwise.

        It may have the steps of the shipped chat plans and those that a program has added, so that it cannot
        delete or edit what its call is not for, and it must check the token budget and count every model.
        """
        return check_caller_plan(self._gieok.check(plan))

    @cached_property
    def chat(self) -> Chat:
        return Chat(self._gieok, self._cycles)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self._gieok, self._cycles)

    @cached_property
    def imports(self) -> Imports:
        return Imports(self._gieok, self._cycles)

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self._gieok, self._scope)

    @cached_property
    def profile(self) -> UserProfile:
        return UserProfile(self._cycles)

    @cached_property
    def personas(self) -> Personas:
        return Personas(self._cycles)

    @cached_property
    def canon(self) -> Canon:
        return Canon(self._cycles)

    @cached_property
    def companion(self) -> Companion:
        return Companion(self._cycles, self._gieok.database, self._gieok.vector_search)

    @cached_property
    def decisions(self) -> Decisions:
        return Decisions(self._cycles)

    @cached_property
    def documents(self) -> Documents:
        search = self._gieok.vector_search
        return Documents(self._cycles, search.embedder if search else None)

    @cached_property
    def webhooks(self) -> Webhooks:
        return Webhooks(self._gieok, self._cycles)

    @cached_property
    def exchange(self) -> DecisionExchange:
        return DecisionExchange(self._cycles)

    @cached_property
    def audit(self) -> Audit:
        return Audit(self._scope)

    @cached_property
    def data(self) -> OwnerData:
        return OwnerData(self._gieok, self._scope)

    async def context(
        self,
        persona_id: str,
        message: str | None = None,
        *,
        session_ref: str | None = None,
        budget: int | None = None,
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = CONTEXT_PLAN,
    ) -> PromptContext:
        """The prompt that a chat turn with this message would send, for an application with its own model.

        Stores nothing and asks no model. Without `session_ref` it is about the open session with the persona,
        as in `chat.send`; without `message` the prompt ends with the recent messages. `budget` is in tokens;
        None is the plan's. Raises InputRefused if persona and message do not fit into it, NotFound for an
        unknown persona or session, Conflict for a session with another persona.
        """
        return await load_context(
            self._cycles, self.chat, persona_id, message, session_ref, budget, account_plan, plan
        )

    async def reply(  # noqa: PLR0913  options of a public call, all by keyword
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        recent_messages: Sequence[Message] = (),
        instructions: str | None = None,
        tool_use: ToolUse | None = None,
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = REPLY_PLAN,
        listen: Listener | None = None,
    ) -> UnstoredReply:
        """The reply that a chat turn with this message would give. Neither is stored, nor remembered.

        Counts the tokens that it used. `tool_use` are tools for a model that knows them; their calls are part
        of the result. Other arguments and errors are as in `chat.send` and `context`.
        """
        check_message(message)
        shown = shown_messages(recent_messages, self._gieok.check(plan).plan)
        request = {
            "sessionRef": await session_to_read(self._cycles, self.chat, persona_id, session_ref),
            "personaId": persona_id,
            "accountPlan": account_plan,
            "message": message,
            "recentMessages": shown,
            "instructions": instructions,
            "toolUse": tool_use,
        }
        return reply_of(await self._cycles.run(plan, request, listen))

    async def run(
        self, plan: str | ExecutionPlan, request: Mapping[str, Any], listen: Listener | None = None
    ) -> CycleResult:
        """Run any plan for this owner. `request` has the fields that the plan's `request` lists."""
        return await self._cycles.run(plan, request, listen)

    async def usage(self, days: int = DEFAULT_USAGE_DAYS) -> Sequence[UsageDay]:
        """Model calls and tokens of the last `days` days (UTC, today included), newest first.

        Days without usage are omitted. Failed cycles are not counted, because nothing of them is stored.
        """
        if not 1 <= days <= MAX_USAGE_DAYS:
            raise InputRefused(f"must be 1 to {MAX_USAGE_DAYS}", at="days")
        since = day_of(self._cycles.now) - timedelta(days=days - 1)
        return await self._scope.read(lambda view: view.usage.list(since), replica=True)

    async def rotate_key(self, report: Callable[[int], None] = lambda _: None) -> int:
        """Reseal all data of this owner under a new key and return the number of rows.

        `report` is called with the number of rows so far.
        """
        gieok, now = self._gieok, self._cycles.now
        return await rotate_data_key(
            gieok.database, gieok.vault, self._scope.owner, now, report, gieok.archive
        )


class Audit:
    """The audit trail of one owner: tokens, failed logins, exports, imports, key rotations, session moves."""

    def __init__(self, scope: OwnerScope) -> None:
        self._scope = scope

    async def list(
        self, limit: int = DEFAULT_AUDIT_ENTRIES, before: UUID | None = None
    ) -> Sequence[AuditEntry]:
        """The newest entries first. For the next page, `before` is the id of the last entry seen.

        Raises NotFound if there is no such entry.
        """
        if not 1 <= limit <= MAX_AUDIT_ENTRIES:
            raise InputRefused(f"must be 1 to {MAX_AUDIT_ENTRIES}", at="limit")
        return await self._scope.read(lambda view: view.audit.list(limit, before), replica=True)

    async def verify(self) -> int:
        """Check that no entry was removed or altered. Returns the number of entries that were checked.

        StoreDamaged names the first entry that does not fit. Imported entries are not checked.
        """
        return await self._scope.read(lambda view: view.audit.verify(), heavy=True, replica=True)
