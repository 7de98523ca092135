"""Texts of the pages about plans."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "plans": ("Plans", "계획"),
    "plans.lead": (
        "What happens in a cycle, step by step, as data. A session stores the hash of its plan.",
        "한 사이클에서 일어나는 일을 단계별 데이터로 보여 줍니다. 세션은 계획의 해시를 저장합니다.",
    ),
    "plans.old": ("Before", "이전 계획"),
    "plans.new": ("After", "이후 계획"),
    "plans.with": ("Another shipped plan", "다른 기본 계획"),
    "plans.text": (
        "Or a plan of your own, as JSON. It is not stored.",
        "또는 직접 만든 계획(JSON). 저장하지 않습니다.",
    ),
    "plans.compare": ("Compare", "비교"),
    "plans.other": ("Compare with another", "다른 계획과 비교"),
    "plans.same": ("Both have the same hash: they are the same plan.", "해시가 같은, 똑같은 계획입니다."),
    "plan": ("Plan", "계획"),
    "plan.version": ("Version", "버전"),
    "plan.steps": ("Steps", "단계"),
    "plan.hash": ("Hash (SHA-256)", "해시 (SHA-256)"),
    "plan.request": ("Values of the request", "요청 값"),
    "plan.graph": ("Stages and steps", "단계의 흐름"),
    "plan.graph.text": (
        "Graph of {count} steps, grouped by stage. The list below says the same.",
        "단계 {count}개를 순서별로 묶은 그래프. 아래 목록과 같은 내용입니다.",
    ),
    "plan.metadata": ("Policy", "정책 값"),
    "plan.place": ("Place", "위치"),
    "plan.before": ("Before", "이전"),
    "plan.after": ("After", "이후"),
    "plan.kind.added": ("added", "추가"),
    "plan.kind.removed": ("removed", "삭제"),
    "plan.kind.changed": ("changed", "변경"),
    "plan.kind.same": ("unchanged", "같음"),
}
