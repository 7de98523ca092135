"""The lines of `gieok token`, `audit`, `usage`, `serve` and `worker`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

TOKEN: Mapping[str, Words] = {
    "token.token": Words("token", "토큰"),
    "token.id": Words("id", "ID"),
    "token.user": Words("user", "사용자"),
    "token.plan": Words("plan", "요금제"),
    "token.scopes": Words("scopes", "권한"),
    "token.state": Words("state", "상태"),
    "token.once": Words(
        "Copy the token now: it is not stored and cannot be shown again.",
        "토큰을 지금 복사해 두세요. 저장하지 않으므로 다시 볼 수 없습니다.",
    ),
    "token.none": Words("no tokens", "토큰이 없습니다"),
    "token.head_id": Words("ID", "ID"),
    "token.head_user": Words("USER", "사용자"),
    "token.head_plan": Words("PLAN", "요금제"),
    "token.head_scopes": Words("SCOPES", "권한"),
    "token.head_label": Words("LABEL", "이름표"),
    "token.head_created": Words("CREATED (UTC)", "만든 때(UTC)"),
    "token.head_state": Words("STATE (UTC)", "상태(UTC)"),
    "token.revoked": Words(
        "token {id} of {user} is refused from now on", "{user}의 토큰 {id}을(를) 폐기했습니다"
    ),
    "token.revoked_at": Words("revoked {at}", "{at}에 폐기됨"),
    "token.expired_at": Words("expired {at}", "{at}에 만료됨"),
    "token.in_force": Words("in force", "유효"),
    "token.in_force_until": Words("in force until {at}", "{at}까지 유효"),
}

AUDIT: Mapping[str, Words] = {
    "audit.none": Words("no entries", "기록이 없습니다"),
    "audit.when": Words("WHEN (UTC)", "시각(UTC)"),
    "audit.action": Words("ACTION", "행위"),
    "audit.subject": Words("SUBJECT", "대상"),
    "audit.id": Words("ID", "ID"),
}

USAGE: Mapping[str, Words] = {
    "usage.none": Words("no use of a language model", "언어 모델을 쓰지 않았습니다"),
    "usage.day": Words("DAY (UTC)", "날짜(UTC)"),
    "usage.calls": Words("CALLS", "호출"),
    "usage.input": Words("INPUT TOKENS", "입력 토큰"),
    "usage.output": Words("OUTPUT TOKENS", "출력 토큰"),
    "usage.tokens": Words("TOKENS", "토큰 합계"),
}

SERVE: Mapping[str, Words] = {
    "serve.listening": Words(
        "Gieok listens on {url} (try {url}/docs). A token: gieok token create --user NAME",
        "Gieok이 {url} 에서 듣고 있습니다({url}/docs). 토큰 만들기: gieok token create --user 이름",
    ),
    "worker.working": Words(
        "Gieok does what is due. Ctrl-C ends it.", "Gieok이 예정된 일을 처리합니다. Ctrl-C로 끝냅니다."
    ),
}
