"""`gieok decision`."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from gieok import Gieok, PersonaDraft
from gieok.interfaces.cli.decision import read, write
from gieok.memory.decisions import records
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.contracts.decisions import START
from tests.cli.conftest import Run, Start, files_in

both = pytest.mark.usefixtures("url")
"""Runs on each kind of database. The other tests check output and use the default database."""

ADR = """# 1. Use one database

## Status

Accepted

## Context

Two stores drift apart.
"""


@pytest.fixture
def kim(run: Run) -> Run:
    """Run `gieok decision …` as the user kim."""
    return lambda *args, **options: run("decision", *args, GIEOK_USER="kim", **options)


def document(done: Result) -> Any:
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def saved(kim: Run, *args: str) -> str:
    """Save a decision and return its id."""
    return document(kim("save", *args, "--json"))["decision"]["rootId"]


@pytest.fixture
def graph(kim: Run) -> dict[str, str]:
    """one ← two ← three by DEPENDS_ON, and one CONSTRAINS four."""
    ids = {name: saved(kim, name, "--domain", "wms") for name in ("one", "two", "three", "four")}
    for source, kind, target in (
        ("two", "DEPENDS_ON", "one"),
        ("three", "depends_on", "two"),
        ("one", "CONSTRAINS", "four"),
    ):
        assert kim("relate", ids[source], kind, ids[target]).exit_code == 0
    return ids


def test_options_offer_the_values_of_the_records() -> None:
    assert read.STRENGTHS == records.STRENGTHS
    assert write.RELATION_TYPES == records.RELATION_TYPES


@both
@pytest.mark.req("DEC-3", "DEC-7")
def test_list_shows_the_strongest_decisions_first(kim: Run) -> None:
    assert kim("list").stdout == "no decisions\n"
    saved(kim, "보통 결정")
    saved(kim, "축이 되는 결정", "--strength", "axis", "--domain", "WMS")
    lines = kim("list").stdout.splitlines()
    assert lines[1].endswith("축이 되는 결정")
    assert " axis " in lines[1]
    assert " wms " in lines[1]
    assert lines[2].endswith("보통 결정")
    listed = document(kim("list", "--domain", "wms", "--json"))
    assert [each["statement"] for each in listed["decisions"]] == ["축이 되는 결정"]
    assert listed["nextCursor"] is None


def test_a_cursor_continues_the_list(kim: Run) -> None:
    for number in range(3):
        saved(kim, f"decision {number}")
    first = document(kim("list", "--limit", "2", "--json"))
    assert "--cursor " + first["nextCursor"] in kim("list", "--limit", "2").stdout
    second = document(kim("list", "--limit", "2", "--cursor", first["nextCursor"], "--json"))
    statements = [each["statement"] for each in first["decisions"] + second["decisions"]]
    assert statements == ["decision 2", "decision 1", "decision 0"]


@both
@pytest.mark.req("DEC-4", "DEC-6")
def test_a_change_appends_a_version_and_keeps_the_other_fields(kim: Run) -> None:
    root = saved(kim, "before", "--rationale", "because", "--strength", "lock", "--domain", "wms")
    assert kim("save", "after", "--change", root).stdout == f"saved {root}, version 2\n"
    shown = kim("show", root).stdout
    assert shown.startswith("after\n")
    for word in ("lock", "wms", "2, 20", "\n\nbecause\n"):
        assert word in shown
    versions = document(kim("history", root, "--json"))["versions"]
    assert [(each["version"], each["isActive"]) for each in versions] == [(1, False), (2, True)]
    assert [line.split()[0] for line in kim("history", root).stdout.splitlines()[1:]] == ["1", "2"]
    moved = document(kim("save", "after", "--change", root, "--global", "--json"))["decision"]
    assert (moved["scope"], moved["domain"], moved["version"]) == ("global", None, 3)


@pytest.mark.req("DEC-4")
def test_saving_against_an_old_version_is_a_conflict(kim: Run) -> None:
    root = saved(kim, "one")
    assert kim("save", "two", "--change", root, "--expect", "1").exit_code == 0
    done = kim("save", "three", "--change", root, "--expect", "1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "is at version 2, and version 1 was expected" in done.stderr
    assert done.stderr.endswith("[CONFLICT]\n")
    assert len(document(kim("history", root, "--json"))["versions"]) == 2


def test_the_rationale_is_read_from_standard_input_and_printed_escaped(kim: Run) -> None:
    done = kim("save", "one", "--rationale", "-", "--json", stdin="first\n\x1b[31msecond\n")
    root = document(done)["decision"]["rootId"]
    assert kim("show", root).stdout.endswith("first\n\\x1b[31msecond\n")


@both
@pytest.mark.req("DEC-8")
def test_impact_is_a_tree(kim: Run, graph: dict[str, str]) -> None:
    done = kim("impact", graph["one"])
    lines = done.stdout.splitlines()
    assert lines[0] == f"one (normal, wms)  {graph['one']}"
    assert sorted(line.lstrip("├└│─ ") for line in lines[1:-1]) == sorted(
        [
            f"DEPENDS_ON ↑  two (normal, wms)  {graph['two']}",
            f"DEPENDS_ON ↑  three (normal, wms)  {graph['three']}",
            f"↑ CONSTRAINS  four (normal, wms)  {graph['four']}",
        ]
    )
    assert lines[-1] == "affected decisions: 3"


@pytest.mark.req("DEC-8")
def test_impact_says_when_it_was_truncated(kim: Run, graph: dict[str, str]) -> None:
    assert (
        kim("impact", graph["one"], "--depth", "1")
        .stdout.splitlines()[-1]
        .startswith("affected decisions: 2 shown; there are more")
    )
    cut = document(kim("impact", graph["one"], "--limit", "1", "--json"))
    assert (len(cut["nodes"]), cut["truncated"]) == (1, True)
    assert set(cut["nodes"][0]["path"][0]) == {"from", "type", "to"}


def test_impact_as_a_graph(kim: Run, graph: dict[str, str]) -> None:
    assert (
        f'"{graph["two"]}" -> "{graph["one"]}" [label="DEPENDS_ON"];'
        in kim("impact", graph["one"], "--dot").stdout
    )
    assert kim("impact", graph["one"], "--mermaid").stdout.startswith("flowchart LR\n")
    assert kim("impact", graph["one"], "--mermaid", "--dot").exit_code == 2


def test_a_relation_can_be_removed(kim: Run, graph: dict[str, str]) -> None:
    relation = (graph["two"], "DEPENDS_ON", graph["one"])
    assert kim("relate", *relation, "--remove").stdout.startswith("relation removed: ")
    assert "four" in kim("impact", graph["one"]).stdout
    assert "two" not in kim("impact", graph["one"]).stdout
    assert "[NOT_FOUND]" in kim("relate", *relation, "--remove").stderr


@both
@pytest.mark.req("DEC-10", "DEC-12")
def test_context_has_seven_layers_in_order(kim: Run, graph: dict[str, str]) -> None:
    axis = saved(kim, "축", "--strength", "axis")
    names = ["policy", "structural", "global+axis", "domain+axis", "domain+lock", "domain+normal", "anchors"]
    loaded = document(kim("context", "wms", "--phase", "design", "--json"))
    assert [(layer["tier"], layer["name"]) for layer in loaded["layers"]] == list(enumerate(names, start=1))
    assert loaded["phase"] == "design"
    shown = kim("context", "wms", "--focus", graph["one"]).stdout
    headings = [line for line in shown.splitlines() if line[:1].isdigit()]
    assert headings == [f"{tier} {name}" for tier, name in enumerate(names, start=1)]
    assert f"축 (axis, global)  {axis}" in shown
    assert shown.splitlines()[-1].startswith("about ")


def test_context_says_what_the_budget_left_out(kim: Run, graph: dict[str, str]) -> None:
    shown = kim("context", "wms", "--budget", "1").stdout
    assert "left out by the budget" in shown
    assert "not loaded" in shown


@both
@pytest.mark.req("DEC-10")
def test_the_policy_is_set_shown_and_cleared(kim: Run) -> None:
    assert kim("policy").stdout == "no principles\n"
    assert document(kim("policy", "모르면 모른다고 말한다", "Write it down", "--json"))["version"] == 1
    assert kim("policy", "--lang", "ko").stdout.splitlines()[1:] == [
        "- 모르면 모른다고 말한다",
        "- Write it down",
    ]
    loaded = document(kim("context", "wms", "--json"))["layers"][0]["items"]
    assert [item["statement"] for item in loaded] == ["모르면 모른다고 말한다", "Write it down"]
    assert document(kim("policy", "--clear", "--json"))["principles"] == []
    versions = document(kim("policy", "--history", "--json"))["versions"]
    assert [len(each["principles"]) for each in versions] == [2, 0]
    assert kim("policy", "one", "--clear").exit_code == 2


@both
@pytest.mark.req("DEC-15", "DEC-8")
def test_a_walk_is_run_at_once(kim: Run, graph: dict[str, str]) -> None:
    """It follows relations from a decision to the depth that is asked for."""
    found = document(kim("walk", graph["one"], "--depth", "1", "--json"))
    assert {item["statement"] for item in found["items"]} == {"one", "two", "four"}
    assert found["truncated"]
    shown = kim("walk", graph["one"], "--lang", "ko").stdout
    assert f"three (normal, wms)  {graph['three']}" in shown
    assert shown.splitlines()[-1] == "4개를 찾았습니다"
    assert kim("walk").exit_code == 2
    assert kim("walk", graph["one"], "--session", "s").exit_code == 2
    assert "[NOT_FOUND]" in kim("walk", "--anchor", graph["one"]).stderr


@both
@pytest.mark.req("DEC-14")
def test_a_session_is_compacted(kim: Run) -> None:
    """The anchors lead to evidence; a budget that the plan does not allow is refused."""

    said = [
        ChatMessage(id=f"m{n}", role="user", content=f"{n}: " + "긴 이야기 " * 100, timestamp=START)
        for n in range(12)
    ]

    async def fill() -> None:
        async with await Gieok.open() as gieok:
            user = gieok.user("kim")
            hana = PersonaDraft(name="하나", system_prompt="너는 하나야.")
            await user.personas.create(hana, persona_id="hana")
            await user.sessions.start("hana", plan="chat_turn", session_ref="talk")
            await user.sessions.save_messages("talk", said)

    asyncio.run(fill())
    done = document(kim("compact", "talk", "--budget", "1200", "--json"))
    assert len(done["anchors"]) == len(done["evidence"]) > 0
    shown = kim("compact", "talk", "--budget", "1200", "--lang", "ko").stdout
    assert done["evidence"][0]["id"] in shown
    assert f"유지한 메시지 {done['kept']}개" in shown
    assert "budget" in kim("compact", "talk", "--budget", "1").stderr
    assert "[NOT_FOUND]" in kim("compact", "nothing").stderr


def test_users_do_not_see_each_others_decisions(run: Run, kim: Run) -> None:
    root = saved(kim, "ours")
    done = run("decision", "show", root, "--user", "lee")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.endswith("[NOT_FOUND]\n")


def test_the_default_user_is_the_system_user(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "park")
    root = document(run("decision", "save", "mine", "--json"))["decision"]["rootId"]
    assert run("decision", "show", root, "--user", "park").exit_code == 0


@both
def test_importing_again_appends_only_changed_files(kim: Run, home: Path) -> None:
    folder = home / "adr"
    folder.mkdir()
    (folder / "README.md").write_text("# Our decisions")
    (folder / "0001-one-database.md").write_text(ADR)
    (folder / "0002-orders.md").write_text(
        "---\ndomain: wms\nrelations: [DEPENDS_ON 0001-one-database]\n---\n# Orders"
    )
    summary = "added {}, changed {}, unchanged {}, skipped 1; relations added {}, removed 0"
    first = kim("import", str(folder)).stdout.splitlines()
    assert first[-1] == summary.format(2, 0, 0, 1)
    assert any(line.startswith("README.md") and "skipped: not a record" in line for line in first)
    assert kim("import", str(folder)).stdout.splitlines()[-1] == summary.format(0, 0, 2, 0)
    (folder / "0001-one-database.md").write_text(ADR.replace("one database", "two databases"))
    assert kim("import", str(folder)).stdout.splitlines()[-1] == summary.format(0, 1, 1, 0)
    shown = document(kim("show", "0001-one-database.md", "--json"))["decision"]
    assert (shown["statement"], shown["version"]) == ("Use two databases", 2)
    assert "0002-orders" not in kim("impact", "0001-one-database.md").stdout
    assert "Orders (normal, wms)" in kim("impact", "0001-one-database.md").stdout


def test_one_invalid_file_imports_nothing(kim: Run, home: Path) -> None:
    (home / "adr").mkdir()
    (home / "adr" / "a.md").write_text(ADR)
    (home / "adr" / "b.md").write_text("---\nstrength: strong\n---\n# b")
    done = kim("import", str(home / "adr"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: b.md: strength: ")
    assert kim("list").stdout == "no decisions\n"


@both
def test_an_export_can_be_imported_elsewhere(run: Run, kim: Run, home: Path, graph: dict[str, str]) -> None:
    """With the same ids and relations. Importing it for the same user changes nothing."""
    folder = home / "out"
    assert kim("export", str(folder)).stdout.splitlines()[-1] == "files written 4, unchanged 0, kept 0"
    files = files_in(folder)
    assert kim("export", str(folder)).stdout == "files written 0, unchanged 4, kept 0\n"
    assert files_in(folder) == files
    imported = document(kim("import", str(folder), "--json"))
    assert {each["outcome"] for each in imported["imported"]} == {"unchanged"}
    assert run("decision", "import", str(folder), "--user", "lee").exit_code == 0
    assert (
        run("decision", "impact", graph["one"], "--user", "lee").stdout == kim("impact", graph["one"]).stdout
    )


@both
def test_two_folders_may_have_the_same_file_names(kim: Run, home: Path) -> None:
    """Each folder has its own decisions, and an export finds its files again."""
    for name in ("wms", "ui"):
        (home / name).mkdir()
        (home / name / "0001-first.md").write_text(f"# The first of {name}")
        assert kim("import", str(home / name), "--domain", name).exit_code == 0
    for name in ("wms", "ui"):
        shown = document(kim("show", f"{name}:0001-first.md", "--json"))["decision"]
        assert (shown["statement"], shown["domain"], shown["version"]) == (f"The first of {name}", name, 1)
        done = kim("export", str(home / name), "--domain", name)
        assert done.stdout == "files written 0, unchanged 1, kept 0\n"


def test_an_import_does_not_move_a_named_decision_to_another_domain(kim: Run, home: Path) -> None:
    (home / "a.md").write_text("# one")
    assert kim("import", str(home), "--domain", "wms", "--name", "ours").exit_code == 0
    done = kim("import", str(home), "--domain", "ui", "--name", "ours")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "would move decision" in done.stderr
    assert document(kim("show", "ours:a.md", "--json"))["decision"]["domain"] == "wms"


@pytest.mark.parametrize("place", ["a-file", "/proc/nope"])
def test_an_export_needs_a_folder(kim: Run, home: Path, place: str) -> None:
    (home / "a-file").write_text("")
    done = kim("export", place)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {place}: cannot be a folder")


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["show", "nonsense"], 1),
        (["show", "\udcff"], 1),
        (["history", "85e622d5-be5f-4113-86dd-9cbccd2117f8"], 1),
        (["impact", ""], 1),
        (["save", ""], 1),
        (["save", "x", "--change", ""], 1),
        (["save", "x", "--domain", "a b"], 1),
        (["save", "x", "--domain", "a", "--global"], 2),
        (["save", "x", "--expect", "1"], 2),
        (["save", "x", "--strength", "strong"], 2),
        (["relate", "a", "LIKES", "b"], 2),
        (["list", "--cursor", "nonsense"], 1),
        (["list", "--limit", "0"], 2),
        (["list", "--user", "no spaces"], 1),
        (["context", "a b"], 1),
        (["import", "none"], 1),
        (["import"], 2),
        (["import", ".", "--name", ""], 2),
        (["import", ".", "--name", "a:b"], 2),
        (["export", ".", "--name", "\udcff"], 2),
    ],
    ids=str,
)
def test_invalid_arguments_are_a_one_line_error(kim: Run, args: list[str], status: int) -> None:
    done = kim(*args)
    assert (done.exit_code, done.stdout) == (status, "")
    if status == 1:
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


def test_the_commands_in_the_documentation_work(kim: Run, home: Path) -> None:
    """In order, on a folder with the records that they use."""
    page = (Path(__file__).parents[2] / "docs" / "rooms" / "decisions.md").read_text(encoding="utf-8")
    folder = home / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-one-database.md").write_text(ADR)
    (folder / "0002-stock.md").write_text(page.partition("```markdown\n")[2].partition("```")[0])
    commands = [shlex.split(line)[3:] for line in page.splitlines() if line.startswith("$ gieok decision ")]
    assert len(commands) >= 6
    for args in commands:
        done = kim(*args)
        assert (args, done.exit_code, done.stderr) == (args, 0, "")
    assert document(kim("show", "wms:ADR-2", "--json"))["decision"]["strength"] == "lock"
    assert len(files_in(folder)) == 3


def test_korean(kim: Run, graph: dict[str, str]) -> None:
    assert kim("list", "--lang", "ko").stdout.split()[1] == "강도"
    assert kim("impact", graph["one"], "--lang", "ko").stdout.splitlines()[-1] == "영향을 받는 결정: 3개"


def test_an_ascii_terminal_gets_an_ascii_tree(start: Start, graph: dict[str, str]) -> None:
    done = start("decision", "impact", graph["one"], "--user", "kim", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "- DEPENDS_ON ^  two (normal, wms)" in done.stdout
