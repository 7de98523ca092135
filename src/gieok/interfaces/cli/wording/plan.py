"""The lines of `gieok plan`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

PLAN: Mapping[str, Words] = {
    "plan.name": Words("NAME", "이름"),
    "plan.version": Words("VERSION", "버전"),
    "plan.steps": Words("STEPS", "단계 수"),
    "plan.hash": Words("HASH", "해시"),
    "plan.title": Words("{name}, version {version}, sha256 {hash}", "{name}, 버전 {version}, sha256 {hash}"),
    "plan.request": Words("The caller gives: {names}", "호출자가 주는 값: {names}"),
    "plan.stage": Words("STAGE", "스테이지"),
    "plan.step": Words("STEP", "단계"),
    "plan.type": Words("TYPE", "종류"),
    "plan.inputs": Words("INPUTS", "입력"),
    "plan.policy": Words("POLICY", "정책"),
    "plan.ok": Words("{plan}: ok", "{plan}: 정상"),
}
