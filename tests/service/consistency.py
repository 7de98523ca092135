"""Consistency checks of an owner's data after a crash. Each problem is a sentence."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from gieok.app import User
from tests.service.load import Acknowledged, goal

Record = dict[str, Any]
_WORD = re.compile(r"q[a-z]{11}")
_GOAL = re.compile(goal(r"(q[a-z]{11})"))


async def problems(user: User, acknowledged: Acknowledged) -> list[str]:
    """All problems: acknowledged data that is lost, and turns that are stored in part."""
    kinds = await exported(user)
    return [*lost(kinds, acknowledged), *partial_turns(kinds)]


async def exported(user: User) -> dict[str, list[Record]]:
    """All records of the owner, by kind."""
    stream = b"".join([chunk async for chunk in user.data.export()])
    kinds: dict[str, list[Record]] = defaultdict(list)
    for line in stream.splitlines():
        record = json.loads(line)
        kinds[record["kind"]].append(record)
    return kinds


def lost(kinds: dict[str, list[Record]], acknowledged: Acknowledged) -> Iterator[str]:
    """Acknowledged data that is not stored."""
    said = {(each["sessionRef"], each["content"]) for each in kinds["message"]}
    ids = {each["id"] for kind in ("message", "memory") for each in kinds[kind]}
    ended = {each["sessionRef"] for each in kinds["session"] if each["endedAt"]}
    for session, word in acknowledged.turns:
        if (session, goal(word)) not in said:
            yield f"the message about {word} in session {session} is lost"
    for identity in (*acknowledged.memories, *acknowledged.messages):
        if identity not in ids:
            yield f"memory or message {identity} is lost"
    for session in acknowledged.closed:
        if session not in ended:
            yield f"session {session} was closed but is open"


def partial_turns(kinds: dict[str, list[Record]]) -> Iterator[str]:
    """Turns that are stored in part: half of the messages, or only one of the memory and the fact.

    A turn and what is remembered of it are two cycles, so a turn may have neither of them yet.
    """
    said, summarised, facts = _words(kinds)
    for word in summarised ^ facts:
        yield f"the turn about {word} has only one of its memory and its fact"
    for word in summarised - said:
        yield f"the turn about {word} is remembered and was never stored"
    summaries = [word for each in kinds["turnMemory"] for word in _WORD.findall(each["summary"])]
    for word in {word for word in summaries if summaries.count(word) > 1}:
        yield f"the turn about {word} is remembered twice"
    sessions: dict[str, list[Record]] = defaultdict(list)
    for each in kinds["message"]:
        sessions[each["sessionRef"]].append(each)
    for session, messages in sessions.items():
        roles = [each["role"] for each in sorted(messages, key=lambda each: each["seq"])]
        if roles != ["user", "assistant"] * (len(roles) // 2):
            yield f"session {session} has half of a turn: {roles}"
    for session in sessions.keys() - {each["sessionRef"] for each in kinds["session"]}:
        yield f"session {session} has messages but no record"


def forgotten(kinds: dict[str, list[Record]]) -> Iterator[str]:
    """Turns of which nothing is remembered."""
    said, summarised, _ = _words(kinds)
    for word in said - summarised:
        yield f"the turn about {word} was never remembered"


def _words(kinds: dict[str, list[Record]]) -> tuple[set[str], set[str], set[str]]:
    """The word of each turn in the messages, in the turn memories and in the facts."""
    return (
        {found[1] for each in kinds["message"] if (found := _GOAL.fullmatch(each["content"]))},
        {word for each in kinds["turnMemory"] for word in _WORD.findall(each["summary"])},
        {word for each in kinds["fact"] for word in _WORD.findall(each["value"])},
    )


def unsummarised(kinds: dict[str, list[Record]]) -> Iterator[str]:
    """Sessions that have messages but no summary."""
    remembered = {each["sessionRef"] for each in kinds["memory"] if each["origin"] == "summary"}
    for session in {each["sessionRef"] for each in kinds["message"]} - remembered:
        yield f"session {session} was never summarised"
