"""The output of `gieok demo` is true: it is compared with the files that --keep leaves."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from gieok import Gieok
from gieok.interfaces.cli.demo.acts import DemoFolder
from gieok.interfaces.cli.demo.story import STORIES, Story
from gieok.interfaces.cli.output import width
from gieok.interfaces.cli.texts import Translator
from gieok.memory.companion.hits import HIT_KINDS
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.plans import load_plan
from tests.cli.clean_machine import CleanMachine

ROOT = Path(__file__).parents[2]
LOCALES = {"ko": "C.UTF-8", "en": "en_GB.UTF-8"}
READMES = {"ko": ROOT / "README.ko.md", "en": ROOT / "README.md"}
ACTS = ("talk", "disk", "recall", "canon", "decide", "kill", "plan")
pytestmark = pytest.mark.xdist_group("demo")  # the demo runs once per language for all tests


@dataclass(frozen=True)
class Kept:
    """The output of a demo and its folder."""

    story: Story
    t: Translator
    output: str
    folder: Path

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    def act(self, name: str) -> str:
        """Text of one act."""
        _, _, rest = self.output.partition(f"{ACTS.index(name) + 1}  {self.t(f'demo.{name}')}\n")
        return rest.partition("\n\n")[0]

    def fact(self, name: str, pattern: str) -> tuple[str, ...]:
        """Groups of `pattern`, which must match exactly once in the act."""
        (found,) = re.finditer(pattern, self.act(name))
        return found.groups()

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Rows of the database, read with SQLite and without creating files beside it."""
        database = DemoFolder(self.folder).database.as_uri() + "?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(database, flags=flags)) as connection:
            return connection.execute(query, values).fetchall()


