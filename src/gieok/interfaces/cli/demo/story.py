"""Every word that the demo says by itself: two stories and the headings around them, in both languages.

What a character answers, what is kept and what is found comes from the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal

_SEOUL = timezone(timedelta(hours=9))


@dataclass(frozen=True)
class Wording:
    """The demo's own sentences in one language. Braces are filled with facts of the run."""

    title: str
    lead: str
    user: str
    kept: str
    talk: str
    talk_note: str
    disk: str
    disk_lead: str
    sealed: str
    tokens: str
    scan: str
    times: str
    control: str
    still_visible: str
    recall: str
    recall_lead: str
    rank: str
    recall_note: str
    prompt: str
    atomic: str
    atomic_lead: str
    error: str
    rows: str
    equal: str
    plan: str
    plan_lead: str
    total: str
    changed: str
    refused: str
    next: str
    code: str
    commands: tuple[tuple[str, str], ...]
    location: str


@dataclass(frozen=True)
class Story:
    """Two days between a user and a character. The clock is set to them; all else is as in service."""

    language: Literal["ko", "en"]
    owner: str
    session_ref: str
    character: str
    character_prompt: str
    first_day: datetime
    first_lines: tuple[str, ...]
    second_day: datetime
    second_line: str
    lost_line: str
    secrets: tuple[str, ...]
    """Words of the talk that must not stand in any file."""
    snippet: str
    wording: Wording


_SNIPPET = """import asyncio, gieok
async def main():
    async with await gieok.Gieok.open() as memory:
        haru = gieok.Persona(name="{name}", language="{language}", system_prompt="{prompt}")
        print((await memory.user("mina").turn("talk", "{message}", persona=haru)).reply)
asyncio.run(main())"""

_KOREAN = Wording(
    title="기억(Gieok) 데모",
    lead="네트워크와 API 키 없이, 내장 offline 모델로 돌립니다. 계획, SQLite 데이터베이스, 암호 금고는 "
    "실제 그대로이고 시계만 이야기에 맞췄습니다.",
    user="사용자",
    kept="남김",
    talk="첫째 날 저녁: 대화, 그리고 턴마다 남는 것",
    talk_note="턴이 끝나면 요약과 키워드만 남습니다. 대화 원문은 턴 기억에 저장하지 않습니다.",
    disk="디스크에 있는 것",
    disk_lead="마지막 턴의 행을 열쇠 없이 SQLite로 읽으면:",
    sealed="({size}바이트, AES-256-GCM)",
    tokens="{count}개: {tokens}",
    scan="프로그램을 닫고, 폴더의 파일 {files}개를 전부({size:,}바이트) UTF-8과 UTF-16으로 뒤졌습니다:",
    times="{times}번 나옴",
    control="세션 이름은 암호화하지 않습니다. 찾기가 제대로 된다는 증거이기도 합니다.",
    still_visible="열쇠 없이도 보이는 것: 소유자와 세션의 이름, 시각, 길이, 그리고 같은 낱말을 가진 행이 "
    "어느 것인지(낱말 자체는 아님).",
    recall="둘째 날 저녁: 다시 떠올리기",
    recall_lead="프로그램을 새로 열고 같은 세션을 잇습니다. 최근 메시지를 넘기지 않으므로 단서는 "
    "기억뿐입니다.",
    rank="{rank}위",
    recall_note="순위는 맞은 키워드 수, 같으면 최신순입니다. 화살표는 질문의 낱말과, 조사와 어미를 뗀 "
    "공통 낱말입니다.",
    prompt="모델이 받은 프롬프트 그대로:",
    atomic="전부 아니면 전무",
    atomic_lead="이번 턴은 답이 나온 뒤 요약에서 실패하게 했습니다.",
    error="호출한 쪽이 받는 오류: {kind}, 단계 '{step}', 원인 {cause}",
    rows="행 수",
    equal="실패 전과 후가 같습니다.",
    plan="실행된 계획",
    plan_lead="계획 {name} v{version}, 해시 {hash}. 둘째 날 턴의 시간:",
    total="전체 {total:.1f} ms, 그중 커밋 {commit:.1f} ms",
    changed="topK만 바꿔도({old} → {new}) 해시가 달라지고, 달라진 계획으로는 이 세션을 잇지 못합니다:",
    refused="{kind}: 세션 {expected}, 요청 {actual}",
    next="다음 걸음",
    code="라이브러리로 쓰기:",
    commands=(
        ("gieok doctor", "설정, 데이터베이스, 열쇠가 괜찮은지 살핍니다"),
        ("gieok plan show turn_memory", "방금 돌아간 계획 전체를 봅니다"),
        ("README.md, docs/", "설명서"),
    ),
    location="데모의 파일을 {folder} 에 남겼습니다(데이터는 data/, 열쇠는 key/).",
)

