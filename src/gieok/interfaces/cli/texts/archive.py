"""Texts of `gieok archive`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "archive.none": (
        "there is no archive; set GIEOK_ARCHIVE_URL=mongodb://…",
        "아카이브가 없습니다. GIEOK_ARCHIVE_URL=mongodb://…를 설정하세요",
    ),
    "archive.location": ("archive", "아카이브"),
    "archive.state": ("state", "상태"),
    "archive.reachable": ("reachable, MongoDB {version}", "연결됨, MongoDB {version}"),
    "archive.documents": ("documents", "문서"),
    "archive.counts": (
        "about {messages} messages and {summaries} memories",
        "메시지 약 {messages}개, 기억 약 {summaries}개",
    ),
    "archive.undelivered": ("undelivered events", "전달되지 않은 이벤트"),
    "archive.since": ("{count}, the oldest of {at}", "{count}개, 가장 오래된 것은 {at}"),
    "archive.backfilling": (
        "users whose older data is not copied yet",
        "이전 데이터가 아직 복사되지 않은 사용자",
    ),
    "archive.verifying": ("verifying", "비교 중"),
    "archive.restoring": ("restoring", "복원 중"),
    "archive.collection": ("COLLECTION", "컬렉션"),
    "archive.difference": ("DIFFERENCE", "차이"),
    "difference.missing": ("not in the archive", "아카이브에 없습니다"),
    "difference.extra": ("only in the archive", "아카이브에만 있습니다"),
    "difference.different": ("different in the archive", "아카이브의 내용이 다릅니다"),
    "difference.seal": ("the copy does not open", "복사본을 열 수 없습니다"),
    "archive.ok": (
        "users: {owners}; messages: {messages}; memories: {summaries}; the archive has all of them",
        "사용자 {owners}명, 메시지 {messages}개, 기억 {summaries}개: 모두 아카이브에 있습니다",
    ),
    "archive.differs": (
        "users: {owners}; messages: {messages}; memories: {summaries}; differences: {differences}",
        "사용자 {owners}명, 메시지 {messages}개, 기억 {summaries}개: 차이 {differences}개",
    ),
    "archive.not_delivered": (
        "{count} events are not delivered yet, and may be the reason; verify again later",
        "이벤트 {count}개가 아직 전달되지 않아 생긴 차이일 수 있습니다. 나중에 다시 비교하세요",
    ),
    "archive.restored": (
        "texts: {texts}; messages: {messages}; memories: {summaries}; skipped: {skipped}",
        "본문 {texts}개, 메시지 {messages}개, 기억 {summaries}개를 복원했습니다. 건너뜀 {skipped}개",
    ),
    "archive.detached": (
        "detached the archive of {owners} users",
        "사용자 {owners}명의 아카이브를 분리했습니다",
    ),
}