@pytest.fixture(scope="module", params=["ko", "en"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A demo in the language of the locale: Korean if the locale has no language."""
    language = request.param
    folder = tmp_path_factory.mktemp("demo")
    output = CleanMachine(folder).demo("--keep", str(folder / "kept"), LANG=LOCALES[language])
    return Kept(STORIES[language], Translator(language), output, folder / "kept")


@pytest.fixture
async def opened(kept: Kept, tmp_path: Path) -> AsyncGenerator[Gieok]:
    """A copy of the kept folder, opened with its key."""
    folder = DemoFolder(shutil.copytree(kept.folder, tmp_path / "copy"))
    async with await folder.open(kept.story.killed.at) as gieok:
        yield gieok


def test_the_readme_quotes_the_output_of_the_demo(kept: Kept) -> None:
    """The acts in the README are exactly those of the demo."""
    (shown,) = re.findall(r"```\n(3  .*?)\n```", READMES[kept.t.lang].read_text("utf-8"), re.DOTALL)
    acts = shown.split("\n\n")
    assert len(acts) == 1
    for act in acts:
        assert act in kept.output


def test_all_acts_are_in_the_language_of_the_locale(kept: Kept) -> None:
    """All headings in order, all messages, and no heading of the other language."""
    numbered = [f"{number}  {kept.t(f'demo.{name}')}" for number, name in enumerate(ACTS, start=1)]
    assert [line for line in kept.lines if line in numbered] == numbered
    story = kept.story
    for messages in (*story.talks, story.recall, story.change, story.killed):
        assert all(text in kept.output for text in messages.texts)
    other = Translator("en" if kept.t.lang == "ko" else "ko")
    assert not any(other(f"demo.{name}") in kept.output for name in ACTS)
    assert "\x1b" not in kept.output  # no colours in a pipe


def test_the_output_is_short_and_narrow(kept: Kept) -> None:
    """At most 100 lines of 90 columns. Lines with a path may be longer."""
    assert len(kept.lines) <= 100
    assert max(width(line) for line in kept.lines if str(kept.folder) not in line) <= 90


async def test_the_memories_shown_are_the_memories_stored(kept: Kept, opened: Gieok) -> None:
    """Each session has one memory, with the summary, topics and importance of the output."""
    page = await opened.user(kept.story.owner).companion.list(kept.story.persona_id)
    assert page.total == len(kept.story.talks)
    shown = " ".join(kept.act("talk").split())
    for memory in page.memories:
        assert memory.summary in shown
        assert ", ".join(memory.topics) in shown
        emotion = memory.emotion.korean if kept.t.lang == "ko" else memory.emotion
        assert re.search(rf"{emotion}\W+\S+ {memory.importance}\b", shown)


@pytest.mark.req("OPS-2")
def test_no_word_of_the_conversation_is_on_disk_as_plain_text(kept: Kept) -> None:
    """What the demo says about its files is true for the files that it left."""
    contents = [path.read_bytes() for path in kept.folder.rglob("*") if path.is_file()]
    assert len(contents) >= 3
    for secret in kept.story.secrets:
        assert any(secret in line for line in kept.story.talks[-1].texts)
        assert not any(secret.encode() in content for content in contents)
        assert kept.fact("disk", rf"\b{secret} (\d+)") == ("0",)
    (control,) = kept.fact("disk", rf"\b{kept.story.owner} (\d+)")
    assert int(control) > 0


@pytest.mark.req("OPS-2")
def test_the_row_shown_is_the_row_stored(kept: Kept) -> None:
    """The hex digits are the start of the stored content of that memory."""
    (identity,) = kept.fact("disk", r"\bid +([0-9a-f-]{36})")
    (shown,) = kept.fact("disk", r"\bcontent +([0-9a-f]+)…")
    query = "SELECT hex(content) FROM memories WHERE hex(id) = ?"
    ((stored,),) = kept.rows(query, identity.replace("-", "").upper())
    assert stored.lower().startswith(shown)


def test_recall_finds_the_last_conversation_and_its_scores_add_up(kept: Kept) -> None:
    """The best hit of each kind is shown with the matching word. The signals of the first are its score."""
    event = {"ko": "면접", "en": "interview"}[kept.t.lang]
    led = {"ko": "면접에서 → 면접", "en": "interviews → interview"}[kept.t.lang]
    act = kept.act("recall")
    assert event in act.splitlines()[-1]
    assert kept.story.character in act.splitlines()[-1]
    reasons = re.findall(rf"^ +(\S+), \d\.\d.*{led}$", act, re.MULTILINE)
    assert sorted(reasons) == sorted(kept.t(f"demo.kind.{kind}") for kind in HIT_KINDS)
    ((score, signals),) = re.findall(r"(\d\.\d\d) = ([^()#]*?)(?=\n +\d위|\n +#|\n   \S)", act)
    parts = re.findall(r"([\d.]+)×([\d.]+)", signals)
    assert sum(float(value) * float(weight) for value, weight in parts) == pytest.approx(
        float(score), abs=0.02
    )


async def test_recall_shows_the_memory_of_the_last_conversation(kept: Kept, opened: Gieok) -> None:
    """It is the best memory. The hits that are not shown are counted."""
    page = await opened.user(kept.story.owner).companion.list(kept.story.persona_id)
    last = max(page.memories, key=lambda memory: memory.occurred_at)
    shown = " ".join(kept.act("recall").split())
    assert f"{last.summary} {kept.t('demo.kind.memory')}, " in shown
    (recall,) = [step for step in load_plan("chat_turn").steps if step.type == RecallMemories.type]
    more = recall.metadata["topK"] - len(HIT_KINDS)
    assert kept.t("demo.recall.sum", more=more) in shown


async def test_the_states_shown_match_the_stored_versions(kept: Kept, opened: Gieok) -> None:
    """The old value is in the state before, the new one in the state after, and both are stored."""
    canon = opened.user(kept.story.owner).canon
    state = await canon.state(kept.story.persona_id)
    act = kept.act("canon")
    before, _, after = act.partition(kept.t("demo.canon.after"))
    after = after.partition(f"{kept.t('demo.canon.history')} ")[0]
    (partner,) = [fact for fact in state.facts if fact.key == "partner"]
    old, new = await canon.history(kept.story.persona_id, partner.root_id)
    assert old.value in before
    assert old.value not in after
    assert new.value in after
    assert f"v1 {old.value}" in act
    assert f"v2 {new.value}" in act


def test_the_persona_is_unchanged(kept: Kept) -> None:
    """Two equal hashes are shown."""
    before, after = kept.fact("canon", r"v1 sha256 ([0-9a-f]{12}) → v1 sha256 ([0-9a-f]{12})")
    assert before == after
    assert kept.t("demo.canon.same") in kept.act("canon")


async def test_the_tree_shows_all_affected_decisions(kept: Kept, opened: Gieok) -> None:
    """The tree has every decision of the computed impact, indented by its distance."""
    decisions = opened.user(kept.story.owner).decisions
    page = await decisions.list()
    (origin,) = [each for each in page.decisions if each.statement == kept.story.decisions[0].statement]
    impact = await decisions.impact(origin.root_id)
    statements = {each.root_id: each.statement for each in page.decisions}
    assert len(impact.nodes) == len(kept.story.decisions) - 1
    for node in impact.nodes:
        (line,) = [line for line in kept.act("decide").splitlines() if statements[node.root_id] in line]
        assert len(line) - len(line.lstrip("│ ")) == 3 * node.distance


@pytest.mark.req("ENG-6", "ENG-7")
def test_a_killed_turn_stores_no_row(kept: Kept) -> None:
    """No table has a row of the killed turn. Sending the message again stores all of its rows."""
    assert "SIGKILL" in kept.act("kill")
    counts = re.findall(r"(\w+) (\d+) → (\d+) → (\d+)", kept.act("kill"))
    assert {"messages", "turn_memories"} <= {table for table, *_ in counts}
    for table, before, after, again in counts:
        assert before == after != again
        assert kept.rows(f"SELECT count(*) FROM {table}") == [(int(again),)]
    lost = kept.t("demo.kill.changed", changed=0, tables=len(_tables(kept)))
    assert lost in " ".join(kept.act("kill").split())
    assert kept.rows("SELECT count(*) FROM sessions") == [(len(kept.story.talks) + 1,)]


def _tables(kept: Kept) -> list[tuple[Any, ...]]:
    return kept.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")


def test_the_plan_shown_is_the_plan_that_ran(kept: Kept) -> None:
    """The hash is the one stored with the session, and every step has a time."""
    plan = load_plan("chat_turn")
    assert f" {plan.hash[:12]}:" in kept.act("plan")
    assert set(kept.rows("SELECT last_plan_hash FROM sessions")) == {(plan.hash,)}
    steps = re.findall(r"\b([A-Z]\w+) \d+\.\d\b", kept.act("plan"))
    assert steps == [step.type for step in plan.steps]
