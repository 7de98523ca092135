"""Texts of the page `operator`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "nav.operator": ("Service", "서비스"),
    "operator": ("Service", "서비스"),
    "operator.lead": (
        "Background jobs of all users and their counts. No content is shown here.",
        "모든 사용자의 백그라운드 작업과 집계입니다. 내용은 보여 주지 않습니다.",
    ),
    "operator.counts": ("Counts", "집계"),
    "operator.jobs": ("Jobs", "작업"),
    "operator.kind": ("Kind", "종류"),
    "operator.status": ("Status", "상태"),
    "operator.owner": ("User", "사용자"),
    "operator.attempts": ("Attempts", "시도"),
    "operator.created": ("Created", "만든 때"),
    "operator.due": ("Due", "예정"),
    "operator.error": ("Error", "오류"),
    "operator.none": ("No jobs with this status.", "이 상태의 작업이 없습니다."),
    "operator.empty": ("No jobs", "작업이 없습니다"),
    "operator.empty.text": (
        "Jobs are queued by conversations and kept for some days.",
        "작업은 대화에서 생기고 며칠 동안 보관됩니다.",
    ),
}
