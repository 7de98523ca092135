"""Texts of the page `personas`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "nav.personas": ("Personas", "페르소나"),
    "personas": ("Personas", "페르소나"),
    "personas.lead": (
        "The characters that you talk to. Each has memories of its own.",
        "대화하는 캐릭터입니다. 캐릭터마다 기억이 따로 있습니다.",
    ),
    "personas.empty": ("No personas yet", "아직 페르소나가 없습니다"),
    "personas.empty.text": (
        "Create one below, or import a character card.",
        "아래에서 만들거나 캐릭터 카드를 가져오세요.",
    ),
    "personas.active": ("active memories", "활성 기억"),
    "personas.archived": ("archived", "아카이브"),
    "personas.lore": ("lorebook entries", "로어북 항목"),
    "personas.version": ("version", "버전"),
    "personas.recall.on": ("Recall is on", "기억 떠올리기 켜짐"),
    "personas.recall.off": ("Recall is off", "기억 떠올리기 꺼짐"),
    "personas.switch_on": ("Switch on", "켜기"),
    "personas.switch_off": ("Switch off", "끄기"),
    "personas.export": ("Export card", "카드 내보내기"),
    "personas.memories": ("Memories", "기억"),
    "personas.new": ("New persona", "새 페르소나"),
    "personas.name": ("Name", "이름"),
    "personas.prompt": ("System prompt", "시스템 프롬프트"),
    "personas.create": ("Create", "만들기"),
    "personas.import": ("Import a character card", "캐릭터 카드 가져오기"),
    "personas.file": ("PNG, JSON or CHARX (V2 or V3)", "PNG, JSON 또는 CHARX(V2, V3)"),
    "personas.import.button": ("Import", "가져오기"),
    "personas.delete": ("Delete {name}?", "{name}을(를) 삭제할까요?"),
    "personas.delete.text": (
        "All versions, {memories} memories, facts, sessions and messages are deleted with it.",
        "모든 버전, 기억 {memories}개, 사실과 그 이력, 세션, 메시지가 함께 삭제됩니다.",
    ),
    "done.created": ("Created.", "만들었습니다."),
    "done.imported": ("Imported, with {count} lorebook entries.", "가져왔습니다. 로어북 항목: {count}개"),
    "done.recall_on": ("Recall is on.", "기억 떠올리기를 켰습니다."),
    "done.recall_off": (
        "Recall is off. Memories are still made.",
        "기억 떠올리기를 껐습니다. 기억은 계속 만들어집니다.",
    ),
    "done.persona_deleted": (
        "Deleted, with everything that belonged to it.",
        "관련된 모든 것과 함께 삭제했습니다.",
    ),
}
