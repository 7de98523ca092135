"""Sessions in SQL: their plan and moves, their activity, and the progress of their summaries."""

from __future__ import annotations

from datetime import datetime

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.adapters.sql.stores.persona_index import change_entries
from gieok.errors import Conflict, NotFound
from gieok.memory.fields import AccountPlan
from gieok.memory.sessions.records import PlanMove, Session, SessionPlans, SessionPosition, SessionStart
from gieok.memory.sessions.rules import check_resumable
from gieok.refs import check_ref

_END_OF_TIME = 2**62


class SqlSessionStore:
    """Sessions of one owner inside one transaction. They have no content, so nothing is sealed."""

    def __init__(self, tx: Tx, *, is_reading: bool = False) -> None:
        """In a read transaction a session cannot change, so each row is read once."""
        self._tx = tx
        self._loaded: dict[str, Session | None] = {}
        self._tags: dict[str, int | None] = {}
        self._is_reading = is_reading

    def get(self, session_ref: str) -> Session | None:
        if session_ref in self._loaded:
            return self._loaded[session_ref]
        row = self._tx.one("get_session", session_ref=check_ref(session_ref, "sessionRef"))
        session = _session(session_ref, row[:-1]) if row else None
        if self._is_reading:
            self._loaded[session_ref] = session
            self._tags[session_ref] = row[-1] if row else None
        return session

    def lock(self, session_ref: str) -> Session:
        row = self._tx.one("lock_session", session_ref=check_ref(session_ref, "sessionRef"))
        if row is None:
            raise NotFound("no such session")
        self._tags[session_ref] = row[-1]
        return _session(session_ref, row[:-1])

    def log_tag(self, session_ref: str) -> int | None:
        """The tag of the log of a session that this store has locked, or has read in a read transaction."""
        return self._tags.get(session_ref)

    def start(self, start: SessionStart, at: datetime) -> Session:
        plans, account_plan = start.plans, start.account_plan
        if not self._start(start.session_ref, start.persona_id, account_plan, start.plan_hash, plans, at):
            raise Conflict("a session with this ref exists already; choose another ref")
        return self.lock(start.session_ref)

    def record_plan(
        self,
        session_ref: str,
        plan_hash: str,
        at: datetime,
        *,
        plans: SessionPlans,
        persona_id: str | None,
        account_plan: AccountPlan | None,
        default_account_plan: AccountPlan,
    ) -> None:
        check_ref(session_ref, "sessionRef")
        account = account_plan or default_account_plan
        if self._start(session_ref, persona_id, account, plan_hash, plans, at):
            return
        check_resumable(self.lock(session_ref), plan_hash, persona_id)
        self._tx.run(
            "use_session",
            session_ref=session_ref,
            persona_id=persona_id,
            account_plan=account_plan,
            at=to_micros(at),
        )

    def end(self, session_ref: str, at: datetime) -> Session:
        self._tx.run("end_session", session_ref=check_ref(session_ref, "sessionRef"), at=to_micros(at))
        return self.lock(session_ref)

    def mark_queued(self, session_ref: str, last: int) -> None:
        self._tx.run("mark_messages_queued", session_ref=session_ref, last=last)

    def set_unremembered(self, session_ref: str, count: int) -> None:
        self._tx.run("set_unremembered", session_ref=session_ref, count=count)

    def mark_summarized(self, session_ref: str, count: int) -> None:
        self._tx.run("mark_messages_summarized", session_ref=session_ref, count=count)

    def move(self, session_ref: str, plan_hash: str, plans: SessionPlans | None, at: datetime) -> PlanMove:
        before = self.lock(session_ref).last_execution_plan_hash
        self._tx.run("move_session", session_ref=session_ref, plan_hash=plan_hash, plans=plans_json(plans))
        self._tx.run(
            "add_session_plan_move",
            session_ref=session_ref,
            moved_at=to_micros(at),
            from_hash=before,
            to_hash=plan_hash,
        )
        return PlanMove(moved_at=at, from_hash=before, to_hash=plan_hash)

    def moves(self, session_ref: str) -> list[PlanMove]:
        rows = self._tx.all("list_session_plan_moves", session_ref=check_ref(session_ref, "sessionRef"))
        return [
            PlanMove(moved_at=from_micros(at), from_hash=before, to_hash=after) for at, before, after in rows
        ]

    def list(self, persona_id: str | None, after: SessionPosition | None, limit: int) -> list[Session]:
        place = {
            "started_at": to_micros(after.started_at) if after else _END_OF_TIME,
            "session_ref": after.session_ref if after else "",
            "limit": limit,
        }
        if persona_id is None:
            rows = self._tx.all("list_sessions", **place)
        else:
            persona = check_ref(persona_id, "personaId")
            rows = self._tx.all("list_sessions_of_persona", persona_id=persona, **place)
        return [_session(row[0], row[1:]) for row in rows]

    def find_open(self, persona_id: str, plan_hash: str, active_since: datetime | None) -> Session | None:
        row = self._tx.one(
            "find_open_session",
            persona_id=check_ref(persona_id, "personaId"),
            plan_hash=plan_hash,
            active_since=-1 if active_since is None else to_micros(active_since),
        )
        return None if row is None else _session(row[0], row[1:])

    def delete(self, session_ref: str) -> int:
        check_ref(session_ref, "sessionRef")
        indexed = self._tx.one("count_indexed_messages", session_ref=session_ref)
        session = self.get(session_ref)
        if session is not None and session.persona_id is not None and indexed and indexed[0]:
            change_entries(self._tx, session.persona_id, added=-indexed[0])
        messages = self._tx.run("remove_session_messages", session_ref=session_ref)
        self._tx.run("remove_session_cycles", session_ref=session_ref)
        self._tx.run("remove_session_plan_moves", session_ref=session_ref)
        self._tx.run("remove_session_results", session_ref=session_ref)
        self._tx.run("clear_session_requests", session_ref=session_ref)
        self._tx.run("remove_session_jobs", session_ref=session_ref)
        self._tx.run("remove_session", session_ref=session_ref)
        self._loaded.pop(session_ref, None)
        return messages

    def _start(
        self,
        session_ref: str,
        persona_id: str | None,
        account_plan: AccountPlan,
        plan_hash: str,
        plans: SessionPlans | None,
        at: datetime,
    ) -> bool:
        return bool(
            self._tx.run(
                "start_session",
                session_ref=session_ref,
                persona_id=persona_id,
                account_plan=account_plan,
                plan_hash=plan_hash,
                plans=plans_json(plans),
                at=to_micros(at),
            )
        )


def plans_json(plans: SessionPlans | None) -> str | None:
    """The plans of a session as its row has them."""
    return None if plans is None else plans.model_dump_json(by_alias=True)


def _session(session_ref: str, row: Row) -> Session:
    persona_id, account_plan, plan_hash, started_at, last_activity_at, ended_at, *counts, plans = row
    return Session(
        session_ref=session_ref,
        persona_id=persona_id,
        account_plan=account_plan,
        last_execution_plan_hash=plan_hash,
        started_at=from_micros(started_at),
        last_activity_at=from_micros(last_activity_at),
        ended_at=None if ended_at is None else from_micros(ended_at),
        message_count=counts[0] - counts[4],
        log_length=counts[0],
        claimed_count=counts[1],
        summarized_count=counts[2],
        unremembered_count=counts[3],
        plans=None if plans is None else SessionPlans.model_validate_json(plans),
    )
