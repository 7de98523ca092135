"""`gieok plan`, which needs no database and no key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gieok.engine import parse_plan
from gieok.plans import load_plan, plan_names, read_plan
from tests.cli.conftest import Run, files_in


def plan_with(**changes: Any) -> str:
    return json.dumps({**json.loads(read_plan("turn_memory")), **changes})


def test_the_list_has_every_plan(run: Run) -> None:
    done = run("plan", "list")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(plan_names())
    listed = json.loads(run("plan", "list", "--json").stdout)
    assert [each["hash"] for each in listed] == [load_plan(name).hash for name in plan_names()]


@pytest.mark.req("ENG-5")
def test_show_has_every_step_with_its_inputs_and_metadata(run: Run) -> None:
    shown = run("plan", "show", "turn_memory").stdout
    for step in load_plan("turn_memory").steps:
        assert f"  {step.id} " in shown
    assert "query = request.message" in shown
    assert "topK = 5" in shown


def test_show_as_json_is_the_plan_as_written(run: Run) -> None:
    shown = run("plan", "show", "turn_memory", "--json").stdout
    assert json.loads(shown) == json.loads(read_plan("turn_memory"))
    assert parse_plan(shown).hash == load_plan("turn_memory").hash


@pytest.mark.req("ENG-8")
def test_the_hash_is_printed_and_nothing_else(run: Run) -> None:
    assert run("plan", "hash", "turn_memory").stdout == load_plan("turn_memory").hash + "\n"


@pytest.mark.req("ENG-8")
def test_the_hash_depends_on_the_content_and_not_on_the_formatting(run: Run, home: Path) -> None:
    spelled = home / "same.json"
    spelled.write_text(plan_with())
    changed = home / "changed.json"
    changed.write_text(plan_with().replace('"topK": 5', '"topK": 6'))
    same, other = run("plan", "hash", str(spelled)).stdout, run("plan", "hash", str(changed)).stdout
    assert same == load_plan("turn_memory").hash + "\n" != other


def test_a_plan_is_read_from_standard_input(run: Run) -> None:
    assert run("plan", "hash", "-", stdin=plan_with()).stdout == load_plan("turn_memory").hash + "\n"
    assert run("plan", "check", "-", stdin=plan_with()).exit_code == 0


def test_valid_plans_pass_and_no_file_is_created(run: Run, home: Path) -> None:
    done = run("plan", "check", *plan_names())
    assert done.exit_code == 0
    assert done.stdout == "".join(f"{name}: ok\n" for name in plan_names())
    assert files_in(home) == {}


@pytest.mark.req("ENG-10")
def test_an_invalid_plan_is_reported_with_the_place_of_the_error(run: Run, home: Path) -> None:
    bad = home / "bad.json"
    bad.write_text(plan_with().replace("SummarizeMemory", "Summarise"))
    done = run("plan", "check", "turn_memory", str(bad))
    assert done.exit_code == 1
    assert done.stdout == "turn_memory: ok\n"
    assert f"error: {bad}: steps[8].type: no step of type 'Summarise'" in done.stderr
    verdicts = json.loads(run("plan", "check", "turn_memory", str(bad), "--json").stdout)
    assert [each["ok"] for each in verdicts] == [True, False]
    assert verdicts[1]["error"] == "PLAN_INVALID"


@pytest.mark.req("ENG-10")
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00\x01\x02", "cannot be read as UTF-8"),
        (b"[1, 2]", "must be a JSON object"),
        (plan_with(version=0).replace('"topK": 5', '"topK": NaN').encode(), "NaN is not a JSON number"),
        (plan_with(name="x" * 1_000_000).encode(), "at most 262144 bytes"),
        (b"[" * 100_000, "nested"),
        (b'{"name": "a", "name": "b"}', "twice in one object"),
    ],
    ids=["empty", "cut", "binary", "list", "nan", "1MB", "deep", "twice"],
)
def test_invalid_files_are_refused_with_a_reason(run: Run, home: Path, content: bytes, reason: str) -> None:
    file = home / "plan.json"
    file.write_bytes(content)
    for command in ("check", "show", "hash"):
        done = run("plan", command, str(file))
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"error: {file}: ")
        assert reason in done.stderr


def test_a_folder_or_a_missing_file_is_an_error(run: Run, home: Path) -> None:
    for source, code in ((str(home), "PLAN_INVALID"), (str(home / "none.json"), "NOT_FOUND"), ("", "")):
        done = run("plan", "check", source)
        assert done.exit_code == 1
        assert code in done.stderr


def test_korean_headings(run: Run) -> None:
    assert run("plan", "list", "--lang", "ko").stdout.startswith("이름")
    assert run("plan", "list", LANG="ko_KR.UTF-8").stdout.startswith("이름")
    assert run("plan", "list", LANG="ko_KR.UTF-8", LC_ALL="C").stdout.startswith("NAME")


def test_control_characters_in_a_plan_are_escaped(run: Run, home: Path) -> None:
    document = json.loads(read_plan("turn_memory"))
    document["steps"][0]["metadata"] = {"topK": None, "\x1b[2J": "\x1b]0;gone\x07\x9b2J\u202e 한글"}
    file = home / "strange.json"
    file.write_text(json.dumps(document))
    done = run("plan", "show", str(file))
    assert "topK = null" in done.stdout
    assert r"\x1b[2J = " in done.stdout
    assert "한글" in done.stdout
    file.write_text('{"\\u001b[2J": 1, "\\u001b[2J": 2}')
    refused = run("plan", "show", str(file))
    assert refused.exit_code == 1
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(done.output + refused.output)