_ENGLISH = Wording(
    title="Gieok demo",
    lead="No network and no API key: the built-in offline model answers. The plan, the SQLite database and "
    "the vault are the real ones; only the clock is set to the story.",
    user="User",
    kept="kept",
    talk="Day 1, evening: the talk, and what each turn leaves",
    talk_note="A finished turn leaves a summary and keywords. The messages themselves are not stored.",
    disk="What lies on disk",
    disk_lead="The row of the last turn, read with SQLite and without the key:",
    sealed="({size} bytes, AES-256-GCM)",
    tokens="{count}: {tokens}",
    scan="The program was closed, and all {files} files in its folder ({size:,} bytes) were searched, as "
    "UTF-8 and as UTF-16:",
    times="found {times} times",
    control="The name of a session is not sealed. It also shows that the search works.",
    still_visible="Visible without the key: the names of owner and session, times, lengths, and which rows "
    "share a word (not the word).",
    recall="Day 2, evening: recall",
    recall_lead="The program is opened anew and goes on with the same session. No recent messages are "
    "passed, so memory is the only clue.",
    rank="rank {rank}",
    recall_note="Ranked by the number of keywords that match, then newest first. An arrow leads from a word "
    "of the question to the stem that both share.",
    prompt="The prompt exactly as the model got it:",
    atomic="All or nothing",
    atomic_lead="This turn is made to fail at the summary, after the reply.",
    error="What the caller gets: {kind}, step '{step}', cause {cause}",
    rows="rows",
    equal="The same before and after.",
    plan="The plan that ran",
    plan_lead="Plan {name} v{version}, hash {hash}. Times of the turn on day 2:",
    total="{total:.1f} ms in all, of which the commit took {commit:.1f} ms",
    changed="Changing only topK ({old} → {new}) changes the hash, and the session refuses the other plan:",
    refused="{kind}: the session ran {expected}, the request brings {actual}",
    next="Next steps",
    code="As a library:",
    commands=(
        ("gieok doctor", "checks your settings, database and key"),
        ("gieok plan show turn_memory", "prints the whole plan that just ran"),
        ("README.md, docs/", "the documentation"),
    ),
    location="The files of this demo are kept in {folder} (the data in data/, the key in key/).",
)

STORIES = {
    "ko": Story(
        language="ko",
        owner="mina",
        session_ref="haru-and-mina",
        character="하루",
        character_prompt="너는 하루, 사용자의 오랜 친구다. 짧고 따뜻하게, 반말로 말한다.",
        first_day=datetime(2026, 3, 5, 20, 10, tzinfo=_SEOUL),
        first_lines=(
            "내일 중요한 면접이 있어",
            "IT 스타트업인데 정말 가고 싶어",
            "내일이 첫 스타트업 면접이라 설레",
        ),
        second_day=datetime(2026, 3, 6, 19, 30, tzinfo=_SEOUL),
        second_line="방금 그 스타트업에서 나왔어!",
        lost_line="합격하면 같이 축하하자",
        secrets=("면접", "스타트업", "설레"),
        snippet=_SNIPPET.format(
            name="하루", language="ko", prompt="너는 다정한 친구다.", message="안녕, 반가워!"
        ),
        wording=_KOREAN,
    ),
    "en": Story(
        language="en",
        owner="mina",
        session_ref="haru-and-mina",
        character="Haru",
        character_prompt="You are Haru, an old friend of the user. You speak warmly and briefly.",
        first_day=datetime(2026, 3, 5, 19, 10, tzinfo=UTC),
        first_lines=(
            "My cat Nabi has surgery tomorrow.",
            "I'm worried about Nabi.",
        ),
        second_day=datetime(2026, 3, 6, 18, 30, tzinfo=UTC),
        second_line="I just brought Nabi home!",
        lost_line="I'm so glad that Nabi is eating again.",
        secrets=("surgery", "Nabi", "worried"),
        snippet=_SNIPPET.format(name="Haru", language="en", prompt="You are a friend.", message="Hello!"),
        wording=_ENGLISH,
    ),
}
