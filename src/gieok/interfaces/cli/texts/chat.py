"""Texts of `gieok chat`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "chat.you": ("you", "나"),
    "chat.hello": (
        "You are talking to {name}. /help lists the commands; Ctrl-D ends the conversation.",
        "{name}와(과) 대화합니다. /help로 명령을 볼 수 있고, Ctrl-D로 끝냅니다.",
    ),
    "chat.continued": (
        "Your last session is still open and continues; /new starts another.",
        "지난 세션이 아직 열려 있어 이어집니다. /new로 새 세션을 시작합니다.",
    ),
    "chat.offer": (
        "There is no persona yet. Create a simple one named {name}?",
        "아직 페르소나가 없습니다. {name}(이)라는 간단한 페르소나를 만들까요?",
    ),
    "chat.created": (
        "There was no persona, so {name} was created (id {id}).",
        "페르소나가 없어 {name}을(를) 만들었습니다(ID {id}).",
    ),
    "chat.choose": ("Which one do you want to talk to?", "누구와 대화할까요?"),
    "chat.commands": (
        "/why        what the last reply recalled and why, what was learned and what was refused\n"
        "/undo       take the last message and its reply back\n"
        "/again      another reply to the last message\n"
        "/forget …   forget the fact or the memory with these words\n"
        "/save …     store these words as a memory; without words, the last exchange\n"
        "/state      current facts\n"
        "/memories   stored memories\n"
        "/persona    the persona you are talking to\n"
        "/new        end this session and start another\n"
        "/quit       end the conversation, like Ctrl-D",
        "/why        마지막 답변이 떠올린 기억과 그 이유, 새로 배운 것과 거절한 것\n"
        "/undo       마지막 메시지와 답변을 되돌리기\n"
        "/again      마지막 메시지에 다시 답변받기\n"
        "/forget …   이 말이 들어 있는 사실이나 기억 잊기\n"
        "/save …     이 말을 기억으로 저장(말이 없으면 마지막 대화)\n"
        "/state      현재 상태\n"
        "/memories   저장된 기억\n"
        "/persona    대화 중인 페르소나\n"
        "/new        이 세션을 끝내고 새 세션 시작\n"
        "/quit       대화 끝내기(Ctrl-D와 같음)",
    ),
    "chat.unknown_command": (
        "unknown command {command}; see /help",
        "{command}: 없는 명령입니다. /help를 보세요",
    ),
    "chat.no_turn": ("there is no reply yet", "아직 답변이 없습니다"),
    "chat.nothing_recalled": (
        "the last reply recalled no memory",
        "마지막 답변에서 떠올린 기억이 없습니다",
    ),
    "chat.this_session": ("from this session: {summary}", "이 세션에서: {summary}"),
    "chat.signals": ("SIGNALS", "신호"),
    "chat.no_facts": ("no facts yet", "아직 저장된 사실이 없습니다"),
    "chat.id": ("id", "ID"),
    "chat.name": ("name", "이름"),
    "chat.version": ("version", "버전"),
    "chat.language": ("language", "언어"),
    "chat.prompt": ("prompt", "프롬프트"),
    "chat.cancelled": (
        "cancelled; nothing of this turn was stored",
        "취소했습니다. 이번 턴은 저장되지 않았습니다",
    ),
    "chat.learned": ("learned ({outcome}): {fact}", "배움({outcome}): {fact}"),
    "chat.refused": ("refused ({reason}): {text}", "거절({reason}): {text}"),
    "chat.undone": (
        "taken back: {messages} messages, {facts} facts, {memories} memories",
        "되돌림: 메시지 {messages}개, 사실 {facts}개, 기억 {memories}개",
    ),
    "chat.nothing_said": ("there is no message yet", "아직 메시지가 없습니다"),
    "chat.forget_what": ("say what to forget: /forget words", "무엇을 잊을지 적어 주세요: /forget 말"),
    "chat.not_found": ("no fact or memory has these words", "이 말이 들어 있는 사실이나 기억이 없습니다"),
    "chat.several": (
        "several have these words; be more precise:",
        "여러 개가 있습니다. 더 자세히 적어 주세요:",
    ),
    "chat.forgotten": ("forgotten: {text}", "잊음: {text}"),
    "chat.closing": ("saving the conversation …", "대화를 기억으로 저장하는 중 …"),
    "chat.remembered": ("remembered: {summary}", "기억함: {summary}"),
    "chat.nothing_kept": (
        "no memory was made: there was only small talk",
        "가벼운 이야기뿐이어서 기억으로 남기지 않았음",
    ),
}
