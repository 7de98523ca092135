"""The benchmark of recall: what it counts, and that it runs on a small conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import recall
from gieok.testing.settings import settings_for

TURNS = [
    {
        "id": "t1",
        "session": 1,
        "time": "2024-05-01T09:00:00Z",
        "speaker": "Mina",
        "text": "I bought a kayak.",
    },
    {"id": "t2", "session": 1, "time": "2024-05-01T09:00:00Z", "speaker": "Joon", "text": "Lucky you."},
    {"id": "t3", "session": 2, "time": "2024-06-01T09:00:00Z", "speaker": "Joon", "text": "It rained."},
]


def test_figures_count_the_evidence_among_the_first() -> None:
    """Half of it at 5, all of it at 10; the first piece is in the second place."""
    ranked = ["x", "a", "y", "z", "w", "b"]
    got = recall.mean_figures([(ranked, frozenset({"a", "b"}))], seconds=0.5)
    assert got == recall.Figures(recalls=(50.0, 100.0, 100.0), mrr=50.0, seconds=0.5)


async def run(folder: Path, only: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the benchmark prints for the only set of a folder."""
    settings = settings_for(f"sqlite:///{folder}/data/gieok.db", folder / "root.key")
    [(name, conversations)] = recall.read_sets(folder, None).items()
    await recall.measure(name, conversations, settings, only)
    return capsys.readouterr().out


@pytest.mark.req("MIND-10")
async def test_a_conversation_is_loaded_as_messages_and_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{"question": "What did Mina buy?", "evidence": ["t1"]}]
    (tmp_path / "small.json").write_text(json.dumps([{"turns": TURNS, "questions": asked}]), "utf-8")
    printed = await run(tmp_path, "ours", capsys)
    assert "### small: 3 turns, 1 questions" in printed
    assert "| ours                       | 100.0 | 100.0 | 100.0 | 100.0 |" in printed


def test_turns_of_other_conversations_are_added_as_often_as_needed() -> None:
    """With ids and sessions of their own, so that none of them is taken for an answer."""
    own, other = (recall.Conversation(owner, TURNS, []) for owner in ("own", "other"))
    turns = recall.among_others(own, [own, other], 5).turns
    assert turns[:3] == TURNS
    assert [turn["text"] for turn in turns[3:]] == [each["text"] for each in (*TURNS, *TURNS[:2])]
    assert len({turn["id"] for turn in turns}) == len(turns)
    assert {turn["session"] for turn in turns[3:]}.isdisjoint({1, 2})


@pytest.mark.req("MIND-15")
async def test_labels_are_remembered_and_find_their_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The question shares no word with the message, but with what was understood of it."""
    said = {"id": "m1", "role": "user", "time": "2024-05-01T09:00:00Z", "text": "I bought a kayak."}
    label = {
        "turn": "m1",
        "op": "add",
        "subject": "user",
        "category": "OTHER",
        "key": "boat",
        "value": "owns a kayak",
        "quote": "bought a kayak",
        "says": "user",
        "importance": 5,
    }
    reply = {"id": "m2", "role": "assistant", "time": "2024-05-01T09:00:10Z", "text": "Lucky you!"}
    document = {
        "language": "en",
        "sessions": [{"id": "s1", "messages": [said, reply]}],
        "facts": [label],
        "questions": [{"question": "Which boat is there?", "evidence": ["m1"]}],
    }
    (tmp_path / "small.json").write_text(json.dumps(document), "utf-8")
    assert "| ours, labels remembered    | 100.0 |" in await run(tmp_path, recall.LABELLED, capsys)


async def test_without_data_it_says_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIEOK_RECALL_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["recall"])
    with pytest.raises(SystemExit, match="GIEOK_RECALL_DATA"):
        await recall.main()


def test_every_signal_has_a_row_of_its_own() -> None:
    """What it is worth is the difference to `ours`. Vectors have rows with each embedder."""
    ways = recall.search_plans()
    weights = ways["ours"].steps[0].metadata["weights"]
    assert {name.removeprefix("ours without ") for name in ways} == {
        "BM25, analysed terms",
        "ours",
        *(set(weights) - {"bm25", "vectors"}),
    }
