"""Chats and memories of other programs: SillyTavern, ChatGPT, mem0, Letta, and sessions of Gieok itself.

A reader gives conversations (one per session) and memories. Texts of tools, hidden and empty messages are
skipped; a message that is longer than Gieok stores is split, so that nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, NamedTuple, cast

from gieok.adapters.imports.files import read_json
from gieok.adapters.imports.lorebooks import Fields, obj
from gieok.errors import InputRefused
from gieok.memory.companion.records import MAX_SUMMARY_CHARS
from gieok.memory.fields import MAX_MESSAGE_CHARS
from gieok.memory.sessions.records import ChatMessage, Role

Format = Literal["sillytavern", "chatgpt", "mem0", "letta", "gieok"]

MAX_CHAT_BYTES = 128 * 1024 * 1024
"""The maximum size of a file."""
MAX_CHAT_MESSAGES = 50_000
"""The maximum number of messages of one conversation."""
_ITEMS = 20_000_000
_LINE_BYTES = 8 * 1024 * 1024
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MERIDIEM = re.compile(r"(\w+) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{1,2})\s?(am|pm)", re.IGNORECASE)
_HUMANIZED = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?", re.ASCII
)


class Said(NamedTuple):
    """A message of another program; `at` is None where it is not known."""

    role: Role
    text: str
    at: datetime | None


@dataclass(frozen=True)
class Conversation:
    """One conversation of a file. `id` is the same each time it is exported, also when it has grown."""

    id: str
    title: str
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True)
class OldMemory:
    """A memory of another program."""

    id: str
    text: str
    at: datetime | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChatFile:
    """The contents of a file that can be imported."""

    format: Format
    conversations: tuple[Conversation, ...]
    memories: tuple[OldMemory, ...] = ()


def read_chats(content: bytes, now: datetime, format_: Format | None = None) -> ChatFile:
    """Read a file in this format, or in the one that it looks like.

    Messages without a time get that of the message before them, the first ones `now`. InputRefused says what
    is wrong, and where.
    """
    if len(content) > MAX_CHAT_BYTES:
        raise InputRefused(f"has more than {MAX_CHAT_BYTES} bytes; split it", at="file")
    chosen, value = (format_, None) if format_ else _detected(content)
    conversations: Iterable[Conversation] = ()
    memories: Iterable[OldMemory] = ()
    if chosen == "sillytavern":
        conversations = [_sillytavern(content, now)]
    else:
        value = _value(content) if value is None else value
        if chosen == "mem0":
            memories = _mem0(value)
        elif chosen == "letta":
            conversations, memories = _letta(value, now)
        else:
            conversations = _chatgpt(value, now) if chosen == "chatgpt" else _gieok(value, now)
    found = ChatFile(chosen, tuple(each for each in conversations if each.messages), tuple(memories))
    if not found.conversations and not found.memories:
        raise InputRefused(f"has no messages or memories in the format {chosen}", at="file")
    return found


def _value(content: bytes) -> Any:
    return read_json(content, max_bytes=MAX_CHAT_BYTES, items=_ITEMS)


def _detected(content: bytes) -> tuple[Format, Any]:
    """The format that a file looks like, and its JSON if it was read. InputRefused if it looks like none."""
    first = content.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    line = _json_or_none(first) if len(first) <= _LINE_BYTES else None
    if isinstance(line, dict):
        named = cast("Fields", line)
        if named.get("kind") == "gieok":
            raise InputRefused("is an export of Gieok: import it with `gieok memory import`", at="file")
        if "mes" in named or "chat_metadata" in named or {"user_name", "character_name"} <= named.keys():
            return "sillytavern", None
    value: Any = _value(content)
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    sample = cast("Fields", items[0]) if items and isinstance(items[0], dict) else {}
    signs: tuple[tuple[Format, bool], ...] = (
        ("chatgpt", "mapping" in sample),
        ("letta", "agents" in sample or "core_memory" in sample),
        ("mem0", "memory" in sample or isinstance(sample.get("results"), list)),
        ("gieok", isinstance(sample.get("messages"), list)),
    )
    for name, is_it in signs:
        if is_it:
            return name, cast("Any", value)
    raise InputRefused("is of no known format; name it with --format if you know it", at="file")


def _json_or_none(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _sillytavern(content: bytes, now: datetime) -> Conversation:
    """A chat of SillyTavern: a header, then one message per line. The chosen swipe is in `mes`."""
    header: Fields = {}
    said: list[Said] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        fields = _line(line, number)
        if "mes" not in fields:
            header = header or fields
            continue
        if fields.get("is_system") is True:
            continue
        role: Role = "user" if fields.get("is_user") is True else "assistant"
        said.append(Said(role, _text(fields["mes"], f"line {number}"), _time(fields.get("send_date"))))
    metadata = header.get("chat_metadata")
    integrity = cast("Fields", metadata).get("integrity") if isinstance(metadata, dict) else None
    name = str(header.get("character_name") or "")
    known = integrity or [name, header.get("create_date"), said[0].text if said else ""]
    return _conversation(json.dumps(known), name, said, now, _time(header.get("create_date")))


def _line(line: bytes, number: int) -> Fields:
    try:
        return obj(read_json(line, max_bytes=_LINE_BYTES), f"line {number}")
    except InputRefused as refused:
        raise InputRefused(f"line {number}: {refused}", at="file") from None


def _chatgpt(value: Any, now: datetime) -> Iterator[Conversation]:
    """Conversations of ChatGPT's `conversations.json`: of the tree only the branch that was shown last."""
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    for number, each in enumerate(listed):
        fields = obj(each, f"[{number}]")
        mapping = obj(fields.get("mapping"), f"[{number}].mapping")
        said = [message for node in _branch(mapping, fields.get("current_node")) for message in _node(node)]
        started = _time(fields.get("create_time"))
        known = fields.get("conversation_id") or fields.get("id") or [fields.get("title"), str(started)]
        yield _conversation(json.dumps(known), str(fields.get("title") or ""), said, now, started)


