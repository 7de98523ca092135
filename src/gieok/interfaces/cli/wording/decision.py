"""The lines of `gieok decision`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

DECISION: Mapping[str, Words] = {
    "decision.none": Words("no decisions", "결정이 없습니다"),
    "decision.id": Words("ID", "ID"),
    "decision.strength": Words("STRENGTH", "강도"),
    "decision.domain": Words("DOMAIN", "도메인"),
    "decision.version": Words("VERSION", "버전"),
    "decision.when": Words("WHEN (UTC)", "시각(UTC)"),
    "decision.statement": Words("STATEMENT", "결정"),
    "decision.evidence": Words("EVIDENCE", "근거"),
    "decision.relation": Words("RELATION", "관계"),
    "decision.more": Words("There are more: --cursor {cursor}", "더 있습니다: --cursor {cursor}"),
    "decision.reached": Words("decisions reached: {many}", "영향을 받는 결정: {many}개"),
    "decision.cut": Words(
        "decisions reached: {many}, and more beyond the depth or the limit",
        "영향을 받는 결정: {many}개. 깊이나 개수의 한도 너머에 더 있습니다",
    ),
    "decision.below": Words("(in a layer below)", "(아래 계층에 있음)"),
    "decision.beyond": Words("(left out by the budget)", "(예산을 넘어 빠짐)"),
    "decision.left_out": Words(
        "{many} more, left out by the budget or the plan", "예산이나 계획에 따라 {many}개를 제외했습니다"
    ),
    "decision.unread": Words("not looked into: the budget had ended", "예산이 다하여 살펴보지 않았습니다"),
    "decision.tokens": Words("about {tokens} tokens", "약 {tokens} 토큰"),
    "decision.saved": Words("saved {id}, version {version}", "{id} 저장, 버전 {version}"),
    "decision.related": Words("related: {source} {kind} {target}", "관계 추가: {source} {kind} {target}"),
    "decision.unrelated": Words("removed: {source} {kind} {target}", "관계 삭제: {source} {kind} {target}"),
    "decision.file": Words("FILE", "파일"),
    "decision.outcome": Words("OUTCOME", "결과"),
    "decision.imported": Words(
        "added {added}, changed {changed}, unchanged {unchanged}, skipped {skipped}; "
        "relations added {relations}, removed {removed}",
        "추가 {added}, 변경 {changed}, 그대로 {unchanged}, 건너뜀 {skipped}. "
        "관계 추가 {relations}, 삭제 {removed}",
    ),
    "decision.wrote": Words("wrote {path}", "{path} 기록"),
    "decision.left": Words(
        "left {path} alone: it says that the decision is not in force",
        "{path}: 효력이 없는 결정이라고 되어 있어 그대로 두었습니다",
    ),
    "decision.exported": Words(
        "files written {written}, unchanged {unchanged}, left alone {left}",
        "기록한 파일 {written}, 그대로 {unchanged}, 남겨 둔 파일 {left}",
    ),
}
