"""Any order of creating, editing, archiving, restoring and deleting, against a simple model."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from gieok import Gieok
from gieok.errors import MemoryLimitReached
from gieok.memory.companion.records import MemoryChanges, MemoryCounts, MemoryDraft
from gieok.memory.fields import AccountPlan
from gieok.testing.clock import Clock
from gieok.testing.settings import settings_for

PERSONAS = st.sampled_from(["hana", "duri"])
TOPICS = st.sampled_from([(), (), ("영화",), ("면접", "회사")])
ACCOUNTS = st.sampled_from(["free", "free", "premium"])
WORDS = ("면접", "영화", "고양이")
LIMIT = 5


@dataclass
class Known:
    """What the model knows of a memory."""

    id: UUID
    persona: str
    word: str
    topics: tuple[str, ...]
    importance: int
    created_at: datetime
    is_active: bool = True


def best_first(memories: list[Known]) -> list[Known]:
    """The newest about its topics, the most important first, then the newest."""
    newest = {one.topics: one for one in sorted(memories, key=lambda one: one.created_at) if one.topics}
    alone = [one for one in memories if not one.topics or newest[one.topics] is one]
    return sorted(alone, key=lambda one: (one.importance, one.created_at), reverse=True)


class Memories(RuleBasedStateMachine):
    """One user with two personas and an account that comes and goes, on a real file."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        place = Path(self.folder.name)
        self.runner = asyncio.Runner()
        self.clock = Clock()
        chosen = settings_for(f"sqlite:///{place / 'data' / 'gieok.db'}", place / "config" / "root.key")
        self.gieok = self.runner.run(Gieok.open(chosen, clock=self.clock))
        self.companion = self.gieok.user("minsu").companion
        self.known: dict[UUID, Known] = {}

    def teardown(self) -> None:
        self.runner.run(self.gieok.close())
        self.runner.close()
        self.folder.cleanup()

    def active(self, persona: str) -> list[Known]:
        return [one for one in self.known.values() if one.persona == persona and one.is_active]

    @rule(
        target=made,
        persona=PERSONAS,
        word=st.sampled_from(WORDS),
        topics=TOPICS,
        importance=st.integers(1, 10),
        account=ACCOUNTS,
    )
    def create(
        self, persona: str, word: str, topics: tuple[str, ...], importance: int, account: AccountPlan
    ) -> UUID:
        at = self.clock.advance(minutes=1)
        draft = MemoryDraft(persona_id=persona, summary=word, topics=topics, importance=importance)
        kept = self.runner.run(self.companion.create(draft, account_plan=account))
        self.known[kept.memory.id] = Known(kept.memory.id, persona, word, topics, importance, at)
        if account == "free":
            places = [one.id for one in best_first(self.active(persona))[:LIMIT]]
            out = [one for one in self.active(persona) if one.id not in places]
            for one in out:
                one.is_active = False
            assert set(kept.archived) == {one.id for one in out}
        assert (kept.memory.archived_at is None) == self.known[kept.memory.id].is_active
        return kept.memory.id

    @rule(memory_id=made, word=st.sampled_from(WORDS), importance=st.integers(1, 10))
    def edit(self, memory_id: UUID, word: str, importance: int) -> None:
        self.runner.run(self.companion.edit(memory_id, MemoryChanges(summary=word, importance=importance)))
        self.known[memory_id].word, self.known[memory_id].importance = word, importance

    @rule(memory_id=made)
    def archive(self, memory_id: UUID) -> None:
        self.runner.run(self.companion.archive(memory_id))
        self.known[memory_id].is_active = False

    @rule(memory_id=made, account=ACCOUNTS)
    def restore(self, memory_id: UUID, account: AccountPlan) -> None:
        one = self.known[memory_id]
        active = self.active(one.persona)
        rivals = [other for other in active if one.topics and other.topics == one.topics and other is not one]
        newer = any(other.created_at > one.created_at for other in rivals)
        takes_a_place = account == "free" and not one.is_active
        if takes_a_place and (len(active) - len(rivals) >= LIMIT or newer):
            with pytest.raises(MemoryLimitReached):
                self.runner.run(self.companion.restore(memory_id, account_plan=account))
            return
        self.runner.run(self.companion.restore(memory_id, account_plan=account))
        one.is_active = True
        if takes_a_place:
            for other in rivals:
                other.is_active = False

    @rule(memory_id=consumes(made))
    def delete(self, memory_id: UUID) -> None:
        self.runner.run(self.companion.delete(memory_id))
        del self.known[memory_id]

    @invariant()
    def everything_agrees(self) -> None:
        for persona in ("hana", "duri"):
            active = self.active(persona)
            everyone = [one for one in self.known.values() if one.persona == persona]
            counts = self.runner.run(self.companion.counts(persona))
            assert counts == MemoryCounts(active=len(active), archived=len(everyone) - len(active))
            listed = self.runner.run(self.companion.list(persona, limit=100)).memories
            assert [one.id for one in listed] == [one.id for one in reversed(active)]
            loaded = self.runner.run(self.companion.load(persona))
            assert [one.id for one in loaded] == [one.id for one in best_first(active)[:5]]
            for word in WORDS:
                hits = self.runner.run(self.companion.search(persona, word))
                about = {one.id for one in everyone if word in (one.word, *one.topics)}
                assert {hit.memory.id for hit in hits} == about


@pytest.mark.req("COMP-4", "COMP-7", "COMP-8", "COMP-9")
def test_any_order_of_changes() -> None:
    steps = settings(max_examples=12, stateful_step_count=25, deadline=None)
    run_state_machine_as_test(Memories, settings=steps)  # pyright: ignore[reportUnknownMemberType]
