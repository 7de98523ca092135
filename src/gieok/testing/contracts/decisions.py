"""Contract suite for stores of decision memory. Subclass it and define the fixture `scope_of`.

class TestMyStores(DecisionStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.chains import NEW
from gieok.memory.decisions.records import (
    STRENGTHS,
    Anchor,
    Decision,
    DecisionContent,
    DecisionProposal,
    EvidenceCard,
    EvidenceDraft,
    Relation,
    RelationType,
    Scope,
    Strength,
    Target,
)
from gieok.memory.decisions.rules import position_of, statement_terms
from gieok.memory.decisions.store import DecisionView

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ALL = 1_000


class DecisionScope(Protocol):
    """One owner's decision memory, with one transaction per call."""

    async def read(self, work: Callable[[DecisionView], T]) -> T: ...
    async def write(self, work: Callable[[DecisionView], T]) -> T: ...


ScopeOf = Callable[[str], DecisionScope]


def content(
    statement: str = "Use SQLite first", domain: str | None = None, strength: Strength = "normal"
) -> DecisionContent:
    """A decision of this domain, or a global one."""
    return DecisionContent(
        statement=statement, strength=strength, scope="domain" if domain else "global", domain=domain
    )


async def save(
    scope: DecisionScope,
    what: DecisionContent,
    root: UUID | None = None,
    *,
    minute: int = 0,
    expected: int | None = None,
) -> Decision:
    """Begin a decision, or append to the one with this root id."""
    return await scope.write(
        lambda view: view.decisions.append(
            root or uuid4(),
            what,
            version_id=uuid4(),
            created_at=START + timedelta(minutes=minute),
            expected_version=expected if root else NEW,
        )
    )


async def listed(
    scope: DecisionScope,
    *,
    of: Scope | None = None,
    domain: str | None = None,
    strength: Strength | None = None,
    page: int = ALL,
) -> list[Decision]:
    """The whole list, read page by page."""
    found: list[Decision] = []
    while True:
        after = position_of(found[-1]) if found else None
        more = await scope.read(
            lambda view, after=after: view.decisions.list(
                scope=of, domain=domain, strength=strength, after=after, limit=page
            )
        )
        assert not {each.root_id for each in found} & {each.root_id for each in more}, "a page came twice"
        found += more
        if len(more) < page:
            return found


async def found(scope: DecisionScope, query: str, domain: str | None = None, limit: int = ALL) -> list[UUID]:
    """The roots that a search finds, in order."""
    decisions = await scope.read(lambda view: view.decisions.search(query, domain=domain, limit=limit))
    return [decision.root_id for decision in decisions]


