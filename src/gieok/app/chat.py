"""The facade of conversations: `user.chat`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar, cast
from uuid import uuid4

from gieok.adapters.sql.scope import SqlView
from gieok.app.background.jobs import Jobs
from gieok.app.chat_turn import ChatTurn, chat_turn, logged_turn, repeated, replay_to, stored_turn
from gieok.app.cycles import Before, Cycles, Listener, run_idempotent
from gieok.app.session_plans import CHAT_PLAN, inactivity_minutes, plan_for
from gieok.engine import CheckedPlan, CycleResult, Data, ExecutionPlan, StepEvent
from gieok.engine.cycle import apply_writes
from gieok.errors import Conflict, InputRefused, NotFound, PlanHashMismatch, SessionEnded
from gieok.memory.conversation.records import Message
from gieok.memory.conversation.steps import ContextSelect
from gieok.memory.cycle_records import CycleSubject
from gieok.memory.fields import MAX_MESSAGE_CHARS, AccountPlan, storable
from gieok.memory.requests import RequestKey, TurnRef
from gieok.memory.sessions.records import ChatMessage, MessageRange, Session
from gieok.memory.sessions.rules import turns_from
from gieok.plans import plan_name
from gieok.refs import check_ref

if TYPE_CHECKING:
    from gieok.app import Gieok

D = TypeVar("D", bound=Data)
SEND, REGENERATE = "chat/send", "chat/regenerate"
"""The operations of an idempotency key."""
CHOICES = 5
"""How often a message without a session chooses one, if one ends or starts meanwhile."""


REPLACES = "replaces"
"""What a chat plan lists in its request if it can replace turns."""
INSTRUCTIONS = "instructions"
"""What it lists if it takes instructions of the client."""


@dataclass(frozen=True)
class _Sent:
    """A message to be sent, checked."""

    checked: CheckedPlan
    persona_id: str
    session_ref: str | None
    message: str
    turn_id: str
    listen: Listener | None
    new_session: bool = False
    message_id: str | None = None
    """The client's own id of the message."""
    recent_messages: tuple[Message, ...] = ()
    account_plan: AccountPlan | None = None
    replaces: str | None = None
    """A message of the turn that this one replaces, with all later ones."""
    instructions: str | None = None

    def request(self, session_ref: str) -> Mapping[str, object]:
        """The request of the plan."""
        optional = {REPLACES: self.replaces, INSTRUCTIONS: self.instructions}
        return {
            "sessionRef": session_ref,
            "personaId": self.persona_id,
            "accountPlan": self.account_plan,
            "messageId": self.turn_id,
            "replyId": str(uuid4()),
            "message": self.message,
            "recentMessages": self.recent_messages,
            **{name: value for name, value in optional.items() if name in self.checked.plan.request},
        }

    @property
    def message_key(self) -> RequestKey | None:
        """The key of a message with an id, which is unique in its session; without one, with its persona."""
        if self.message_id is None:
            return None
        scope = ("persona", self.persona_id) if self.session_ref is None else ("session", self.session_ref)
        key = sha256(" ".join((*scope, self.message_id)).encode()).hexdigest()
        return RequestKey(key=key, body=self.message.encode(), kind="message")


class _StartedMeanwhile(Conflict):
    """Another process has started a session with the persona."""


