"""The lines of `gieok chat`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

CHAT: Mapping[str, Words] = {
    "chat.you": Words("you", "나"),
    "chat.hello": Words(
        "You talk with {name}. /help lists what you can ask; Ctrl-D ends it.",
        "{name}와(과) 이야기합니다. /help로 쓸 수 있는 명령을 보고, Ctrl-D로 끝냅니다.",
    ),
    "chat.offer": Words(
        "There is no persona yet. Make a small one named {name}?",
        "아직 페르소나가 없습니다. {name}(이)라는 작은 페르소나를 만들까요?",
    ),
    "chat.made": Words(
        "There was no persona, so {name} was made (id {id}).",
        "페르소나가 없어 {name}을(를) 만들었습니다(ID {id}).",
    ),
    "chat.which": Words("Talk with which one?", "누구와 이야기할까요?"),
    "chat.commands": Words(
        "/why        what the last reply recalled, and why\n"
        "/state      what is true by now\n"
        "/memories   what is remembered\n"
        "/persona    who you talk with\n"
        "/new        end this session and begin another\n"
        "/quit       end, as Ctrl-D does",
        "/why        마지막 답이 떠올린 기억과 그 이유\n"
        "/state      지금의 상태\n"
        "/memories   남아 있는 기억\n"
        "/persona    이야기하는 상대\n"
        "/new        이 세션을 끝내고 새로 시작\n"
        "/quit       Ctrl-D처럼 끝내기",
    ),
    "chat.unknown": Words("there is no {command}; see /help", "{command} 명령은 없습니다. /help를 보세요"),
    "chat.nothing_said": Words("nothing was said yet", "아직 나눈 말이 없습니다"),
    "chat.nothing_recalled": Words(
        "nothing was recalled for the last reply", "마지막 답에는 떠올린 기억이 없습니다"
    ),
    "chat.this_session": Words("from this session: {summary}", "이 세션에서: {summary}"),
    "chat.signals": Words("SIGNALS", "신호"),
    "chat.no_state": Words("nothing is known yet", "아직 아는 것이 없습니다"),
    "chat.id": Words("id", "ID"),
    "chat.name": Words("name", "이름"),
    "chat.version": Words("version", "버전"),
    "chat.language": Words("language", "언어"),
    "chat.prompt": Words("prompt", "프롬프트"),
    "chat.given_up": Words(
        "given up; nothing of this turn is kept", "그만두었습니다. 이번 말은 남지 않습니다"
    ),
    "chat.closing": Words("remembering …", "기억하는 중 …"),
    "chat.remembered": Words("remembered: {summary}", "기억함: {summary}"),
}
