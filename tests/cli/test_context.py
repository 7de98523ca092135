"""`gieok context`, on both databases."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.cli.test_usage import talk


def test_context_shows_what_the_next_turn_would_load(run: Run, url: str) -> None:
    talk("kim", "나는 부산에 살아", "강아지 이름은 보리야")
    shown = run("context", "강아지 이름이 뭐지?", "--persona", "hana", "--user", "kim").stdout
    assert shown.split()[:4] == ["PART", "TOKENS", "ITEMS", "LEFT"]
    assert "window" in shown
    made = json.loads(run("context", "강아지", "--persona", "hana", "--user", "kim", "--json").stdout)
    assert made.keys() == {"prompt", "parts", "recalled", "tokens", "budget"}
    assert sum(part["tokens"] for part in made["parts"]) <= made["tokens"] <= made["budget"]
    assert [each["content"] for each in made["prompt"]["messages"]][-1] == "강아지"
    whole = run("context", "--persona", "hana", "--user", "kim", "--prompt", "--lang", "ko").stdout
    assert "user: 강아지 이름은 보리야" in whole
    assert "부분" in whole
    assert json.loads(run("usage", "--user", "kim", "--json").stdout)["days"][0]["calls"] == 2


def test_context_refuses_what_it_cannot_load(run: Run, url: str) -> None:
    talk("kim", "안녕")
    assert run("context", "--persona", "nobody", "--user", "kim").exit_code == 1
    assert run("context", "--persona", "hana", "--session", "x", "--user", "kim").exit_code == 1
    few = run("context", "안녕", "--persona", "hana", "--budget", "1", "--user", "kim")
    assert (few.exit_code, "budget" in few.stderr) == (1, True)