class Chat:
    """One owner's conversations."""

    def __init__(self, gieok: Gieok, cycles: Cycles) -> None:
        self._gieok = gieok
        self._cycles = cycles
        self._jobs = Jobs(gieok, cycles.scope)

    async def plan_of(self, session_ref: str) -> str:
        """The name of the plan to continue a session with: the shipped plan that it ran, or the chat plan.

        If that plan was changed since, continuing raises PlanHashMismatch. A custom plan must be passed
        again. Raises NotFound if there is no such session.
        """
        session = await self._cycles.scope.read(lambda view: view.sessions.get(session_ref))
        if session is None:
            raise NotFound("no such session")
        return plan_name(session.last_execution_plan_hash) or CHAT_PLAN

    async def open_session(self, persona_id: str, *, plan: str | ExecutionPlan = CHAT_PLAN) -> Session | None:
        """The session that a message without `session_ref` continues. None if it would start a new one.

        That is the session with this persona that was used last, if it runs the current version of this plan
        and has neither ended nor been inactive for longer than the plan allows.
        """
        find = self._find_open(persona_id, self._gieok.check(plan))
        return await self._cycles.scope.read(find)

    async def send(  # noqa: PLR0913  options of a public call, all by keyword
        self,
        persona_id: str,
        message: str,
        *,
        session_ref: str | None = None,
        new_session: bool = False,
        message_id: str | None = None,
        recent_messages: Sequence[Message] = (),
        instructions: str | None = None,
        replaces: str | None = None,
        account_plan: AccountPlan | None = None,
        plan: str | ExecutionPlan = CHAT_PLAN,
        wait_memory: bool = False,
        listen: Listener | None = None,
        once: RequestKey | None = None,
    ) -> ChatTurn:
        """Send a message to a persona. All of the turn is stored, or nothing.

        Without `session_ref` the open session with this persona continues, see `open_session`, or one starts;
        `new_session` starts one in any case. A `session_ref` that does not exist yet starts with this turn.
        It returns when both messages are stored. What is to be remembered of them is a job that runs next;
        `wait_memory` waits for it and returns what it changed and refused.
        Without `account_plan` the session keeps its own, and a new one gets that of GIEOK_ACCOUNT_PLAN.
        `recent_messages` is the window of a client that keeps its own, and `instructions` are added to the
        persona's system prompt. `replaces` is the id of a message of this session: its turn and all later
        ones are withdrawn in the same commit. Of two concurrent sends to one session, the second waits in the
        same process and raises Conflict in another one. Without `session_ref`, a session that ends or starts
        meanwhile makes the call choose again; if `listen` has got a part of the reply, it raises Conflict.

        `message_id` and `once`, an idempotency key, make a retry safe: repeated, they return the same answer,
        and wait for it if the first request is still running. Raises Conflict for another text or request,
        NotFound for an unknown persona, SessionEnded, and PlanHashMismatch if the session ran another plan.
        """
        sent = _Sent(
            checked=(checked := self._gieok.check(plan)),
            persona_id=check_ref(persona_id, "personaId"),
            session_ref=check_ref(session_ref, "sessionRef") if session_ref is not None else None,
            message=message,
            turn_id=check_ref(message_id, "messageId") if message_id is not None else str(uuid4()),
            listen=listen,
            new_session=new_session,
            message_id=message_id,
            recent_messages=shown_messages(recent_messages, checked.plan),
            instructions=instructions,
            replaces=replaces,
            account_plan=account_plan,
        )
        _check_options(sent)
        return await self._remembered(await self._send_once(sent, once), wait_memory)

    async def regenerate(
        self,
        session_ref: str,
        *,
        plan: str | ExecutionPlan | None = None,
        wait_memory: bool = False,
        listen: Listener | None = None,
        once: RequestKey | None = None,
    ) -> ChatTurn:
        """Make another reply to the last message. The former turn is withdrawn in the same commit.

        The answer is a new turn with the same text. If the model fails, nothing changes. `plan` is needed for
        a session with a custom plan. `once` makes a retry safe, as in `send`.
        Raises NotFound if the session has no message of the user, Conflict if its plan cannot replace a turn,
        SessionEnded and PlanHashMismatch as `send`.
        """

        async def create(request: RequestKey | None) -> ChatTurn:
            return await self._replace_last(session_ref, plan, listen, [request] if request else [])

        turn = await run_idempotent(self._cycles, once, REGENERATE, create, replay_to(listen))
        return await self._remembered(turn, wait_memory)

    async def _replace_last(
        self,
        session_ref: str,
        plan: str | ExecutionPlan | None,
        listen: Listener | None,
        keys: Sequence[RequestKey],
    ) -> ChatTurn:
        """Run the last turn again, and withdraw the former one in the commit."""
        checked = self._gieok.check(plan or await self.plan_of(session_ref))
        session, said = await self._cycles.scope.read(lambda view: _last_said(view, session_ref))
        sent = _Sent(
            checked=checked,
            persona_id=session.persona_id or "",
            session_ref=session_ref,
            message="\n".join(message.content for message in said),
            turn_id=str(uuid4()),
            listen=listen,
            replaces=said[-1].id,
        )
        _check_options(sent)
        return await self._run(sent, session_ref, keys)

    async def _send_once(self, sent: _Sent, once: RequestKey | None) -> ChatTurn:
        """Run the turn, or return the stored answer of the same request or message."""

        replay = replay_to(sent.listen)

        async def create(request: RequestKey | None) -> ChatTurn:
            async def create_message(message: RequestKey | None) -> ChatTurn:
                return await self._choose_session(sent, [key for key in (request, message) if key])

            return await run_idempotent(self._cycles, sent.message_key, SEND, create_message, replay)

        return await run_idempotent(self._cycles, once, SEND, create, replay)

    async def _choose_session(self, sent: _Sent, keys: Sequence[RequestKey]) -> ChatTurn:
        """Run the turn in the session of the request, in the open session with the persona, or in a new one.

        If the open session ends meanwhile, or another process starts one, it chooses again, unless a listener
        has got a part of the reply.
        """
        if sent.session_ref is not None or sent.new_session:
            return await self._run(sent, sent.session_ref or str(uuid4()), keys)
        listener, choices, is_heard = sent.listen, 0, False
        if listener is not None:

            def listen(event: StepEvent) -> None:
                nonlocal is_heard
                is_heard = True
                listener(event)

            sent = replace(sent, listen=listen)
        async with self._gieok.session_locks.of_persona(self._cycles.scope.owner, sent.persona_id):
            while True:
                choices += 1
                try:
                    return await self._run_in_open(sent, keys)
                except (SessionEnded, PlanHashMismatch, _StartedMeanwhile):
                    if is_heard or choices == CHOICES:
                        raise

    async def _run_in_open(self, sent: _Sent, keys: Sequence[RequestKey]) -> ChatTurn:
        """Run the turn in the open session with the persona, or in a new one if there is none."""
        find = self._find_open(sent.persona_id, sent.checked)

        def check_none_open(view: SqlView) -> None:
            view.personas.lock(sent.persona_id)
            if find(view) is not None:
                raise _StartedMeanwhile(
                    "a session with this persona was started meanwhile; send the message again"
                )

        found = await self._cycles.scope.read(find)
        if found is not None:
            return await self._run(sent, found.session_ref, keys)
        return await self._run(sent, str(uuid4()), keys, before=check_none_open)

    def _find_open(self, persona_id: str, checked: CheckedPlan) -> Callable[[SqlView], Session | None]:
        minutes = inactivity_minutes(checked)
        active_since = None if minutes is None else self._cycles.now - timedelta(minutes=minutes)
        return lambda view: view.sessions.find_open(persona_id, checked.plan.hash, active_since)

    async def _run(
        self, sent: _Sent, session_ref: str, keys: Sequence[RequestKey], before: Before | None = None
    ) -> ChatTurn:
        """Run the turn in this session. The commit stores the answer under the keys of the request."""
        before = await self._replacing(sent) if sent.replaces is not None else before

        def save(view: SqlView, result: CycleResult) -> None:
            stored = stored_turn(chat_turn(session_ref, sent.turn_id, sent.checked, result.outputs))
            for key in keys:
                place = TurnRef(session_ref=session_ref, turn_id=sent.turn_id)
                self._cycles.save_result(view, key, stored, turn=place)

        async with self._gieok.session_locks.of(self._cycles.scope.owner, session_ref):
            if sent.message_id is not None:
                logged = await self._cycles.scope.read(
                    lambda view: logged_turn(view, session_ref, sent.turn_id, sent.message)
                )
                if logged is not None:
                    return repeated(logged, sent.listen)
            result = await self._cycles.run(
                sent.checked.plan,
                sent.request(session_ref),
                sent.listen,
                before=before,
                after=save if keys else None,
                subject=CycleSubject(session_ref=session_ref, turn_id=sent.turn_id),
            )
        return replace(chat_turn(session_ref, sent.turn_id, sent.checked, result.outputs), result=result)

    async def _replacing(self, sent: _Sent) -> Before:
        """Withdraws what the turn replaces, inside its commit. NotFound if there is no such session."""
        session = await self._cycles.scope.read(lambda view: view.sessions.get(sent.session_ref or ""))
        if session is None:
            raise NotFound("no such session")
        withdraw = self._gieok.check(plan_for(self._gieok.engine.registry, session, "withdraw"))
        request = {"sessionRef": session.session_ref, "turnId": sent.replaces}

        def replace_turns(view: SqlView) -> None:
            apply_writes(withdraw, view, request, self._cycles.now)

        return replace_turns

    async def _remembered(self, turn: ChatTurn, wait_memory: bool) -> ChatTurn:
        """The turn with what was remembered of it, if the caller waits for that."""
        if turn.remembering is None:
            return turn
        if not wait_memory:
            self._gieok.job_queued.set()
            return turn
        try:
            done = await self._jobs.wait(turn.remembering.job_id)
        except NotFound:  # of a repeated request, and deleted since
            return turn
        return replace(turn, remembering=done, changes=done.changes, dropped=done.dropped)


