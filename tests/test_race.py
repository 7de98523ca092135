"""The driver of `make race`, with Gieok as the only entrant and in the smallest size."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench.peers import environments
from bench.peers.environments import GIEOK, GIEOK_VECTORS, Entrant, NotInstalled
from bench.peers.questions import QuestionSet, generated, read_folder
from bench.peers.race import LOAD, SHORT, PeerFailed, Ready, ask_all, check, measure_speed
from bench.peers.report import Row, full_table, short_table, speed_rows, write
from bench.peers.texts import ENGLISH, KOREAN, answers, memories
from bench.peers.vectors import DIMENSION, HASHED, VectorFile, hash_text, open_embed
from bench.table import Goal

HERE = Path(sys.executable)
BOTH = (Ready(GIEOK, HERE), Ready(GIEOK_VECTORS, HERE))


async def test_every_row_of_speed_is_measured() -> None:
    """Each entrant in a process of its own. Without LangGraph no ratio is given, rather than a wrong one."""
    speed = await measure_speed(BOTH, SHORT)
    names = {GIEOK.name, GIEOK_VECTORS.name}
    rows = speed_rows(speed, SHORT)
    assert [row.label for row in rows] == [
        "add one",
        "add 10 at once",
        "search 5 of an owner among 20",
        "search 20 of one owner",
        "load five",
        "disk, 20 memories",
        "memory of the process (RSS)",
    ]
    assert all(row.cells.keys() == names and row.ratio is None and row.goal is None for row in rows)
    assert all(timings.of(name) > 0 for timings in speed.timings.values() for name in names)
    assert speed.disk[GIEOK_VECTORS.name] > speed.disk[GIEOK.name] > 10_000
    assert all(count > 10_000_000 for count in speed.memory.values())
    assert LOAD in speed.timings


async def test_questions_are_asked_of_each_owner(tmp_path: Path) -> None:
    """Both formats of conversations; a question about what was never said has no evidence and is left out."""
    (tmp_path / "chats_dev.json").write_text(json.dumps([_chat("the harbour"), _chat("the mountains")]))
    (tmp_path / "ko-1.json").write_text(json.dumps(_character_chat()))
    chats, korean = read_folder(tmp_path)
    assert (chats.name, len(chats.conversations), chats.questions) == ("chats", 2, 2)
    assert (korean.name, korean.questions) == (f"{tmp_path.name}, ko", 1)
    assert "Mina: I walked to the harbour." in chats.texts()
    assert "어제 우산을 샀어." in korean.texts()
    both = QuestionSet("both", [*chats.conversations, *korean.conversations])
    found = await ask_all(BOTH, both, HASHED, 1)
    assert found.keys() == {GIEOK.name, GIEOK_VECTORS.name}
    assert all(both.recall(ranked, 1) == 1.0 for ranked in found.values())


def _chat(place: str) -> dict[str, object]:
    said = ["Good morning!", f"I walked to {place}.", "Tell me about your lunch."]
    turn = {"session": 1, "time": "2024-03-15T09:00:00Z"}
    speakers = ("Jun", "Mina", "Jun")
    turns = [
        turn | {"id": str(number), "speaker": speaker, "text": text}
        for number, (speaker, text) in enumerate(zip(speakers, said, strict=True))
    ]
    return {"turns": turns, "questions": [{"question": "Where did Mina walk to?", "evidence": ["1"]}]}


def _character_chat() -> dict[str, object]:
    time = "2026-03-02T21:14:00+09:00"
    messages = [
        {"id": "s1-01", "role": "user", "time": time, "text": "어제 우산을 샀어."},
        {"id": "s1-02", "role": "assistant", "time": time, "text": "잘했네, 비가 온대."},
    ]
    questions: list[dict[str, object]] = [
        {"question": "우산은 언제 샀더라?", "evidence": ["s1-01"]},
        {"question": "여동생 이름이 뭐야?", "evidence": []},
    ]
    return {"language": "ko", "sessions": [{"id": "s1", "messages": messages}], "questions": questions}


def test_recall_is_the_share_of_the_evidence_that_was_found() -> None:
    question_set = generated("Korean", KOREAN)
    (conversation,) = question_set.conversations
    right = [[*evidence, "other-1"] for evidence in conversation.evidence]
    wrong = [["other-1", *evidence] for evidence in conversation.evidence]
    assert question_set.recall([right], 1) == 1.0
    assert question_set.recall([wrong], 1) == 0.0
    assert question_set.recall([wrong], 2) == 1.0


def test_a_question_repeats_the_noun_in_another_form() -> None:
    """The answer has the noun, no other memory has it, and the Korean particle fits the noun."""
    for language in (KOREAN, ENGLISH):
        items, questions = answers(language)
        texts = {item["key"]: item["text"] for item in items}
        for question in questions:
            assert question.answer in question.text
            assert question.answer in texts[question.answer]
    korean = " ".join(item["text"] for item in answers(KOREAN)[0])
    assert "우산을" in korean or "우산이" in korean
    assert "자전거을" not in korean
    assert memories(4, "one") == memories(4, "one") != memories(4, "two")


def test_vectors_are_kept_by_the_hash_of_their_text(tmp_path: Path) -> None:
    """Of length one, so that all distances agree. A text without a vector is an error, not a zero."""
    assert len(hash_text("우산을 샀어")) == DIMENSION
    file = VectorFile(tmp_path / "vectors.db")
    file.write({"우산": [3.0, 4.0]})
    embed = open_embed(str(tmp_path / "vectors.db"))
    assert embed(["우산"])[0] == pytest.approx([0.6, 0.8])
    assert "우산".encode() not in (tmp_path / "vectors.db").read_bytes()
    with pytest.raises(KeyError):
        embed(["자전거"])


async def test_a_peer_that_does_not_run_says_why() -> None:
    with pytest.raises(PeerFailed, match=r"Broken: .*No module named bench.peers.nonsense"):
        await check(Ready(Entrant("Broken", "bench.peers.nonsense"), HERE))


def test_a_peer_without_a_fitting_python_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph's store loads an SQLite extension, which many builds of Python cannot."""
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(NotInstalled, match=f"sqlite3 can load extensions.*{python}"):
        environments.python_of(environments.LANGGRAPH, tmp_path)


