"""Texts of `gieok session`, `gieok jobs`, `gieok persona` and `gieok fact`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "session.none": ("no sessions", "세션이 없습니다"),
    "session.id": ("SESSION", "세션"),
    "session.persona": ("PERSONA", "페르소나"),
    "session.started": ("STARTED (UTC)", "시작(UTC)"),
    "session.messages": ("MESSAGES", "메시지"),
    "session.ended": ("ENDED (UTC)", "종료(UTC)"),
    "session.next_page": ("Next page: --cursor {cursor}", "다음 페이지: --cursor {cursor}"),
    "session.user": ("user", "사용자"),
    "session.assistant": ("assistant", "상대"),
    "session.withdrawn": ("withdrawn", "철회됨"),
    "session.turn": ("turn {id}", "턴 {id}"),
    "session.job": ("job {id}", "작업 {id}"),
    "session.total": ("in all", "전체"),
    "session.no_cycles": ("no records of its turns are stored", "저장된 실행 기록이 없습니다"),
    "session.deleted": (
        "deleted {messages} messages, {memories} memories and {facts} facts",
        "메시지 {messages}개, 기억 {memories}개, 사실 {facts}개를 삭제했습니다",
    ),
    "session.title": ("TITLE", "제목"),
    "session.new": ("NEW", "추가"),
    "session.importing": ("importing", "가져오는 중"),
    "session.imported": (
        "imported {conversations} conversations, {messages} messages and {memories} memories",
        "대화 {conversations}개, 메시지 {messages}개, 기억 {memories}개를 가져왔습니다",
    ),
    "session.would_import": (
        "would import {conversations} conversations, {messages} messages and {memories} memories",
        "대화 {conversations}개, 메시지 {messages}개, 기억 {memories}개를 가져오게 됩니다",
    ),
    "jobs.none": ("no jobs", "작업이 없습니다"),
    "jobs.id": ("ID", "ID"),
    "jobs.no_after": ("--after is for the jobs of one user", "--after는 한 사용자의 작업에만 쓸 수 있습니다"),
    "jobs.user": ("USER", "사용자"),
    "jobs.kind": ("KIND", "종류"),
    "jobs.subject": ("SUBJECT", "대상"),
    "jobs.status": ("STATUS", "상태"),
    "jobs.attempts": ("ATTEMPTS", "시도"),
    "jobs.error": ("ERROR", "오류"),
    "jobs.retried": ("queued again: {kind} of {subject}", "다시 대기열에 넣었습니다: {subject}의 {kind}"),
    "persona.none": ("no personas", "페르소나가 없습니다"),
    "persona.id": ("ID", "ID"),
    "persona.name": ("NAME", "이름"),
    "persona.version": ("VERSION", "버전"),
    "persona.deleted": (
        "deleted the persona, {memories} memories, {facts} facts, {sessions} sessions, {messages} messages",
        "페르소나와 기억 {memories}개, 사실 {facts}개, 세션 {sessions}개, 메시지 {messages}개를 삭제했습니다",
    ),
    "persona.imported": (
        "imported {name} ({id}, v{version}), {n} lorebook entries",
        "{name}({id}, v{version}) 페르소나를 가져왔습니다. 로어북 항목 {n}개",
    ),
    "persona.kept": ("kept for export, not used: {names}", "사용하지 않지만 내보내기를 위해 보관: {names}"),
    "persona.left_out": ("not kept: {names}", "보관하지 않음: {names}"),
    "persona.exported": ("exported to {path}", "{path}에 내보냈습니다"),
    "fact.none": ("no facts", "사실이 없습니다"),
    "fact.category": ("CATEGORY", "분류"),
    "fact.key": ("KEY", "키"),
    "fact.value": ("VALUE", "값"),
    "fact.since": ("SINCE (UTC)", "적용 시각(UTC)"),
    "fact.retired": ("retired; its history stays", "더 이상 적용되지 않습니다. 이력은 남아 있습니다"),
}