def _check_options(sent: _Sent) -> None:
    """Refuse a bad message, options that exclude each other, and what the plan cannot do."""
    check_message(sent.message)
    if sent.session_ref is not None and sent.new_session:
        raise InputRefused("starts a session, so leave out the session's id", at="newSession")
    if sent.replaces is not None and sent.session_ref is None:
        raise InputRefused("needs the session of the message", at="sessionRef")
    if sent.replaces is not None and REPLACES not in sent.checked.plan.request:
        raise Conflict("the plan of this session cannot replace a turn; withdraw it, and send it again")
    if sent.instructions and INSTRUCTIONS not in sent.checked.plan.request:
        raise InputRefused("are not taken by this plan", at=INSTRUCTIONS)


def _last_said(view: SqlView, session_ref: str) -> tuple[Session, list[ChatMessage]]:
    """The session, and what the user said in its last turn. NotFound if there is nothing."""
    session = view.sessions.get(session_ref)
    if session is None:
        raise NotFound("no such session")
    turn = turns_from(view.messages.heads(session_ref, MessageRange(first=1, last=session.log_length)), None)
    log = view.messages.between(session_ref, MessageRange(first=turn[0].seq, last=turn[-1].seq))
    said = [message for message in log if message.role == "user" and message.withdrawn_at is None]
    if not said:
        raise NotFound("the last turn has no message of the user")
    return session, said


def check_message(message: object) -> None:
    """Refuse a message that is empty, too long, or cannot be stored."""
    if not isinstance(message, str):
        raise InputRefused("must be text", at="message")
    if not message.strip():
        raise InputRefused("must not be empty", at="message")
    if len(message) > MAX_MESSAGE_CHARS:
        raise InputRefused(f"may have at most {MAX_MESSAGE_CHARS} characters", at="message")
    try:
        storable(message)
    except ValueError as error:
        raise InputRefused(str(error), at="message") from None


def check_recent(messages: object) -> tuple[Message, ...]:
    """The recent messages of a client that keeps its own window, as a tuple. Refuse what is no list."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InputRefused("must be a list of messages", at="recentMessages")
    return tuple(cast("Sequence[Message]", messages))


def shown_messages(messages: object, plan: ExecutionPlan) -> tuple[Message, ...]:
    """The last messages of a client's window, as many as the plan shows. Older ones can be recalled, like
    everything that is not shown."""
    window = check_recent(messages)
    counts = [step.metadata.get("recentMessages") for step in plan.steps if step.type == ContextSelect.type]
    most = max((count for count in counts if isinstance(count, int)), default=len(window))
    return window[max(len(window) - most, 0) :]
