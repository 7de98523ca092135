"""Makers of cards for the tests: JSON, PNG and CHARX, good and broken."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from gieok.adapters.imports.files import write_png

ENTRY: dict[str, Any] = {
    "id": 7,
    "keys": ["면접", "interview"],
    "secondary_keys": ["회사"],
    "content": "하나는 {{user}}의 면접을 도와준 적이 있다.",
    "enabled": True,
    "insertion_order": 10,
    "constant": False,
    "selective": True,
    "position": "before_char",
    "comment": "면접 이야기",
    "extensions": {"selectiveLogic": 3, "scan_depth": 5, "probability": 80, "display_index": 2},
    "use_regex": True,
}
CARD: dict[str, Any] = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        "name": "하나",
        "description": "{{char}}는 스물여섯 살이고 부산에 산다.",
        "personality": "다정하다",
        "scenario": "<USER>와 카페에서 만났다.",
        "mes_example": "<START>\n{{user}}: 안녕\n{{char}}: 왔어?",
        "first_mes": "왔어? 앉아.",
        "system_prompt": "너는 {{char}}다. {{original}}",
        "post_history_instructions": "반말로 짧게 답한다.",
        "alternate_greetings": ["오랜만이야."],
        "creator_notes": "시험용",
        "tags": ["친구"],
        "creator": "kim",
        "character_version": "1.2",
        "group_only_greetings": [],
        "nickname": "하나짱",
        "source": ["https://example.org/hana"],
        "assets": [
            {"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"},
            {"type": "emotion", "uri": "embeded://assets/happy.png", "name": "happy", "ext": "png"},
        ],
        "extensions": {"depth_prompt": {"prompt": "기억해", "depth": 4}, "risuai": {"x": [1, 2]}},
        "future_field": {"kept": [True, None, 1.5]},
        "character_book": {
            "name": "하나의 책",
            "scan_depth": 3,
            "token_budget": 400,
            "recursive_scanning": True,
            "extensions": {"theme": "부산"},
            "entries": [ENTRY],
        },
    },
    "future_root": "root",
}


def json_file(card: Any) -> bytes:
    return json.dumps(card, ensure_ascii=False).encode()


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_with(*chunks: bytes) -> bytes:
    """A picture with these chunks before its end, and no card of its own."""
    plain = write_png(b"{}")
    start = plain.index(b"tEXt") - 4
    return plain[:start] + b"".join(chunks) + png_chunk(b"IEND", b"")


def text_chunk(keyword: str, card: Any) -> bytes:
    return png_chunk(b"tEXt", keyword.encode() + b"\0" + b64encode(json_file(card)))


def charx(card: Any, **others: bytes) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.writestr("card.json", json_file(card))
        for name, content in others.items():
            archive.writestr(name, content)
    return made.getvalue()


def world_info(**fields: Any) -> dict[str, Any]:
    """A World Info file of SillyTavern with one entry."""
    entry: dict[str, Any] = {
        "uid": 0,
        "key": ["해운대"],
        "keysecondary": ["바다"],
        "comment": "바다",
        "content": "해운대는 {{char}}가 자주 가는 곳이다.",
        "constant": False,
        "selective": True,
        "selectiveLogic": 0,
        "order": 50,
        "position": 1,
        "disable": False,
        "excludeRecursion": True,
        "probability": 100,
        "scanDepth": None,
        "caseSensitive": None,
        "matchWholeWords": None,
    }
    return {"entries": {"0": entry | fields}}
