"""What must be true of an owner's things, whatever happened to the service; what is not is told in words."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from gieok.app import User
from tests.service.load import Promises, goal

Record = dict[str, Any]
_WORD = re.compile(r"q[a-z]{11}")
_GOAL = re.compile(goal(r"(q[a-z]{11})"))


async def violations(user: User, promises: Promises) -> list[str]:
    """Compare what is there with what was promised, and with itself."""
    kinds = await exported(user)
    return [*lost(kinds, promises), *half_there(kinds)]


async def exported(user: User) -> dict[str, list[Record]]:
    """Everything that the owner has, by kind."""
    stream = b"".join([piece async for piece in user.data.export()])
    kinds: dict[str, list[Record]] = defaultdict(list)
    for line in stream.splitlines():
        record = json.loads(line)
        kinds[record["kind"]].append(record)
    return kinds


def lost(kinds: dict[str, list[Record]], promises: Promises) -> Iterator[str]:
    """Whatever was acknowledged is there."""
    said = {(each["sessionRef"], each["content"]) for each in kinds["message"]}
    ids = {each["id"] for kind in ("message", "memory") for each in kinds[kind]}
    ended = {each["sessionRef"] for each in kinds["session"] if each["endedAt"]}
    for session, word in promises.turns:
        if (session, goal(word)) not in said:
            yield f"what was said in session {session} about {word} is gone"
    for identity in (*promises.memories, *promises.messages):
        if identity not in ids:
            yield f"memory or message {identity} is gone"
    for session in promises.closed:
        if session not in ended:
            yield f"session {session} was closed and is open"


def half_there(kinds: dict[str, list[Record]]) -> Iterator[str]:
    """A turn is its two messages, its memory and its fact, or none of them."""
    said = {found[1] for each in kinds["message"] if (found := _GOAL.fullmatch(each["content"]))}
    summed_up = {word for each in kinds["turnMemory"] for word in _WORD.findall(each["summary"])}
    facts = {word for each in kinds["fact"] for word in _WORD.findall(each["value"])}
    for word in said ^ summed_up:
        yield f"the turn about {word} has only one of its message and its memory"
    for word in said ^ facts:
        yield f"the turn about {word} has only one of its message and its fact"
    sessions: dict[str, list[Record]] = defaultdict(list)
    for each in kinds["message"]:
        sessions[each["sessionRef"]].append(each)
    for session, messages in sessions.items():
        roles = [each["role"] for each in sorted(messages, key=lambda each: each["seq"])]
        if roles != ["user", "assistant"] * (len(roles) // 2):
            yield f"session {session} has half of a turn: {roles}"
    for session in sessions.keys() - {each["sessionRef"] for each in kinds["session"]}:
        yield f"session {session} has messages and does not exist"


def unsummarised(kinds: dict[str, list[Record]]) -> Iterator[str]:
    """Every session that somebody spoke in has a memory of its own."""
    remembered = {each["sessionRef"] for each in kinds["memory"] if each["origin"] == "summary"}
    for session in {each["sessionRef"] for each in kinds["message"]} - remembered:
        yield f"session {session} was never summarised"
