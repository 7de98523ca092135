"""Facts set and retired in any order, against a simple model."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gieok import Gieok, PersonaDraft
from gieok.errors import NotFound
from gieok.memory.observations import Category
from gieok.testing.clock import Clock
from gieok.testing.settings import settings_for

T = TypeVar("T")
PERSONAS = st.sampled_from(["hana", "duri"])
KEYS = st.sampled_from([(Category.GOAL, "취업"), (Category.HABIT, "운동"), (Category.PREFERENCE, "커피")])
VALUES = st.sampled_from(["준비 중", "준비  중", "그만둠", "[현재 상태(캐논)]"])
Place = tuple[str, Category, str]


class Facts(RuleBasedStateMachine):
    """On SQLite, one user with two personas."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-facts-"))
        self.loop = asyncio.new_event_loop()
        self.clock = Clock()
        where = settings_for(f"sqlite:///{self.folder}/data/gieok.db", self.folder / "config" / "root.key")
        self.gieok = self.do(Gieok.open(where, clock=self.clock))
        self.user = self.gieok.user("minsu")
        self.active: dict[Place, str] = {}
        self.history: dict[Place, list[str]] = {}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.do(self.gieok.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        for persona in ("hana", "duri"):
            draft = PersonaDraft(name=persona, language="ko", system_prompt="다정한 친구다.")
            self.do(self.user.personas.create(draft, persona_id=persona))

    def roots(self) -> dict[Place, UUID]:
        return {
            (persona, fact.category, fact.key): fact.root_id
            for persona in ("hana", "duri")
            for fact in self.do(self.user.canon.facts(persona))
        }

    @rule(persona=PERSONAS, key=KEYS, value=VALUES)
    def set_fact(self, persona: str, key: tuple[Category, str], value: str) -> None:
        self.clock.advance(minutes=1)
        place = (persona, *key)
        self.do(self.user.canon.set_fact(persona, key[0], key[1], value))
        if self.active.get(place) != value:
            self.history.setdefault(place, []).append(value)
        self.active[place] = value

    @rule(persona=PERSONAS, key=KEYS)
    def retire_fact(self, persona: str, key: tuple[Category, str]) -> None:
        place = (persona, *key)
        root = self.roots().get(place)
        if place in self.active:
            assert root is not None
            self.do(self.user.canon.retire_fact(persona, root))
            del self.active[place]
        else:
            assert root is None
            with pytest.raises(NotFound):
                self.do(self.user.canon.retire_fact(persona, uuid4()))

    @invariant()
    def what_was_set_last_is_true_and_the_rest_is_history(self) -> None:
        roots = self.roots()
        assert roots.keys() == self.active.keys()
        for place, root in roots.items():
            versions = self.do(self.user.canon.history(place[0], root))
            assert [version.value for version in versions] == self.history[place]
            assert [version.is_active for version in versions] == [False] * (len(versions) - 1) + [True]

    @invariant()
    def the_block_shows_state_and_nothing_else(self) -> None:
        for persona in ("hana", "duri"):
            shown = {
                (fact.category, fact.key): fact.value
                for fact in self.do(self.user.canon.state(persona)).facts
            }
            assert shown == {
                place[1:]: value
                for place, value in self.active.items()
                if place[0] == persona and place[1] is not Category.PREFERENCE
            }


TestFacts = pytest.mark.req("CANON-2", "CANON-6")(Facts.TestCase)
TestFacts.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
