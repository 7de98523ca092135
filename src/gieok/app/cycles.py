"""Run plans for one owner: checked plans, errors that a caller can act on, idempotent requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import TypeAdapter, ValidationError

from gieok.adapters.sql.driver.database import ChangedTooOften
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.cached import (
    NOTHING_CACHED,
    CachedPersona,
    CachedReads,
    CachedWindow,
)
from gieok.app.cache import SharedCache
from gieok.app.session_plans import check_plan
from gieok.engine import CheckedPlan, CycleResult, Data, Engine, ExecutionPlan, Step, StepEvent, WriteStep
from gieok.engine.plan import first_problem, place
from gieok.errors import Conflict, InputRefused, NotFound, RateLimited, StepFailed, cause_of
from gieok.memory.canon.steps import LoadPersona
from gieok.memory.cycle_records import CycleSubject
from gieok.memory.fields import AccountPlan
from gieok.memory.requests import RequestKey, TurnRef
from gieok.memory.sessions.window import LoadWindow

T = TypeVar("T")
D = TypeVar("D", bound=Data)
O = TypeVar("O", bound=Data | None)  # noqa: E741  as in the engine
Listener = Callable[[StepEvent], None]
Before = Callable[[SqlView], None]
After = Callable[[SqlView, CycleResult], None]
CHECKED_PLANS = 256
KEEP_RESULTS = timedelta(hours=24)
"""How long the result of a request with an idempotency key is kept by default."""


class Plans:
    """A cache of checked plans, by plan hash."""

    def __init__(self, engine: Engine, load: Callable[[str], ExecutionPlan]) -> None:
        self._engine = engine
        self._load = load
        self._checked: dict[str, CheckedPlan] = {}

    def check(self, plan: str | ExecutionPlan) -> CheckedPlan:
        """Check a plan, given by name, by file or as an object. PlanInvalid says what is wrong with it."""
        loaded = self._load(plan) if isinstance(plan, str) else plan
        if loaded.hash not in self._checked:
            if len(self._checked) >= CHECKED_PLANS:
                self._checked.clear()
            self._checked[loaded.hash] = check_plan(self._engine.registry, loaded)
        return self._checked[loaded.hash]


class Locks:
    """Locks for the tasks of this process, each for one thing of one owner.

    Between processes the commit decides, and the later one raises Conflict. A lock is dropped when no task
    holds it or waits for it. A task takes them in this order: request, persona, session.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    def of(self, owner: str, session_ref: str) -> asyncio.Lock:
        """The lock of a session: of two concurrent sends, the second waits."""
        return self._locks.setdefault((owner, "session", session_ref), asyncio.Lock())

    def of_persona(self, owner: str, persona_id: str) -> asyncio.Lock:
        """The lock of the choice of a session with a persona."""
        return self._locks.setdefault((owner, "persona", persona_id), asyncio.Lock())

    def of_request(self, owner: str, request: RequestKey) -> asyncio.Lock:
        """The lock of an idempotency key: a repeated request waits for the first one."""
        return self._locks.setdefault((owner, f"request {request.kind}", request.key), asyncio.Lock())