class DecisionStoreContract:
    """Run against every store of decisions, relations, evidence and anchors."""

    @pytest.mark.req("DEC-1", "DEC-4", "DEC-7")
    async def test_a_saved_decision_is_returned_unchanged(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        what = DecisionContent(
            statement="결정은 덮어쓰지 않는다",
            rationale="감사할 수 있어야 한다",
            strength="lock",
            scope="domain",
            domain="Runtime/기억",
            evidence_ids=(uuid4(), uuid4()),
        )
        saved = await save(scope, what)
        assert (
            DecisionContent(**{name: getattr(saved, name) for name in DecisionContent.model_fields}) == what
        )
        assert (saved.version, saved.is_active, saved.domain) == (1, True, "runtime/기억")
        assert await scope.read(lambda view: view.decisions.active([saved.root_id])) == [saved]

    @pytest.mark.req("DEC-4", "DEC-6")
    async def test_only_the_active_version_is_listed_and_found(self, scope_of: ScopeOf) -> None:
        """A new version may change domain, strength and words."""
        scope = scope_of("minsu")
        first = await save(scope, content("cache results", "runtime", "axis"))
        second = await save(scope, content("measure before", "ui", "lock"), first.root_id, minute=1)
        assert await listed(scope) == [second]
        assert await listed(scope, domain="runtime") == []
        assert await listed(scope, strength="axis") == []
        assert await found(scope, "cache", "runtime") == await found(scope, "cache", "ui") == []
        assert await found(scope, "measure", "ui") == [first.root_id]
        chain = await scope.read(lambda view: view.decisions.history(first.root_id, after=0, limit=ALL))
        assert chain == [first.model_copy(update={"is_active": False}), second]

    @pytest.mark.req("DEC-4", "DEC-6")
    async def test_the_search_index_follows_a_new_version(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, content("재고는 창고에서 바꾼다", "wms"))
        await save(scope, content("재고는 매장에서 바꾼다", "wms"), first.root_id, minute=1)
        await save(scope, content("재고는 매장에서 바꾼다", "wms", "axis"), first.root_id, minute=2)
        for word in ("재고", "매장", "바꾸다"):
            assert await found(scope, word, "wms") == [first.root_id]
        assert await found(scope, "창고", "wms") == []

    @pytest.mark.req("DEC-4")
    async def test_only_decisions_of_the_owner_exist(self, scope_of: ScopeOf) -> None:
        first = await save(scope_of("minsu"), content("one"))
        await save(scope_of("minsu"), content("two", "wms"), first.root_id, minute=1)
        other = await save(scope_of("jiwoo"), content("three"))
        asked = [uuid4(), first.root_id, other.root_id]
        for owner, decision in (("minsu", first), ("jiwoo", other)):
            existing = await scope_of(owner).read(lambda view: view.decisions.existing(asked))
            assert set(existing) == {decision.root_id}

    @pytest.mark.req("DEC-4")
    async def test_a_stale_expected_version_is_a_conflict(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await save(scope, content("one"))
        second = await save(scope, content("two"), first.root_id, expected=1)
        with pytest.raises(Conflict, match="version 2, and version 1"):
            await save(scope, content("late"), first.root_id, expected=1)
        with pytest.raises(NotFound):
            await save(scope, content("lost"), uuid4())
        assert await listed(scope) == [second]
        assert await found(scope, "late") == []

    @pytest.mark.req("DEC-2")
    async def test_a_proposal_is_refused(self, scope_of: ScopeOf) -> None:
        """A proposal has the fields of a decision but was not taken."""
        scope = scope_of("minsu")
        with pytest.raises(InputRefused, match="not proposals"):
            await save(scope, DecisionProposal(statement="x", strength="axis", scope="global"))
        assert await listed(scope) == []

    @pytest.mark.req("DEC-6", "DEC-7")
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    async def test_lists_agree_with_a_simple_reference(self, scope_of: ScopeOf, data: st.DataObject) -> None:
        """Random decisions, versions, filters and page sizes, against sorting everything."""
        scope = scope_of(f"owner-{uuid4().hex}")
        domains = st.sampled_from([None, "runtime", "ui"])
        active: dict[UUID, Decision] = {}
        for _ in range(data.draw(st.integers(0, 12))):
            root = data.draw(st.none() | st.sampled_from(sorted(active))) if active else None
            what = content("x", data.draw(domains), data.draw(st.sampled_from(STRENGTHS)))
            saved = await save(scope, what, root, minute=data.draw(st.integers(0, 3)))
            active[saved.root_id] = saved
        of: Scope | None = data.draw(st.sampled_from([None, "global", "domain"]))
        domain = data.draw(domains)
        strength = data.draw(st.none() | st.sampled_from(STRENGTHS))
        expected = [
            decision
            for decision in sorted(active.values(), key=_order)
            if (of is None or decision.scope == of)
            and (domain is None or decision.domain == domain)
            and (strength is None or decision.strength == strength)
        ]
        page = data.draw(st.integers(1, 4))
        assert await listed(scope, of=of, domain=domain, strength=strength, page=page) == expected

    @pytest.mark.req("DEC-6")
    async def test_a_search_stays_inside_the_domain_and_the_global_scope(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        everywhere = await save(scope, content("index every query"), minute=1)
        here = await save(scope, content("index by owner", "runtime"), minute=2)
        await save(scope, content("index the page", "ui"), minute=3)
        assert await found(scope, "Indexes!", "runtime") == [here.root_id, everywhere.root_id]
        assert await found(scope, "index") == [everywhere.root_id]
        assert await found(scope, "index", "runtime", limit=1) == [here.root_id]

    async def test_a_search_ranks_by_shared_words_then_last_change(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        both = await save(scope, content("세션은 메모리를 지운다"))
        old = await save(scope, content("메모리는 암호화한다"), minute=1)
        new = await save(scope, content("세션 안에서만 찾는다"), minute=2)
        asked = "세션의 메모리"
        assert statement_terms(asked) >= {"세션", "메모리"}
        assert await found(scope, asked) == [both.root_id, new.root_id, old.root_id]
        assert await found(scope, "?!") == []

    @pytest.mark.req("DEC-8")
    async def test_a_relation_is_declared_once_and_survives_versions(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        one, two = await save(scope, content("one")), await save(scope, content("two"))
        first = relation(one.root_id, "DEPENDS_ON", two.root_id)
        assert await scope.write(lambda view: view.relations.save(first)) == first
        again = relation(one.root_id, "DEPENDS_ON", two.root_id)
        assert await scope.write(lambda view: view.relations.save(again)) == first
        other = relation(two.root_id, "CONFLICTS_WITH", one.root_id)
        await scope.write(lambda view: view.relations.save(other))
        await save(scope, content("one, again"), one.root_id)
        assert await touching(scope, one.root_id) == await touching(scope, two.root_id)
        assert set(await touching(scope, one.root_id)) == {first.id, other.id}
        await scope.write(lambda view: view.relations.remove(first))
        assert await touching(scope, one.root_id) == [other.id]
        assert await scope.read(lambda view: view.relations.get(first.id)) is None
        assert await scope.read(lambda view: view.relations.get(other.id)) == other

    @pytest.mark.req("DEC-1")
    async def test_the_same_evidence_is_stored_once(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        first = await keep(scope, EvidenceDraft(title="RFC", source="a book", content="원문 그대로"))
        again = await keep(scope, EvidenceDraft(title="another title", content="원문 그대로"))
        other = await keep(scope, EvidenceDraft(title="RFC", content="원문 그대로 "))
        assert again == first
        assert other.id != first.id
        whole = await scope.read(lambda view: view.evidence.get(first.id))
        assert whole is not None
        assert (whole.title, whole.source, whole.content) == ("RFC", "a book", "원문 그대로")
        cards = await scope.read(lambda view: view.evidence.cards([other.id, uuid4(), first.id]))
        assert cards == [other, first]
        assert await scope.read(lambda view: view.evidence.find([first.sha256, "0" * 64])) == [first]

    @pytest.mark.req("DEC-1", "DEC-14")
    async def test_anchors_are_listed_newest_first_with_their_targets_in_order(
        self, scope_of: ScopeOf
    ) -> None:
        scope = scope_of("minsu")
        evidence, root = uuid4(), uuid4()
        targets = (Target(kind="decision", id=root), Target(kind="evidence", id=evidence))
        old, new = anchor("s1", targets), anchor("s1", targets[1:], minute=2)
        elsewhere = anchor("s2", targets[:1], minute=1)
        for each in (new, old, elsewhere):
            await scope.write(lambda view, each=each: view.anchors.save(each))
        assert await scope.read(lambda view: view.anchors.list("s1", ALL)) == [new, old]
        assert await scope.read(lambda view: view.anchors.list(None, 2)) == [new, elsewhere]
        assert await scope.read(lambda view: view.anchors.leading_to("s1", [root])) == [old]
        assert await scope.read(lambda view: view.anchors.leading_to("s1", [root, evidence])) == [new, old]
        with pytest.raises(Conflict, match=str(old.id)):
            await scope.write(lambda view: view.anchors.save(old))

    @pytest.mark.req("OPS-4")
    async def test_owners_are_isolated(self, scope_of: ScopeOf) -> None:
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        saved = await save(minsu, content("index every query", "runtime"))
        card = await keep(minsu, EvidenceDraft(title="t", content="원문"))
        sign = anchor("s", (Target(kind="evidence", id=card.id),))
        await minsu.write(lambda view: view.anchors.save(sign))
        assert await listed(jiyoung) == await found(jiyoung, "index", "runtime") == []
        assert await jiyoung.read(lambda view: view.decisions.active([saved.root_id])) == []
        assert await jiyoung.read(lambda view: view.evidence.get(card.id)) is None
        assert await jiyoung.read(lambda view: view.anchors.list(None, ALL)) == []
        theirs = await keep(jiyoung, EvidenceDraft(title="t", content="원문"))
        assert theirs.id != card.id


def relation(source: UUID, kind: RelationType, target: UUID) -> Relation:
    """A new relation."""
    return Relation(id=uuid4(), source=source, type=kind, target=target)


async def touching(scope: DecisionScope, root: UUID) -> Sequence[UUID]:
    """The ids of the relations from and to a decision."""
    found = await scope.read(lambda view: view.relations.touching([root], ALL))
    return [each.id for each in found]


async def keep(scope: DecisionScope, draft: EvidenceDraft) -> EvidenceCard:
    """Save evidence."""
    return await scope.write(lambda view: view.evidence.save(draft, evidence_id=uuid4(), created_at=START))


def anchor(session: str, targets: tuple[Target, ...], minute: int = 0) -> Anchor:
    """An anchor made this many minutes after the start."""
    at = START + timedelta(minutes=minute)
    return Anchor(id=uuid4(), session_ref=session, hint="a hint", targets=targets, created_at=at)


def _order(decision: Decision) -> tuple[int, float, bytes]:
    return (
        STRENGTHS.index(decision.strength),
        -decision.created_at.timestamp(),
        decision.root_id.bytes,
    )
