"""Readers of chats: what another program wrote, as messages and memories."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from gieok.adapters.imports.chats import MAX_CHAT_BYTES, ChatFile, Format, read_chats
from gieok.errors import InputRefused
from gieok.interfaces.cli.session import FORMATS
from tests.imports.chat_files import AGENT, CHATGPT, MEM0, SESSION, jsonl, sillytavern

pytestmark = pytest.mark.req("INT-4")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def read(value: Any, file_format: Format | None = None) -> ChatFile:
    content = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return read_chats(content, NOW, file_format)


def said(file: ChatFile, number: int = 0) -> list[tuple[str, str]]:
    return [(each.role, each.content) for each in file.conversations[number].messages]


def test_a_chat_of_sillytavern() -> None:
    """The chosen swipe is read; hidden and empty messages are not."""
    file = read(jsonl(*sillytavern()))
    assert (file.format, file.conversations[0].title) == ("sillytavern", "하나")
    assert said(file) == [("assistant", "왔어?"), ("user", "내일 면접이야"), ("assistant", "잘할 거야!")]
    times = [each.timestamp.isoformat() for each in file.conversations[0].messages]
    assert times == ["2024-06-05T14:56:50.682000+00:00", "2024-06-19T14:20:00+00:00", times[2]]
    assert times[2] == "2024-06-20T01:02:03+00:00"


def test_a_grown_chat_has_the_same_id() -> None:
    lines = sillytavern()
    grown = [*lines, {"name": "나", "is_user": True, "mes": "고마워", "send_date": 1_718_900_000_000}]
    first, second = (read(jsonl(*each)).conversations[0] for each in (lines, grown))
    assert first.id == second.id
    assert second.messages[: len(first.messages)] == first.messages
    lines[0].pop("chat_metadata")
    grown = [*lines, grown[-1]]
    assert read(jsonl(*lines)).conversations[0].id == read(jsonl(*grown)).conversations[0].id


def test_chatgpt_only_the_current_branch_is_read() -> None:
    file = read(CHATGPT)
    assert (file.format, [each.title for each in file.conversations]) == ("chatgpt", ["Seoul trip"])
    assert said(file) == [
        ("user", "Plan a trip to Seoul"),
        ("assistant", "Start in Jongno."),
        ("user", "And food?\nLook at this"),
        ("assistant", "Try kalguksu."),
    ]
    assert said(read(CHATGPT[0])) == said(file)


def test_a_circle_in_a_tree_ends() -> None:
    node = {"message": None, "parent": "a", "children": ["a"]}
    with pytest.raises(InputRefused, match="no messages"):
        read([{"mapping": {"a": node}, "current_node": "a"}])


def test_a_letta_agent_has_messages_and_memories() -> None:
    file = read(AGENT)
    assert said(file) == [("user", "I moved to Busan"), ("assistant", "How is the sea?"), ("user", "Cold")]
    assert [each.text for each in file.memories] == ["The user is called Chad."]


def test_memories_of_mem0() -> None:
    for value in (MEM0, MEM0["results"]):
        file = read(value)
        assert (file.format, file.conversations) == ("mem0", ())
        first, second = file.memories
        assert (first.text, first.tags, first.at) == (
            "Likes hiking",
            ("hobbies",),
            datetime(2024, 7, 20, 1, 30, tzinfo=UTC),
        )
        assert second.at is None


def test_a_session_of_gieok() -> None:
    assert said(read(SESSION)) == [("user", "안녕"), ("assistant", "왔어?")]


def test_a_long_message_is_split_and_times_never_go_back() -> None:
    value = {
        "messages": [
            {"role": "user", "content": "가" * 45_000, "timestamp": "2026-01-02T00:00:00Z"},
            {"role": "assistant", "content": "음", "timestamp": "2026-01-01T00:00:00Z"},
            {"role": "user", "content": "x", "timestamp": "never"},
        ]
    }
    messages = read(value).conversations[0].messages
    assert [len(each.content) for each in messages] == [20_000, 20_000, 5_000, 1, 1]
    assert {each.timestamp for each in messages} == {datetime(2026, 1, 2, tzinfo=UTC)}
    undated = read({"messages": [{"role": "user", "content": "x"}]}).conversations[0]
    assert undated.messages[0].timestamp == NOW


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{}", "no known format"),
        (b"[]", "no known format"),
        (b'{"kind": "gieok", "format": 1}\n', "gieok memory import"),
        (b'{"user_name": "a", "character_name": "b"}\n', "no messages"),
        (b'{"user_name": "a", "character_name": "b"}\n{"mes": 5}', "must be text"),
        (b'{"user_name": "a", "character_name": "b"}\n{', "line 2"),
        (b'{"mapping": 5}', "mapping"),
        (b'[{"memory": 5}]', "must be text"),
        (b'{"messages": [{"role": "system", "content": "x"}]}', "must be user or assistant"),
        (b"[" * 100_000, "JSON|levels"),
        (b'{"mes": "' + b"x" * (9 * 1024 * 1024) + b'"}', "no known format|more than"),
        (b" " * (MAX_CHAT_BYTES + 1), "split it"),
    ],
    ids=range(15),
)
def test_a_wrong_file_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(InputRefused, match=problem):
        read_chats(content, NOW)


def test_the_formats_of_the_command_are_those_of_the_reader() -> None:
    assert get_args(Format) == FORMATS