def _branch(mapping: Fields, current: Any) -> list[Fields]:
    """The nodes from the root to the current one, or to the newest leaf if none is named."""
    node_id = current if isinstance(current, str) and current in mapping else next(reversed(mapping), None)
    branch: list[Fields] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id in mapping and node_id not in seen:
        seen.add(node_id)
        node = obj(mapping[node_id], "mapping")
        branch.append(node)
        node_id = node.get("parent")
    return branch[::-1]


def _node(node: Fields) -> Iterator[Said]:
    """The message of a node, if the user or the assistant said it to the other and it is not hidden."""
    message: Any = node.get("message")
    if not isinstance(message, dict):
        return
    fields = cast("Fields", message)
    author, content = _dict(fields.get("author")), _dict(fields.get("content"))
    is_hidden = _dict(fields.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if (
        author.get("role") not in ("user", "assistant")
        or fields.get("recipient", "all") != "all"
        or is_hidden
    ):
        return
    if content.get("content_type") not in ("text", "multimodal_text"):
        return
    parts = content.get("parts")
    texts = (
        [each for each in cast("list[Any]", parts) if isinstance(each, str)]
        if isinstance(parts, list)
        else []
    )
    yield Said(author["role"], "\n".join(texts), _time(fields.get("create_time")))


def _dict(value: Any) -> Fields:
    return cast("Fields", value) if isinstance(value, dict) else {}


def _gieok(value: Any, now: datetime) -> Iterator[Conversation]:
    """Sessions as `gieok session show --json` and the API print them."""
    for number, each in enumerate(cast("list[Any]", value) if isinstance(value, list) else [value]):
        fields = obj(each, f"[{number}]")
        said: list[Said] = []
        for position, message in enumerate(cast("list[Any]", fields.get("messages") or [])):
            place = f"messages[{position}]"
            given = obj(message, place)
            role = given.get("role")
            if role not in ("user", "assistant"):
                raise InputRefused("must be user or assistant", at=f"{place}.role")
            said.append(Said(role, _text(given.get("content"), place), _time(given.get("timestamp"))))
        known = _dict(fields.get("session")).get("sessionId") or (said[0].text if said else "")
        yield _conversation(json.dumps(known), "", said, now)


def _letta(value: Any, now: datetime) -> tuple[list[Conversation], list[OldMemory]]:
    """An agent file of Letta: messages of each agent, and memory blocks about the user."""
    root = obj(value, "file")
    agents = [obj(each, "agents") for each in cast("list[Any]", root.get("agents") or [root])]
    conversations = [_letta_agent(each, now) for each in agents]
    listed = [root.get("blocks"), *(agent.get("core_memory") for agent in agents)]
    blocks = [_dict(each) for blocks in listed for each in cast("list[Any]", blocks or [])]
    memories = [
        memory
        for block in blocks
        if block.get("label") != "persona"
        for memory in _memory(
            json.dumps([block.get("label"), block.get("value")]), block.get("value"), None, ()
        )
    ]
    return conversations, memories


def _letta_agent(agent: Fields, now: datetime) -> Conversation:
    said: list[Said] = []
    for message in map(_dict, cast("list[Any]", agent.get("messages") or [])):
        at = _time(message.get("created_at"))
        if message.get("role") == "user":
            said.append(Said("user", _unpacked(_letta_text(message)), at))
        elif message.get("role") == "assistant":
            texts = [*_sent(message.get("tool_calls")), _letta_text(message)]
            said.append(Said("assistant", "\n".join(each for each in texts if each), at))
    name = str(agent.get("name") or "")
    first = next((each.text for each in said if each.role == "user"), "")
    return _conversation(json.dumps([name, agent.get("id"), first]), name, said, now)


def _letta_text(message: Fields) -> str:
    content: Any = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content
    parts = [_dict(each) for each in cast("list[Any]", content)] if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text" and "text" in part)


def _unpacked(text: str) -> str:
    """What a user said: older agents wrap it in JSON, together with events such as a login."""
    wrapped = _json_or_none(text.encode()) if text.startswith("{") else None
    if not isinstance(wrapped, dict) or "type" not in wrapped:
        return text
    event = cast("Fields", wrapped)
    return str(event.get("message", "")) if event["type"] == "user_message" else ""


def _sent(calls: Any) -> Iterator[str]:
    """The texts that an agent sent with its tool `send_message`."""
    for call in cast("list[Any]", calls) if isinstance(calls, list) else []:
        function = _dict(_dict(call).get("function"))
        if function.get("name") == "send_message":
            sent = _dict(_json_or_none(str(function.get("arguments", "")).encode())).get("message")
            if isinstance(sent, str):
                yield sent


def _mem0(value: Any) -> Iterator[OldMemory]:
    """Memories as `get_all` of mem0 returns them, in pages or as a list."""
    root = cast("Fields", value).get("results") if isinstance(value, dict) else value
    if not isinstance(root, list):
        raise InputRefused("must be a list of memories, or have one in `results`", at="file")
    for number, each in enumerate(cast("list[Any]", root)):
        fields = obj(each, f"results[{number}]")
        text = _text(fields.get("memory"), f"results[{number}].memory")
        tags = fields.get("categories")
        names = [str(tag) for tag in cast("list[Any]", tags)] if isinstance(tags, list) else []
        at = _time(fields.get("created_at"))
        yield from _memory(str(fields.get("id") or text), text, at, tuple(names[:32]))


def _memory(known: str, text: Any, at: datetime | None, tags: tuple[str, ...]) -> Iterator[OldMemory]:
    """A memory; a long one in several parts."""
    if isinstance(text, str) and text.strip():
        for number, part in enumerate(_parts(text.strip(), MAX_SUMMARY_CHARS)):
            yield OldMemory(f"{known}#{number}" if number else known, part, at, tags)


def _conversation(
    known: str, title: str, said: Iterable[Said], now: datetime, started: datetime | None = None
) -> Conversation:
    """Number the messages, split long ones, and give each a time that is not before the one before it."""
    messages: list[ChatMessage] = []
    at = started
    for each in said:
        at = max(filter(None, (at, each.at)), default=None)
        for part in _parts(each.text.strip(), MAX_MESSAGE_CHARS):
            digest = sha256(f"{each.role}\n{part}".encode()).hexdigest()[:16]
            message_id = f"{len(messages) + 1}-{digest}"
            messages.append(ChatMessage(id=message_id, role=each.role, content=part, timestamp=at or now))
    if len(messages) > MAX_CHAT_MESSAGES:
        raise InputRefused(f"has a conversation of more than {MAX_CHAT_MESSAGES} messages", at="file")
    return Conversation(known, title.strip()[:200], tuple(messages))


def _parts(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        if part := text[start : start + size].strip():
            yield part


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str):
        raise InputRefused("must be text", at=at)
    return value


def _time(value: Any) -> datetime | None:
    """A time in one of the forms that these programs write; None for anything else, or before 1970."""
    try:
        found = _parsed(value)
        return max(found.astimezone(UTC), _FIRST) if found is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def _parsed(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not value.isdigit():
        for pattern, read in _TIMES.items():
            if found := pattern.fullmatch(value.strip()):
                return read(found)
        given = datetime.fromisoformat(value.strip())
        return given if given.tzinfo else given.replace(tzinfo=UTC)
    number = float(value)
    return datetime.fromtimestamp(number / 1_000 if number > 1e11 else number, UTC)


def _meridiem(found: re.Match[str]) -> datetime:
    """`June 19, 2023 2:20pm`."""
    month = _MONTHS.index(found[1][:3].lower()) + 1
    hour = int(found[4]) % 12 + (12 if found[6].lower() == "pm" else 0)
    return datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=UTC)


def _humanized(found: re.Match[str]) -> datetime:
    """`2024-6-5 @14h 56m 50s 682ms`."""
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    return datetime(year, month, day, hour, minute, second, int(found[7] or 0) * 1_000, UTC)


_TIMES: Mapping[re.Pattern[str], Callable[[re.Match[str]], datetime]] = {
    _MERIDIEM: _meridiem,
    _HUMANIZED: _humanized,
}
"""Forms of a time in chats of SillyTavern, besides ISO 8601 and numbers."""