def test_a_peer_that_pip_cannot_install_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(NotInstalled, match="No matching distribution found for nonsense==1"):
        environments.python_of(Entrant("Nonsense", "nonsense", requirement="nonsense==1"), tmp_path)


def test_the_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    """The full table has ratios and goals; the short one is in the language of its README."""
    rows = [
        Row("search", "검색", {"Gieok": "1.00 ms", "mem0": "9.00 ms"}, 0.5, Goal("≤ 0.8×", reached=True)),
        Row("disk", "디스크", {"Gieok": "1 MB"}, in_readme=False),
    ]
    names = ["Gieok", "mem0"]
    assert full_table(rows, names).splitlines()[2:] == [
        "| search | 1.00 ms | 9.00 ms | 0.50×             | ≤ 0.8× | yes     |",
        "| disk   | 1 MB    |         |                   |        |         |",
    ]
    page = tmp_path / "page.md"
    page.write_text("# 비교\n<!-- race -->\nold\n<!-- /race -->\nend\n")
    write(page, short_table(rows, names, korean=True))
    assert page.read_text().splitlines() == [
        "# 비교",
        "<!-- race -->",
        "|      | Gieok   | mem0    |",
        "|------|---------|---------|",
        "| 검색 | 1.00 ms | 9.00 ms |",
        "<!-- /race -->",
        "end",
    ]
    page.write_text("nothing")
    with pytest.raises(ValueError, match="has no <!-- race -->"):
        write(page, "text")
