"""The lines of `gieok demo`. Braces are filled with facts of the run."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

FRAME: Mapping[str, Words] = {
    "title": Words("Gieok demo", "기억(Gieok) 데모"),
    "lead": Words(
        "No network and no API key: the built-in offline model answers. Plans, SQLite and the vault are the "
        "real ones; only the clock is set to the story.",
        "네트워크도 API 키도 쓰지 않고, 내장 offline 모델이 답합니다. 계획, SQLite, 암호 금고는 실제 "
        "그대로이고 시계만 이야기에 맞췄습니다.",
    ),
    "user": Words("User", "사용자"),
    "next": Words("What to try next", "다음 걸음"),
    "next.chat": Words("talk with a character of your own", "나만의 캐릭터와 이야기하기"),
    "next.serve": Words("the same over HTTP, described at /docs", "같은 것을 HTTP로(/docs에 설명)"),
    "next.docs": Words("how to use the library, and the rest", "라이브러리로 쓰는 법과 나머지"),
    "kept_in": Words(
        "The files of this demo are in {folder} (the data in data/, the key in key/).",
        "이 데모의 파일은 {folder} 에 있습니다(데이터는 data/, 열쇠는 key/).",
    ),
}

TALK: Mapping[str, Words] = {
    "talk": Words("A few days of talk, and what stays of it", "며칠 동안의 대화, 그리고 남은 기억"),
    "memory": Words("memory", "기억"),
    "memory.about": Words(
        "topics {topics} · emotion {emotion} · importance {importance} of 10",
        "주제 {topics} · 감정 {emotion} · 중요도 {importance}/10",
    ),
    "recall": Words(
        "Today, in a new session: what comes back, and why", "오늘, 새 세션: 떠오른 것과 그 이유"
    ),
    "recall.lead": Words(
        "Opened anew. Of all that was said before, the model is given {messages} messages.",
        "프로그램을 새로 열었습니다. 지난 메시지 가운데 모델이 받은 것은 {messages}개입니다.",
    ),
    "recall.rank": Words("#{rank}", "{rank}위"),
    "recall.words": Words("{days:.1f} days old, shares {words}", "{days:.1f}일 전, 공통 낱말: {words}"),
    "recall.filled": Words(
        "{days:.1f} days old, shares no word; there was a place left",
        "{days:.1f}일 전, 공통 낱말 없음(남은 자리를 채움)",
    ),
    "recall.score": Words("score {score:.2f} = ", "점수 {score:.2f} = "),
    "recall.sum": Words(
        "A score is the sum of signals, each with the weight that the plan gives it.",
        "점수는 신호마다 계획이 정한 무게를 곱해 더한 값입니다.",
    ),
    "canon": Words("Canon: what is true by now", "캐논: 지금 참인 것"),
    "canon.before": Words("state before", "바뀌기 전"),
    "canon.after": Words("state after", "바뀐 뒤"),
    "canon.history": Words("history", "이력"),
    "canon.past": Words("v{version} {value} ({at:%Y-%m-%d})", "v{version} {value} ({at:%Y-%m-%d})"),
    "canon.active": Words(
        "v{version} {value} ({at:%Y-%m-%d}, active)", "v{version} {value} ({at:%Y-%m-%d}, 현재)"
    ),
    "canon.persona": Words("persona", "페르소나"),
    "canon.same": Words("the same, byte for byte", "바이트까지 같음"),
    "canon.differs": Words("changed", "바뀜"),
}

SIGNALS: Mapping[str, Words] = {
    "signal.bm25": Words("shared words", "공통 낱말"),
    "signal.vectors": Words("meaning", "뜻"),
    "signal.neighbours": Words("memories beside it", "곁의 기억"),
    "signal.session": Words("its session", "그 대화"),
    "signal.speaker": Words("who said it", "말한 사람"),
    "signal.time": Words("the time asked about", "물은 때"),
    "signal.statement": Words("tells, not asks", "묻는 말이 아님"),
    "signal.answer": Words("answers a question", "질문의 답"),
    "signal.pairs": Words("same syllables", "같은 글자"),
    "signal.repeated": Words("told often", "자주 말함"),
    "signal.recency": Words("recent", "최근"),
    "signal.importance": Words("important", "중요"),
}

PROOF: Mapping[str, Words] = {
    "disk": Words("What lies on disk", "디스크에 있는 것"),
    "disk.lead": Words(
        "The row of that last memory, read with SQLite and without the key:",
        "방금 그 기억의 행을 열쇠 없이 SQLite로 읽으면:",
    ),
    "disk.sealed": Words("{hex}… ({size} bytes, AES-256-GCM)", "{hex}… ({size}바이트, AES-256-GCM)"),
    "disk.tokens": Words(
        "{tokens} … ({count} words, keyed hashes)", "{tokens} … (낱말 {count}개, 열쇠로 만든 해시)"
    ),
    "disk.scan": Words(
        "Every byte of all {files} files ({size:,} bytes) was searched, as UTF-8 and as UTF-16. Found:",
        "파일 {files}개의 모든 바이트({size:,}바이트)를 UTF-8과 UTF-16으로 뒤졌습니다. 나온 횟수:",
    ),
    "disk.control": Words(
        "The name of an owner is not sealed. That it was found shows that the search works.",
        "소유자의 이름은 봉인하지 않습니다. 찾기가 제대로 된다는 증거이기도 합니다.",
    ),
    "decide": Words("A decision, and its blast radius", "결정과 그 영향 범위"),
    "decide.lead": Words(
        "A team's decisions live in the same memory. What would a change of the first one reach?",
        "팀의 결정도 같은 기억에 남습니다. 첫 결정을 바꾸면 어디까지 닿을까요?",
    ),
    "decide.reached": Words(
        "{reached} of the {others} other decisions, up to {far} relations away",
        "다른 결정 {others}개 중 {reached}개, 가장 먼 것은 관계 {far}개 너머",
    ),
    "plug": Words("Pulling the plug", "전원 뽑기"),
    "plug.lead": Words(
        "Another process has written every row of this turn. Before it commits, it is killed.",
        "다른 프로세스가 답을 얻고 행을 모두 썼습니다. 그리고 커밋하기 직전에 죽습니다.",
    ),
    "plug.dead": Words(
        "✗ {ended_by}, with {messages} messages of the turn in its open transaction",
        "✗ {ended_by}. 열린 트랜잭션 안에는 이 턴의 메시지 {messages}개가 있었습니다",
    ),
    "plug.changed": Words(
        "Opened again: {changed} of {tables} tables differ from before. Then the same message was sent once "
        "more. Rows before → after the kill → sent again:",
        "다시 열어 보니 표 {tables}개 중 전과 다른 것은 {changed}개입니다. 그리고 같은 말을 다시 보냈습니다. "
        "행 수(전 → 죽은 뒤 → 다시 보낸 뒤):",
    ),
    "plan": Words("The plan that ran", "실행된 계획"),
    "plan.lead": Words(
        "{name} v{version}, hash {hash}: the first turn of today, in ms",
        "{name} v{version}, 해시 {hash}: 오늘 첫 턴, 단위 ms",
    ),
    "plan.total": Words("{total:.1f} in all", "모두 {total:.1f}"),
    "plan.policy": Words("policy", "정책"),
}

DEMO: Mapping[str, Words] = {**FRAME, **TALK, **SIGNALS, **PROOF}