class Cycles:
    """Runs plans for one owner.

    `keep_results` is how long the results of idempotent requests are stored, `account_plan` is that of a call
    that names none, and `keep_cycles` is how many of the owner's last cycle records are stored. `cache` has
    windows of sessions and revisions of personas.
    """

    def __init__(
        self,
        engine: Engine,
        plans: Plans,
        scope: OwnerScope,
        locks: Locks,
        keep_results: timedelta,
        account_plan: AccountPlan,
        keep_cycles: int,
        cache: SharedCache | None = None,
    ) -> None:
        self._engine = engine
        self._plans = plans
        self.scope = scope
        self.locks = locks
        self.keep_results = keep_results
        self.account_plan: AccountPlan = account_plan
        self._keep_cycles = keep_cycles
        self._cache = cache

    @property
    def now(self) -> datetime:
        """The current time of the engine's clock."""
        return self._engine.clock()

    async def run(
        self,
        plan: str | ExecutionPlan,
        request: Mapping[str, Any],
        listen: Listener | None = None,
        *,
        before: Before | None = None,
        after: After | None = None,
        heavy: bool = False,
        subject: CycleSubject | None = None,
    ) -> CycleResult:
        """Run a plan and return its result.

        `before` and `after` run inside the transaction of the commit, around its writes: what they raise
        fails the cycle, and what they store is stored with it. With a `subject`, the commit stores the record
        of the cycle too. `heavy` is for a commit that takes longer than
        other writers should wait, as in `Database.write`; if it is disturbed too often, they wait after all.
        InputRefused, NotFound, Conflict and RateLimited of a step are raised unwrapped, because the caller
        can act on them. Any other failure is a StepFailed with the step and the cause.
        """
        checked = self._plans.check(plan)
        cached = await self._cached_reads(checked, request)
        scope = _HookedScope(
            self.scope,
            before,
            self._storing(after, subject),
            cached,
            heavy=heavy,
            replica=not _writes(checked),
        )
        try:
            result = await self._engine.run(checked, scope, request, listen)
        except StepFailed as failed:
            cause = cause_of(failed)
            if isinstance(cause, InputRefused | NotFound | Conflict | RateLimited):
                raise cause from failed
            raise
        if self._cache is not None and (values := cached.to_save()):
            self._cache.save(self.scope.owner, values)
        return result

    async def _cached_reads(self, checked: CheckedPlan, request: Mapping[str, Any]) -> CachedReads:
        """What the cache has of the session and the persona, if the plan loads them."""
        if self._cache is None:
            return NOTHING_CACHED

        def given(step: str, field: str) -> str | None:
            value = request.get(field)
            loads = any(each.type == step for each in checked.plan.steps)
            return value if loads and isinstance(value, str) else None

        session_ref, persona_id = given(LoadWindow.type, "sessionRef"), given(LoadPersona.type, "personaId")
        names = [(kind, name) for kind, name in (("session", session_ref), ("persona", persona_id)) if name]
        if not names:
            return NOTHING_CACHED
        found = dict(zip(names, await self._cache.values(self.scope.owner, names), strict=True))
        return CachedReads(
            CachedWindow(session_ref, found["session", session_ref]) if session_ref else None,
            CachedPersona(persona_id, found["persona", persona_id]) if persona_id else None,
        )

    def _storing(self, after: After | None, subject: CycleSubject | None) -> After | None:
        """`after`, and then the record of the cycle: last, because other commits may wait for its table."""
        if subject is None or not self._keep_cycles:
            return after

        def store(view: SqlView, result: CycleResult) -> None:
            if after is not None:
                after(view, result)
            view.cycles.save(subject, result.record, self._keep_cycles)

        return store

    async def output(
        self, plan: str | ExecutionPlan, step: type[Step[Any, Any, O]], request: Mapping[str, Any]
    ) -> O:
        """Run a plan and return the output of its first step of this type."""
        return output_of(await self.run(plan, request), step)

    async def output_once(
        self,
        key: RequestKey | None,
        plan: str,
        step: type[WriteStep[Any, Any, D]],
        request: Mapping[str, Any],
        *,
        operation: str | None = None,
    ) -> D:
        """As `output`, at most once per idempotency key: a repeated key returns the same output.

        The output is stored in the same commit, sealed, for any plan: it needs no step of its own.
        """
        model = cast("type[D]", step.output_model)

        def answer(result: CycleResult) -> D:
            return output_of(result, step)

        return await self.answer_once(key, plan, request, answer, model, operation=operation)

    async def answer_once(
        self,
        key: RequestKey | None,
        plan: str | ExecutionPlan,
        request: Mapping[str, Any],
        answer: Callable[[CycleResult], T],
        kind: type[T],
        *,
        lock: asyncio.Lock | None = None,
        operation: str | None = None,
        heavy: bool = False,
    ) -> T:
        """Run a plan at most once per idempotency key. Returns `answer` of its outputs, of the type `kind`.

        `answer` runs inside the commit; what it raises fails the cycle. `lock` is held while the plan runs.
        `operation` names the call if its plan depends on stored data.
        """
        stored, checked = TypeAdapter[T](kind), self._plans.check(plan)

        async def create(once: RequestKey | None) -> T:
            answers: list[T] = []

            def save(view: SqlView, result: CycleResult) -> None:
                answers[:] = [answer(result)]
                if once is not None:
                    document = stored.dump_json(answers[0]).decode()
                    self.save_result(view, once, document, persona_id=request.get("personaId"))

            async with lock or nullcontext():
                await self.run(plan, request, after=save, heavy=heavy)
            return answers[0]

        async def replay(result: str) -> T:
            return stored.validate_json(result)

        return await run_idempotent(self, key, operation or checked.plan.name, create, replay)

    def save_result(
        self,
        view: SqlView,
        once: RequestKey,
        result: str,
        *,
        turn: TurnRef | None = None,
        persona_id: str | None = None,
    ) -> None:
        """Store the result of an idempotent request in this transaction. Conflict if the key is taken.

        It is deleted with the turn, or with the persona whose facts it quotes.
        """
        now = self.now
        until = now + self.keep_results
        view.requests.save_result(once, result, now=now, until=until, turn=turn, persona_id=persona_id)


