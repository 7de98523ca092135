"""What `gieok demo` tells is true: every claim is held against the files that it leaves with --keep."""

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
from gieok.plans import load_plan
from tests.cli.stranger import Stranger

ROOT = Path(__file__).parents[2]
LOCALES = {"ko": "C.UTF-8", "en": "en_GB.UTF-8"}
READMES = {"ko": ROOT / "README.ko.md", "en": ROOT / "README.md"}
ACTS = ("talk", "disk", "recall", "canon", "decide", "kill", "plan")
pytestmark = pytest.mark.xdist_group("demo")  # each demo is played once for all of them


@dataclass(frozen=True)
class Kept:
    """What a demo printed, and the folder that it left."""

    story: Story
    t: Translator
    output: str
    folder: Path

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    def act(self, name: str) -> str:
        """The text of one act."""
        _, _, rest = self.output.partition(f"{ACTS.index(name) + 1}  {self.t(f'demo.{name}')}\n")
        return rest.partition("\n\n")[0]

    def fact(self, name: str, pattern: str) -> tuple[str, ...]:
        """What stands in the groups of `pattern`, which occurs exactly once in an act."""
        (found,) = re.finditer(pattern, self.act(name))
        return found.groups()

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """What lies in the database, read past Gieok and leaving no trace beside it."""
        database = DemoFolder(self.folder).database.as_uri() + "?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(database, flags=flags)) as connection:
            return connection.execute(query, values).fetchall()


@pytest.fixture(scope="module", params=["ko", "en"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A demo in the language of the locale; where the locale names none, in Korean."""
    language = request.param
    folder = tmp_path_factory.mktemp("demo")
    output = Stranger(folder).demo("--keep", str(folder / "kept"), LANG=LOCALES[language])
    return Kept(STORIES[language], Translator(language), output, folder / "kept")


@pytest.fixture
async def opened(kept: Kept, tmp_path: Path) -> AsyncGenerator[Gieok]:
    """A copy of the kept folder, opened with its key as any program would."""
    folder = DemoFolder(shutil.copytree(kept.folder, tmp_path / "copy"))
    async with await folder.open(kept.story.killed.at) as gieok:
        yield gieok


def test_the_readme_shows_what_is_told(kept: Kept) -> None:
    """The acts that a README shows are those of the demo, to the letter."""
    (shown,) = re.findall(r"```\n(3  .*?)\n```", READMES[kept.t.lang].read_text("utf-8"), re.DOTALL)
    acts = shown.split("\n\n")
    assert len(acts) == 2
    for act in acts:
        assert act in kept.output


def test_tells_every_act_in_the_language_of_the_locale(kept: Kept) -> None:
    """Every heading is there, in order, every line of the talk, and no heading of the other language."""
    numbered = [f"{number}  {kept.t(f'demo.{name}')}" for number, name in enumerate(ACTS, start=1)]
    assert [line for line in kept.lines if line in numbered] == numbered
    story = kept.story
    for messages in (*story.talks, story.recall, story.change, story.killed):
        assert all(text in kept.output for text in messages.texts)
    other = Translator("en" if kept.t.lang == "ko" else "ko")
    assert not any(other(f"demo.{name}") in kept.output for name in ACTS)
    assert "\x1b" not in kept.output  # nor colours: it went into a pipe


def test_can_be_read_in_a_minute_on_a_usual_terminal(kept: Kept) -> None:
    """Neither longer than a minute's reading nor wider than a terminal; paths are as long as they are."""
    assert len(kept.lines) <= 100
    assert max(width(line) for line in kept.lines if str(kept.folder) not in line) <= 90


async def test_the_memories_shown_are_the_memories_kept(kept: Kept, opened: Gieok) -> None:
    """Each session left one, and its words, topics and importance are what the screen says."""
    page = await opened.user(kept.story.owner).companion.list(kept.story.persona_id)
    assert page.total == len(kept.story.talks)
    shown = " ".join(kept.act("talk").split())
    for memory in page.memories:
        assert memory.summary in shown
        assert ", ".join(memory.topics) in shown
        emotion = memory.emotion.korean if kept.t.lang == "ko" else memory.emotion
        assert re.search(rf"{emotion}\W+\S+ {memory.importance}\b", shown)


@pytest.mark.req("OPS-2")
def test_no_word_of_the_talk_lies_on_disk(kept: Kept) -> None:
    """What the demo claims about its files holds for the files that it left."""
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
    """The hex on the screen is the beginning of what the database holds for that memory."""
    (identity,) = kept.fact("disk", r"\bid +([0-9a-f-]{36})")
    (shown,) = kept.fact("disk", r"\bcontent +([0-9a-f]+)…")
    query = "SELECT hex(content) FROM memories WHERE hex(id) = ?"
    ((stored,),) = kept.rows(query, identity.replace("-", "").upper())
    assert stored.lower().startswith(shown)


def test_recall_brings_back_yesterday_and_says_why(kept: Kept) -> None:
    """The character asks after the interview; the word that led there is shown, and scores add up."""
    event = {"ko": "면접", "en": "interview"}[kept.t.lang]
    led = {"ko": "면접에서 → 면접", "en": "interviews → interview"}[kept.t.lang]
    act = kept.act("recall")
    assert led in act
    assert event in act.splitlines()[-1]
    assert kept.story.character in act.splitlines()[-1]
    scores = re.findall(r"(\d\.\d\d) = ([^()#]*?)(?=\n +\d위|\n +#|\n   \S)", act)
    assert len(scores) == len(kept.story.talks)
    for score, signals in scores:
        parts = re.findall(r"([\d.]+)×([\d.]+)", signals)
        assert sum(float(value) * float(weight) for value, weight in parts) == pytest.approx(
            float(score), abs=0.01
        )


async def test_canon_before_and_after_is_the_history_that_is_kept(kept: Kept, opened: Gieok) -> None:
    """The old fact is in the block before, the new one in the block after, and both are in the store."""
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


def test_the_persona_is_the_same_byte_for_byte(kept: Kept) -> None:
    """Two hashes are shown, and they are equal."""
    before, after = kept.fact("canon", r"v1 sha256 ([0-9a-f]{12}) → v1 sha256 ([0-9a-f]{12})")
    assert before == after
    assert kept.t("demo.canon.same") in kept.act("canon")


async def test_the_blast_radius_is_drawn_whole(kept: Kept, opened: Gieok) -> None:
    """Every decision that the store says is reached hangs in the tree, deeper where it is farther."""
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
def test_a_killed_turn_leaves_no_row(kept: Kept) -> None:
    """Its transaction held the turn, and no table has a row of it; the same message again goes in whole."""
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
    """The hash is the one that the session remembers, and every step has its time."""
    plan = load_plan("chat_turn")
    assert f" {plan.hash[:12]}:" in kept.act("plan")
    assert set(kept.rows("SELECT last_plan_hash FROM sessions")) == {(plan.hash,)}
    steps = re.findall(r"([A-Z]\w+) \d+\.\d\b", kept.act("plan"))
    assert steps == [step.type for step in plan.steps]
