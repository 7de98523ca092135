"""Texts of `gieok demo`. The values in braces come from the run."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "demo.title": ("Gieok demo", "기억(Gieok) 데모"),
    "demo.lead": (
        "No network, no API key. All is real except the offline model and the story's clock.",
        "네트워크도 API 키도 필요 없습니다. 내장 offline 모델과 시계 말고는 모두 실제입니다.",
    ),
    "demo.user": ("User", "사용자"),
    "demo.next": ("What to try next", "다음 단계"),
    "demo.next.chat": ("talk to a character of your own", "나만의 캐릭터와 대화하기"),
    "demo.next.serve": ("the HTTP API, documented at /docs", "HTTP API(/docs에 문서)"),
    "demo.next.docs": ("the Python library and everything else", "파이썬 라이브러리와 그 밖의 문서"),
    "demo.kept_in": (
        "The files of this demo are in {folder} (data/ has the database, key/ the root key).",
        "이 데모의 파일은 {folder} 에 있습니다(data/는 데이터베이스, key/는 루트 키).",
    ),
    "demo.talk": ("Two conversations, and what is remembered of them", "두 번의 대화와 저장된 기억"),
    "demo.memory": ("memory", "기억"),
    "demo.memory.about": (
        "topics {topics} · emotion {emotion} · importance {importance} of 10",
        "주제 {topics} · 감정 {emotion} · 중요도 {importance}/10",
    ),
    "demo.disk": ("What is stored on disk", "디스크에 저장된 것"),
    "demo.disk.lead": (
        "The database row of the last memory, read with SQLite and without the key:",
        "마지막 기억의 행을 키 없이 SQLite로 직접 읽은 결과:",
    ),
    "demo.disk.sealed": ("{hex}… ({size} bytes, AES-256-GCM)", "{hex}… ({size}바이트, AES-256-GCM)"),
    "demo.disk.tokens": (
        "{tokens} … ({count} words, as keyed hashes)",
        "{tokens} … (단어 {count}개의 키 해시)",
    ),
    "demo.disk.scan": (
        "Matches of plain text (UTF-8 and UTF-16) in all {files} files ({size:,} bytes):",
        "파일 {files}개 전체({size:,}바이트)에서 평문을 UTF-8과 UTF-16으로 검색했습니다. 검색된 횟수:",
    ),
    "demo.disk.control": (
        "The owner's name is not encrypted. Finding it shows that the search works.",
        "암호화하지 않는 소유자 이름이 검색된 것은 검색이 제대로 동작한다는 증거입니다.",
    ),
    "demo.recall": (
        "The next day, in a new session: what is recalled, and why",
        "다음 날, 새 세션: 떠올린 기억과 그 이유",
    ),
    "demo.recall.lead": (
        "The program was restarted. The prompt contains {messages} of the earlier messages.",
        "프로그램을 다시 시작했습니다. 프롬프트에 들어간 이전 메시지는 {messages}개입니다.",
    ),
    "demo.recall.rank": ("#{rank}", "{rank}위"),
    "demo.kind.memory": ("memory", "기억"),
    "demo.kind.message": ("message", "메시지"),
    "demo.kind.fact": ("fact", "사실"),
    "demo.recall.words": (
        "{kind}, {days:.1f} days old, matched {words}",
        "{kind}, {days:.1f}일 전, 일치한 단어: {words}",
    ),
    "demo.recall.filled": (
        "{kind}, {days:.1f} days old, no matching word (fills an unused slot)",
        "{kind}, {days:.1f}일 전, 일치한 단어 없음(남은 자리를 채움)",
    ),
    "demo.recall.score": ("score {score:.2f}", "점수 {score:.2f}"),
    "demo.recall.sum": (
        "The best of each kind; {more} more were recalled. Score: the sum of signals × weights.",
        "종류마다 1개씩이며, 이 밖에 {more}개를 더 떠올렸습니다. 점수는 신호 × 가중치의 합입니다.",
    ),
    "demo.signal.bm25": ("matching words", "일치한 단어"),
    "demo.signal.vectors": ("meaning", "의미"),
    "demo.signal.neighbours": ("nearby memories", "인접한 기억"),
    "demo.signal.session": ("matching session", "세션 일치"),
    "demo.signal.speaker": ("speaker", "화자"),
    "demo.signal.time": ("time in the question", "질문 속 시점"),
    "demo.signal.statement": ("statement", "평서문"),
    "demo.signal.answer": ("answers a question", "질문의 답"),
    "demo.signal.user": ("said by the user", "사용자의 말"),
    "demo.signal.latest": ("newest statement", "가장 새로운 말"),
    "demo.signal.pairs": ("matching syllables", "일치한 음절"),
    "demo.signal.recency": ("recency", "최근"),
    "demo.signal.importance": ("importance", "중요도"),
    "demo.canon": ("Canon: facts that change", "캐논: 바뀌는 사실"),
    "demo.canon.before": ("state before", "바뀌기 전"),
    "demo.canon.after": ("state after", "바뀐 뒤"),
    "demo.canon.history": ("history", "이력"),
    "demo.canon.past": ("v{version} {value} ({at:%Y-%m-%d})", "v{version} {value} ({at:%Y-%m-%d})"),
    "demo.canon.active": (
        "v{version} {value} ({at:%Y-%m-%d}, active)",
        "v{version} {value} ({at:%Y-%m-%d}, 현재)",
    ),
    "demo.canon.persona": ("persona", "페르소나"),
    "demo.canon.same": ("identical", "동일함"),
    "demo.canon.differs": ("changed", "변경됨"),
    "demo.decide": ("A decision and its impact", "결정과 그 영향 범위"),
    "demo.decide.lead": (
        "Gieok also stores the decisions of a team. What is affected if the first one changes?",
        "팀의 결정도 저장합니다. 첫 번째 결정을 바꾸면 어떤 결정이 영향을 받을까요?",
    ),
    "demo.decide.reached": (
        "{reached} of the other {others} decisions are affected, up to {far} relations away",
        "다른 결정 {others}개 중 {reached}개가 영향을 받으며, 가장 먼 것은 관계 {far}단계입니다",
    ),
    "demo.kill": ("A process is killed in the middle of a turn", "턴 도중에 강제 종료된 프로세스"),
    "demo.kill.lead": (
        "Another process runs this turn, writes its rows, and is killed just before the commit.",
        "다른 프로세스가 이 턴을 실행하고 모든 행을 쓴 다음, 커밋 직전에 강제 종료됩니다.",
    ),
    "demo.kill.dead": (
        "✗ {ended_by}, with {messages} messages of the turn in the open transaction",
        "✗ {ended_by}. 열린 트랜잭션에는 이 턴의 메시지 {messages}개가 있었습니다",
    ),
    "demo.kill.changed": (
        "After reopening, {changed} of {tables} tables differ. The same message was then sent again. "
        "Rows before → after the kill → after sending again:",
        "다시 열었을 때 테이블 {tables}개 중 달라진 것은 {changed}개입니다. 같은 메시지를 다시 보냈습니다. "
        "행 수(이전 → 강제 종료 후 → 다시 보낸 후):",
    ),
    "demo.plan": ("The plan that ran", "실행된 계획"),
    "demo.plan.lead": (
        "{name} v{version}, hash {hash}: the turn of act 3 in ms (commit {commit:.1f}, total {total:.1f})",
        "{name} v{version}, 해시 {hash}: 3막의 턴에 걸린 시간(ms, 커밋 {commit:.1f}, 합계 {total:.1f})",
    ),
}
