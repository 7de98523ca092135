"""Texts of the page `data`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "data": ("Data", "데이터"),
    "data.lead": (
        "See what the models used and what was done with your data. Take all of it with you, or erase it.",
        "모델 사용량과 데이터에 대한 기록을 보고, 모든 데이터를 내보내거나 지웁니다.",
    ),
    "data.usage": ("Usage", "사용량"),
    "data.usage.text": (
        "Calls and tokens of language models in the last {days} days (UTC).",
        "최근 {days}일 동안의 언어 모델 호출과 토큰(UTC).",
    ),
    "data.usage.none": (
        "No language model was used in the last {days} days.",
        "최근 {days}일 동안 언어 모델을 쓰지 않았습니다.",
    ),
    "data.day": ("Day", "날짜"),
    "data.calls": ("Calls", "호출"),
    "data.input": ("Input", "입력"),
    "data.output": ("Output", "출력"),
    "data.tokens": ("Tokens", "토큰"),
    "data.total": ("Total", "합계"),
    "data.export": ("Export", "내보내기"),
    "data.export.text": (
        "Everything you have, as one file in clear text. Keep it safe: it is not encrypted.",
        "모든 데이터를 평문 파일 하나로 내보냅니다. 암호화되지 않으니 안전하게 보관하세요.",
    ),
    "data.export.do": ("Download everything", "모두 내려받기"),
    "data.import": ("Import", "가져오기"),
    "data.import.text": (
        "Adds what an export has. First it shows what would be added. Larger files: {command}.",
        "내보낸 파일의 내용을 더합니다. 먼저 무엇이 더해지는지 보여 줍니다. 큰 파일은 {command}.",
    ),
    "data.import.file": ("File of an export", "내보낸 파일"),
    "data.import.preview": ("Preview", "미리 보기"),
    "data.import.do": ("Import now", "지금 가져오기"),
    "data.import.again": (
        "If the file is no longer chosen above, choose it again.",
        "위에서 파일 선택이 풀렸다면 다시 고르세요.",
    ),
    "data.import.other": (
        "This is another file than the one of the preview. Preview it first.",
        "미리 본 파일과 다릅니다. 먼저 미리 보기를 하세요.",
    ),
    "data.preview": ("It would add", "더해지는 것"),
    "data.preview.nothing": ("Nothing: everything exists already.", "없음: 모두 이미 있습니다."),
    "data.kind": ("Kind", "종류"),
    "data.added": ("Records", "기록 수"),
    "data.unchanged": ("Unchanged: {count}", "변경 없음: {count}"),
    "data.audit": ("Audit trail", "감사 기록"),
    "data.audit.text": (
        "Tokens, failed sign-ins, exports, imports and key rotations. It has no content.",
        "토큰, 실패한 로그인, 내보내기, 가져오기, 키 교체. 내용은 담지 않습니다.",
    ),
    "data.audit.none": ("No entries.", "기록이 없습니다."),
    "data.when": ("When", "시각"),
    "data.action": ("Action", "동작"),
    "data.subject": ("Subject", "대상"),
    "data.older": ("Older entries", "이전 기록"),
    "data.erase": ("Erase everything", "모두 지우기"),
    "data.erase.text": (
        "Destroys your key and deletes all your data. Export first if you want to keep something.",
        "키를 파기하고 모든 데이터를 삭제합니다. 남길 것이 있으면 먼저 내보내세요.",
    ),
    "data.erase.name": ("Type {owner} to confirm", "확인하려면 {owner}을(를) 입력하세요"),
    "data.erase.wrong": (
        "This is not {owner}. Nothing was erased.",
        "{owner}이(가) 아닙니다. 지우지 않았습니다.",
    ),
    "data.erase.do": ("Erase for good", "영구히 지우기"),
    "data.erased": ("Everything is erased", "모두 지웠습니다"),
    "data.erased.text": (
        "Your key is destroyed, your rows are deleted, and your tokens no longer work.",
        "키를 파기하고 데이터를 삭제했으며, 토큰은 더 이상 쓸 수 없습니다.",
    ),
    "done.data_imported": ("Imported {count} records.", "기록 {count}개를 가져왔습니다."),
    "audit.token.created": ("Token created", "토큰 생성"),
    "audit.token.revoked": ("Token revoked", "토큰 취소"),
    "audit.login.failed": ("Sign-in failed", "로그인 실패"),
    "audit.owner.exported": ("Data exported", "데이터 내보냄"),
    "audit.owner.imported": ("Data imported", "데이터 가져옴"),
    "audit.key.rotated": ("Key rotated", "키 교체"),
    "audit.session.moved": ("Session moved to another plan", "세션의 계획 변경"),
    "audit.webhook.added": ("Webhook added", "웹훅 추가"),
    "audit.webhook.removed": ("Webhook removed", "웹훅 제거"),
    "audit.audit.trimmed": ("Old entries deleted", "오래된 기록 삭제"),
}
