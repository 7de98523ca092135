"""Chats as other programs write them."""

from __future__ import annotations

import json
from typing import Any


def jsonl(*lines: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode() + b"\n"


def sillytavern(integrity: str = "5c0a") -> list[dict[str, Any]]:
    return [
        {
            "user_name": "나",
            "character_name": "하나",
            "create_date": "2024-6-5 @14h 56m 50s 682ms",
            "chat_metadata": {"integrity": integrity},
        },
        {"name": "하나", "is_user": False, "mes": "왔어?", "send_date": "2024-06-05@14h56m50s"},
        {"name": "나", "is_user": True, "mes": "내일 면접이야", "send_date": "June 19, 2024 2:20pm"},
        {"name": "하나", "is_user": False, "is_system": True, "mes": "hidden", "send_date": ""},
        {
            "name": "하나",
            "is_user": False,
            "mes": "잘할 거야!",
            "swipes": ["떨려?", "잘할 거야!"],
            "swipe_id": 1,
            "send_date": "2024-06-20T01:02:03.000Z",
            "extra": {"api": "openai"},
        },
        {"name": "하나", "is_user": False, "mes": "  ", "send_date": ""},
    ]


def _node(
    name: str, parent: str | None, role: str | None = None, *parts: Any, **message: Any
) -> dict[str, Any]:
    content = {"content_type": message.pop("kind", "text"), "parts": list(parts)}
    said = {"author": {"role": role}, "content": content, "recipient": "all", "create_time": 1_700_000_000.5}
    return {name: {"id": name, "parent": parent, "message": {**said, **message} if role else None}}


_PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Seoul trip",
        "conversation_id": "conv-1",
        "create_time": 1_699_999_999.0,
        "current_node": "a2",
        "mapping": {
            **_node("root", None),
            **_node("sys", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
            **_node("u1", "sys", "user", "Plan a trip to Seoul"),
            **_node("a1x", "u1", "assistant", "An answer that was regenerated."),
            **_node("a1", "u1", "assistant", "Start in Jongno."),
            **_node(
                "u2",
                "a1",
                "user",
                "And food?",
                {"asset_pointer": "x"},
                "Look at this",
                kind="multimodal_text",
            ),
            **_node("tool", "u2", "assistant", "search()", recipient="browser"),
            **_node("think", "tool", "assistant", "hm", kind="thoughts"),
            **_node("out", "think", "tool", "results"),
            **_node("a2", "out", "assistant", "Try kalguksu."),
        },
    },
    {"title": "Empty", "conversation_id": "conv-2", "mapping": {}, "current_node": None},
]
MEM0: dict[str, Any] = {
    "count": 2,
    "results": [
        {
            "id": "m-1",
            "memory": "Likes hiking",
            "user_id": "alex",
            "categories": ["hobbies"],
            "metadata": None,
            "created_at": "2024-07-19T18:30:00-07:00",
            "updated_at": "2024-07-19T18:30:00-07:00",
        },
        {"id": "m-2", "memory": "Is allergic to peanuts", "user_id": "alex", "created_at": None},
    ],
}
_MOVED = json.dumps({"type": "user_message", "message": "I moved to Busan"})
AGENT: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "Loop",
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "You are Loop."}]},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": json.dumps({"type": "login", "time": "x"})}],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": _MOVED,
                        }
                    ],
                    "created_at": "2026-01-22T02:06:34.048739+00:00",
                },
                {
                    "role": "assistant",
                    "content": [],
                    "tool_calls": [
                        {"function": {"name": "send_message", "arguments": '{"message": "How is the sea?"}'}},
                        {"function": {"name": "archival_memory_insert", "arguments": "{}"}},
                    ],
                },
                {"role": "tool", "content": [{"type": "text", "text": "OK"}]},
                {"role": "user", "content": "Cold"},
            ],
        }
    ],
    "blocks": [
        {"label": "human", "value": "The user is called Chad."},
        {"label": "persona", "value": "I am Loop."},
        {"label": "empty", "value": ""},
    ],
}
SESSION: dict[str, Any] = {
    "messages": [
        {"id": "m1", "role": "user", "content": "안녕", "timestamp": "2026-01-01T00:00:00Z"},
        {"id": "m2", "role": "assistant", "content": "왔어?", "timestamp": "2026-01-01T00:00:05Z"},
    ]
}
