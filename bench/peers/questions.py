"""Questions with their answers: generated ones, and labelled conversations of folders outside the project.

Two formats of conversations are read: lists of `{turns, questions}`, as in bench/recall.py, and one object of
`{language, sessions, questions}` a file, where the files of a folder and a language are one set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.peers.peer import Item, line_of
from bench.peers.texts import Language, answers

_ROLES = frozenset({"user", "assistant"})
Ranked = Sequence[Sequence[str]]
"""The keys that were found for each question, best first."""


@dataclass(frozen=True)
class Conversation:
    """The memories of one owner, questions about them, and the keys of the memories that answer each."""

    items: Sequence[Item]
    questions: Sequence[str]
    evidence: Sequence[frozenset[str]]


@dataclass(frozen=True)
class QuestionSet:
    """Conversations that are measured together."""

    name: str
    conversations: Sequence[Conversation]

    @property
    def questions(self) -> int:
        return sum(len(each.questions) for each in self.conversations)

    def texts(self) -> set[str]:
        """Every text that a store without a field for the speaker embeds."""
        stored = {line_of(item) for each in self.conversations for item in each.items}
        return stored | {question for each in self.conversations for question in each.questions}

    def recall(self, found: Sequence[Ranked], depth: int) -> float:
        """The mean share of a question's answers among the first `depth` results."""
        return fmean(
            len(evidence & set(keys[:depth])) / len(evidence)
            for each, ranked in zip(self.conversations, found, strict=True)
            for evidence, keys in zip(each.evidence, ranked, strict=True)
        )


def generated(name: str, language: Language) -> QuestionSet:
    """The questions of texts.answers, each with one answer."""
    items, questions = answers(language)
    evidence = [frozenset({question.answer}) for question in questions]
    return QuestionSet(name, [Conversation(items, [question.text for question in questions], evidence)])


def read_folder(folder: Path) -> list[QuestionSet]:
    """The sets of a folder, by name."""
    sets: dict[str, list[Conversation]] = {}
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text("utf-8"))
        if "sessions" not in document:
            sets[file.stem.removesuffix("_dev")] = [_of_turns(each) for each in document]
        else:
            name = f"{folder.name}, {document['language']}"
            sets.setdefault(name, []).append(_of_sessions(document))
    return [QuestionSet(name, conversations) for name, conversations in sets.items()]


def _of_turns(document: Mapping[str, Any]) -> Conversation:
    turns = document["turns"]
    speakers = {turn["speaker"] for turn in turns}
    has_names = len(speakers) > 1 and not speakers <= _ROLES
    items = [_item(turn, turn["session"], turn["speaker"], has_name=has_names) for turn in turns]
    return _conversation(items, document["questions"])


def _of_sessions(document: Mapping[str, Any]) -> Conversation:
    items = [
        _item(message, session["id"], message["role"], has_name=False)
        for session in document["sessions"]
        for message in session["messages"]
    ]
    return _conversation(items, document["questions"])


def _item(turn: Mapping[str, Any], session: object, speaker: str, *, has_name: bool) -> Item:
    text = turn["text"].strip()
    return Item(
        key=turn["id"],
        text=text,
        line=f"{speaker}: {text}" if has_name else text,
        session=str(session),
        speaker=speaker,
        time=turn["time"].replace("Z", "+00:00"),
    )


def _conversation(items: Sequence[Item], questions: Sequence[Mapping[str, Any]]) -> Conversation:
    """Questions without evidence ask about what was never said and are left out."""
    asked = [question for question in questions if question["evidence"]]
    return Conversation(
        items,
        [question["question"].strip() for question in asked],
        [frozenset(question["evidence"]) for question in asked],
    )
