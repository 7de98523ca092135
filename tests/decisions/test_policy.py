"""The policy: the owner's principles, versioned, in tier 1 of every context."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.app.decisions import Decisions
from gieok.errors import Conflict, InputRefused
from gieok.memory.decisions.records import MAX_PRINCIPLES
from tests.behind import Behind
from tests.decisions.conftest import plan_with, texts_of

HONEST, WRITTEN = "모르면 모른다고 말한다", "Write every decision down"


@pytest.mark.req("DEC-10")
async def test_the_policy_is_the_first_layer_of_every_context(decisions: Decisions) -> None:
    """After the principles of the plan, in every domain."""
    await decisions.set_policy([HONEST, WRITTEN])
    for domain in ("wms", "ui"):
        assert texts_of(await decisions.context(domain))[0] == [HONEST, WRITTEN]
    planned = await decisions.context("wms", plan=plan_with(policy=["of the plan"]))
    assert texts_of(planned)[0] == ["of the plan", HONEST, WRITTEN]


@pytest.mark.req("DEC-10", "DEC-4")
async def test_a_change_of_the_policy_appends_a_version(decisions: Decisions) -> None:
    """The same principles again append none."""
    assert (await decisions.policy()).version == 0
    assert (await decisions.set_policy([HONEST])).version == 1
    assert (await decisions.set_policy([HONEST])).version == 1
    changed = await decisions.set_policy([WRITTEN], expected_version=1)
    assert (changed.version, changed.principles) == (2, (WRITTEN,))
    assert await decisions.policy() == changed
    assert (await decisions.set_policy([])).version == 3
    history = await decisions.policy_history()
    assert [(each.version, each.principles) for each in history] == [(1, (HONEST,)), (2, (WRITTEN,)), (3, ())]
    assert [each.version for each in await decisions.policy_history(after=1, limit=1)] == [2]


@pytest.mark.req("DEC-4")
@pytest.mark.parametrize("expected", [0, 2])
async def test_a_stale_version_of_the_policy_is_a_conflict(decisions: Decisions, expected: int) -> None:
    await decisions.set_policy([HONEST], expected_version=0)
    with pytest.raises(Conflict):
        await decisions.set_policy([WRITTEN], expected_version=expected)
    assert (await decisions.policy()).principles == (HONEST,)


@pytest.mark.parametrize("principles", [[""], ["x" * 4_001], [HONEST] * (MAX_PRINCIPLES + 1)])
async def test_an_invalid_policy_is_refused(decisions: Decisions, principles: list[str]) -> None:
    with pytest.raises(InputRefused, match="principles"):
        await decisions.set_policy(principles)
    assert (await decisions.policy()).version == 0


@pytest.mark.req("OPS-2", "OPS-4")
async def test_a_policy_is_sealed_belongs_to_its_owner_and_survives_a_key_rotation(
    gieok: Gieok, decisions: Decisions, behind: Behind
) -> None:
    await decisions.set_policy([HONEST])
    stored = [bytes(row[0]) for row in behind.run("SELECT content FROM chain_versions")]
    assert stored
    assert not any(HONEST.encode() in content for content in stored)
    await gieok.user("minsu").rotate_key()
    assert (await decisions.policy()).principles == (HONEST,)
    assert (await gieok.user("yuna").decisions.policy()).version == 0
