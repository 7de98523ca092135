"""Texts of `gieok decision`."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "decision.none": ("no decisions", "결정이 없습니다"),
    "decision.id": ("ID", "ID"),
    "decision.strength": ("STRENGTH", "강도"),
    "decision.domain": ("DOMAIN", "도메인"),
    "decision.version": ("VERSION", "버전"),
    "decision.created_at": ("CREATED (UTC)", "생성 시각(UTC)"),
    "decision.statement": ("STATEMENT", "결정"),
    "decision.evidence": ("EVIDENCE", "근거"),
    "decision.relation": ("RELATION", "관계"),
    "decision.next_page": ("Next page: --cursor {cursor}", "다음 페이지: --cursor {cursor}"),
    "decision.affected": ("affected decisions: {count}", "영향을 받는 결정: {count}개"),
    "decision.affected_truncated": (
        "affected decisions: {count} shown; there are more beyond --depth or --limit",
        "영향을 받는 결정: {count}개 표시. --depth나 --limit을 넘는 결정이 더 있습니다",
    ),
    "decision.in_lower_layer": ("(shown in a layer below)", "(아래 계층에 표시)"),
    "decision.left_out": (
        "{count} more left out by the budget or the plan",
        "예산이나 계획에 따라 {count}개를 제외했습니다",
    ),
    "decision.not_loaded": ("not loaded: the budget was used up", "예산이 소진되어 불러오지 않았습니다"),
    "decision.tokens": ("about {tokens} tokens", "약 {tokens} 토큰"),
    "decision.saved": ("saved {id}, version {version}", "{id} 저장, 버전 {version}"),
    "decision.relation_added": (
        "relation added: {source} {kind} {target}",
        "관계 추가: {source} {kind} {target}",
    ),
    "decision.relation_removed": (
        "relation removed: {source} {kind} {target}",
        "관계 삭제: {source} {kind} {target}",
    ),
    "decision.no_policy": ("no principles", "원칙이 없습니다"),
    "decision.policy_version": ("version {version}, {at} UTC", "버전 {version}, {at} UTC"),
    "decision.hint": ("HINT", "이정표"),
    "decision.compacted": (
        "anchors: {anchors}; messages kept: {kept}",
        "앵커 {anchors}개, 유지한 메시지 {kept}개",
    ),
    "decision.walked": ("found: {count}", "{count}개를 찾았습니다"),
    "decision.walked_truncated": (
        "found: {count}; there are more beyond the depth or the limit of the plan",
        "{count}개를 찾았습니다. 계획의 깊이나 한도를 넘는 결과가 더 있습니다",
    ),
    "decision.file": ("FILE", "파일"),
    "decision.outcome": ("OUTCOME", "결과"),
    "decision.imported": (
        "added {added}, changed {changed}, unchanged {unchanged}, skipped {skipped}; "
        "relations added {relations}, removed {removed}",
        "추가 {added}, 변경 {changed}, 변경 없음 {unchanged}, 건너뜀 {skipped}. "
        "관계 추가 {relations}, 삭제 {removed}",
    ),
    "decision.wrote": ("wrote {path}", "{path} 저장"),
    "decision.kept": (
        "kept {path}: its status says that the decision is not in force",
        "{path}: 효력이 없는 결정으로 표시되어 있어 변경하지 않았습니다",
    ),
    "decision.exported": (
        "files written {written}, unchanged {unchanged}, kept {kept}",
        "저장한 파일 {written}, 변경 없음 {unchanged}, 유지 {kept}",
    ),
}
