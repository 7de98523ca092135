"""Texts of `gieok memory`, `gieok backup` and `gieok restore`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "memory.none": ("no memories", "기억이 없습니다"),
    "memory.page": ("{shown} of {total}", "전체 {total}개 중 {shown}개"),
    "memory.id": ("ID", "ID"),
    "memory.persona": ("PERSONA", "페르소나"),
    "memory.when": ("WHEN", "날짜"),
    "memory.importance": ("IMPORTANCE", "중요도"),
    "memory.summary": ("SUMMARY", "요약"),
    "memory.score": ("SCORE", "점수"),
    "memory.confidence": ("CONFIDENCE", "신뢰도"),
    "memory.why": ("WHY", "이유"),
    "memory.filled": ("(recent or important)", "(최근이거나 중요함)"),
    "memory.emotion": ("EMOTION", "감정"),
    "memory.topics": ("TOPICS", "주제"),
    "memory.tags": ("TAGS", "태그"),
    "memory.version": ("VERSION", "버전"),
    "memory.origin": ("ORIGIN", "출처"),
    "memory.session": ("SESSION", "세션"),
    "memory.archived": ("ARCHIVED", "아카이브"),
    "memory.confirm_delete": (
        "This cannot be undone. Delete?",
        "되돌릴 수 없습니다. 삭제할까요?",
    ),
    "memory.deleted": ("deleted {count} memories", "기억 {count}개를 삭제했습니다"),
    "memory.exporting": ("exporting", "내보내는 중"),
    "memory.exported": ("exported {records} records to {path}", "{path}에 레코드 {records}개를 내보냈습니다"),
    "memory.importing": ("importing", "가져오는 중"),
    "memory.would_import": (
        "would add {added}, unchanged {unchanged}",
        "{added}개를 추가하게 됩니다. 변경 없음 {unchanged}",
    ),
    "memory.imported": ("added {added}, unchanged {unchanged}", "추가 {added}, 변경 없음 {unchanged}"),
    "memory.confirm_erase": (
        "This cannot be undone. Type the name '{user}' to erase all data of that user",
        "되돌릴 수 없습니다. 모든 데이터를 삭제하려면 사용자 이름 '{user}'을(를) 입력하세요",
    ),
    "memory.not_erased": (
        "the name does not match; nothing was erased",
        "이름이 일치하지 않아 아무것도 삭제하지 않았습니다",
    ),
    "memory.erased": (
        "destroyed the keys of {user} and deleted {rows} rows",
        "{user}의 키를 파기하고 {rows}개 행을 삭제했습니다",
    ),
    "memory.kind": ("KIND", "종류"),
    "memory.text": ("TEXT", "내용"),
    "memory.degraded": (
        "a part of the search failed, so that memories may be missing: {parts}",
        "검색의 일부가 실패해 빠진 기억이 있을 수 있습니다: {parts}",
    ),
    "backup.copying": ("copying", "복사 중"),
    "backup.created": (
        "backed up to {path}; restoring needs root key {root}, which is not part of the backup",
        "{path}에 백업했습니다. 복원하려면 백업에 포함되지 않은 루트 키 {root}이(가) 필요합니다",
    ),
    "backup.database": ("database", "데이터베이스"),
    "backup.keystore": ("keystore", "키 저장소"),
    "backup.keystore_kept": ("{path}, kept the existing one", "{path}, 기존 키 저장소 유지"),
    "backup.keystore_copied": ("{path}, from the backup", "{path}, 백업에서 복사"),
    "backup.keys_added": ("keys added from the backup", "백업에서 추가한 키"),
    "backup.erased_again": ("users erased again", "다시 삭제한 사용자"),
    "backup.previous": ("previous database", "이전 데이터베이스"),
}