class _HookedScope:
    """The transactions of one owner, with work around the writes of the commit."""

    def __init__(
        self,
        scope: OwnerScope,
        before: Before | None,
        after: After | None,
        cached: CachedReads,
        *,
        heavy: bool,
        replica: bool,
    ) -> None:
        self._scope = scope
        self._cached = cached
        self._before = before
        self._after = after
        self._heavy = heavy
        self._replica = replica

    async def read(self, work: Callable[[SqlView], T], *, heavy: bool = False) -> T:
        return await self._scope.read(work, heavy=heavy, replica=self._replica, cached=self._cached)

    async def write(self, work: Callable[[SqlView], T], *, heavy: bool = False) -> T:
        def run(view: SqlView) -> T:
            if self._before is not None:
                self._before(view)
            result = work(view)
            if self._after is not None:
                self._after(view, cast(CycleResult, result))
            return result

        if self._heavy:
            with suppress(ChangedTooOften):
                return await self._scope.write(run, heavy=True, cached=self._cached)
        return await self._scope.write(run, heavy=heavy, cached=self._cached)


def _writes(checked: CheckedPlan) -> bool:
    """Whether what the plan reads may decide what it writes."""
    return any(isinstance(each.step, WriteStep) for steps in checked.stages.values() for each in steps)


def output_of(result: CycleResult, step: type[Step[Any, Any, O]]) -> O:
    """The output of the first step of this type. Raises InputRefused if the plan has no such step."""
    output = result.output_of(step)
    if output is None:
        raise InputRefused(f"the plan has no step {step.type}, which this call needs", at="plan")
    return output


def validated(record: type[D], **values: Any) -> D:
    """Make a record of values from a caller. Raises InputRefused with the field that is wrong."""
    try:
        return record(**values)
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(location)) from None


async def run_idempotent(
    cycles: Cycles,
    key: RequestKey | None,
    operation: str,
    create: Callable[[RequestKey | None], Awaitable[T]],
    replay: Callable[[str], Awaitable[T]],
) -> T:
    """Run `create` at most once per idempotency key.

    A repeated key returns `replay` of the stored result. Of two concurrent calls, one creates and both return
    its result: the other one waits, or finds at its commit that it came second. Raises Conflict if the key
    was used for another request or operation. `create` must store the result in the commit that makes it, by
    `Cycles.save_result` in the hook `after` of a cycle or by the step RememberRequest.
    """
    if key is None:
        return await create(None)
    request = key.model_copy(update={"body": f"{operation}\n".encode() + key.body})
    async with cycles.locks.of_request(cycles.scope.owner, request):
        if (stored := await _stored(cycles, request)) is not None:
            return await replay(stored)
        try:
            return await create(request)
        except Conflict:
            if (stored := await _stored(cycles, request)) is None:
                raise
            return await replay(stored)


async def _stored(cycles: Cycles, request: RequestKey) -> str | None:
    now = cycles.now
    return await cycles.scope.read(lambda view: view.requests.result(request, now))
