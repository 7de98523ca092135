"""Memories, their places and the facts of a persona against a model that fits in a head."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gieok import Gieok, MemoryDraft, PersonaDraft
from gieok.errors import MemoryLimitReached, NotFound
from gieok.memory.canon.records import Category
from gieok.memory.companion.records import Emotion
from gieok.memory.companion.store import Shelf
from gieok.testing.clock import Clock
from gieok.testing.settings import settings_for

T = TypeVar("T")
PERSONAS = ("hana", "hugo")
LIMIT = 5
TOPICS = (("영화",), ("면접",), ("여행", "바다"), ("바다", "여행"), ())
KEYS = ("취업", "운동")


@dataclass
class Kept:
    """What a user would say of a memory."""

    number: int
    importance: int
    topics: frozenset[str]
    active: bool = True


def places(memories: dict[UUID, Kept]) -> set[UUID]:
    """Who is active, said plainly: the newest of each set of topics, then the best five."""
    active = [(each, kept) for each, kept in memories.items() if kept.active]
    newest = {
        each
        for each, kept in active
        if not kept.topics
        or not any(other.topics == kept.topics and other.number > kept.number for _, other in active)
    }
    best = sorted(newest, key=lambda each: (-memories[each].importance, -memories[each].number))
    return set(best[:LIMIT])


class Companions(RuleBasedStateMachine):
    """On SQLite, a free account with two personas."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-machine-"))
        self.loop = asyncio.new_event_loop()
        self.clock = Clock()
        where = settings_for(f"sqlite:///{self.folder}/data/gieok.db", self.folder / "config" / "root.key")
        self.gieok = self.do(Gieok.open(where, clock=self.clock))
        self.user = self.gieok.user("minsu")
        self.memories: dict[str, dict[UUID, Kept]] = {persona: {} for persona in PERSONAS}
        self.facts: dict[str, dict[str, list[str]]] = {persona: {} for persona in PERSONAS}
        self.retired: set[tuple[str, str]] = set()
        self.number = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.do(self.gieok.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        for persona in PERSONAS:
            draft = PersonaDraft(name=persona, language="ko", system_prompt="다정한 친구다.")
            self.do(self.user.personas.create(draft, persona_id=persona))

    @rule(persona=st.sampled_from(PERSONAS), importance=st.integers(1, 10), topics=st.sampled_from(TOPICS))
    def talk_about(self, persona: str, importance: int, topics: tuple[str, ...]) -> None:
        self.create(persona, importance, topics)

    def create(self, persona: str, importance: int, topics: tuple[str, ...]) -> None:
        self.number += 1
        self.clock.advance(minutes=1)
        draft = MemoryDraft(
            persona_id=persona,
            summary=f"{self.number}번째 이야기",
            topics=topics,
            emotion=Emotion.CALM,
            importance=importance,
        )
        kept = self.do(self.user.companion.create(draft, account_plan="free"))
        memories = self.memories[persona]
        memories[kept.memory.id] = Kept(self.number, importance, frozenset(topics))
        staying = places(memories)
        fell_out = {each for each, memory in memories.items() if memory.active} - staying
        for each in fell_out:
            memories[each].active = False
        assert set(kept.archived) == fell_out

    @rule(persona=st.sampled_from(PERSONAS), importances=st.lists(st.integers(1, 10), min_size=4, max_size=6))
    def fill(self, persona: str, importances: list[int]) -> None:
        for importance in importances:
            self.create(persona, importance, ())

    def pick(self, data: st.DataObject, *, active: bool) -> tuple[str, UUID] | None:
        choice = [
            (persona, each)
            for persona, memories in self.memories.items()
            for each, kept in memories.items()
            if kept.active is active
        ]
        return data.draw(st.sampled_from(choice)) if choice else None

    @precondition(lambda self: any(self.memories.values()))
    @rule(data=st.data())
    def archive(self, data: st.DataObject) -> None:
        if picked := self.pick(data, active=True):
            self.do(self.user.companion.archive(picked[1]))
            self.memories[picked[0]][picked[1]].active = False

    @precondition(lambda self: any(self.memories.values()))
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        if not (picked := self.pick(data, active=False)):
            return
        persona, each = picked
        memories = self.memories[persona]
        before = {other for other, kept in memories.items() if kept.active}
        memories[each].active = True
        has_place = places(memories) == before | {each}
        if has_place:
            self.do(self.user.companion.restore(each, account_plan="free"))
        else:
            memories[each].active = False
            with pytest.raises(MemoryLimitReached):
                self.do(self.user.companion.restore(each, account_plan="free"))

    @precondition(lambda self: any(self.memories.values()))
    @rule(data=st.data(), active=st.booleans())
    def delete(self, data: st.DataObject, *, active: bool) -> None:
        if picked := self.pick(data, active=active):
            self.do(self.user.companion.delete(picked[1]))
            del self.memories[picked[0]][picked[1]]
            with pytest.raises(NotFound):
                self.do(self.user.companion.get(picked[1]))

    @rule(persona=st.sampled_from(PERSONAS), key=st.sampled_from(KEYS), value=st.sampled_from("가나다"))
    def set_fact(self, persona: str, key: str, value: str) -> None:
        self.clock.advance(minutes=1)
        self.do(self.user.canon.set_fact(persona, Category.GOAL, key, value))
        history = self.facts[persona].setdefault(key, [])
        if (persona, key) in self.retired or not history or history[-1] != value:
            history.append(value)
        self.retired.discard((persona, key))

    @rule(persona=st.sampled_from(PERSONAS), key=st.sampled_from(KEYS))
    def retire_fact(self, persona: str, key: str) -> None:
        root = next(
            (fact.root_id for fact in self.do(self.user.canon.facts(persona)) if fact.key == key), None
        )
        if root is None:
            with pytest.raises(NotFound):
                self.do(self.user.canon.retire_fact(persona, uuid4()))
        else:
            self.do(self.user.canon.retire_fact(persona, root))
            self.retired.add((persona, key))

    @invariant()
    def memories_are_where_they_should_be(self) -> None:
        for persona, memories in self.memories.items():
            shelves: dict[Shelf, bool] = {"active": True, "archived": False}
            for shelf, active in shelves.items():
                page = self.do(self.user.companion.list(persona, shelf=shelf, limit=1_000))
                expected = {each for each, kept in memories.items() if kept.active is active}
                assert {memory.id for memory in page.memories} == expected
                assert page.total == len(expected)
            counts = self.do(self.user.companion.counts(persona))
            assert counts.active == sum(kept.active for kept in memories.values())

    @invariant()
    def facts_are_the_last_that_were_set(self) -> None:
        for persona, facts in self.facts.items():
            active = {fact.key: fact for fact in self.do(self.user.canon.facts(persona))}
            expected = {
                key: values[-1] for key, values in facts.items() if (persona, key) not in self.retired
            }
            assert {key: fact.value for key, fact in active.items()} == expected
            for key, fact in active.items():
                versions = self.do(self.user.canon.history(persona, fact.root_id))
                assert [version.value for version in versions][-len(facts[key]) :] == facts[key]


TestCompanions = pytest.mark.req("COMP-4", "COMP-9", "CANON-6")(Companions.TestCase)
TestCompanions.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
