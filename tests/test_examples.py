"""Every example runs for a new user, from another folder, and shows what it says it shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gieok import Gieok
from gieok.interfaces.cli.decision import decision
from gieok.memory.turns.steps import PersistMemory
from gieok.settings import Settings

EXAMPLES = Path(__file__).parents[1] / "examples"
HOWTO = Path(__file__).parents[1] / "docs" / "howto"


def run(*command: str | Path, home: Path) -> str:
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONIOENCODING": "utf-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # the plugins that a test environment has take seconds to load
        "GIEOK_DATABASE_URL": f"sqlite:///{home / 'data' / 'gieok.db'}",
    }
    ran = subprocess.run(
        [sys.executable, *command], env=environ, cwd=home, capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_companion_remembers_the_next_day_and_says_why(tmp_path: Path) -> None:
    """The reply quotes what was said the day before, and the state knows the interview of the day."""
    evening, _, morning = run(EXAMPLES / "companion.py", home=tmp_path).partition("Day two")
    assert "내일 IT 스타트업 면접이 있어서 떨려" in evening
    assert "어제 나눈 이야기" in morning
    assert "IT 스타트업 면접 예정" in morning
    assert "words: 면접" in morning
    assert "부산으로 이사함" in morning


def test_the_decision_log_names_what_a_change_breaks_and_keeps_the_past(tmp_path: Path) -> None:
    printed = run(EXAMPLES / "decision_log.py", home=tmp_path)
    reached, _, after = printed.partition("Saved as version 2")
    assert reached.index("Every label names its lot") < reached.index("The scanner reads labels offline")
    assert re.search(r"v1 +past +재고는 로트 단위로 센다\n +v2 +active +재고는 상자 단위로 센다", after)
    assert re.findall(r"^  (\d) \S+  (.+)$", after, re.MULTILINE) == [
        ("4", "재고는 상자 단위로 센다"),
        ("5", "Every label names its lot"),
        ("6", "The scanner reads labels offline"),
    ]


@pytest.mark.req("ENG-1", "ENG-5")
def test_a_step_of_ones_own_runs_in_a_plan_of_ones_own(tmp_path: Path) -> None:
    printed = run(EXAMPLES / "custom_step.py", home=tmp_path)
    assert re.search(r"^면접에서는\? → [\d-]{10}: 오늘 면접을 봤다$", printed, re.MULTILINE)
    assert re.search(r"^surgery → [\d-]{10}: Nabi had her surgery$", printed, re.MULTILINE)
    assert "refused: steps[0].metadata.mostTopics" in printed


def test_a_store_of_ones_own_serves_the_steps_and_keeps_the_contract(tmp_path: Path) -> None:
    path = EXAMPLES / "custom_store.py"
    assert "물어볼까? → 사용자가 내일 면접을 앞두고 있음." in run(path, home=tmp_path)
    suite = run(
        "-m", "pytest", "-q", "-p", "pytest_asyncio.plugin", "-p", "pytest_timeout", path, home=tmp_path
    )
    assert re.search(r"^\d\d passed", suite, re.MULTILINE)


@pytest.mark.req("DEC-16")
def test_the_agent_of_the_langgraph_page_remembers_on_tuesday(tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", (HOWTO / "langgraph.md").read_text("utf-8"), re.DOTALL)[0]
    monday, tuesday = run("-c", code, home=tmp_path).split("You help with the warehouse.")[1:]
    assert "로트" not in monday
    assert "(lock, wms, v1): 재고는 로트 단위로 센다" in tuesday


def test_the_commands_of_the_team_page_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is read as the program reads it, and not run: the page names decisions that only a reader has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs" / "adr").mkdir(parents=True)
    page = (HOWTO / "decisions_with_a_team.md").read_text("utf-8")
    commands = re.findall(r"^gieok decision (\w+) (.*)$", page, re.MULTILINE)
    assert {name for name, _ in commands} == {"import", "list", "save", "relate", "impact"}
    for name, rest in commands:
        decision.commands[name].make_context(name, shlex.split(rest))


def test_every_example_is_listed() -> None:
    listed = re.findall(r"^\| \[(\w+\.py)\]\(\1\)", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_step_cannot_take_the_name_of_another(settings: Settings) -> None:
    """Otherwise a program could change what shipped plans do without saying so."""
    with pytest.raises(ValueError, match="PersistMemory"):
        await Gieok.open(settings, steps=[PersistMemory()])
