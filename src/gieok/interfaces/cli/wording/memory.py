"""The lines of `gieok memory`, `gieok backup` and `gieok restore`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

MEMORY: Mapping[str, Words] = {
    "memory.none": Words("nothing is remembered here", "기억이 없습니다"),
    "memory.page": Words("{shown} of {total}", "전체 {total}개 중 {shown}개"),
    "memory.id": Words("ID", "ID"),
    "memory.persona": Words("PERSONA", "페르소나"),
    "memory.when": Words("WHEN", "언제"),
    "memory.importance": Words("IMPORTANCE", "중요도"),
    "memory.summary": Words("SUMMARY", "요약"),
    "memory.score": Words("SCORE", "점수"),
    "memory.why": Words("BECAUSE OF", "이유"),
    "memory.filled": Words("(recent or important)", "(최근이거나 중요함)"),
    "memory.emotion": Words("EMOTION", "감정"),
    "memory.topics": Words("TOPICS", "주제"),
    "memory.tags": Words("TAGS", "태그"),
    "memory.origin": Words("ORIGIN", "출처"),
    "memory.session": Words("SESSION", "세션"),
    "memory.archived": Words("ARCHIVED", "아카이브"),
    "memory.exporting": Words("exporting", "내보내는 중"),
    "memory.exported": Words("records written to {path}: {records}", "{path}에 기록 {records}개를 썼습니다"),
    "memory.importing": Words("importing", "가져오는 중"),
    "memory.imported": Words("added {added}, unchanged {unchanged}", "추가 {added}, 그대로 {unchanged}"),
    "memory.type_name": Words(
        "This cannot be undone. Type the name '{user}' to erase everything of that user",
        "되돌릴 수 없습니다. 모두 지우려면 사용자 이름 '{user}'을(를) 입력하세요",
    ),
    "memory.not_erased": Words("another name; nothing was erased", "이름이 달라 아무것도 지우지 않았습니다"),
    "memory.erased": Words(
        "the key of {user} is destroyed and their rows are gone: {rows}",
        "{user}의 열쇠를 파기하고 {rows}개 행을 지웠습니다",
    ),
}

BACKUP: Mapping[str, Words] = {
    "backup.copying": Words("copying", "복사 중"),
    "backup.made": Words(
        "backed up to {path}; it needs root key {root}, which is not in it",
        "{path}에 백업했습니다. 이 안에 없는 루트 열쇠 {root}이(가) 있어야 열립니다",
    ),
    "backup.database": Words("database", "데이터베이스"),
    "backup.keystore": Words("keystore", "열쇠 보관소"),
    "backup.kept": Words("{path}, the one in use", "{path}, 쓰던 것을 그대로 둠"),
    "backup.copied": Words("{path}, from the backup", "{path}, 백업에서 복사함"),
    "backup.keys_added": Words("keys added from the backup", "백업에서 더한 열쇠"),
    "backup.erased_again": Words("users erased again", "다시 지운 사용자"),
    "backup.before": Words("the database before", "이전 데이터베이스"),
}
